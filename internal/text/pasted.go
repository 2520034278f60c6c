package text

import "strings"

// A Range is a stretch of a text: From is its first byte, To the one behind its last.
type Range struct{ From, To int }

// Pasted returns the blocks of a typed text that were visibly pasted, as whole lines, ordered
// and disjoint: code in fences, and whatever by its form was written by a program or copied
// from a document.
func Pasted(s string) (out []Range) {
	fence := ""
	at, from := 0, 0
	for line := range strings.Lines(s) {
		begin := at
		at += len(line)
		mark := fenceMark(line)
		switch {
		case fence == "" && mark != "":
			fence, from = mark, begin
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "":
			out = append(out, Range{from, at})
			fence = ""
		}
	}
	if fence != "" {
		out = append(out, Range{from, len(s)})
	}
	return out
}

// fenceMark returns the backticks or tildes with which a line begins, three at least; "" if
// it begins with none.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// Quoted returns the lines of a text that are quoted as in markdown and mail, "> …": ordered and
// disjoint.
func Quoted(s string) (out []Range) {
	at := 0
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
			if n := len(out); n > 0 && out[n-1].To == at {
				out[n-1].To += len(line)
			} else {
				out = append(out, Range{at, at + len(line)})
			}
		}
		at += len(line)
	}
	return out
}
