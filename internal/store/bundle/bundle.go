// Package bundle writes everything of a store that cannot be rebuilt into one
// file, and fills a store from it. A bundle comes from anywhere: it is checked as a
// whole before anything of it is written.
package bundle

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A bundle is a tar file that holds
// notes of both trees with their sidecars, tombstones and aliases, history,
// conflicts, held drafts, the event log, corpora, eval sets, redaction rules.
// What is derived (the index), waits (the spool), belongs to git or holds
// credentials (config.json) is not in it.
//
// The first member is manifest.json. The others stand in the order of their
// names, with no times and no owners: two bundles of the same store are equal,
// byte for byte.

const (
	bundleKind    = "anamnesis-export"
	bundleVersion = 1
	manifestName  = "manifest.json"

	maxMember   = 256 << 20 // bytes of one file
	maxManifest = 64 << 20
)

// bundled are the folders below the root that belong into a bundle, and
// bundledFiles the files.
var (
	bundled      = []string{"conflicts", "corpora", "eval", "events", "history", "local", "memory", "spool/held"}
	bundledFiles = []string{"allowed.json", "imports.json", "redact.toml"}
)

// A Member is a file in a bundle.
type Member struct {
	Path   string `json:"path"` // relative to the store's root, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// A Manifest says what is in a bundle.
type Manifest struct {
	Version int      `json:"format_version"`
	Kind    string   `json:"kind"`
	Notes   int      `json:"note_count"`
	Members []Member `json:"members"`
}

// Export writes a bundle of the store, under the store lock where the store can be
// written. The event log may grow at the same time, and is written as far as it went at
// the start.
func Export(ctx context.Context, s *store.Store, w io.Writer) (Manifest, error) {
	m := Manifest{Version: bundleVersion, Kind: bundleKind, Members: []Member{}}
	fail := func(err error) (Manifest, error) { return m, fmt.Errorf("export %s: %w", s.Root(), err) }
	if !s.ReadOnly() { // what cannot be written does not change
		unlock, err := s.Lock(ctx)
		if err != nil {
			return m, err
		}
		defer unlock()
	}
	for _, top := range slices.Concat(bundled, bundledFiles) {
		if err := gather(s, top, &m); err != nil {
			return fail(err)
		}
	}
	slices.SortFunc(m.Members, func(a, b Member) int { return strings.Compare(a.Path, b.Path) })
	head, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fail(err)
	}
	t := tar.NewWriter(w)
	if err := member(t, manifestName, append(head, '\n')); err != nil {
		return fail(err)
	}
	for _, b := range m.Members {
		data, err := bundledFile(s, b.Path, b.Size)
		if err == nil && store.Digest(data) != b.SHA256 {
			err = fmt.Errorf("%s changed while it was written; try again", s.Path(b.Path))
		}
		if err == nil {
			err = member(t, b.Path, data)
		}
		if err != nil {
			return fail(err)
		}
	}
	if err := t.Close(); err != nil {
		return fail(err)
	}
	return m, nil
}

// gather lists the files below a name.
func gather(s *store.Store, top string, m *Manifest) error {
	return filepath.WalkDir(s.Path(top), func(full string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || full == s.Path(layout.Sessions)): // what is kept of sessions never travels
			return filepath.SkipDir
		case !d.Type().IsRegular() || layout.IsTemp(d.Name()) || layout.IsLock(d.Name()):
			return nil // links are never followed
		}
		rel, err := filepath.Rel(s.Root(), full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		fi, err := d.Info()
		if err != nil {
			return err
		}
		data, err := bundledFile(s, name, fi.Size())
		if err != nil {
			return err
		}
		if layout.IsNotePath(name) {
			if _, err := note.Parse(data); err == nil {
				m.Notes++
			}
		}
		m.Members = append(m.Members, Member{Path: name, Size: int64(len(data)), SHA256: store.Digest(data)})
		return nil
	})
}

// bundledFile reads the first size bytes of a file.
func bundledFile(s *store.Store, name string, size int64) ([]byte, error) {
	if _, err := s.Stat(name); err != nil {
		return nil, err
	}
	if size > maxMember {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", s.Path(name), store.ErrTooLarge, size, maxMember)
	}
	f, err := os.Open(s.Path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

func member(t *tar.Writer, name string, data []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}
