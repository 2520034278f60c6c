package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"
)

// schemaVersion is the version of every JSON answer. It grows when a field
// changes its meaning or goes; new fields do not change it.
const schemaVersion = 1

// emit prints one JSON object.
func (p *program) emit(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// header begins every JSON answer.
type header struct {
	Schema  int    `json:"schema_version"`
	Command string `json:"command"`
}

func head(command string) header { return header{schemaVersion, command} }

// printf prints data.
func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.stdout, format, args...) }

// terminal reports whether a stream is one that a person looks at or types into.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A progress draws one line on a terminal when something takes longer than a second.
type progress struct {
	out   io.Writer // nil draws nothing
	what  string
	began time.Time
	drawn bool
}

func (p *program) progress(what string) *progress {
	b := &progress{what: what, began: time.Now()}
	if terminal(p.stderr) {
		b.out = p.stderr
	}
	return b
}

func (b *progress) step(done, total int) {
	if b.out == nil || total == 0 || time.Since(b.began) < time.Second {
		return
	}
	const width = 30
	full := width * done / total
	fmt.Fprintf(b.out, "\r%s [%s%s] %d/%d", b.what, strings.Repeat("=", full), strings.Repeat(" ", width-full), done, total)
	b.drawn = true
}

func (b *progress) done() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\033[K")
	}
}

// firstLine cuts a text to its first line and n characters, for lists, without
// the characters that move a terminal's cursor.
func firstLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = printable(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// printable takes the characters out of a line that move a terminal's cursor or
// turn the direction of writing.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// screened is the text of a note for standard output. A terminal must not obey what
// stands in it; a file or a pipe gets it as it is.
func (p *program) screened(text string) string {
	if !terminal(p.stdout) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

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
