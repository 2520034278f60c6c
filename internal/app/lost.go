package app

import (
	"fmt"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
)

// A DamagedNote is a file that was a note, or said more, and became that outside of
// Anamnesis: it is empty, ends in the middle, or is no note any more.
type DamagedNote struct {
	ID   note.ID `json:"id"`
	Path string  `json:"path"` // relative to the store
	Why  string  `json:"why"`
}

// LostText reports whether a file does not travel because it is damaged.
func LostText(h WithheldFile) bool {
	what, ok := strings.CutPrefix(h.Why, replica.LossWhy)
	return ok && what != rewritten
}

// DamagedLine says how many notes are damaged and what mends them all, "" for none.
func DamagedLine(n int) string {
	if n == 0 {
		return ""
	}
	are := "notes are"
	if n == 1 {
		are = "note is"
	}
	return fmt.Sprintf("%d %s damaged: `anamnesis restore --damaged` shows what brings them back, and does it with --apply; "+
		"`anamnesis review held release ID --apply` lets one go as it is", n, are)
}
