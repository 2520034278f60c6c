package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Case is a question and the notes that answer it.
type Case struct {
	Query       string
	RelevantIDs []note.ID
	NoteTitles  []string // of the notes, for people
	Approved    bool     // somebody has looked at it; the others are candidates
	Source      string   // who made it: human, or llm:provider/model
	Rejected    bool     // its owner refused it: it is never measured and never proposed again
	Was         string   // the query as it was proposed, when its owner put it in other words

	extra []pair // keys that are not ours, in their order
}

// A pair is a key of a JSON object with its value as it stands in the file.
type pair struct {
	key   string
	value json.RawMessage
}

// Bounds of one case. What is beyond is no question that somebody asked.
const (
	maxQuery    = 8 << 10 // bytes
	maxRelevant = 1000
)

// MarshalJSON writes the case with the keys in the order of the file format.
func (c Case) MarshalJSON() ([]byte, error) {
	ids, titles := c.RelevantIDs, c.NoteTitles
	if ids == nil {
		ids = []note.ID{}
	}
	if titles == nil {
		titles = []string{}
	}
	fields := []struct {
		key   string
		value any
		on    bool
	}{
		{"query", c.Query, true},
		{"relevant_ids", ids, true},
		{"note_titles", titles, true},
		{"approved", c.Approved, true},
		{"source", c.Source, true},
		{"rejected", c.Rejected, c.Rejected},
		{"was", c.Was, c.Was != ""},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	put := func(key string, value any) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := enc.Encode(key); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the encoder ends each value with a line feed
		b.WriteByte(':')
		err := enc.Encode(value)
		b.Truncate(b.Len() - 1)
		return err
	}
	b.WriteByte('{')
	for _, f := range fields {
		if f.on {
			if err := put(f.key, f.value); err != nil {
				return nil, err
			}
		}
	}
	for _, x := range c.extra {
		if err := put(x.key, x.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads a case and checks it.
func (c *Case) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	*c = Case{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // inside an object, the decoder lets nothing else stand here
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := c.set(key, value); err != nil {
			return fmt.Errorf("%.40q: %w", key, err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	return c.check()
}

func (c *Case) set(key string, value json.RawMessage) error {
	var to any
	switch key {
	case "query":
		to = &c.Query
	case "relevant_ids":
		to = &c.RelevantIDs
	case "note_titles":
		to = &c.NoteTitles
	case "approved":
		to = &c.Approved
	case "source":
		to = &c.Source
	case "rejected":
		to = &c.Rejected
	case "was":
		to = &c.Was
	default:
		c.extra = append(c.extra, pair{key, value})
		return nil
	}
	return json.Unmarshal(value, to)
}

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
	warnings = f.problems()
	unreviewed := 0
	for _, line := range f.lines {
		switch {
		case line.c == nil || line.c.Rejected:
		case !line.c.Approved && !includeUnreviewed:
			unreviewed++
		default:
			cases = append(cases, *line.c)
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

// Append adds cases to a file, which is made when it is not there, and returns
// how many were added. A case whose query stands in the file already, refused or
// in its former words, is passed over, as is the second of two. The file is
// replaced at once or not at all.
func Append(file string, cases []Case) (added int, err error) {
	for i := range cases {
		if err := cases[i].check(); err != nil {
			return 0, fmt.Errorf("add a case to %s: query %.60q: %w", file, cases[i].Query, err)
		}
	}
	err = changeCases(file, true, func(f *caseFile) error {
		added = 0
		seen := f.queries()
		for _, c := range cases {
			if seen[key(c.Query)] {
				continue
			}
			seen[key(c.Query)] = true
			c.extra = slices.Clone(c.extra)
			f.lines = append(f.lines, caseLine{c: &c, changed: true})
			added++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}
