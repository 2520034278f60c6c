package session_test

import (
	"encoding/json"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
)

// What this program printed is set aside by what the call was, however it was called. What only speaks of it stays.
func TestOwn(t *testing.T) {
	type call struct {
		tool string
		in   map[string]any
		own  bool   // the whole call
		rest string // the command line that is left; "" for none
	}
	sh := func(line string, own bool, rest string) call {
		return call{"Bash", map[string]any{"command": line}, own, rest}
	}
	for _, c := range []call{
		sh("anamnesis search invoices", true, ""),
		sh("/usr/local/bin/anamnesis page", true, ""),
		sh(`"C:\Users\u\anamnesis.exe" search x`, true, ""),
		sh("npx -y anamnesis-memory@latest show AB12CD", true, ""),
		sh("ANAMNESIS_HOME=/tmp/s anamnesis list", true, ""),
		sh("env A=1 sudo -u bob anamnesis list", true, ""),
		sh("anamnesis search x | head -3", true, ""),
		sh("cd /w && anamnesis search x 2>&1", true, ""),
		sh("bash -lc 'cd /w; anamnesis page'", true, ""),
		sh(`zsh -c "bash -lc 'anamnesis page'"`, true, ""),
		sh("eval 'anamnesis page'", true, ""),
		sh(`echo "known: $(anamnesis search x)"`, true, ""),
		sh("echo `anamnesis page`", true, ""),
		sh("for w in a b; do anamnesis search $w; done", true, ""),
		sh("timeout 5 anamnesis page", true, ""),
		sh("cat ~/.anamnesis/memory/semantic/01A.md", true, ""),
		sh("cat $ANAMNESIS_HOME/memory/semantic/01A.md", true, ""),
		sh("cd ~/.anamnesis && grep -r zebra memory", true, ""),
		sh("grep -rn zebra /home/other/.anamnesis/memory", true, ""),
		sh("git -C /home/u/.anamnesis/memory log -p", true, ""),
		sh("anamnesis search x && go test ./...", false, "go test ./..."),
		sh("cd api && anamnesis page; make proto", false, "make proto"),
		sh("go vet ./...", false, "go vet ./..."),
		sh("git commit -m 'document `anamnesis search`'", false, "git commit -m 'document `anamnesis search`'"),
		sh("grep -rn anamnesis README.md", false, "grep -rn anamnesis README.md"),
		sh("cat docs/anamnesis.md", false, "cat docs/anamnesis.md"),
		sh("git commit -F - <<'E'\nanamnesis search\nE\n", false, "git commit -F - <<'E'\nanamnesis search\nE"),
		sh("cat .anamnesis/project", false, "cat .anamnesis/project"),
		{"shell", map[string]any{"command": []string{"bash", "-lc", "anamnesis page"}}, true, ""},
		{"exec_command", map[string]any{"cmd": "anamnesis page"}, true, ""},
		{"mcp__anamnesis__memory_search", map[string]any{"query": "x"}, true, ""},
		{"mcp__plugin_anamnesis_memo__memory_get", map[string]any{"ids": []string{"x"}}, true, ""},
		{"mcp_notes_memory_search", map[string]any{"query": "plan"}, true, ""},
		{"anamnesis-memory_search", map[string]any{"query": "x"}, true, ""},
		{"memory_search", map[string]any{"query": "x"}, true, ""},
		{"shared_memory_searches", map[string]any{"query": "x"}, false, ""},
		{"Read", map[string]any{"file_path": "/home/u/.anamnesis/memory/semantic/01A.md"}, true, ""},
		{"Read", map[string]any{"file_path": "/w/plan.md"}, false, ""},
	} {
		input, _ := json.Marshal(c.in)
		s := agent.Session{Dir: "/w", Turns: []agent.Turn{{Role: agent.Assistant, Tools: []agent.ToolUse{
			{ID: "t1", Name: c.tool, Input: input, Result: "zebra terms are thirty days"},
		}}}}
		session.Own{Store: "/home/u/.anamnesis", Home: "/home/u"}.SetAside(&s)
		u := s.Turns[0].Tools[0]
		aside := c.own || c.rest != "" && c.rest != c.in["command"] && c.tool == "Bash" && c.rest != "git commit -F - <<'E'\nanamnesis search\nE"
		if u.Own != c.own || (u.Result == "") != aside || u.Result+u.Answer != "zebra terms are thirty days" {
			t.Errorf("%s %s: own %v, result %q", c.tool, input, u.Own, u.Result)
		}
		if got := session.CommandOf(u); got != c.rest {
			t.Errorf("%s %s: left is %q, want %q", c.tool, input, got, c.rest)
		}
	}
}

// A file that took the output of this program is its output, too.
func TestOwnFile(t *testing.T) {
	use := func(id, line string) agent.Turn {
		input, _ := json.Marshal(map[string]string{"command": line})
		return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{ID: id, Name: "Bash", Input: input, Result: "zebra"}}}
	}
	s := agent.Session{Dir: "/w", Turns: []agent.Turn{
		use("a1", "anamnesis page > /tmp/page.md"), use("a2", "head -5 /tmp/page.md"), use("a3", "anamnesis list | tee out/list.txt"),
		use("a4", "grep x out/list.txt"), use("a5", "cat /home/u/.claude/projects/-w/s/tool-results/a1.txt"), use("a6", "cat /tmp/other.md"),
	}}
	session.Own{Store: "/home/u/.anamnesis", Home: "/home/u"}.SetAside(&s)
	for i := range s.Turns {
		if got, want := s.Turns[i].Tools[0].Own, i < 5; got != want {
			t.Errorf("%s: own %v", s.Turns[i].Tools[0].Input, got)
		}
	}
}
