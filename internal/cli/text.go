package cli

import (
	"fmt"
	"strconv"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
)

// firstLine cuts a text to its first line and n characters, for lists, without
// the characters that move a terminal's cursor.
func firstLine(s string, n int) string { return note.Line(s, n) }

// printable takes the characters out of a line that move a terminal's cursor or
// turn the direction of writing.
func printable(s string) string { return note.Printable(s) }

// plural writes a count with its noun.
func plural(n int, noun string) string { return app.Plural(n, noun) }

func plainInt(n int) string { return strconv.Itoa(n) }

// took writes a duration with three digits at most.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// size writes a number of bytes.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// clock writes a time of the log as people read it.
func clock(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05") }

// dated writes a time stamp, which a note written by hand need not have.
func dated(s note.Stamp) string {
	if s == "" {
		return "undated"
	}
	return string(s)
}

// ago writes how long ago a time was, in one unit.
func ago(at, now time.Time) string {
	d := now.Sub(at)
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.length {
			return plainInt(int(d/u.length)) + u.name + " ago"
		}
	}
	return "just now"
}

// because writes a reason in parentheses.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// undoLine prints the command that takes a change back, if there is one.
func (s *screen) undoLine(command string) {
	if command != "" {
		s.printf("undo: %s\n", command)
	}
}
