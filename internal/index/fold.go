package index

import (
	"context"
	"maps"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Fold counts what the event log says happened to notes since it was last
// read. The log is the truth; the counters can be made again from it.
func (ix *Index) Fold(ctx context.Context) error {
	from, err := ix.Cursors(ctx)
	if err != nil {
		return err
	}
	files, err := ix.store.EventFiles()
	if err != nil {
		return err
	}
	add := make(map[note.ID]Counter)
	to := maps.Clone(from)
	for _, f := range files {
		next, err := ix.store.Records(f, from[f], func(r store.Record) {
			at, _ := time.Parse(time.RFC3339, r.At)
			for _, id := range r.Notes {
				c := add[id]
				switch r.Kind {
				case store.Injected:
					c.Injected++
				case store.Recalled:
					c.Recalled++
				default:
					continue
				}
				if at.After(c.Last) {
					c.Last = at
				}
				add[id] = c
			}
		})
		if err != nil {
			return err
		}
		if next != from[f] {
			to[f] = next
		}
	}
	if maps.Equal(from, to) {
		return nil
	}
	return ix.Count(ctx, add, from, to)
}
