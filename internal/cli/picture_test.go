package cli

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

// TestClientPicture draws docs/session.svg: what a released Claude Code sends its model when a
// session starts, on a machine without the memory and on one where a session before was corrected.
// -update writes it; else it has to be what the client sends today.
func TestClientPicture(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is driven on Unix")
	}
	client, program := theClient(t)
	const ask = "Add vite to the web package."
	model := llmtest.NewScripted(t)
	plain, taught := newMachine(t, model, client, program), newMachine(t, model, client, program)

	plain.claude("-p", "--", ask+"\n@say Done.")
	if got := model.Requests(); !strings.Contains(got, ask) || strings.Contains(got, "[anamnesis:begin]") {
		t.Fatalf("without the memory the model is sent:\n%.3000s", got)
	}

	taught.ours("init", "--yes", "--machine-id", "testbox")
	const id = "12121212-1212-4212-8212-121212121213"
	taught.person(id, "Install zod in the web package.\n@say I installed zod with npm.")
	taught.person(id, `no, we use pnpm here and never npm
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"Use pnpm, never npm","body":"","why":"The lockfile is the one of pnpm.",`+
		`"quote":"we use pnpm here and never npm","when":["cmd:npm install"]}
@say I installed zod with pnpm; the lockfile of npm is gone.`, "--allowedTools", "mcp__anamnesis__memory_write")
	model.Forget()
	taught.session("12121212-1212-4212-8212-121212121214", ask+"\n@say Done.")
	shown := strings.ReplaceAll(blockIn(t, model.Requests()), " @say I installed zod with npm.", "") // the script of our model
	if !strings.Contains(shown, "- Use pnpm, never npm") {
		t.Fatalf("the next session is shown:\n%s", shown)
	}

	const file = "../../docs/session.svg"
	got := picture(ask, strings.Split(shown, "\n"))
	if *update {
		if err := os.WriteFile(filepath.FromSlash(file), []byte(got), 0o644); err != nil { //nolint:gosec // for everybody
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is not what the client sends (-want +got, -update accepts it):\n%s", file, d)
	}
}

// ends matches what differs from run to run: the end of an id.
var ends = regexp.MustCompile(`\[[0-9A-Z]{6}\]`)

// blockIn returns what a session was shown, out of the requests that a model got.
func blockIn(t *testing.T, requests string) string {
	t.Helper()
	_, rest, ok := strings.Cut(requests, "[anamnesis:begin]")
	block, _, end := strings.Cut(rest, "[anamnesis:end]")
	if !ok || !end {
		t.Fatalf("the model is sent no block:\n%.3000s", requests)
	}
	block = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(block)
	return strings.TrimSpace(ends.ReplaceAllString(block, "[9KQT3A]"))
}

const (
	pictureWidth = 94 // columns
	lineHeight   = 19
)

// picture draws both requests below each other.
func picture(ask string, shown []string) string {
	var b strings.Builder
	y := 34
	line := func(class, text string) {
		if text != "" {
			fmt.Fprintf(&b, "<text x=\"24\" y=\"%d\" class=\"%s\" xml:space=\"preserve\">%s</text>\n", y, class, html.EscapeString(text))
		}
		y += lineHeight
	}
	line("head", "Without Anamnesis: what Claude Code sends its model when a session starts")
	line("", "")
	line("you", "> "+ask)
	line("soft", "  … and nothing of the session before, in which you said: no, we use pnpm here and never npm")
	line("", "")
	line("", "")
	line("head", "With it: the same session, the same prompt")
	line("", "")
	for _, s := range shown {
		class := "memo"
		if strings.Contains(s, "pnpm, never npm") {
			class = "rule"
		}
		for _, part := range folded(s) {
			line(class, part)
		}
	}
	line("", "")
	line("you", "> "+ask)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 %[1]d" width="800" height="%[1]d" role="img">
<title>The page of a project that the next session is shown</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #24292f }
rect { fill: #f6f8fa; stroke: #d0d7de }
.head { font-weight: 600 } .soft { fill: #6e7781 } .you { fill: #0550ae } .rule { fill: #116329; font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #c9d1d9 } rect { fill: #161b22; stroke: #30363d } .soft { fill: #8b949e } .you { fill: #79c0ff } .rule { fill: #7ee787 }
}
</style>
<rect x="0.5" y="0.5" width="799" height="%[2]d" rx="8"/>
%[3]s</svg>
`, y, y-1, b.String())
}

// folded cuts a line where it is too long for the picture.
func folded(s string) (all []string) {
	for indent := ""; ; indent = "  " {
		r := []rune(indent + s)
		if len(r) <= pictureWidth {
			return append(all, string(r))
		}
		cut := strings.LastIndex(string(r[:pictureWidth]), " ")
		if cut <= len(indent) {
			cut = len(string(r[:pictureWidth]))
		}
		all = append(all, string(r)[:cut])
		s = strings.TrimSpace(string(r)[cut:])
	}
}
