package cli

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many equal lines a hunk shows on each side.
const around = 3

// A hunkLine is a line of a comparison: ' ' is in both texts, '-' in the first
// only, '+' in the second only.
type hunkLine struct {
	kind byte
	text string // with its line end, if it has one
}

// compareLines turns text a into text b line by line.
func compareLines(a, b string) []hunkLine {
	x, y := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	var out []hunkLine
	for _, line := range x[:head] {
		out = append(out, hunkLine{' ', line})
	}
	out = append(out, compareMiddle(x[head:len(x)-tail], y[head:len(y)-tail])...)
	for _, line := range x[len(x)-tail:] {
		out = append(out, hunkLine{' ', line})
	}
	return out
}

// most is how large the table of a comparison may be, in cells.
const most = 4 << 20

// compareMiddle finds a longest common subsequence. Texts for which that would
// take too long are replaced as a whole.
func compareMiddle(x, y []string) []hunkLine {
	var out []hunkLine
	if len(x)*len(y) > most {
		for _, line := range x {
			out = append(out, hunkLine{'-', line})
		}
		for _, line := range y {
			out = append(out, hunkLine{'+', line})
		}
		return out
	}
	width := len(y) + 1
	longest := make([]int32, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out = append(out, hunkLine{' ', x[i]})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			out = append(out, hunkLine{'-', x[i]})
			i++
		default:
			out = append(out, hunkLine{'+', y[j]})
			j++
		}
	}
	return out
}

// unified writes a comparison as a unified diff; it is empty for equal texts.
// Characters that move a terminal's cursor are not in it.
func unified(nameA, nameB, a, b string) string {
	if a == b {
		return ""
	}
	lines := compareLines(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", nameA, nameB)
	atA, atB := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].kind == ' ' {
			atA, atB, i = atA+1, atB+1, i+1
			continue
		}
		from := max(0, i-around)
		to, quiet := i, 0
		for ; to < len(lines) && quiet <= 2*around; to++ {
			if quiet++; lines[to].kind != ' ' {
				quiet = 0
			}
		}
		to -= max(0, quiet-around)
		atA, atB = writeHunk(&out, lines[from:to], atA-(i-from), atB-(i-from))
		i = to
	}
	return out.String()
}

// writeHunk writes one hunk that begins at the given lines, and returns those behind it.
func writeHunk(out *strings.Builder, lines []hunkLine, atA, atB int) (nextA, nextB int) {
	var a, b int
	for _, l := range lines {
		if l.kind != '+' {
			a++
		}
		if l.kind != '-' {
			b++
		}
	}
	span := func(at, n int) string {
		if n == 0 {
			at--
		}
		return fmt.Sprintf("%d,%d", at, n)
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(atA, a), span(atB, b))
	for _, l := range lines {
		text, ended := strings.CutSuffix(l.text, "\n")
		out.WriteByte(l.kind)
		out.WriteString(printable(text) + "\n")
		if !ended {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
	return atA + a, atB + b
}
