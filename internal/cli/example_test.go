package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/config"

	"github.com/spf13/cobra"
)

// exampleNotes are the ends of the ids that examples name.
var exampleNotes = []string{"9KQT", "4ZRM", "7PQA", "8BCD", "6M2Z", "3WXY"}

// notRun are the beginnings of examples that need what a test has not, and what that is.
var notRun = map[string]string{
	"log machines add":           "a sealed remote",
	"log machines revoke":        "a sealed remote",
	"log machines recovery":      "a sealed remote",
	"dashboard":                  "serves pages until it is ended",
	"serve":                      "serves tools until it is ended",
	"demo":                       "a script runs it",
	"log --follow":               "prints until it is ended",
	"log tail --follow":          "likewise",
	"review --walk":              "a terminal",
	"review keep":                "a note that waits",
	"review retire":              "a draft",
	"review held release":        "a file that does not travel",
	"review conflicts":           "a conflict",
	"team share":                 "a team",
	"team pg":                    "a server",
	"sync":                       "a hub",
	"init --agent":               "a hub",
	"eval":                       "files of questions",
	"config models add":          "a folder with a model",
	"config test":                "a model",
	"reflect merge --":           "a model",
	"import transcripts --learn": "a model",
	"reflect observe --to":       "an observation",
	"reflect observe --retire":   "an observation",
	"reflect --project":          "a model",
	"hook":                       "an agent",
	"man search":                 "a script runs it",
	"restore 9KQT@":              "a former version",
	"log diff 9KQT@":             "a former version",
	"sessions show":              "a session",
	"sessions forget":            "a session",
	"sessions keep":              "a session",
	"sessions unread done":       "a session",
	"handoff leave":              "standard input",
	"config set reflection":      "a model",
	"upgrade --apply":            "a release",
	"upgrade --rollback":         "a release",
}

// TestExamples runs the examples of the help of every command on a store that holds the notes
// they name. An example must be understood and must not fail; that it finds nothing is no
// failure. Of those that need a server, a terminal or a model, the names and flags are checked.
func TestExamples(t *testing.T) {
	home := alone(t)
	session := `{"type":"user","sessionId":"s1","cwd":"/src/app","uuid":"u1","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"why is the queue slow?"}}
{"type":"assistant","sessionId":"s1","uuid":"u2","timestamp":"2026-03-01T10:01:00Z","message":{"role":"assistant","content":[{"type":"text","text":"It locks the whole table."}]}}
`
	for name, text := range map[string]string{"session.jsonl": session, "new-body.md": "Push it.\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(words []string) (int, string) {
		var out, diag bytes.Buffer
		code := programAt(home, "Never force-push to main.", "true", &out, &diag).run(words)
		return code, diag.String()
	}
	root := (&program{environ: config.Process}).root(commands...)
	count := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		former := slices.ContainsFunc(commands, func(c namedCommand) bool { return c.path != "" && cmd.CommandPath() == "anamnesis "+c.name })
		if former {
			return
		}
		if cmd.GroupID != "" && cmd.Example == "" {
			t.Errorf("%s --help shows no example", cmd.CommandPath())
		}
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
			_, line, ours := strings.Cut(line, "anamnesis ")
			if !ours {
				continue
			}
			for _, end := range []string{" | ", " > ", " < ", " &"} {
				line, _, _ = strings.Cut(line, end)
			}
			line = strings.TrimSpace(line)
			checkLine(t, root, cmd.CommandPath()+" --help", line)
			if why := needs(line); why != "" {
				continue
			}
			writeExampleNotes(t, home)
			if code, said := run(splitLine(line)); code == 1 || code == 2 || code == 75 {
				t.Errorf("the example %q of %s exits with %d and says %q", line, cmd.CommandPath(), code, said)
			}
			count++
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if count < 60 {
		t.Errorf("%d examples were run", count)
	}
}

// needs says what an example needs that a test has not, "" when it runs.
func needs(line string) string {
	for begin, what := range notRun {
		if strings.HasPrefix(line+" ", begin+" ") || strings.HasPrefix(line, begin) && strings.HasSuffix(begin, "@") {
			return what
		}
	}
	return ""
}

func writeExampleNotes(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, "memory", "semantic")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, end := range exampleNotes {
		id := "01JZZZZZZZZZZZZZZZZZZZ" + end
		text := "---\nid: " + id + "\ntype: semantic\ntitle: Deploys of service " + end + " need a tag\nproject: global\nscope: portable\nmachine_id: testbox\n" +
			"prov_source: human\nprov_confidence: 1.0\ncreated_at: '2026-01-0" + string(rune('1'+i)) + "T00:00:00Z'\nupdated_at: '2026-01-01T00:00:00Z'\n---\nPush the tag of " + end + " first.\n"
		if err := os.WriteFile(filepath.Join(dir, id+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
