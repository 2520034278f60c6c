package replica

import (
	"fmt"
	"slices"
	"strings"
)

// A WithheldFile is a file of the tree that does not travel, and why.
type WithheldFile struct {
	ID   string `json:"id"`   // of the note, for those who know notes; "" here
	Path string `json:"path"` // relative to the tree, with slashes
	Why  string `json:"why"`  // the kind of reason; what it is about may follow a colon and a space
}

// A WithheldKind is the files that do not travel for one kind of reason.
type WithheldKind struct {
	Why   string
	Files []WithheldFile
}

// WithheldKinds groups files by the kind of their reason, in the order in which the kinds occur.
func WithheldKinds(files []WithheldFile) (kinds []WithheldKind) {
	for _, f := range files {
		why, _, _ := strings.Cut(f.Why, ": ")
		i := slices.IndexFunc(kinds, func(k WithheldKind) bool { return k.Why == why })
		if i < 0 {
			i, kinds = len(kinds), append(kinds, WithheldKind{Why: why})
		}
		kinds[i].Files = append(kinds[i].Files, f)
	}
	return kinds
}

// String says it in one line, however many files there are: what they share of the reasons.
func (k WithheldKind) String() string {
	if len(k.Files) == 1 {
		return k.Files[0].Path + ": " + k.Files[0].Why
	}
	why := k.Files[0].Why
	if slices.ContainsFunc(k.Files, func(f WithheldFile) bool { return f.Why != why }) {
		why = k.Why
	}
	return fmt.Sprintf("%d files: %s", len(k.Files), why)
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
	var kinds []string
	for _, k := range WithheldKinds(e.Files) {
		kinds = append(kinds, k.String())
	}
	return fmt.Sprintf("%v: %s", ErrHeld, strings.Join(kinds, "; "))
}
