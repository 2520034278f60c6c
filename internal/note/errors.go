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

// A FieldError says which key of a front matter is wrong, and where.
type FieldError struct {
	Key  string // empty when it is the front matter as a whole
	Line int    // line of the file, from 1; 0 when it is not about a file
	Err  error
}

func (e *FieldError) Error() string {
	what := "front matter"
	if e.Key != "" {
		what = e.Key
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", what, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, what, e.Err)
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }
