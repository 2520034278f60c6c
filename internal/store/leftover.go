package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/store/layout"
)

// restAge is how old a temporary file has to be, before it is taken for what a
// crash left in a folder whose writers may not hold the store lock.
const restAge = 5 * time.Minute

// EraseLeftovers removes what killed writes left in the folders in which texts of
// notes are written. Everybody who writes there holds the store lock, as the
// Writer does, so that no living writer has such a file; and whatever is in one,
// it came into no note. Where others write too, a young file stays.
func (w *Writer) EraseLeftovers() error {
	s := w.s
	w.settle()
	touched := make(map[string]bool)
	var errs []error
	s.temps([]string{"memory", "local", "conflicts", "spool"}, func(at string, age time.Duration) {
		if age < restAge && !s.locked(at) {
			return
		}
		if err := s.disk.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		touched[filepath.Dir(at)] = true
	})
	for _, dir := range slices.Sorted(maps.Keys(touched)) {
		errs = append(errs, s.disk.SyncDir(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("erase what a write left: %w", err)
	}
	return nil
}

// locked reports whether a temporary file is one of those that are written under
// the store lock only.
func (s *Store) locked(at string) bool {
	rel, err := filepath.Rel(s.root, filepath.Dir(at))
	rel = filepath.ToSlash(rel)
	if err != nil || strings.HasPrefix(filepath.Base(at), layout.SyncTempPrefix) {
		return false
	}
	return rel == "spool/held" || rel != "spool" && !strings.HasPrefix(rel, "spool/")
}
