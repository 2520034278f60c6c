package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/config"
)

// Lists and hits are cut to the width of a terminal. A pipe, which has none,
// gets them as long as they are.
func TestTerminalWidth(t *testing.T) {
	home := alone(t)
	run := narrow(t, home)
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
		{0, 138, 115}, {200, 138, 115}, {110, 110, 110}, {80, 80, 80}, {40, 30, 40},
	} {
		if got := widest(run(tt.width, "list")); got != tt.list {
			t.Errorf("list on %d columns is %d wide, want %d", tt.width, got, tt.list)
		}
		if got := widest(passages(run(tt.width, "search", "--global", "generate", "clients"))); got != tt.passage {
			t.Errorf("a passage on %d columns is %d wide, want %d", tt.width, got, tt.passage)
		}
	}
}

// narrow runs the program on a terminal of some columns; none is a pipe.
func narrow(t *testing.T, home string) func(width int, args ...string) string {
	return func(width int, args ...string) string {
		t.Helper()
		var out, diag bytes.Buffer
		p := &program{
			screen: screen{stdout: &out, stderr: &diag, width: width, diag: wrapper{width: width}}, stdin: strings.NewReader(""),
			environ: func(flags []string) config.Environment {
				return config.Environment{
					Lookup:   func(string) (string, bool) { return "", false },
					UserHome: home, Hostname: "testbox", Flags: append([]string{"home=" + home, "sync.on=false", "patience=100"}, flags...),
				}
			},
		}
		if code := p.run(args); code != 0 && code != 5 && code != 3 {
			t.Fatalf("%v: exit %d, %s", args, code, diag.String())
		}
		return out.String() + diag.String()
	}
}

// No line of what a command says is wider than the terminal, unless it is one word,
// and no word is broken: what is cut ends in an ellipsis.
func TestNoBrokenWords(t *testing.T) {
	home := alone(t)
	run := narrow(t, home)
	wide := "漢字の長い題名はとても長いので端末の幅を超えてしまうはずですから切られるべきです、そうでしょう"
	long := "Generate the clients anew whenever the payments.proto file was changed by anybody in the team"
	for _, title := range []string{long, wide} {
		run(0, "add", "--project", "storefront", "--title", title, "--body", title+" and twelve other words of the body that go on and on and on")
	}
	var list struct{ Notes []struct{ ID string } }
	if err := json.Unmarshal([]byte(run(0, "list", "--json")), &list); err != nil || len(list.Notes) != 2 {
		t.Fatal(list, err)
	}
	run(0, "search", "--global", "generate clients payments")
	commands := [][]string{
		{"list"},
		{"search", "--global", "--explain", "--no-cache", "generate clients"},
		{"search", "--global", "漢字"},
		{"index", "--global", "clients"},
		{"timeline", "--global", "clients"},
		{"tail"},
		{"log"},
		{"stats"},
		{"status"},
		{"doctor"},
		{"gaps"},
		{"review"},
		{"held"},
		{"handoff"},
		{"project"},
		{"corpus", "list"},
		{"dedup"},
		{"cost"},
		{"conflicts"},
		{"machines"},
		{"merge"},
		{"config", "explain", "R3"},
		{"features"},
		{"workflow"},
		{"reflect"},
		{"demo"},
	}
	for _, n := range list.Notes {
		commands = append(commands, []string{"why", n.ID}, []string{"history", n.ID}, []string{"forget", n.ID})
	}
	for _, args := range commands {
		whole := run(0, args...)
		for _, width := range []int{80, 60, 40} {
			for line := range strings.Lines(run(width, args...)) {
				line = strings.TrimRight(line, "\n")
				words := strings.Fields(strings.Replace(line, "│", "", 1))
				if n := textColumns(line); n > width && len(words) > 1 {
					t.Errorf("%v on %d columns prints %d: %q", args, width, n, line)
				}
				for _, word := range words {
					ascii := strings.IndexFunc(word, func(r rune) bool { return r > 0x7f || r >= '0' && r <= '9' }) < 0
					id := len(word) == 8 && word[0] == '[' && word[7] == ']' // of a page; each demo has its own
					if ascii && !id && !strings.Contains(whole, word) {
						t.Errorf("%v on %d columns breaks a word: %q", args, width, word)
					}
				}
			}
		}
	}
}
