package note

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The sizes a note may have when it is written.
const (
	MaxTitle = 1000    // runes
	MaxBody  = 1 << 20 // bytes
	MaxQuote = 200     // runes of the quote of a piece of evidence
	MaxAsks  = 2       // lines of Note.Asks
	maxAsk   = 120     // runes of one of them, before secrets are masked
)

// AsksOf returns lines as the asks of a note: the first two that say something, each on one line and cut to its
// length, without repetitions.
func AsksOf(lines []string) (asks []string) {
	for _, l := range lines {
		if l = strings.TrimSpace(CutRunes(strings.Join(strings.Fields(l), " "), maxAsk)); l != "" && len(asks) < MaxAsks {
			asks = appendNew(asks, l)
		}
	}
	return asks
}

// Validate reports what forbids to write n over an existing file. It bears
// with what other writers left there: unknown sources, kinds and time stamps.
func (n *Note) Validate() error {
	if _, err := ParseID(string(n.ID)); err != nil {
		return &FieldError{Key: "id", Err: err}
	}
	if err := n.Type.check(); err != nil {
		return &FieldError{Key: "type", Err: err}
	}
	if n.Scope != Portable && n.Scope != Local {
		return &FieldError{Key: "scope", Err: fmt.Errorf("%q is neither %s nor %s", n.Scope, Portable, Local)}
	}
	if strings.TrimSpace(n.Title) == "" {
		return &FieldError{Key: "title", Err: errors.New("is empty")}
	}
	if utf8.RuneCountInString(n.Title) > MaxTitle {
		return &FieldError{Key: "title", Err: fmt.Errorf("is longer than %d characters", MaxTitle)}
	}
	if len(n.Body) > MaxBody {
		return &FieldError{Key: "body", Err: errors.New("is larger than 1 MiB; split the note")}
	}
	if c := n.Provenance.Confidence; math.IsNaN(c) || c < 0 || c > 1 {
		return &FieldError{Key: "confidence", Err: fmt.Errorf("%v is not between 0.0 and 1.0", c)}
	}
	if n.Provenance.Source == "" {
		return &FieldError{Key: "prov_source", Err: errors.New("is empty")}
	}
	if n.ProofCount < 0 {
		return &FieldError{Key: "proof_count", Err: errors.New("is negative")}
	}
	return n.validateText()
}

// ValidateNew reports what forbids to write n as a new note: all that Validate
// reports, and every value outside the closed sets of this version.
func (n *Note) ValidateNew() error {
	if err := n.Validate(); err != nil {
		return err
	}
	if !slices.Contains(Sources, n.Provenance.Source) {
		return &FieldError{Key: "prov_source", Err: fmt.Errorf("%q is not one of %s", n.Provenance.Source, strings.Join(Sources, ", "))}
	}
	if n.Kind != "" && !slices.Contains(kinds, n.Kind) {
		return &FieldError{Key: "kind", Err: fmt.Errorf("%q is not one of %v", n.Kind, kinds)}
	}
	if strings.ContainsAny(n.Title, "\n\r\u0085\u2028\u2029") {
		return &FieldError{Key: "title", Err: errors.New("must be one line")}
	}
	if n.Validated != "" && n.Validated != "true" && n.Validated != "false" {
		return &FieldError{Key: "validated", Err: fmt.Errorf("%q is neither true nor false", n.Validated)}
	}
	for i := range fields {
		f := &fields[i]
		if f.ids == nil {
			continue
		}
		for _, id := range *f.ids(n) {
			if _, err := ParseID(string(id)); err != nil {
				return &FieldError{Key: f.key, Err: err}
			}
		}
	}
	if n.ConflictOf != "" {
		if _, err := ParseID(string(n.ConflictOf)); err != nil {
			return &FieldError{Key: "conflict_of", Err: err}
		}
	}
	for key, s := range map[string]Stamp{"created_at": n.CreatedAt, "updated_at": n.UpdatedAt, "forget_after": n.ForgetAfter} {
		if _, ok := s.Time(); s != "" && !ok {
			return &FieldError{Key: key, Err: fmt.Errorf("%q is not a time", s)}
		}
	}
	if len(n.When) > MaxTriggers {
		return &FieldError{Key: "when", Err: fmt.Errorf("%d triggers, at most %d", len(n.When), MaxTriggers)}
	}
	if utf8.RuneCountInString(n.About) > maxSubject || strings.ContainsFunc(n.About, unicode.IsControl) {
		return &FieldError{Key: "about", Err: fmt.Errorf("must be one line of at most %d characters", maxSubject)}
	}
	if len(n.Asks) > MaxAsks || strings.ContainsAny(strings.Join(n.Asks, ""), "\n\r") {
		return &FieldError{Key: "asks", Err: fmt.Errorf("must be at most %d lines", MaxAsks)}
	}
	for _, e := range n.Evidence {
		if utf8.RuneCountInString(e.Quote) > MaxQuote {
			return &FieldError{Key: "evidence", Err: fmt.Errorf("a quote is longer than %d characters", MaxQuote)}
		}
	}
	return nil
}

// validateText looks at every text of n, and at the size of its front matter.
func (n *Note) validateText() error {
	bad := func(key, s string) error {
		switch {
		case !utf8.ValidString(s):
			return &FieldError{Key: key, Err: errors.New("is not UTF-8")}
		case strings.IndexByte(s, 0) >= 0:
			return &FieldError{Key: key, Err: errors.New("holds a NUL character")}
		}
		return nil
	}
	if err := bad("body", n.Body); err != nil {
		return err
	}
	for i := range fields {
		f := &fields[i]
		var texts []string
		switch {
		case f.text != nil:
			texts = []string{*f.text(n)}
		case f.shape == asList:
			texts = f.items(n)
		case f.shape == asEvidence, f.shape == asEdits:
			for _, row := range f.rows(n) {
				for _, p := range row {
					texts = append(texts, p.text.text)
				}
			}
		}
		for _, s := range texts {
			if err := bad(f.key, s); err != nil {
				return err
			}
		}
	}
	for _, f := range n.Extra {
		if fieldAt(f.Key, 0) >= 0 {
			return &FieldError{Key: f.Key, Err: errors.New("is a known key and cannot be kept as an unknown one")}
		}
		if err := bad(f.Key, f.Raw); err != nil {
			return err
		}
	}
	if len(n.Format())-len(n.Body) > maxFront {
		return &FieldError{Err: errors.New("would be larger than 256 KB; move text into the body")}
	}
	return nil
}
