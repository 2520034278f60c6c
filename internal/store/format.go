package store

import (
	"errors"
	"io/fs"

	"anamnesis/internal/store/layout"
)

// formatPath is the file that says what a program needs for the portable notes.
const formatPath = layout.Memory + "/" + layout.FormatFile

// checkFormat returns why this program must not write the store (ErrOutdated), or not even read it.
// A file that is missing asks for nothing. Another machine or program can bring it at any time, so every
// writer asks again.
func (s *Store) checkFormat() error {
	if s.folders(formatPath) != nil { // there is no folder of notes, and who reads or writes one says so
		return nil //nolint:nilerr // see above
	}
	content, _, err := s.readRegular(formatPath, layout.MaxFormat)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		content = nil // a link, a folder, too large: nothing that this program wrote
	}
	return layout.CheckFormat(content, s.version)
}

// Unwritable returns why the store cannot be written, nil when it can. It is ErrReadOnly, and ErrOutdated
// too when a newer program is needed.
func Unwritable(s *Store) error { return s.unwritable }

// outdated is why a store of a newer program is not written.
type outdated struct{ why error }

func (o *outdated) Error() string   { return o.why.Error() }
func (o *outdated) Unwrap() []error { return []error{o.why, ErrReadOnly} }

// ErrOutdated means that memory/format.json asks for a newer program.
var ErrOutdated = layout.ErrOutdated

// ResetFormat removes the file that asks for a newer program, for a person who knows that no machine
// has one. It reports whether there was one. Its history stays in the repository of the notes.
func ResetFormat(o Options) (bool, error) {
	s, err := open(o)
	if err == nil {
		err = s.unwritable
	}
	if err != nil {
		return false, err
	}
	err = s.folders(formatPath)
	if err == nil {
		err = s.disk.Remove(s.Path(formatPath))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
