package reflection

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/note"
)

// Limits of one answer. A model that goes beyond them did not distil.
const (
	maxItems = 100
	maxBody  = 32 << 10 // bytes
)

// A Distilled is a note that a model proposes.
type Distilled struct {
	Type  note.Type `json:"type"`
	Title string    `json:"title"` // one line
	Body  string    `json:"body"`
}

// checkDistilled says what is wrong with an answer to a distillation. It is all or nothing: one
// element that is not right makes the whole answer an error.
func checkDistilled(all *[]Distilled) (wrong []string) {
	if n := len(*all); n > maxItems {
		return []string{fmt.Sprintf("reflection output has %d notes, at most %d", n, maxItems)}
	}
	for i := range *all {
		if why := (*all)[i].check(); why != "" {
			wrong = append(wrong, why)
		}
	}
	return wrong
}

// check puts the three fields of a note in order that a model proposes, and says what is wrong
// with them.
func (d *Distilled) check() string {
	d.Title, d.Body = strings.Join(strings.Fields(d.Title), " "), strings.TrimSpace(d.Body)
	switch {
	case !d.Type.Durable():
		return fmt.Sprintf("invalid reflection type: '%.40s'", d.Type)
	case d.Title == "" || d.Body == "":
		return "reflection item missing title or body"
	case utf8.RuneCountInString(d.Title) > note.MaxTitle:
		return fmt.Sprintf("reflection title has more than %d characters", note.MaxTitle)
	case len(d.Body) > maxBody:
		return fmt.Sprintf("reflection body has more than %d bytes", maxBody)
	}
	return ""
}
