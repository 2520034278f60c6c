package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/store/layout"
)

// WriteSession replaces a file of layout.Sessions so that a reader sees the old bytes or the new
// ones. What is kept of sessions is no note, so it takes no Writer; package session has the lock.
func WriteSession(s *Store, name string, data []byte) error {
	err := inSessions(name)
	if err == nil {
		err = s.replace(layout.Sessions+"/"+name, data, true)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.Path(layout.Sessions+"/"+name), err)
	}
	return nil
}

// RemoveSession deletes a file of layout.Sessions. One that is gone is no error.
func RemoveSession(s *Store, name string) error {
	err := inSessions(name)
	if err == nil {
		err = s.unwritable
	}
	if err == nil {
		err = s.folders(layout.Sessions + "/" + name)
	}
	if err == nil {
		err = s.disk.Remove(s.Path(layout.Sessions + "/" + name))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("remove %s: %w", s.Path(layout.Sessions+"/"+name), err)
}

// RemoveSessions deletes layout.Sessions with all that is in it, what a crash left half-written too,
// and what package session derived from it and wrote beside it (also: paths below the root).
func RemoveSessions(s *Store, also ...string) error {
	if s.unwritable != nil {
		return fmt.Errorf("remove %s: %w", s.Path(layout.Sessions), s.unwritable)
	}
	var all error
	for _, name := range append([]string{layout.Sessions}, also...) {
		err := s.folders(name)
		if err == nil {
			err = os.RemoveAll(s.Path(name)) // of a link the link
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, fmt.Errorf("remove %s: %w", s.Path(name), err))
		}
	}
	return all
}

func inSessions(name string) error {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%q is no name of a session's file", name)
	}
	return nil
}
