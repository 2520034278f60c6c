package inject

import (
	"context"
	"slices"

	"anamnesis/internal/anchor"
	"anamnesis/internal/note"
)

// maxLooked is how many files and folders are looked at for a file that is not where a
// note knew it: a session waits for that.
const maxLooked = 2000

// sift looks whether the code that notes name is still as it was when they were written,
// in the clone in which the session works. A note of which nothing is left there is not
// shown: sift leaves it out and names it in b.Withheld. One of which something is not as
// it was is marked when it is shown.
func (in *Injector) sift(ctx context.Context, p Place, notes []*note.Note, b *Block) []*note.Note {
	stamped := func(n *note.Note) bool { return len(n.AnchorHashes) > 0 && slices.Contains(p.Projects, n.Project) }
	if !in.opts.Fresh || p.Clone == "" || !slices.ContainsFunc(notes, stamped) {
		return notes
	}
	clone, err := anchor.Open(p.Clone, maxLooked)
	if err != nil { // there is no code to look at, so nothing speaks against a note
		return notes
	}
	defer clone.Close()
	return slices.DeleteFunc(notes, func(n *note.Note) bool {
		if !stamped(n) {
			return false
		}
		switch anchor.Worst(clone.Check(ctx, anchor.ParseAll(n.AnchorHashes))) {
		case anchor.Gone:
			b.Withheld = append(b.Withheld, n.ID)
			return true
		case anchor.Changed, anchor.Moved:
			if b.moved == nil {
				b.moved = make(map[note.ID]bool)
			}
			b.moved[n.ID] = true
		}
		return false
	})
}

// movedOn marks a note that names code which is not as it was.
const movedOn = "the code that it names has changed since: check it; `anamnesis review stale`"
