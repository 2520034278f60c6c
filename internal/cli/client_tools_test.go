package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// agentAdds has an agent run a command of ours in its shell: the note is the agent's, and no session is shown it as the
// user's word. program is what the shell finds ours as.
func (m *machine) agentAdds(program, shell, command string, run func(prompt string)) {
	m.t.Helper()
	const title = "The invoices are numbered by year"
	run("Write it down.\n@tool " + shell + ` {"` + command + `":"` + program + ` add --type semantic --title '` + title + `' --body 'They begin again.'"}` +
		"\n@say Written.")
	written := ""
	files, _ := filepath.Glob(filepath.Join(m.home, ".anamnesis", "memory", "semantic", "*.md"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "title: "+title) {
			written = string(data)
		}
	}
	m.has("the note", written, "prov_source: agent\n")
	m.model.Forget()
	run("Is anything new?\n@say Nothing that I know of.")
	m.has("what the next session is told", m.model.Requests(), title+" (an agent's note)")
	m.lacks("the inbox of the user's words", m.ours("review"), "“"+title)
}

// clientTools are the parts of TestClient about tools and sub-agents.
func clientTools(t *testing.T, m *machine) {
	m.ours("add", "--type", "procedural", "--title", "The release makes the tags", "--body", "Never `git tag` by hand.")
	silent := []string{"inject.page.max_tokens", "inject.prompt.on"} // no line of it at the start, nothing at the prompt
	m.ours("config", "set", silent[0], "1")
	m.ours("config", "set", silent[1], "false")
	defer func() {
		m.t = t
		m.ours("config", "set", silent[0], "1500")
		m.ours("config", "set", silent[1], "true")
	}()
	policy := filepath.Join(m.home, ".anamnesis", "policy-rules.jsonl")

	t.Run("a tool is told the rule whose trigger fits, once", func(t *testing.T) {
		m.t = t
		m.model.Forget()
		m.session("88888888-8888-4888-8888-888888888881", `Go on with the release.
@tool Write {"file_path":"`+m.project+`/payments.proto","content":"syntax = \"proto3\";\n"}
@tool Read {"file_path":"`+m.project+`/payments.proto"}
@tool Edit {"file_path":"`+m.project+`/payments.proto","old_string":"proto3","new_string":"proto2"}
@tool Bash {"command":"cd . && git tag -l"}
@tool Bash {"command":"git tag --list"}
@tool Bash {"command":"echo git tag payments.proto"}
@say Done.`, "--allowedTools", "Bash,Write,Edit,Read")
		last := ""
		for request := range strings.Lines(m.model.Requests()) {
			if strings.Contains(request, "echo git tag payments.proto") && len(request) > len(last) {
				last = request
			}
		}
		m.has("the conversation", last, "PreToolUse:Write hook additional context: [anamnesis:begin]", "PreToolUse:Bash hook additional context: [anamnesis:begin]")
		for _, rule := range []string{"Regenerate gRPC clients after editing", "The release makes the tags"} {
			if n := strings.Count(last, rule); n != 1 {
				t.Errorf("%q stands %d times in the conversation", rule, n)
			}
		}
		m.lacks("the conversation", last, "PreToolUse:Read hook", "PreToolUse:Edit hook")
		m.has("the explanation", m.ours("why", "--last"), "before a tool ran", "git tag", "it was shown before")
	})
	t.Run("tools that read or propose are called without a question", func(t *testing.T) {
		m.t = t
		const id = "88888888-8888-4888-8888-888888888884"
		forget := `{"id":"01M8DKN00QWTEGWAV4FMV208FP"}`
		m.session(id, `What do we know?
@tool mcp__anamnesis__memory_search {"query":"regenerate clients"}
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"The clients come from payments.proto","body":"b"}
@tool mcp__anamnesis__memory_forget `+forget+`
@say Done.`)
		m.has("the record", m.record(id), "% of the question", "haven't granted it yet", "mcp__anamnesis__memory_forget, but you")
		m.lacks("the record", m.record(id), "memory_search, but you", "memory_write, but you")
		m.lacks("the note: nobody was asked", m.note(id), "Refused by the user")

		const planned = "88888888-8888-4888-8888-888888888885"
		m.session(planned, `Plan the release of the clients.
@tool mcp__anamnesis__memory_search {"query":"regenerate clients"}
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"The release needs a plan","body":"b"}
@say First the changelog, then the tag.`, "--permission-mode", "plan")
		m.has("the record", m.record(planned), "% of the question", "while in plan mode")
		m.lacks("the note: the mode refused", m.note(planned), "Refused by the user")
	})
	t.Run("a tool does not write into the store unasked", func(t *testing.T) {
		m.t = t
		m.model.Forget()
		file := filepath.Join(m.home, ".anamnesis", "memory", "semantic", "forged.md")
		m.session("88888888-8888-4888-8888-8888888888ae", `Write it down.
@tool Write {"file_path":"`+file+`","content":"forged"}
@say Done.`, "--allowedTools", "Bash,Write,Edit,Read")
		m.has("the conversation", m.model.Requests(), "forged.md is in the user's memory", "`anamnesis edit`")
		if _, err := os.Stat(file); err == nil {
			t.Error("the file was written")
		}
	})
	t.Run("the policy denies a command", func(t *testing.T) {
		m.t = t
		if err := os.WriteFile(policy, []byte(`{"tool":"Bash","pattern":"> forbidden","decision":"deny","message":"Not here."}`), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(policy)
		m.model.Forget()
		m.session("88888888-8888-4888-8888-888888888882", `Try it.
@tool Bash {"command":"echo x > forbidden"}
@tool Bash {"command":"echo x > allowed"}
@say Done.`, "--allowedTools", "Bash")
		m.has("the conversation", m.model.Requests(), "Denied by the user's policy: Not here.")
		for name, want := range map[string]bool{"forbidden": false, "allowed": true} {
			if _, err := os.Stat(filepath.Join(m.project, name)); (err == nil) != want {
				t.Errorf("the file %s: %v", name, err)
			}
		}
	})
	t.Run("a sub-agent is told what its task is about", func(t *testing.T) {
		m.t = t
		m.model.Forget()
		m.session("88888888-8888-4888-8888-888888888883", `Hand it on.
@tool Agent {"description":"clients","prompt":"Which command regenerates the gRPC clients of payments.proto?\n@say make proto-gen","subagent_type":"general-purpose"}
@say Done.`, "--allowedTools", "Agent")
		const told = "SubagentStart hook additional context: [anamnesis:begin]"
		seen := 0
		for request := range strings.Lines(m.model.Requests()) {
			if strings.Contains(request, told) {
				seen++
				m.has("what the sub-agent read", request, "# Memory for this task", "Regenerate gRPC clients", "Run make proto-gen")
				m.lacks("what the sub-agent read", request, "The release makes the tags")
			}
		}
		if seen == 0 {
			t.Errorf("no sub-agent was told anything:\n%.4000s", m.model.Requests())
		}
		m.has("the explanation", m.ours("why", "--last"), "before a sub-agent started", "Regenerate gRPC clients")
		m.eventually("what the sub-agent found to be kept with its session", func() bool { // the client may write its file last
			return strings.Contains(m.ours("search", "--sessions", "--json", "which command regenerates the gRPC clients"),
				"(asked of a sub-agent) Which command regenerates")
		})
		m.lacks("the sessions", m.ours("sessions", "--json"), `"session": "agent-`)
	})
}
