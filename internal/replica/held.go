package replica

import (
	"fmt"
	"strings"
)

// A WithheldFile is a file of the tree that does not travel, and why.
type WithheldFile struct {
	ID   string `json:"id"`   // of the note, for those who know notes; "" here
	Path string `json:"path"` // relative to the tree, with slashes
	Why  string `json:"why"`
}

// A HeldError says that some files were left out of a commit. It is an ErrHeld.
type HeldError struct{ Files []WithheldFile }

// heldError names the files that were left out of a commit, and why.
func heldError(files []WithheldFile) error {
	if len(files) == 0 {
		return nil
	}
	return &HeldError{files}
}

func (e *HeldError) Unwrap() error { return ErrHeld }

func (e *HeldError) Error() string {
	const most = 5
	var b strings.Builder
	for i, f := range e.Files {
		if i == most {
			fmt.Fprintf(&b, ", and %d more", len(e.Files)-most)
			break
		}
		if i > 0 && e.Files[i-1].Why == f.Why {
			continue
		}
		var same []string
		for _, g := range e.Files[i:min(len(e.Files), most)] {
			if g.Why != f.Why {
				break
			}
			same = append(same, g.Path)
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strings.Join(same, ", ") + ": " + f.Why)
	}
	return fmt.Sprintf("%v: %s", ErrHeld, b.String())
}
