package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Case is a question and the notes that answer it.
type Case struct {
	Query       string    `json:"query"`
	RelevantIDs []note.ID `json:"relevant_ids"`
	NoteTitles  []string  `json:"note_titles"`        // of the notes, for people
	Approved    bool      `json:"approved"`           // a person has looked at it; the others are candidates
	Source      string    `json:"source"`             // who made it: human, or llm:provider/model
	Rejected    bool      `json:"rejected,omitempty"` // a person refused it: it is never measured, and its notes are not asked about again
}

// Bounds of one case. What is beyond is no question that somebody asked.
const (
	maxQuery    = 8 << 10 // bytes
	maxRelevant = 1000
)

func (c *Case) check() error {
	switch {
	case strings.TrimSpace(c.Query) == "":
		return errors.New("there is no query")
	case len(c.Query) > maxQuery:
		return fmt.Errorf("the query has more than %d bytes", maxQuery)
	case len(c.RelevantIDs) == 0:
		return errors.New("there are no relevant ids")
	case len(c.RelevantIDs) > maxRelevant:
		return fmt.Errorf("there are more than %d relevant ids", maxRelevant)
	}
	for _, id := range c.RelevantIDs {
		if _, err := note.ParseID(string(id)); err != nil {
			return fmt.Errorf("relevant id %.60q: %w", id, err)
		}
	}
	return nil
}

// key is what makes two queries one: letters of either case and white space do
// not count.
func key(query string) string { return strings.ToLower(strings.Join(strings.Fields(query), " ")) }

// A Lookup returns the title of a note, and whether it is in the store.
type Lookup func(id note.ID) (title string, ok bool, err error)

// Titles looks notes up in an index.
func Titles(ctx context.Context, ix index.Catalogue) Lookup {
	return func(id note.ID) (string, bool, error) {
		row, ok, err := ix.Lookup(ctx, id)
		return row.Title, ok, err
	}
}

// maxWarnings bounds what is said about one file.
const maxWarnings = 100

// Load reads the cases of a file that are to be measured: the approved ones,
// with includeUnreviewed candidates too. With a lookup, titles are those of now.
// Warnings are for people: candidates that were left out, notes that are not in
// the store, lines that are no case. A file that is not there is an error, which
// is fs.ErrNotExist and says what to do.
func Load(file string, includeUnreviewed bool, lookup Lookup) (cases []Case, warnings []string, err error) {
	f, err := readCases(file)
	if err != nil {
		return nil, nil, err
	}
	warnings = f.problems
	unreviewed := 0
	for _, c := range f.cases {
		switch {
		case c.Rejected:
		case !c.Approved && !includeUnreviewed:
			unreviewed++
		default:
			cases = append(cases, c)
		}
	}
	if unreviewed > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %d unreviewed candidate(s) skipped", file, unreviewed))
	}
	for i := range cases {
		missing, err := cases[i].refresh(lookup)
		if err != nil {
			return nil, warnings, err
		}
		for _, id := range missing {
			warnings = append(warnings, fmt.Sprintf("%s: relevant id %s not in store", file, id))
		}
	}
	if n := len(warnings) - maxWarnings; n > 0 {
		warnings = append(warnings[:maxWarnings], fmt.Sprintf("%s: %d more warnings", file, n))
	}
	return cases, warnings, nil
}

// refresh takes the titles of now and returns the notes that are gone.
func (c *Case) refresh(lookup Lookup) (missing []note.ID, err error) {
	if lookup == nil {
		return nil, nil
	}
	var titles []string
	for _, id := range c.RelevantIDs {
		title, ok, err := lookup(id)
		switch {
		case err != nil:
			return nil, fmt.Errorf("look up note %s: %w", id, err)
		case ok:
			titles = append(titles, title)
		default:
			missing = append(missing, id)
		}
	}
	c.NoteTitles = titles
	return missing, nil
}
