package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Answered func(c Class) bool // is called with each new answer; false ends the tries. It may be nil
}

// replayed reports whether the answer to a prompt was returned before, so that it is not
// counted again.
func replayed(g Generator, p Prompt) bool {
	r, ok := g.(interface{ replays(p Prompt) bool })
	return ok && r.replays(p)
}

// shapeErrors say what is wrong with answers that are no JSON object.
var shapeErrors = map[Class][]string{
	Idle:      {"it was empty"},
	Prose:     {"it was not JSON: answer with the JSON object alone, without a word before or behind it"},
	Malformed: {"it was not one whole JSON object"},
	Poisoned:  {"it says that it cannot go on"},
}

// maxErrors is how many errors of an answer a model is shown.
const maxErrors = 8

// Exact asks for one JSON object, and again with what was wrong with the last answer,
// until check has nothing against it. check gets the object decoded into T, in which no
// unknown and no repeated key stood; it returns what is wrong, in words for the model.
//
// The error is an InvalidError when no answer would do, else that of the Generator: one
// that cannot be reached is not asked again here.
func Exact[T any](ctx context.Context, g Generator, p Prompt, a Asking, check func(*T) []string) (T, error) {
	var zero T
	bad := &InvalidError{Model: g.Name()}
	user := p.User
	for bad.Tries < max(1, a.Tries) {
		known := replayed(g, p)
		text, err := g.Generate(ctx, p)
		if err != nil {
			if bad.Class = classOf(err); bad.Class == "" || ctx.Err() != nil {
				return zero, err
			}
			bad.Errors = []string{err.Error()}
		} else {
			bad.Class = Classify([]byte(text))
			bad.Errors = shapeErrors[bad.Class]
		}
		bad.Tries++
		var got T
		if bad.Class == Valid {
			if bad.Errors = decode(text, &got); len(bad.Errors) == 0 {
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

// Parsed asks, and again with what was wrong with the last answer, until parse takes one; at
// most tries times. It is for answers that are no single object: Exact is for those. The error
// is the last of parse, else that of the Generator, which is not asked again.
func Parsed[T any](ctx context.Context, g Generator, p Prompt, tries int, parse func(text string) (T, error)) (got T, err error) {
	user := p.User
	for n := 1; ; n++ {
		text, gerr := g.Generate(ctx, p)
		if gerr != nil {
			return got, gerr
		}
		if got, err = parse(text); err == nil || n >= tries || ctx.Err() != nil {
			return got, err
		}
		p.User = againFor(user, []string{err.Error()}, "Answer once more, with what was asked for and nothing else.")
	}
}

// decode reads an object strictly.
func decode(text string, into any) []string {
	dec := json.NewDecoder(strings.NewReader(unfence(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return []string{strings.TrimPrefix(err.Error(), "json: ")}
	}
	return nil
}

// again is the prompt with what was wrong with the last answer behind it. What stood
// there before comes first, so that a server's cache of it holds.
func again(user redact.Text, bad *InvalidError) redact.Text {
	return againFor(user, bad.Errors, "Answer once more, with the JSON object and nothing else.")
}

func againFor(user redact.Text, wrong []string, please string) redact.Text {
	var b strings.Builder
	b.WriteString(user.String())
	b.WriteString("\n\nYour last answer was not accepted:\n")
	for _, e := range wrong[:min(len(wrong), maxErrors)] {
		fmt.Fprintf(&b, "- %s\n", (&server{}).clean(e))
	}
	b.WriteString(please)
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
