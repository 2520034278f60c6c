package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// An editor knows nothing of the store lock. It may save a note, in place or by a rename,
// between our reading of the file and our replacing it, and even afterwards, into the file
// that has no name any more. So what a note's file is replaced by changes places with it in
// one step of the system, and the former file keeps a name until nobody writes to it: an
// aside. What is in it that was not read before is an edit, and becomes a revision.
//
// Asides stand in conflicts/ under names of temporary files, which say all that is needed
// after a crash: TIME-NOTE-NEW-FORMER, the last two the hashes of what took the place of
// the file and of what was read from it.
const asidePrefix = layout.TempPrefix + "was-"

// editReason is the reason of a revision that an editor saved while the note was written.
const editReason = "edit"

// asideAge is how long an aside is kept where the system does not say whether somebody
// writes to it, and asideMost how long where somebody does.
const (
	asideAge  = time.Minute
	asideMost = 24 * time.Hour
)

// maxReplaced is the largest file whose place a note takes, in bytes.
const maxReplaced = 1 << 30

// An aside is the former file of a note.
type aside struct {
	at          string // its full path
	made        time.Time
	note        note.ID
	new, former string // shortHash
}

func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

func (s *Store) newAside(id note.ID, data, former []byte) aside {
	a := aside{made: s.now(), note: id, new: shortHash(data), former: shortHash(former)}
	a.at = s.Path("conflicts/" + asidePrefix + strings.Join([]string{string(note.NewID(a.made)), string(id), a.new, a.former}, "-"))
	return a
}

func parseAside(at string) (a aside, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(at), asidePrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) < 4 {
		return a, false
	}
	made, err := ulid.ParseStrict(parts[0])
	last := len(parts)
	id, ierr := note.ParseID(strings.Join(parts[1:last-2], "-"))
	return aside{at, ulid.Time(made.Time()), id, parts[last-2], parts[last-1]}, err == nil && ierr == nil
}

// asides lists what stands aside. There is next to nothing in the folder.
func (s *Store) asides() (all []aside) {
	entries, err := os.ReadDir(s.Path("conflicts"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if a, ok := parseAside(s.Path("conflicts/" + e.Name())); ok && e.Type().IsRegular() {
			all = append(all, a)
		}
	}
	return all
}

// settle brings in what was saved into files that stand aside, and lets those go that
// nobody writes to.
func (w *Writer) settle() {
	for _, a := range w.s.asides() {
		edit, err := w.look(a)
		if err != nil || edit == nil {
			continue // what cannot be looked at stays
		}
		_ = w.bring(a.note, "", w.formerOf(a), edit)
	}
}

// formerOf returns what was read of the file of an aside, nil when the history does not
// have it any more.
func (w *Writer) formerOf(a aside) []byte {
	revs, err := w.s.History(a.note)
	if err != nil {
		return nil
	}
	for _, r := range revs {
		if data, _, err := w.s.readRegular(r.Path, MaxNoteSize); err == nil && shortHash(data) == a.former {
			return data
		}
	}
	return nil
}

// look reads an aside. What was saved there and not read before becomes a revision, and is
// returned; the aside goes. One that somebody writes to stays as it is.
func (w *Writer) look(a aside) (edit []byte, err error) {
	s := w.s
	f, err := os.Open(a.at)
	if err != nil {
		return nil, err
	}
	idle, known := unwritten(f) // who opens the file from now on finds the other one
	_ = f.Close()
	data, _, err := s.readRegular("conflicts/"+filepath.Base(a.at), maxReplaced)
	if err != nil {
		return nil, err
	}
	hash, age := shortHash(data), s.now().Sub(a.made)
	edited := hash != a.new && hash != a.former
	if !known {
		_, perr := note.Parse(data)
		idle = age > asideAge || edited && perr == nil
	}
	if !idle && age < asideMost {
		return nil, nil
	}
	if edited {
		if err := w.KeepRevision(a.note, data, editReason); err != nil {
			return nil, err
		}
		edit = data
	}
	return edit, dropped(s.disk.Remove(a.at))
}

// ReplaceNote writes data in the place of a note's file of which former was read and is kept elsewhere. What an editor saved
// there since is brought in.
func ReplaceNote(w *Writer, id note.ID, path string, data, former []byte) error {
	return w.replaceNote(id, path, data, former)
}

// RemoveNote removes a note's file of which former was read and is kept elsewhere. What an editor saved there since is brought
// in: into the note where it stands elsewhere, else back into its place.
func RemoveNote(w *Writer, id note.ID, path string, former []byte) error {
	return w.removeNote(id, path, former)
}

// replaceNote writes data in the place of a note's file of which former was read and is in
// the history. What an editor saved there since is brought in.
func (w *Writer) replaceNote(id note.ID, path string, data, former []byte) error {
	s := w.s
	if err := s.folders(path); err != nil {
		return err
	}
	dir := filepath.Dir(s.Path(path))
	temp, err := s.writeTemp(dir, data)
	if err != nil {
		return err
	}
	edit, err := w.displace(id, path, temp, data, former)
	if err != nil {
		return errors.Join(err, dropped(s.disk.Remove(temp)))
	}
	if err := s.disk.SyncDir(dir); err != nil || edit == nil {
		return err
	}
	return w.bring(id, path, former, edit)
}

// removeNote removes a note's file of which former was read and is in the history. What an
// editor saved there since is brought in.
func (w *Writer) removeNote(id note.ID, path string, former []byte) error {
	a := w.s.newAside(id, nil, former)
	if err := w.s.disk.MkdirAll(filepath.Dir(a.at)); err != nil {
		return err
	}
	if err := w.s.disk.Rename(w.s.Path(path), a.at); err != nil {
		return err
	}
	edit, err := w.look(a)
	if err != nil || edit == nil {
		return err
	}
	return w.bring(id, path, former, edit)
}

// bring merges what an editor saved into the note's file, wherever it stands now. Both come
// from base, which may be nil. What cannot be merged becomes a conflict; of a note that has
// no file any more the edit is the file again, if it is known where it stood.
func (w *Writer) bring(id note.ID, path string, base, edit []byte) error {
	s := w.s
	at, now := w.standing(id, path)
	if at == "" {
		if path == "" {
			return nil
		}
		return s.replace(path, edit, true)
	}
	m := note.Reconcile(base, now, edit)
	if rel, portable := strings.CutPrefix(at, layout.Memory+"/"); portable && m.Other != nil {
		if _, _, err := w.AddConflict(rel, m.Data, m.Other); err != nil {
			return err
		}
	}
	if bytes.Equal(m.Data, now) {
		return nil
	}
	if err := w.KeepRevision(id, now, editReason); err != nil {
		return err
	}
	return w.replaceNote(id, at, m.Data, now)
}

// standing finds the file of a note, at path first.
func (w *Writer) standing(id note.ID, path string) (at string, data []byte) {
	places := []string{path}
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			places = append(places, NotePath(scope, t, id))
		}
	}
	for _, p := range places {
		if p == "" {
			continue
		}
		if data, _, err := w.s.readRegular(p, MaxNoteSize); err == nil {
			return p, data
		}
	}
	return "", nil
}

func dropped(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// displace brings temp, which holds data, to the place of a note's file, and returns what
// stood there if it is not former.
func (w *Writer) displace(id note.ID, path, temp string, data, former []byte) (edit []byte, err error) {
	s, full := w.s, w.s.Path(path)
	if fi, err := os.Lstat(full); err == nil && !fi.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	a := s.newAside(id, data, former)
	if err := s.disk.MkdirAll(filepath.Dir(a.at)); err != nil {
		return nil, err
	}
	if err := s.disk.Rename(temp, a.at); err != nil {
		return nil, err
	}
	if err := s.disk.Exchange(a.at, full); err != nil {
		return nil, errors.Join(err, dropped(s.disk.Remove(a.at)))
	}
	if _, err := os.Lstat(a.at); errors.Is(err, fs.ErrNotExist) { // there was no file any more
		return nil, nil
	}
	return w.look(a)
}

// writeTemp writes data to a temporary file in dir and waits until it is on the disk.
func (s *Store) writeTemp(dir string, data []byte) (name string, err error) {
	f, err := s.disk.Create(dir)
	if err != nil {
		return "", err
	}
	if err := fill(f, data, true); err != nil {
		return "", errors.Join(err, s.disk.Remove(f.Name()))
	}
	return f.Name(), nil
}

// eraseAsides removes what stands aside of a note that is forgotten.
func (s *Store) eraseAsides(id note.ID) error {
	var errs []error
	for _, a := range s.asides() {
		if a.note == id {
			errs = append(errs, dropped(s.disk.Remove(a.at)))
		}
	}
	return errors.Join(errs...)
}
