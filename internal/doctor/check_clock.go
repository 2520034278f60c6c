package doctor

import (
	"context"
	"fmt"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/tombstone"
)

// skew is how far clocks of machines may be apart.
const skew = 5 * time.Minute

func checkClock(ctx context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	late := p.now().Add(skew)
	var lines []string
	here := false
	var newest time.Time
	count := 0
	for _, ref := range p.shared.walk() {
		if ref.ModTime.After(late) {
			count++
			if ref.ModTime.After(newest) {
				newest = ref.ModTime
			}
		}
	}
	if count > 0 {
		here = true
		lines = append(lines, fmt.Sprintf("%s with a time of the future, the latest %s", plural(count, "file"), ago(p.now().Sub(newest))))
	}
	if l, err := p.shared.log(); err == nil && l.newest.After(late) {
		here = true
		lines = append(lines, "the last event of this machine's log is of the future: "+ago(p.now().Sub(l.newest)))
	}
	if p.Index != nil {
		rows, err := p.Index.Select(ctx, index.Filter{Dead: true}, 5) // the newest first: no other is later
		if err != nil {
			return warn("look at the check index", fmt.Sprintf("the notes could not be asked for: %v", err))
		}
		for _, r := range rows {
			if r.Updated.After(late) {
				lines = append(lines, fmt.Sprintf("note %s was changed in the future (%s), on machine %s", r.ID,
					r.Updated.UTC().Format(time.RFC3339), clean(r.MachineID, 60)))
			}
		}
	}
	if stones, err := tombstone.For(p.Store, note.Local); err == nil {
		for _, t := range stones {
			if at, err := time.Parse(time.RFC3339, t.At); err == nil && at.After(late) {
				lines = append(lines, fmt.Sprintf("note %s was forgotten in the future (%s)", t.ID, t.At))
			}
		}
	}
	switch {
	case here:
		return warn("set this machine's clock, by the network if you can", lines...)
	case len(lines) > 0:
		return warn("set the clock of the machine that is named; `anamnesis log machines` shows all. "+
			"Until then its edits win every merge", lines...)
	}
	return ok("nothing is of the future")
}
