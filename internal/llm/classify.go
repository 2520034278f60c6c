package llm

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// A Class says what came from a model that was asked for JSON.
type Class string

// The classes. Only Valid can be used.
const (
	Valid         Class = "valid"
	Prose         Class = "prose"          // words around or instead of the JSON
	Idle          Class = "idle"           // nothing
	Poisoned      Class = "poisoned"       // the model says that it cannot go on: asking again is of no use
	Malformed     Class = "malformed"      // JSON that is broken, or of another shape altogether
	SchemaInvalid Class = "schema_invalid" // JSON of the right shape that breaks its rules
)

// Classes lists them.
var Classes = []Class{Valid, Prose, Idle, Poisoned, Malformed, SchemaInvalid}

// wedges are what a model or its program says that cannot go on.
var wedges = []string{
	"prompt is too long", "context window", "maximum context length", "context length exceeded", "conversation is too long",
	"session exhausted", "session limit reached", "no longer able to continue", "credit balance is too low",
}

func wedged(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(wedges, func(w string) bool { return strings.Contains(text, w) })
}

// classify says of any text what it is as an answer that was to be a JSON object, or with list an
// array of them.
// The envelope in which the command line of an agent may put its answer counts as what it
// says of itself: an answer about context windows is no failure, an error that speaks of
// one is. Schemas are checked elsewhere (Exact).
func classify(raw string, list bool) Class {
	text := strings.TrimSpace(raw)
	if text == "" {
		return Idle
	}
	tree, err := parseAnswer(text)
	if err != nil {
		switch {
		case wedged(text):
			return Poisoned
		case strings.HasPrefix(unfence(text), "{"), strings.HasPrefix(unfence(text), "["):
			return Malformed
		}
		return Prose
	}
	object, ok := tree.(map[string]any)
	if _, many := tree.([]any); many && list {
		return Valid
	}
	if !ok {
		return Malformed
	}
	failed, _ := object["is_error"].(bool)
	said, _ := json.Marshal(object) // a tree that was just read can be written
	if failed && wedged(string(said)) {
		return Poisoned
	}
	if list {
		return Malformed
	}
	return Valid
}

// classOf is Classify of an error in the place of an answer: "" when there was none to
// classify, because nobody answered.
func classOf(err error) Class {
	switch {
	case errors.Is(err, ErrEmpty):
		return Idle
	case wedged(err.Error()):
		return Poisoned
	}
	return ""
}
