package hooks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/policy"
)

// A tool that would write into the store is asked about, however its input names the file, and no other is.
func TestStoreIsAskedAbout(t *testing.T) {
	r := apptest.Open(t)
	root, project := r.Store.Root(), t.TempDir()
	link := func(name, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "memory", "semantic"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(project, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	link("store", root)
	link("notes", filepath.Join(root, "memory"))
	link("later.md", filepath.Join(root, "memory", "semantic", "later.md")) // leads to what is not there yet
	link("round", filepath.Join(project, "round"))
	if err := os.Symlink(filepath.Join(project, "memory"), filepath.Join(root, "out")); err != nil {
		t.Skip(err)
	}
	up, err := filepath.Rel(project, root)
	if err != nil {
		t.Fatal(err)
	}
	home := r.Store.Home()
	below, err := filepath.Rel(home, root)
	if err != nil || strings.HasPrefix(below, "..") {
		t.Fatalf("the store %s is not below %s: %v", root, home, err)
	}
	say := func(input map[string]any) json.RawMessage {
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	file := func(path string) map[string]any { return map[string]any{"file_path": path, "content": "x"} }
	run := func(line string) map[string]any { return map[string]any{"command": line} }
	patch := func(headers ...string) map[string]any {
		return run("*** Begin Patch\n" + strings.Join(headers, "\n+x\n") + "\n+x\n*** End Patch\n")
	}
	many := make([]string, 200)
	for i := range many {
		many[i] = "*** Add File: a.txt"
	}
	for _, tt := range []struct {
		what, agent, tool string
		input             map[string]any
		ask               bool
	}{
		{"a note", "claude", "Write", file(root + "/memory/semantic/a.md"), true},
		{"a note by Edit", "claude", "Edit", file(root + "/memory/semantic/a.md"), true},
		{"a note by MultiEdit", "claude", "MultiEdit", file(root + "/memory/semantic/a.md"), true},
		{"a note by NotebookEdit", "claude", "NotebookEdit", map[string]any{"notebook_path": root + "/memory/a.ipynb"}, true},
		{"the settings", "claude", "Write", file(root + "/config.json"), true},
		{"the policy", "claude", "Write", file(root + "/policy-rules.jsonl"), true},
		{"the ledger", "claude", "Write", file(root + "/authors/3f"), true},
		{"the key", "claude", "Write", file(root + "/hook.key"), true},
		{"what waits", "claude", "Write", file(root + "/spool/new/deeper/a.json"), true},
		{"relative", "claude", "Write", file(up + "/memory/semantic/a.md"), true},
		{"steps up", "claude", "Write", file(project + "/x/../" + up + "/config.json"), true},
		{"the home folder", "claude", "Write", file("~/" + below + "/config.json"), true},
		{"a link to the store", "claude", "Write", file("store/config.json"), true},
		{"a link to its notes", "claude", "Edit", file(project + "/notes/semantic/a.md"), true},
		{"a link to a file that is not there", "claude", "Write", file("later.md"), true},
		{"up behind a link", "claude", "Write", file(project + "/notes/../config.json"), true},
		{"up behind a link that leads out", "claude", "Write", file(root + "/out/../config.json"), true},
		{"a link that leads out", "claude", "Write", file(root + "/out/a.md"), false},
		{"a link to itself", "claude", "Write", file("round"), false},
		{"the project", "claude", "Write", file(project + "/memory/a.md"), false},
		{"a sibling of the store", "claude", "Write", file(root + "2/config.json"), false},
		{"reading", "claude", "Read", file(root + "/memory/semantic/a.md"), false},
		{"a patch", "codex", "apply_patch", patch("*** Update File: " + root + "/memory/semantic/a.md"), true},
		{"a relative patch", "codex", "apply_patch", patch("*** Add File: a.txt", "*** Add File: "+up+"/config.json"), true},
		{"a patch that moves", "codex", "apply_patch", patch("*** Update File: a.md", "*** Move to: notes/semantic/a.md"), true},
		{"a patch that deletes", "codex", "apply_patch", patch("*** Delete File: " + root + "/config.json"), true},
		{"the last of many files", "codex", "apply_patch", patch(slices.Concat(many, []string{"*** Add File: " + root + "/config.json"})...), true},
		{"a patch of the project", "codex", "apply_patch", patch("*** Add File: a.txt"), false},
		{"a patch by the shell", "codex", "Bash", run("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + root + "/a\n+x\n*** End Patch\nEOF"), true},
		{"a redirection", "claude", "Bash", run("echo x > " + root + "/config.json"), true},
		{"one that appends", "claude", "Bash", run("true && echo x >>'" + root + "/policy-rules.jsonl'"), true},
		{"tee", "claude", "Bash", run("echo x | tee -a ~/" + below + "/config.json"), true},
		{"a variable", "claude", "Bash", run(`echo x > "$HOME/` + below + `/config.json"`), true},
		{"its own variable", "claude", "Bash", run("echo x > ${ANAMNESIS_HOME}/config.json"), true},
		{"behind cd", "claude", "Bash", run("cd " + root + " && echo x > config.json"), true},
		{"a shell in a shell", "claude", "Bash", run(`bash -c "echo x > ` + root + `/config.json"`), true},
		{"a substitution", "claude", "Bash", run(`echo "$(date > ` + root + `/config.json)"`), true},
		{"a redirection elsewhere", "claude", "Bash", run("cat " + root + "/config.json > copy.json"), false},
		{"errors elsewhere", "claude", "Bash", run("ls " + root + " 2>/dev/null"), false},
		{"a sign in quotes", "claude", "Bash", run("grep '> " + root + "/config.json' log.txt"), false},
	} {
		e := agent.Event{Harness: tt.agent, Name: "PreToolUse", SessionID: "s", Dir: project, ToolName: tt.tool, ToolInput: say(tt.input)}
		v, err := hooks.Police(r.Store, e, policy.PreTool, hooks.PromptOptions{})
		if err != nil || (v.Decision == policy.Ask) != tt.ask || strings.Contains(v.Text, "`anamnesis edit`") != tt.ask {
			t.Errorf("%s: %q %q, %v", tt.what, v.Decision, v.Text, err)
		}
	}
}

// A rule of the user that allows calls does not answer for the user where the store is written, and one that denies denies.
func TestStoreIsAskedAboutBesidePolicy(t *testing.T) {
	r := apptest.Open(t)
	rules := `{"scope":"permission","tool":"Write","decision":"allow"}
{"tool":"Edit","decision":"deny","message":"Never."}
`
	if err := os.WriteFile(r.Store.Path(policy.File), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	decide := func(at policy.Scope, tool, path string) policy.Decision {
		t.Helper()
		input, err := json.Marshal(map[string]string{"file_path": path})
		if err != nil {
			t.Fatal(err)
		}
		e := agent.Event{Harness: "claude", SessionID: "s", Dir: t.TempDir(), ToolName: tool, ToolInput: input}
		v, err := hooks.Police(r.Store, e, at, hooks.PromptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return v.Decision
	}
	own := r.Store.Path("config.json")
	for _, tt := range []struct {
		at         policy.Scope
		tool, path string
		want       policy.Decision
	}{
		{policy.PreTool, "Write", own, policy.Ask},
		{policy.Permission, "Write", own, ""},
		{policy.Permission, "Write", "a.go", policy.Allow},
		{policy.PreTool, "Edit", own, policy.Deny},
	} {
		if got := decide(tt.at, tt.tool, tt.path); got != tt.want {
			t.Errorf("%s %s %s: %q", tt.at, tt.tool, tt.path, got)
		}
	}
}
