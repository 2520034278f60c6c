package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/layout"
)

// A Reviewed note stands on the default branch: the team took it in.
type Reviewed struct {
	ID     note.ID
	Author string // who committed it first, as their git called them; one line, "" when the history does not say
	Data   []byte
	Note   *note.Note
	Proof  note.Proof // of who signed the commit that last changed the file; "" when no key is known that did

	path string
}

// A Refused file stands in the repository in the place of a note, and is not taken.
type Refused struct{ Name, Why string }

// A Reading is what the default branch of the repository holds.
type Reading struct {
	Notes   []Reviewed
	Refused []Refused

	commit string
}

// Read fetches the default branch and returns its notes, in the order of their ids. It
// writes to no repository and needs no name of an author. What went wrong with the
// connection is a *replica.LinkError.
func (r *Repo) Read(ctx context.Context) (all Reading, err error) {
	if err := r.look(ctx); err != nil {
		return all, err
	}
	commits, err := r.clone.Fetch(ctx, r.standard)
	if err != nil {
		return all, err
	}
	all.commit = commits[r.standard]
	files, err := r.clone.List(ctx, all.commit, folder)
	if err != nil {
		return all, err
	}
	shelf := shelve(files)
	if shelf.why != "" {
		all.Refused = append(all.Refused, Refused{folder, shelf.why})
		return all, nil
	}
	authors, err := r.clone.Authors(ctx, all.commit, folder)
	if err != nil {
		authors = nil // a history that is too long names no author
	}
	for _, base := range sortedKeys(shelf.notes) {
		n, why := r.reviewed(ctx, &shelf, base)
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case why != "":
			all.Refused = append(all.Refused, Refused{note.Line(base, 140), why})
		default:
			n.Author = note.Line(authors[base], 60)
			all.Notes = append(all.Notes, n)
		}
	}
	return all, r.prove(ctx, &all)
}

// prove sets who signed the notes. A history that is too long, and a git that cannot verify, prove nothing.
func (r *Repo) prove(ctx context.Context, all *Reading) error {
	paths := make([]string, len(all.Notes))
	for i := range all.Notes {
		paths[i] = all.Notes[i].path
	}
	if len(paths) == 0 {
		return nil
	}
	signed, err := r.clone.Signatures(ctx, all.commit, folder, paths)
	if err != nil {
		return ctx.Err()
	}
	for i := range all.Notes {
		if s, ok := signed[all.Notes[i].path]; ok {
			all.Notes[i].Proof = note.KeyProof(s.Key, s.Signer)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// reviewed reads one file of the shelf, or says why it is no note for others.
func (r *Repo) reviewed(ctx context.Context, s *shelf, base string) (n Reviewed, why string) {
	id, err := note.ParseID(strings.TrimSuffix(base, layout.NoteSuffix))
	if err != nil {
		return n, "its name is that of no note"
	}
	at, why := s.at(id)
	if why != "" {
		return n, why
	}
	blobs, err := r.clone.Blobs(ctx, []string{s.files[at].ID})
	if err != nil {
		return n, note.Line(err.Error(), 200)
	}
	data, read := blobs[s.files[at].ID]
	if !read {
		return n, fmt.Sprintf("it is larger than %d MiB", replica.MaxFile>>20)
	}
	n = Reviewed{ID: id, Data: data, path: at}
	if n.Note, err = note.Parse(data); err != nil {
		return n, "it cannot be read as a note: " + note.Line(err.Error(), 200)
	}
	return n, admissible(n.Note, id)
}

// has returns the reviewed note that makes another offer of a note useless: it has the bytes
// of its file, or the note is as its review left it, or it says the same under another id, or is what the note was imported from.
func (r *Repo) has(all *Reading, n *note.Note, data []byte) (note.ID, bool) {
	says := note.Normalize(n.Statement())
	at := slices.IndexFunc(all.Notes, func(o Reviewed) bool {
		if o.ID == n.ID && n.ImportHash == "" {
			l, err := r.read(reading, n.ID)
			return bytes.Equal(o.Data, data) || err == nil && bytes.Equal(l.Note, o.Data) && (bytes.Equal(l.Ours, data) || kept(l.Ours, o.Note, n))
		}
		return o.Note.Project == n.Project && note.Normalize(o.Note.Statement()) == says &&
			strings.TrimSpace(o.Note.Body) == strings.TrimSpace(n.Body)
	})
	if at < 0 {
		return "", false
	}
	return all.Notes[at].ID, true
}

// kept reports whether a note is what its owner made of it by keeping what the review says: the own form of then,
// with the words of the review. When that happened and who vouches for it is nothing to offer.
func kept(ours []byte, review, n *note.Note) bool {
	was, err := note.Parse(ours)
	if err != nil {
		return false
	}
	want, now := content(was, review), n.Clone()
	for _, f := range []*note.Note{want, now} {
		f.UpdatedAt, f.Edits, f.Vouched, f.Reviewed, f.Provenance = "", nil, "", "", n.Provenance
	}
	return note.Equal(want, now)
}

// reading is the route of the form that a note had on the default branch when it was last
// taken home.
var reading = target{route: "reviewed"}

// Home returns the form of a note of this machine with what the review changed in it since
// it was last taken home, and nil when there is nothing. Of a field that its owner changed
// since it was offered, the later change stays.
//
// Only what a note says comes home: who wrote it, how sure it is, what supports it and
// whether it holds is not for a repository to decide.
func (r *Repo) Home(ctx context.Context, all *Reading, id note.ID, ours []byte) (merged []byte, why string, err error) {
	at := slices.IndexFunc(all.Notes, func(n Reviewed) bool { return n.ID == id })
	if at < 0 {
		return nil, "", nil
	}
	theirs := all.Notes[at].Data
	seen, err := r.read(reading, id)
	if err != nil || bytes.Equal(seen.Note, theirs) || bytes.Equal(ours, theirs) {
		return nil, "", err
	}
	base := r.lastOffered(id)
	switch {
	case base == nil && seen.Note != nil:
		base = seen.Note
	case base == nil:
		before := past{r: r, commit: all.commit}
		f, err := before.ancestor(ctx, id, form{note: ours})
		if err != nil {
			return nil, "", err
		}
		base = f.note
	case seen.Note != nil: // what was offered may wait for its review still
		if m := note.Reconcile(seen.Note, base, theirs); len(m.Lost) == 0 {
			theirs = m.Data
		}
	}
	was, err := note.Parse(ours)
	if err != nil {
		return nil, "", nil //nolint:nilerr // its owner is writing it
	}
	got, err := note.Parse(note.Reconcile(base, ours, theirs).Data)
	if err != nil {
		return nil, "the review left what cannot be read as a note: " + note.Line(err.Error(), 200), nil
	}
	next := content(was, got)
	if note.Equal(was, next) {
		return nil, "", nil
	}
	if redact.PromptInjection(next.Title+"\n"+next.Body) || redact.PromptInjection(next.Statement()) {
		return nil, "what the review made of it reads like orders to an agent", nil
	}
	if merged, err = next.Rewrite(ours); err != nil {
		return nil, note.Line(err.Error(), 200), nil
	}
	return merged, "", nil
}

// content returns a note with what another form of it says.
func content(was, got *note.Note) *note.Note {
	n := was.Clone()
	n.Title, n.Body, n.Tags, n.Category, n.LearningType = got.Title, got.Body, got.Tags, got.Category, got.LearningType
	n.Problem, n.Symptoms, n.RootCause, n.Fix, n.Rule = got.Problem, got.Symptoms, got.RootCause, got.Fix, got.Rule
	n.KeyInsight, n.HowToApply, n.Anchors, n.When = got.KeyInsight, got.HowToApply, got.Anchors, got.When
	n.Tags = slices.DeleteFunc(slices.Clone(n.Tags), func(t string) bool { return t == note.ReviewedTag && !was.HasTag(t) })
	return n
}

// Took remembers what of a note was taken home, and what the own note became by that; nil
// when it stayed as it was.
func (r *Repo) Took(all *Reading, id note.ID, ours []byte) error {
	at := slices.IndexFunc(all.Notes, func(n Reviewed) bool { return n.ID == id })
	if at < 0 {
		return nil
	}
	l, err := r.read(reading, id)
	if err != nil || bytes.Equal(l.Note, all.Notes[at].Data) && ours == nil {
		return err
	}
	return r.save(reading, id, last{Note: all.Notes[at].Data, Ours: ours})
}

// lastOffered returns the form in which a note was last offered on any way, nil for none.
func (r *Repo) lastOffered(id note.ID) (newest []byte) {
	at := filepath.Join(r.p.Dir, offeredFolder)
	entries, err := os.ReadDir(at)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var when time.Time
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), hash(string(id))+"-") || filepath.Join(at, e.Name()) == r.lastOf(reading, id) {
			continue
		}
		info, err := e.Info()
		if err != nil || info.ModTime().Before(when) {
			continue
		}
		if l, ok := readLast(filepath.Join(at, e.Name())); ok && l.Note != nil {
			newest, when = l.Note, info.ModTime()
		}
	}
	return newest
}
