package note

import (
	"fmt"
	"strings"
)

// Readers reads a front matter in both ways and shows what they found. The
// second result is false when the way for canonical files declines.
func Readers(front string) (fast, slow string, declined bool) {
	entries, ok := readCanonical(front)
	if ok {
		fast = show(entries)
	}
	entries, _, err := readYAML(front)
	if err != nil {
		return fast, "error: " + err.Error(), !ok
	}
	return fast, show(entries), !ok
}

func show(entries []entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%d-%d %q %v", e.from, e.to, e.key, e.val.form)
		switch e.val.form {
		case formScalar:
			b.WriteString(showScalar(e.val.one))
		case formList:
			for _, s := range e.val.list {
				b.WriteString(showScalar(s))
			}
		case formPairs:
			for _, row := range e.val.pairs {
				b.WriteString(" |")
				for _, p := range row {
					fmt.Fprintf(&b, " %q%s", p.key, showScalar(p.text))
				}
			}
		}
		fmt.Fprintf(&b, " %q\n", e.raw)
	}
	return b.String()
}

func showScalar(s scalar) string {
	if s.null {
		return " null"
	}
	return fmt.Sprintf(" %q", s.text)
}

// Quote returns s as it is written into a file.
func Quote(s string) string { return string(appendText(nil, s)) }

// Canonical is the canonical form of a text.
func Canonical(text string) string {
	c := canonicaliser{}
	c.text(text)
	return c.out.String()
}
