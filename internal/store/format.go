package store

import (
	"fmt"
	"io"
	"os"

	"anamnesis/internal/store/layout"
)

// checkFormat refuses a store that a newer program wrote in a form that this one does not know.
// A file that is missing says that the form is the first one, and one that cannot be read says
// nothing: the notes beside it will not be readable either.
func (s *Store) checkFormat() error {
	f, err := os.Open(s.Path(layout.Memory + "/" + layout.FormatFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, layout.MaxFormat))
	if err != nil {
		return nil
	}
	if err := layout.CheckFormat(content); err != nil {
		return fmt.Errorf("open store %s: %w", s.root, err)
	}
	return nil
}
