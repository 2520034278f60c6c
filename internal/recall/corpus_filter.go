package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/store/project"
)

// A CorpusFilter selects the notes a corpus is made of: those that pass all of
// it. Letters of either case are the same.
type CorpusFilter struct {
	Tags     []string `json:"tags,omitempty"` // any of these
	Category string   `json:"category,omitempty"`
	Project  string   `json:"project,omitempty"`
	Since    string   `json:"since,omitempty"` // YYYY-MM-DD in the zone of the clock, included; a note without a date does not pass
	Until    string   `json:"until,omitempty"` // likewise
}

var errFilter = errors.New("a filter is words such as tag:a,b category:x project:y since:2026-01-31 until:2026-02-28")

// ParseCorpusFilter reads a filter such as "tag:a,b category:x since:2026-01-31".
// A word that is none of these is a tag.
func ParseCorpusFilter(spec string) (CorpusFilter, error) {
	var f CorpusFilter
	for _, w := range strings.Fields(spec) {
		key, value, ok := strings.Cut(w, ":")
		var into *string
		switch key = strings.ToLower(key); {
		case !ok:
		case key == "category" || key == "cat":
			into = &f.Category
		case key == "project" || key == "proj" || key == "project_id":
			into = &f.Project
		case key == "since":
			into = &f.Since
		case key == "until":
			into = &f.Until
		}
		switch {
		case into != nil && value == "":
			return f, fmt.Errorf("%q has no value: %w", w, errFilter)
		case into != nil:
			*into = value
		case ok && (key == "tag" || key == "tags"):
			f.Tags = append(f.Tags, strings.FieldsFunc(value, func(r rune) bool { return r == ',' })...)
		default:
			f.Tags = append(f.Tags, w)
		}
	}
	_, _, err := f.days(time.UTC)
	return f, err
}

// days returns from when to when notes pass, zero where that is open.
func (f *CorpusFilter) days(zone *time.Location) (from, to time.Time, err error) {
	for _, d := range []struct {
		text string
		at   *time.Time
		days int
	}{{f.Since, &from, 0}, {f.Until, &to, 1}} {
		if d.text == "" {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, d.text, zone)
		if err != nil {
			return from, to, fmt.Errorf("%q is no date such as 2026-01-31: %w", d.text, errFilter)
		}
		*d.at = t.AddDate(0, 0, d.days)
	}
	return from, to, nil
}

// predicate returns what a note has to pass.
func (f *CorpusFilter) predicate(ctx context.Context, e *Engine) (func(*index.Row) bool, error) {
	from, to, err := f.days(e.store.Now().Location())
	if err != nil {
		return nil, err
	}
	project := project.Canonical(e.store, f.Project)
	return func(r *index.Row) bool {
		made := r.Created
		if made.IsZero() {
			made = r.Updated
		}
		switch {
		case f.Project != "" && !strings.EqualFold(r.Project, f.Project) && !strings.EqualFold(r.Project, project),
			len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(t string) bool { return shared([]string{t}, r.Tags) == 1 }),
			(!from.IsZero() || !to.IsZero()) && made.IsZero(), !from.IsZero() && made.Before(from), !to.IsZero() && !made.Before(to):
			return false
		case f.Category == "":
			return true
		}
		c := e.index.Content(ctx, *r) // a row does not know categories
		return c.Err == nil && strings.EqualFold(c.Note.Category, f.Category)
	}, nil
}
