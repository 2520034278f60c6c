package note

import (
	"bytes"
	"strings"
)

// Below these a change is an edit: how many bytes a body has, and how many words a
// statement, before one can say that most of it is gone.
const (
	leastBody  = 100
	leastWords = 6
)

// Truncated reports whether a file looks like the beginning of what it was, as a
// power loss leaves it: it ends within a line.
func Truncated(was, now []byte) bool {
	return len(now) < len(was) && bytes.HasSuffix(was, []byte("\n")) && !bytes.HasSuffix(now, []byte("\n")) && bytes.HasPrefix(was, now)
}

// Shrunk reports whether a note has lost most of its body: all of it, or more than
// half of a body of at least 100 bytes.
func Shrunk(was, now *Note) bool {
	before, after := len(strings.TrimSpace(was.Body)), len(strings.TrimSpace(now.Body))
	return before > 0 && after == 0 || before >= leastBody && 2*after < before
}

// Reworded reports whether a note says something else than before: of at least six
// words, less than a quarter is left.
func Reworded(was, now *Note) bool {
	before, after := setOf(strings.Fields(Normalize(was.Statement()))), setOf(strings.Fields(Normalize(now.Statement())))
	kept := 0
	for w := range before {
		if after[w] {
			kept++
		}
	}
	return len(before) >= leastWords && 4*kept < len(before)
}
