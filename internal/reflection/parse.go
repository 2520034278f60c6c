package reflection

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
)

// Limits of one answer. A model that goes beyond them did not distil.
const (
	maxItems = 100
	maxBody  = 32 << 10 // bytes
)

// A Distilled is a note that a model proposes.
type Distilled struct {
	Type  note.Type
	Title string // one line
	Body  string
}

// ParseDistilled reads the answer to a distillation: a JSON array of objects
// with a type, a title and a body, in a code fence or not. It is all or nothing:
// one element that is not right makes the whole answer an error.
func ParseDistilled(text string) ([]Distilled, error) {
	list, err := array(text)
	if err != nil {
		return nil, err
	}
	if len(list) > maxItems {
		return nil, fmt.Errorf("reflection output has %d notes, at most %d", len(list), maxItems)
	}
	out := make([]Distilled, 0, len(list))
	for _, item := range list {
		o, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("reflection item is not an object")
		}
		d, err := distilled(o)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// array reads an answer that was to be a JSON array.
func array(text string) ([]any, error) {
	tree, err := llm.ParseAnswer(text)
	if err != nil {
		return nil, fmt.Errorf("reflection output is not a JSON array: %w", err)
	}
	list, ok := tree.([]any)
	if !ok {
		return nil, errors.New("reflection output is not a JSON array")
	}
	return list, nil
}

// distilled reads the three fields of a note that a model proposes.
func distilled(o map[string]any) (Distilled, error) {
	kind, ok := o["type"].(string)
	if t := note.Type(kind); !ok || !t.Durable() {
		if !ok {
			kind = strings.ToLower(fmt.Sprint(o["type"])) // of another type than text
		}
		return Distilled{}, fmt.Errorf("invalid reflection type: '%.40s'", kind)
	}
	title, _ := o["title"].(string)
	body, _ := o["body"].(string)
	d := Distilled{Type: note.Type(kind), Title: strings.Join(strings.Fields(title), " "), Body: strings.TrimSpace(body)}
	switch {
	case d.Title == "" || d.Body == "":
		return Distilled{}, errors.New("reflection item missing title or body")
	case utf8.RuneCountInString(d.Title) > note.MaxTitle:
		return Distilled{}, fmt.Errorf("reflection title has more than %d characters", note.MaxTitle)
	case len(d.Body) > maxBody:
		return Distilled{}, fmt.Errorf("reflection body has more than %d bytes", maxBody)
	}
	return d, nil
}
