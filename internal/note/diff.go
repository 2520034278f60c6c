package note

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Unified compares two texts line by line and returns a unified diff with three
// lines of context; it is empty for equal texts. Characters that move a
// terminal's cursor are not in it.
func Unified(nameA, nameB, a, b string) string {
	lines := strings.SplitAfter(udiff.Unified(nameA, nameB, a, b), "\n")
	for i, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		if lines[i] = Printable(text); ended {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

// The marks around lines of which one has to choose, as git's users know them.
const (
	markKept   = "<<<<<<< kept"
	markMiddle = "======="
	markOther  = ">>>>>>> other"
)

// Marked writes both texts as one, with marks where they differ.
func Marked(kept, other string) string {
	var out strings.Builder
	at := 0
	for _, e := range udiff.Lines(kept, other) {
		out.WriteString(kept[at:e.Start])
		fmt.Fprintf(&out, "%s\n%s%s\n%s%s\n", markKept, lineEnd(kept[e.Start:e.End]), markMiddle, lineEnd(e.New), markOther)
		at = e.End
	}
	return out.String() + kept[at:]
}

// lineEnd ends a text with a line end, unless it is empty.
func lineEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// Unresolved returns the first line of a text that is a mark of Marked; "" when there is none.
func Unresolved(text string) string {
	for line := range strings.Lines(text) {
		if l := strings.TrimRight(line, "\r\n"); l == markKept || l == markOther {
			return l
		}
	}
	return ""
}
