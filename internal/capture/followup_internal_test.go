package capture

import (
	"encoding/json"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func TestVerdict(t *testing.T) {
	began := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }
	user := func(minute int, text string) agent.Turn {
		return agent.Turn{Role: agent.User, Text: text, At: at(minute)}
	}
	says := func(minute int, text string) agent.Turn {
		return agent.Turn{Role: agent.Assistant, Text: text, At: at(minute)}
	}
	does := func(minute int, name, input string) agent.Turn {
		u := agent.ToolUse{Name: name, Input: json.RawMessage(input), Result: "uses warmPages"}
		return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{u}, At: at(minute)}
	}
	n := &note.Note{ID: "01KX0000000000000000000000", Title: "Warm", Body: "Call `warmPages()` in cmd/release.go:40, then `make ship`."}
	for name, tc := range map[string]struct {
		turns []agent.Turn
		want  store.Verdict
	}{
		"nothing was said":         {nil, store.Unused},
		"the agent edits it":       {[]agent.Turn{does(6, "Edit", `{"new_string":"x\n\twarmPages()"}`)}, store.Used},
		"the agent opens the file": {[]agent.Turn{does(6, "Read", `{"file_path":"/home/ada/shop/cmd/release.go"}`)}, store.Used},
		"the agent runs it":        {[]agent.Turn{does(6, "Bash", `{"command":"make ship"}`)}, store.Used},
		"the agent names the note": {[]agent.Turn{says(6, "As note 01KX0000000000000000000000 says.")}, store.Used},
		"in between":               {[]agent.Turn{does(6, "Task", `{"a":[{"b":"see release.go"}]}`)}, store.Used},
		"before it was told":       {[]agent.Turn{says(2, "warmPages, release.go and `make ship`"), says(7, "warmPages again")}, ""},
		"one of three before":      {[]agent.Turn{says(2, "warmPages"), says(7, "warmPages again")}, store.Unused},
		"the user names it":        {[]agent.Turn{user(6, "call warmPages in release.go, then `make ship`"), does(7, "Edit", `{"new_string":"warmPages()"}`)}, ""},
		"only a result names it":   {[]agent.Turn{does(6, "Bash", `{"command":"ls"}`)}, store.Unused},
		"corrected in words":       {[]agent.Turn{says(6, "Done."), user(7, "no, don't call warmPages")}, store.Opposed},
		"the agent talks of it":    {[]agent.Turn{says(6, "warmPages is in release.go, and `make ship` ships it")}, ""},
		"corrected in a file":      {[]agent.Turn{says(6, "Done."), user(7, "no, that does not belong into release.go")}, store.Unused},
		"a no to something else":   {[]agent.Turn{does(6, "Edit", `{"new_string":"warmPages()"}`), user(7, "no, that is wrong")}, store.Used},
		"corrected before":         {[]agent.Turn{says(1, "warmPages"), user(2, "no, don't call warmPages")}, store.Unused},
		"corrected elsewhere":      {[]agent.Turn{says(6, "Done."), user(7, "no, don't call coolPages")}, store.Unused},
		"hostile":                  {[]agent.Turn{does(6, "Edit", `{`), does(6, "Edit", `"\u0000"`), says(8, string([]byte{0xff, 0xfe}))}, store.Unused},
	} {
		said := namesSaid(tc.turns)
		if got := said.verdict(n, at(5)); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
	rule := &note.Note{ID: "x", Type: note.Semantic, Title: "Indent new files with tabs, not spaces"}
	for text, want := range map[string]store.Verdict{
		"no, indent new files with spaces, not tabs": store.Opposed,
		"no, indent new files with tabs, not spaces": "", // the user repeats the rule
		"no, that is not it":                         "",
	} {
		said := namesSaid([]agent.Turn{says(6, "Done."), user(7, text)})
		if got := said.verdict(rule, at(5)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	emails := &note.Note{ID: "x", Type: note.Semantic, Title: "Never log customer emails; hash them"}
	for _, text := range []string{"No, never log customer phone numbers, hash them instead.", "no, the emails of customers are in pay.go"} {
		said := namesSaid([]agent.Turn{says(6, "Done."), user(7, text)})
		if got := said.verdict(emails, at(5)); got != "" {
			t.Errorf("%q and a rule about something else: got %q", text, got)
		}
	}
	said := namesSaid([]agent.Turn{says(6, "Right. Indent new files with tabs, not spaces.")})
	if got := said.verdict(rule, at(5)); got != store.Used {
		t.Errorf("an agent that repeats the rule: got %q", got)
	}
	said = namesSaid([]agent.Turn{says(6, "all is well")})
	if got := said.verdict(&note.Note{ID: "x", Title: "Be kind", Body: "And patient."}, at(5)); got != "" {
		t.Errorf("a note that names nothing: got %q, want no verdict", got)
	}
}

func TestNameKey(t *testing.T) {
	for name, want := range map[string]string{
		"cmd/main.go": "main.go", "/home/a/.x/Main.go:42": "main.go", `C:\a\b.go`: "c", "github.com/x/y": "github.com/x/y", "Foo.bar()": "foo.bar",
		"./run.sh": "run.sh", "/": "", "api.stripe.com/v1": "api.stripe.com/v1",
	} {
		if got := nameKey(name); got != want {
			t.Errorf("nameKey(%q) = %q, want %q", name, got, want)
		}
	}
}
