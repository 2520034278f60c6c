package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/bundle"
)

// ExportAnswer is what an export wrote.
type ExportAnswer struct {
	File  string `json:"file"`
	Notes int    `json:"notes"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Export writes everything that cannot be rebuilt to w, as a tar file. It holds
// the store lock at the same time, unless the store cannot be written.
func Export(ctx context.Context, r *Rooms, w io.Writer) (notes, files int, err error) {
	man, err := bundle.Export(ctx, r.Store, w)
	return man.Notes, len(man.Members), err
}

// ExportNotes writes the notes of a selection to w as lines of JSON, oldest
// first. One that cannot be read is reported, and left out.
func ExportNotes(ctx context.Context, r *Rooms, w io.Writer, s Selection) (notes, files int, err error) {
	f, err := s.Filter(r)
	if err != nil {
		return 0, 0, err
	}
	rows, err := r.Index.Select(ctx, f, 0)
	if err != nil {
		return 0, 0, err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	slices.Reverse(rows)
	for _, c := range r.Index.Contents(ctx, rows) {
		if c.Err != nil {
			r.Notify("left out: %v", c.Err)
			continue
		}
		n := c.Note
		whole := struct {
			NoteHead
			Body        string          `json:"body"`
			DerivedFrom []note.ID       `json:"derived_from,omitempty"`
			Evidence    []note.Evidence `json:"evidence,omitempty"`
		}{HeadOf(n), n.Body, n.DerivedFrom, n.Evidence}
		if whole.Tags == nil {
			whole.Tags = []string{}
		}
		if err := enc.Encode(whole); err != nil {
			return notes, notes, err
		}
		notes++
	}
	return notes, notes, nil
}

// ExportFile lets write fill a file that is whole or not there. One that exists
// is not overwritten.
func ExportFile(name string, write func(io.Writer) (notes, files int, err error)) (a ExportAnswer, err error) {
	if _, err := os.Lstat(name); err == nil {
		return a, fmt.Errorf("export: %s is there already; name another file", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".anamnesis-export-*") // 0600
	if err != nil {
		return a, fmt.Errorf("export: %w", err)
	}
	out := bufio.NewWriterSize(tmp, 1<<20)
	a.File = name
	a.Notes, a.Files, err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("export to %s: %w", name, err), os.Remove(tmp.Name()))
	}
	a.Bytes = SizeOf(name)
	return a, nil
}

// BundleAnswer is what filling the store from a bundle did, or would do.
type BundleAnswer struct {
	Applied   bool      `json:"applied"`
	Notes     int       `json:"notes"`
	Written   int       `json:"written"`
	Same      int       `json:"same"`
	Claimed   int       `json:"claimed"`   // notes that say that a person wrote them, or found them right
	Confirmed bool      `json:"confirmed"` // the person said that those are theirs
	Different []string  `json:"different"`
	Forgotten []string  `json:"forgotten"`
	Foreign   []string  `json:"foreign"`
	Refused   []Refusal `json:"refused"`
	Erasing   []string  `json:"erasing"` // tombstones that would erase what stands here
	Erases    []string  `json:"erases"`  // what they would erase, or have erased
}

// A Refusal is a file of a bundle that is not taken.
type Refusal struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// ImportBundle fills the store from the bundle in the file name, and brings
// everything into step with it.
func ImportBundle(ctx context.Context, r *Rooms, name string, o bundle.Options) (a BundleAnswer, err error) {
	if o.Mine {
		if err := ingest.May(r.Host.By, ingest.Decide); err != nil {
			return a, err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return a, fmt.Errorf("import a bundle: %w", err)
	}
	defer f.Close()
	u, err := unpack(ctx, r, f, o)
	if errors.Is(err, bundle.ErrPopulated) {
		return a, Errorf(Failed, "%w: %s; --merge adds what is missing there, also when an import was stopped", err, r.Store.Root())
	}
	a = BundleAnswer{
		Applied: !o.Dry, Notes: u.Manifest.Notes, Written: len(u.Written), Same: u.Same,
		Claimed: u.Claimed, Confirmed: o.Mine && !o.Dry,
		Different: u.Different, Forgotten: u.Forgotten, Foreign: u.Foreign, Erasing: u.Erasing, Erases: u.Erases,
	}
	for _, refused := range u.Refused {
		a.Refused = append(a.Refused, Refusal{refused.Path, refused.Why})
	}
	return a, err
}

// unpack imports a bundle under the store lock.
func unpack(ctx context.Context, r *Rooms, f io.ReadSeeker, o bundle.Options) (bundle.Unpacked, error) {
	var trace recall.Trace
	u, err := ingest.NewIncoming(r.Store).Unpack(ctx, f, o, func(paths []string) error {
		trace = traceOf(ctx, r, paths...)
		return disallow(r, paths)
	})
	if err != nil || o.Dry {
		return u, err
	}
	bar := r.Progress("indexing notes")
	_, err = r.Index.Sync(ctx, index.SyncOptions{Progress: bar.Step})
	bar.Done()
	erase(ctx, r, trace)
	return u, err
}

// SizeOf is the size of a file in bytes, 0 when it is not there.
func SizeOf(name string) int64 {
	fi, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}
