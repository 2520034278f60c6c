package capture

import (
	"encoding/json"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// Every text of a session is masked: what one place gives away, in all of them.
func TestFactsAreClean(t *testing.T) {
	rules, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Root: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	token := "ghp_" + strings.Repeat("Ab1", 12)
	const word = "correct-horse-77"
	run := func(id, line, out string, failed bool) agent.Turn {
		input, _ := json.Marshal(map[string]string{"command": line})
		return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{ID: id, Name: "Bash", Input: input, Result: out, Error: failed}}}
	}
	seen := &agent.Session{
		ID: "s1", Title: "Rotate " + token, Branch: "fix/" + token, Turns: []agent.Turn{
			{Role: agent.User, Text: "why does login with " + word + " fail? " + token},
			run("t1", "deploy --token "+token, strings.Repeat("line\n", 40)+"error: password "+word+" was refused by "+token+"\nexport DB_PASSWORD="+word, true),
			{Role: agent.Assistant, Tools: []agent.ToolUse{{ID: "t2", Name: "Edit", Path: "/src/" + token + ".go", Result: "ok"}}},
			run("t3", "deploy --token "+token, "ok "+word, false),
			{Role: agent.Assistant, Text: "The password " + word + " was missing. I added " + token + " to the file."},
		},
	}
	r := New(s, nil, rules, Options{}).knowing(seen)
	f := r.factsOf(Request{}, seen)
	title, body := summarize(&f)
	all, err := json.Marshal(f.exchanges)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{string(all), title, body, f.title, f.cleanBranch, f.first, strings.Join(f.files, " ")} {
		if strings.Contains(said, token) || strings.Contains(said, word) {
			t.Errorf("a secret stands in %s", said)
		}
	}
	if seen.Title != "Rotate "+token || len(f.exchanges) != 1 || len(f.exchanges[0].Steps) != 3 {
		t.Errorf("what was read is %+v", f)
	}
}
