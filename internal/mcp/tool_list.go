package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
)

const maxPage = 200 // notes of a list

var toolList = tool{
	name:  "memory_list",
	doc:   `List notes without bodies, newest first; memory_get reads them.`,
	hints: readOnly,
	does:  reads,
	find:  "list browse notes of long-term memory",
	input: schemaOf[listIn],
	amend: func(p map[string]*jsonschema.Schema) {
		closeFilter(p)
		p["limit"].Default = by("50")
	},
	call: takes((*Server).list),
}

type listIn struct {
	filterIn
	Limit  int    `json:"limit,omitempty" jsonschema:"up to 200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of a page"`
}

type listOut struct {
	NextCursor string    `json:"next_cursor,omitempty"` // there are more
	Result     []lineOut `json:"result"`
	Stale      int       `json:"stale,omitempty"` // changed files that the answer does not know yet; -1: some
}

func (listOut) framed() {}

func (s *Server) list(ctx context.Context, c caller, in listIn) (listOut, error) {
	out := listOut{Result: []lineOut{}}
	if in.Limit < 1 {
		return out, fmt.Errorf("limit is %d; ask for 1 to %d notes", in.Limit, maxPage)
	}
	in.Limit = min(in.Limit, maxPage)
	from, err := parseCursor(in.Cursor)
	if err != nil {
		return out, err
	}
	if out.Stale, err = s.refresh(ctx); err != nil {
		return out, err
	}
	f, err := s.filter(ctx, c, in.filterIn)
	if err != nil {
		return out, err
	}
	rows, err := s.after(ctx, f, from, in.Limit+1)
	if err != nil {
		return out, err
	}
	left := budget(maxAnswer)
	for i := range rows[:min(len(rows), in.Limit)] {
		row := ofRow(&rows[i])
		o := row.line()
		if !left.room(o) {
			break
		}
		out.Result = append(out.Result, o)
	}
	if n := len(out.Result); n > 0 && n < len(rows) {
		last := &rows[n-1]
		out.NextCursor = cursor{seen: from.seen + n, at: last.Updated.UnixNano(), id: last.ID}.String()
	}
	return out, nil
}

// after returns the rows behind a cursor, at most limit. How many pages were
// seen is only a guess of how many rows to ask for: notes come and go.
func (s *Server) after(ctx context.Context, f index.Filter, from cursor, limit int) ([]index.Row, error) {
	for n := from.seen + limit; ; n *= 2 {
		rows, err := s.rooms.Index.Select(ctx, f, n)
		if err != nil {
			return nil, err
		}
		rest := rows
		if from.id != "" {
			rest = from.rest(rows)
		}
		if len(rest) >= limit || len(rows) < n {
			return rest[:min(len(rest), limit)], nil
		}
	}
}

// A cursor is the last note of a page.
type cursor struct {
	seen int
	at   int64 // Row.Updated in nanoseconds
	id   note.ID
}

const maxSeen = 10_000_000

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", c.seen, c.at, c.id))
}

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	wrong := errors.New("this cursor is not one that memory_list gave; leave it out to start over")
	data, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.Split(string(data), " ")
	if err != nil || len(parts) != 3 {
		return cursor{}, wrong
	}
	var c cursor
	var errs [3]error
	c.seen, errs[0] = strconv.Atoi(parts[0])
	c.at, errs[1] = strconv.ParseInt(parts[1], 10, 64)
	c.id, errs[2] = note.ParseID(parts[2])
	if errors.Join(errs[:]...) != nil || c.seen < 0 || c.seen > maxSeen {
		return cursor{}, wrong
	}
	return c, nil
}

// rest returns what follows the cursor's note in rows, or would if the note has
// not gone or changed since.
func (c cursor) rest(rows []index.Row) []index.Row {
	for i := range rows {
		r := &rows[i]
		at := r.Updated.UnixNano()
		if at < c.at || at == c.at && strings.ToLower(string(r.ID)) < strings.ToLower(string(c.id)) {
			return rows[i:]
		}
	}
	return nil
}
