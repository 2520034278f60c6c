package note

import (
	"errors"
	"fmt"
)

// What Parse says about a file that is no note at all.
var (
	ErrNoFrontMatter = errors.New(`missing YAML front matter: the first line must be "---"`)
	ErrUnterminated  = errors.New(`unterminated front matter: close it with a line "---"`)
)

// A FieldError says which key of a front matter, or of a sidecar, is wrong, and where.
type FieldError struct {
	Key  string // empty when it is the whole
	Line int    // line of the file, from 1; 0 when it is not about a file
	Err  error

	sidecar bool
}

func (e *FieldError) Error() string {
	what := "front matter"
	switch {
	case e.Key != "":
		what = e.Key
	case e.sidecar:
		what = "sidecar"
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", what, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, what, e.Err)
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }
