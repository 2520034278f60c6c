package imports

import (
	"context"
	"crypto/sha256"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// A saying is what a note says.
type saying struct {
	id   note.ID
	what note.Fingerprint
}

// key is the hash by which notes of a project that may say the same are found. A
// note without a body says what no other says, and so does a session.
func (s *snapshot) key(n *note.Note, what *note.Fingerprint, of string) (sum [sha256.Size]byte, ok bool) {
	if strings.TrimSpace(n.Body) == "" || n.Type == note.Episodic {
		return sum, false
	}
	return sha256.Sum256([]byte(project.Canonical(s.store, of) + "\x00" + what.Key())), true
}

// heard remembers what a note says. The last of those that say the same counts.
func (s *snapshot) heard(n *note.Note) {
	what := n.Fingerprint()
	if sum, ok := s.key(n, &what, n.Project); ok {
		s.said[sum] = append([]saying{{n.ID, what}}, s.said[sum]...)
	}
}

// says returns the note of a project that says what n says.
func (s *snapshot) says(n *note.Note, of string) (id note.ID, ok bool) {
	what := n.Fingerprint()
	sum, ok := s.key(n, &what, of)
	if !ok {
		return "", false
	}
	for _, other := range s.said[sum] {
		if other.what.Same(&what) {
			return other.id, true
		}
	}
	return "", false
}

// twin returns the note of the project of n, or the global one, that says what n
// says, or "".
func (s *snapshot) twin(n *note.Note) note.ID {
	for _, key := range []string{n.Project, note.Global} {
		if id, ok := s.says(n, key); ok {
			return id
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
	case was.IsArchived():
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
