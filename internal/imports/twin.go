package imports

import (
	"context"
	"crypto/sha256"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// saying is the hash by which notes of a project that say the same are known: the
// body, and the title too where the body is short. A note without a body says
// what no other says, and so does a session.
func (s *snapshot) saying(n *note.Note, key string) (sum [sha256.Size]byte, ok bool) {
	body := strings.TrimSpace(n.Body)
	if body == "" || n.Type == note.Episodic {
		return sum, false
	}
	title := ""
	if !note.SelfContained(body) {
		title = note.Normalize(n.Title)
	}
	return sha256.Sum256([]byte(project.Canonical(s.store, key) + "\x00" + title + "\x00" + body)), true
}

// twin returns the note of the project of n, or the global one, that says what n
// says, or "".
func (s *snapshot) twin(n *note.Note) note.ID {
	for _, key := range []string{n.Project, note.Global} {
		if sum, ok := s.saying(n, key); ok && s.said[sum] != "" {
			return s.said[sum]
		}
	}
	return ""
}

// follows decides about a source that did not become a note because another one
// says the same: what was done with that is done with it. Adds means that the two
// have parted, because one of the sources changed.
func (s *snapshot) follows(e entry, d *draft) (Action, string) {
	as := "note " + string(e.As)
	was := s.read(e.As)
	switch _, there := s.paths[e.As]; {
	case !there && s.forgotten(e.As, nil):
		return Skipped, "it was forgotten here, as " + as
	case !there:
		return Skipped, "it was deleted here, as " + as
	case was == nil:
		return Unchanged, as + " says it"
	}
	now := ingest.SummaryHash(was.Title, was.Body)
	moved := now != e.Wrote && e.State == stateTwin && now == was.ImportHash // its own source made it say something else
	switch {
	case e.Source == d.source && !moved:
		return Unchanged, as + " says it"
	case was.Status == "archived":
		return Skipped, "it was archived here, as " + as
	}
	return Adds, ""
}

// twin remembers that a source does not come in because a note says the same, so
// that it does not when that note is no more. One whose twin did not come in
// either is decided about again by the next plan.
func (r *run) twin(ctx context.Context, it *Done) error {
	d := it.draft
	id := d.twin
	if e := r.ledger.Entries[id]; e.As != "" {
		id = e.As
	}
	row, ok, err := r.im.index.Lookup(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	n, _, _, err := r.im.store.Read(row.Ref.Path)
	if err != nil {
		return nil //nolint:nilerr // the next plan looks again
	}
	return r.note(it.ID, entry{Source: d.source, Wrote: ingest.SummaryHash(n.Title, n.Body), As: id, State: stateTwin})
}

// Idle reports whether Apply would do nothing: no item comes in, and there is
// nothing to remember of those that do not.
func (p *Plan) Idle() bool {
	for i := range p.Items {
		if it := &p.Items[i]; it.acts() || it.draft != nil && it.draft.twin != "" {
			return false
		}
	}
	return true
}
