package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// Workflow tells an agent how to read memory in three layers (M1): rows that
// cost little, what stands around one of them, and whole notes last. The lines
// that begin with "Step" belong to one tool each.
const Workflow = `3-LAYER WORKFLOW (ALWAYS FOLLOW)
Step 1: index. Ask your question and get one short row for each note: id, title, score, project, date.
Step 2: timeline. Around a row that looks right, see what was written before and after it.
Step 3: hydrate. Read the few notes you need in full, by id. Never hydrate all rows: a row costs at
most 100 tokens, a note often ten times as much.
`

// What a row may hold, in characters, and cost, in tokens as JSON.
const (
	maxRow        = 100
	maxRowID      = 120
	maxRowTitle   = 120
	maxRowProject = 40
	maxRowDate    = 25
	shave         = 20 // is taken off a title that is too long
)

// DefaultRows is how many rows Index returns when the query names no number.
const DefaultRows = 20

// A StageRow is what the first two layers show of a note: as JSON it costs at
// most 100 tokens.
type StageRow struct {
	ID      note.ID  `json:"id"`
	Title   string   `json:"title"`
	Score   *float64 `json:"score,omitempty"` // rounded to four decimals; nil in a timeline
	Project string   `json:"project"`
	Date    string   `json:"date"`
	Anchor  bool     `json:"anchor,omitempty"`
}

func stageRow(r *index.Row) StageRow {
	row := StageRow{ID: note.ID(clip(string(r.ID), maxRowID)), Title: clip(r.Title, maxRowTitle), Project: clip(r.Project, maxRowProject)}
	if t := dated(r); !t.IsZero() {
		row.Date = clip(t.UTC().Format(time.RFC3339), maxRowDate)
	}
	return row
}

// dated is when a note was made, or else written, or else its file.
func dated(r *index.Row) time.Time {
	switch {
	case !r.Created.IsZero():
		return r.Created
	case !r.Updated.IsZero():
		return r.Updated
	}
	return r.Ref.ModTime
}

// fit shaves a row until it costs at most maxRow tokens.
func (r StageRow) fit() StageRow {
	for r.cost() > maxRow {
		switch {
		case r.Title != "":
			r.Title = shaved(r.Title)
		case r.Project != "": // of characters that JSON escapes
			r.Project = shaved(r.Project)
		default: // unreachable: an id of maxRowID letters fits
			return r
		}
	}
	return r
}

func shaved(s string) string { return clip(s, max(0, len([]rune(s))-shave)) }

// cost is what a row costs in tokens, by the JSON that escapes most.
func (r StageRow) cost() int {
	b, err := json.Marshal(r)
	if err != nil {
		return 0 // unreachable: scores are finite
	}
	return Tokens(string(b))
}

// Index is the first layer: one row for each note that answers a query, through
// all stages of Recall. It writes down no gap. When the gate stays shut there
// are no rows; nothing else is tried.
func (e *Engine) Index(ctx context.Context, q Query) ([]StageRow, *Result, error) {
	if q.K == 0 {
		q.K = DefaultRows
	}
	q.Synthetic = true
	q.Cost = func(h *Hit) int { return scored(h).cost() }
	res, err := e.Recall(ctx, q)
	if err != nil {
		return nil, res, err
	}
	rows := make([]StageRow, 0, len(res.Hits))
	for _, h := range res.Hits {
		rows = append(rows, scored(h))
	}
	return rows, res, nil
}

func scored(h *Hit) StageRow {
	row := stageRow(&h.Row)
	score := float64(int64(h.Score()*1e4+0.5)) / 1e4
	row.Score = &score
	return row.fit()
}

// Timeline is the second layer: the notes that were made around one, the oldest
// first. The anchor is a note by id or a prefix of one, or, when that is empty,
// the best answer to the query. The query's scope selects the notes that count. It is
// an error when there is no anchor; it wraps ErrNoNote.
func (e *Engine) Timeline(ctx context.Context, anchor note.ID, q Query, before, after int) ([]StageRow, error) {
	var at index.Row
	if anchor != "" {
		found, err := e.named(ctx, []note.ID{anchor})
		if err != nil {
			return nil, err
		}
		if len(found[0]) != 1 {
			return nil, fmt.Errorf("timeline: %w", unnamed(anchor, found[0]))
		}
		at = found[0][0]
	} else {
		q.K, q.Synthetic = 1, true
		res, err := e.Recall(ctx, q)
		if err != nil {
			return nil, err
		}
		if len(res.Hits) == 0 {
			return nil, fmt.Errorf("timeline: nothing answers %q: %w", clip(q.Text, 80), ErrNoNote)
		}
		at = res.Hits[0].Row
	}
	rows, err := e.index.Select(ctx, e.filter(q), 0)
	if err != nil {
		return nil, err
	}
	rows = append(slices.DeleteFunc(rows, func(r index.Row) bool { return r.Key == at.Key }), at)
	slices.SortFunc(rows, func(a, b index.Row) int {
		return cmp.Or(dated(&a).Compare(dated(&b)), cmp.Compare(a.ID, b.ID))
	})
	i := slices.IndexFunc(rows, func(r index.Row) bool { return r.Key == at.Key })
	var line []StageRow
	for j := max(0, i-max(0, before)); j < min(len(rows), i+1+min(len(rows), max(0, after))); j++ {
		row := stageRow(&rows[j])
		row.Anchor = j == i
		line = append(line, row.fit())
	}
	return line, nil
}

// A Hydrated note is the third layer: all there is.
type Hydrated struct {
	ID          note.ID  `json:"id"` // as it was asked for when nothing was found
	Found       bool     `json:"found"`
	Reason      string   `json:"reason,omitempty"` // why it was not found
	Title       string   `json:"title,omitempty"`
	Project     string   `json:"project,omitempty"`
	Date        string   `json:"date,omitempty"`
	Path        string   `json:"path,omitempty"` // relative to the store's root
	FrontMatter string   `json:"frontmatter,omitempty"`
	Body        string   `json:"body,omitempty"`
	Entities    []Entity `json:"entities"` // of its sidecar; null when it has none

	Note    *note.Note    `json:"-"`
	Sidecar *note.Sidecar `json:"-"`
}

// An Entity is one that a sidecar lists for a note.
type Entity struct {
	Name string          `json:"name"`
	Type note.EntityType `json:"type"`
}

// Hydrate is the third layer: the notes with these ids, in that order. An
// unambiguous prefix of an id will do, and so does the name of a file without
// its ending. What is not found says so in its place.
func (e *Engine) Hydrate(ctx context.Context, ids []note.ID) ([]Hydrated, error) {
	found, err := e.named(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := make([]Hydrated, 0, len(ids))
	for i, rows := range found {
		if len(rows) != 1 {
			all = append(all, Hydrated{ID: ids[i], Reason: unnamed(ids[i], rows).Error()})
			continue
		}
		all = append(all, e.hydrate(ctx, rows[0]))
	}
	return all, nil
}

func (e *Engine) hydrate(ctx context.Context, r index.Row) Hydrated {
	h := Hydrated{ID: r.ID, Path: r.Ref.Path}
	c := e.index.Content(ctx, r)
	if c.Err != nil {
		h.Reason = c.Err.Error()
		return h
	}
	n := c.Note
	h.Found, h.Note, h.Title, h.Project, h.Body = true, n, n.Title, n.Project, n.Body
	if t := dated(&r); !t.IsZero() {
		h.Date = t.UTC().Format(time.RFC3339)
	}
	if _, front, ok := strings.Cut(string(c.Text), "---\n"); ok {
		h.FrontMatter, _, _ = strings.Cut(front, "\n---")
	}
	if r.Origin == e.index.Origin() { // sidecars of other machines are not in the index
		h.Sidecar, _, _ = e.store.ReadSidecar(r.Ref.Path) // one that cannot be read is reported by doctor
	}
	if h.Sidecar != nil {
		h.Entities = []Entity{}
		for _, x := range h.Sidecar.Entities {
			h.Entities = append(h.Entities, Entity{x.Name, x.Type})
		}
	}
	return h
}

// ErrNoNote means that there is no note of a name.
var ErrNoNote = errors.New("there is no such note")

// minPrefix is how many characters of an id name a note.
const minPrefix = 4

// named returns the notes that each of some names may mean: one by its whole
// id, else by the name of its file, else all whose ids begin like that.
func (e *Engine) named(ctx context.Context, names []note.ID) ([][]index.Row, error) {
	found := make([][]index.Row, len(names))
	var all []index.Row
	for i, name := range names {
		row, ok, err := e.index.Lookup(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			found[i] = []index.Row{row}
			continue
		}
		if all == nil {
			if all, err = e.index.Select(ctx, index.Filter{Dead: true}, 0); err != nil {
				return nil, err
			}
		}
		var begin []index.Row
		for _, r := range all {
			if strings.TrimSuffix(path.Base(r.Ref.Path), ".md") == string(name) {
				found[i] = append(found[i], r)
			}
			if _, ok := cutFold(string(r.ID), string(name)); ok && len(name) >= minPrefix {
				begin = append(begin, r)
			}
		}
		if found[i] == nil {
			found[i] = begin
		}
	}
	return found, nil
}

// unnamed returns why a name names no note, or too many.
func unnamed(name note.ID, found []index.Row) error {
	if len(found) == 0 {
		return fmt.Errorf("%s: %w", clip(string(name), maxRowID), ErrNoNote)
	}
	var ids []string
	for _, r := range found[:min(len(found), 5)] {
		ids = append(ids, string(r.ID))
	}
	return fmt.Errorf("%s names %d notes: %s …; give more of the id: %w", name, len(found), strings.Join(ids, ", "), ErrNoNote)
}
