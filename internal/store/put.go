package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/note"
)

// Reasons for a change, as they stand in the names of history files.
const (
	Update   = "update"
	Capture  = "capture"
	Archived = "archive"
	Merged   = "merge"
	Deleted  = "delete"
	Restored = "restore"
	Conceded = "conflict" // the loser of a conflict that was resolved
	Imported = "import"   // it changed in another memory, before it came here
)

// Put writes n, which the caller has validated, and returns its file. A note
// that exists keeps its place unless its type or scope changed; its former
// bytes go to history first, under reason. Only what changed is rewritten, and
// when nothing did nothing is written: changed is false.
//
// The caller holds the store lock. When Put returns without an error the note
// is on the disk.
func (s *Store) Put(n *note.Note, old Ref, reason string) (ref Ref, changed bool, err error) {
	path := NotePath(n.Scope, n.Type, n.ID)
	var former []byte
	if old.Path != "" {
		if former, _, err = s.readRegular(old.Path, MaxNoteSize); err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(old.Path), err)
		}
		if was, err := note.Parse(former); err == nil {
			if was.Type == n.Type && old.Scope == n.Scope {
				path = old.Path
			}
			n = n.Clone()
			n.InheritEdits(was)
		}
	} else if _, err := os.Lstat(s.Path(path)); !errors.Is(err, fs.ErrNotExist) {
		return Ref{}, false, fmt.Errorf("put note %s: a file of that name is there already; choose another id", s.Path(path))
	}
	var data []byte
	if former == nil {
		data = n.Format()
	} else if data, err = n.Rewrite(former); err != nil {
		return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(path), err)
	}
	if former != nil && path == old.Path && bytes.Equal(data, former) {
		ref, err = s.Stat(path)
		return ref, false, err
	}
	if former != nil {
		if err := s.remember(n.ID, former, reason); err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: keep its former state: %w", s.Path(path), err)
		}
	}
	if err := s.replace(path, data, true); err != nil {
		return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(path), explain(err))
	}
	if former != nil && path != old.Path {
		if err := s.leave(old.Path, path); err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: leave its former place: %w", s.Path(old.Path), err)
		}
	}
	ref, err = s.Stat(path)
	return ref, true, err
}

// leave takes a note's sidecar along to its new place and removes the old file,
// in this order: a crash in between leaves both files, and index.Sync names the
// second.
func (s *Store) leave(old, path string) error {
	was, now := sidecarPath(old), sidecarPath(path)
	if _, err := s.lstat(was); err == nil {
		if err := s.disk.Rename(s.Path(was), s.Path(now)); err != nil {
			return err
		}
	}
	return s.disk.Remove(s.Path(old))
}

const sidecarSuffix = ".entities.yaml"

// sidecarPath returns where the sidecar of the note at path stands.
func sidecarPath(path string) string { return strings.TrimSuffix(path, ".md") + sidecarSuffix }
