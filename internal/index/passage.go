package index

import "strings"

// A span is a stretch of a note's body, in bytes.
type span struct{ start, end int }

// Passages are what is matched and, later, embedded: a long note about five
// things is five passages, each found for its own thing. Sizes in bytes: a
// passage is closed at the first paragraph end after passageAim, and cut when
// it passes passageMax. A heading stays with what it stands above.
const (
	passageAim = 1000
	passageMax = 2400
)

// passages cuts a body at paragraph ends. It returns at least one span.
func passages(body string) []span {
	var spans []span
	start := 0
	under := -1 // where the headings begin that nothing stands below yet
	for at := 0; at < len(body); {
		end := paragraphEnd(body, at)
		switch {
		case !heading(body[at:end]):
			under = -1
		case under < 0:
			under = at
		}
		for end-start > passageMax {
			cut := start + passageMax
			if i := strings.LastIndexAny(body[start:cut], "\n "); i > passageMax/2 {
				cut = start + i + 1
			} else {
				for cut > start && body[cut]&0xc0 == 0x80 { // not inside a character
					cut--
				}
			}
			spans = append(spans, span{start, cut})
			start = cut
		}
		last := end
		if under > start {
			last = under
		}
		if last-start >= passageAim {
			spans = append(spans, span{start, last})
			start = last
		}
		at = end
	}
	if start < len(body) && strings.TrimSpace(body[start:]) != "" || len(spans) == 0 {
		spans = append(spans, span{start, len(body)})
	}
	return spans
}

// heading reports whether a paragraph is a heading of markdown and nothing else.
func heading(paragraph string) bool {
	line := strings.TrimRight(paragraph, "\n")
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	return marks > 0 && marks <= 6 && !strings.Contains(line, "\n") && strings.HasPrefix(line[marks:], " ")
}

// paragraphEnd returns the end of the paragraph at i, with the blank lines after it.
func paragraphEnd(body string, i int) int {
	n := strings.Index(body[i:], "\n\n")
	if n < 0 {
		return len(body)
	}
	for i += n; i < len(body) && body[i] == '\n'; i++ {
	}
	return i
}
