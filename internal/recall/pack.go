package recall

import (
	"context"
	"unicode/utf8"

	"anamnesis/internal/index"
)

// pack reads the notes of the best hits, as many as the query asks for and its
// budget allows (R4). The cost is what will be shown. A note that does not fit
// is passed over, so that a shorter one behind it may still; the first is
// always kept.
func (e *Engine) pack(ctx context.Context, q Query, hits []*Hit, res *Result) {
	for i, c := range e.index.Contents(ctx, rowsOf(hits)) {
		if len(res.Hits) == q.K {
			break
		}
		h, n := hits[i], c.Note
		if res.Persona != nil && h.Row.ID == res.Persona.Note {
			continue // it is the first hit
		}
		if c.Err != nil {
			res.Missing = append(res.Missing, c.Err.Error())
			continue
		}
		if n.ID != h.Row.ID {
			continue // the file was replaced since the index saw it
		}
		h.Note = n
		h.End = min(h.End, len(n.Body))
		h.Start = min(h.Start, h.End)
		if len(q.Fields) > 0 {
			h.Fields = FieldsOf(n, q.Fields)
		}
		h.Tokens = cost(q, h)
		if q.MaxTokens > 0 && len(res.Hits) > 0 && res.Tokens+h.Tokens > q.MaxTokens {
			if q.Strict {
				break
			}
			continue
		}
		res.Hits = append(res.Hits, h)
		res.Tokens += h.Tokens
	}
}

func rowsOf(hits []*Hit) []index.Row {
	rows := make([]index.Row, len(hits))
	for i, h := range hits {
		rows[i] = h.Row
	}
	return rows
}

func cost(q Query, h *Hit) int {
	if q.Cost != nil {
		return q.Cost(h)
	}
	return Tokens(h.Note.Title) + Tokens(h.Note.Body)
}

// Tokens estimates what a text costs a model: a quarter of its characters, rounded up.
func Tokens(s string) int { return (utf8.RuneCountInString(s) + CharsPerToken - 1) / CharsPerToken }

// CharsPerToken is how many characters of a text are about one token of a model.
const CharsPerToken = 4
