package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/config"
)

// Lists and hits are cut to the width of a terminal. A pipe, which has none,
// gets them as long as they are.
func TestTerminalWidth(t *testing.T) {
	home := t.TempDir()
	run := func(width int, args ...string) string {
		var out, diag bytes.Buffer
		p := &program{
			screen: screen{stdout: &out, stderr: &diag, width: width}, stdin: strings.NewReader(""),
			environ: func(flags []string) config.Environment {
				return config.Environment{
					Lookup:   func(string) (string, bool) { return "", false },
					UserHome: home, Hostname: "testbox", Flags: append([]string{"home=" + home, "sync.on=false", "patience=100"}, flags...),
				}
			},
		}
		if code := p.run(args); code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, diag.String())
		}
		return out.String()
	}
	long := "Generate the clients anew " + strings.Repeat("and änother word ", 9)
	run(0, "add", "--project", "p", "--title", long, "--body", long)
	widest := func(s string) (n int) {
		for line := range strings.Lines(s) {
			n = max(n, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
		return n
	}
	passages := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			if strings.HasPrefix(line, "   | ") {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	for _, tt := range []struct{ width, list, passage int }{
		{0, 138, 115}, {200, 138, 115}, {110, 110, 110}, {80, 80, 80}, {40, 78, 40},
	} {
		if got := widest(run(tt.width, "list")); got != tt.list {
			t.Errorf("list on %d columns is %d wide, want %d", tt.width, got, tt.list)
		}
		if got := widest(passages(run(tt.width, "search", "--global", "generate", "clients"))); got != tt.passage {
			t.Errorf("a passage on %d columns is %d wide, want %d", tt.width, got, tt.passage)
		}
	}
}
