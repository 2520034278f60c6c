package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"anamnesis/internal/redact"
)

// An InvalidError says that a model was asked as often as it may be, and never gave
// what it was asked for.
type InvalidError struct {
	Model  string
	Tries  int
	Class  Class    // of the last answer
	Errors []string // what was wrong with it
}

func (e *InvalidError) Error() string {
	why := strings.Join(e.Errors, "; ")
	return fmt.Sprintf("%s did not give what it was asked for in %d tries (%s): %s", e.Model, e.Tries, e.Class, (&server{}).clean(why))
}

// Tries is how often the program asks a model for one answer, with the first: what is wrong
// with an answer is mended at the second, or hardly ever (docs/reflection.md).
const Tries = 3

// Asking says how often a model is asked for an answer of an exact form.
type Asking struct {
	Tries    int                // with the first; below 1 means 1
	Loose    bool               // keys beside those asked for are no error
	Answered func(c Class) bool // is called with each new answer; false ends the tries. It may be nil
}

// replayed reports whether the answer to a prompt was returned before, so that it is not
// counted again.
func replayed(g Generator, p Prompt) bool {
	r, ok := g.(interface{ replays(p Prompt) bool })
	return ok && r.replays(p)
}

// shapeErrors say what is wrong with answers that are no JSON, or of another shape.
var shapeErrors = map[Class]string{
	Idle:      "it was empty",
	Prose:     "it was not JSON: answer with the JSON %s alone, without a word before or behind it",
	Malformed: "it was not one whole JSON %s",
	Poisoned:  "it says that it cannot go on",
}

// shapeError says what is wrong with an answer of a class, nothing for one that is to be read.
func shapeError(c Class, list bool) []string {
	shape, wrong := "object", shapeErrors[c]
	if list {
		shape = "array"
	}
	if wrong == "" {
		return nil
	}
	return []string{strings.Replace(wrong, "%s", shape, 1)}
}

// maxErrors is how many errors of an answer a model is shown.
const maxErrors = 8

// Exact asks for one JSON object, or for an array where T is a slice, and again with what was
// wrong with the last answer, until check has nothing against it. check gets the answer decoded
// into T, in which no unknown key stood (Asking.Loose); it may put it in order, and returns what
// is wrong, in words for the model.
//
// The error is an InvalidError when no answer would do, else that of the Generator: one
// that cannot be reached is not asked again here.
func Exact[T any](ctx context.Context, g Generator, p Prompt, a Asking, check func(*T) []string) (T, error) {
	var zero T
	bad := &InvalidError{Model: g.Name()}
	user, list := p.User, reflect.TypeFor[T]().Kind() == reflect.Slice
	for bad.Tries < max(1, a.Tries) {
		known := replayed(g, p)
		text, err := g.Generate(ctx, p)
		if err != nil {
			if bad.Class = classOf(err); bad.Class == "" || ctx.Err() != nil {
				return zero, err
			}
			bad.Errors = []string{err.Error()}
		} else {
			bad.Class = classify(text, list)
			bad.Errors = shapeError(bad.Class, list)
		}
		bad.Tries++
		var got T
		if bad.Class == Valid {
			if bad.Errors = decode(text, &got, a.Loose); len(bad.Errors) == 0 {
				bad.Errors = check(&got)
			}
			if len(bad.Errors) > 0 {
				bad.Class = SchemaInvalid
			}
		}
		goOn := a.Answered == nil || known || a.Answered(bad.Class)
		if bad.Class == Valid {
			return got, nil
		}
		if !goOn || bad.Class == Poisoned {
			break
		}
		p.User = again(user, bad)
	}
	return zero, bad
}

// decode reads the JSON of an answer.
func decode(text string, into any, loose bool) []string {
	dec := json.NewDecoder(strings.NewReader(unfence(text)))
	if !loose {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(into); err != nil {
		return []string{strings.TrimPrefix(err.Error(), "json: ")}
	}
	return nil
}

// again is the prompt with what was wrong with the last answer behind it. What stood
// there before comes first, so that a server's cache of it holds.
func again(user redact.Text, bad *InvalidError) redact.Text {
	var b strings.Builder
	b.WriteString(user.String())
	b.WriteString("\n\nYour last answer was not accepted:\n")
	for _, e := range bad.Errors[:min(len(bad.Errors), maxErrors)] {
		fmt.Fprintf(&b, "- %s\n", (&server{}).clean(e))
	}
	b.WriteString("Answer once more, with what was asked for and nothing else.")
	return (&redact.Redactor{}).Redact(b.String())
}

// Invalid returns the InvalidError in an error, nil when there is none.
func Invalid(err error) *InvalidError {
	var bad *InvalidError
	if errors.As(err, &bad) {
		return bad
	}
	return nil
}
