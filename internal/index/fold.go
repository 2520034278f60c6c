package index

import (
	"context"
	"maps"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// counted is the cursor of a month that was dropped from the log: all of it
// was read, by this index or by the run that dropped it.
const counted = 1 << 62

// Fold counts what the event log says happened to notes since it was last
// read. The log and its checkpoint are the truth; the counters can be made
// again from them.
func (ix *Index) Fold(ctx context.Context) error {
	from, err := ix.Cursors(ctx)
	if err != nil {
		return err
	}
	old, err := ix.store.Events().Checkpoint()
	if err != nil {
		return err
	}
	files, err := ix.store.Events().Files()
	if err != nil {
		return err
	}
	add := make(map[note.ID]store.Tally)
	to := maps.Clone(from)
	for month, tallies := range old.Months {
		if _, read := from[month]; !read {
			for id, t := range tallies {
				add[id] = add[id].Plus(t)
			}
			to[month] = counted
		}
	}
	for _, f := range files {
		if _, dropped := old.Months[f]; dropped {
			continue
		}
		next, err := ix.store.Events().Records(f, from[f], func(r store.Record) { r.Add(add) })
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
