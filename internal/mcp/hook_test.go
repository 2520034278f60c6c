package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/connect"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An agent sends its events to a tool that no list of tools has; the answer is that of a hook.
func TestHookTool(t *testing.T) {
	w := open(t, inShop)
	dir := w.opts.Dir
	w.add(t, note.Note{Title: "Round tax per line", Body: "recalcTax in cart.go rounds each line to cents before summing.", Project: "shop"})
	key := `"anamnesis_key":"` + w.hookKey(t) + `",`
	cs := w.client(t)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name == connect.HookTool {
			t.Error("the model sees the tool")
		}
	}
	ask := func(args string) string {
		t.Helper()
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: connect.HookTool, Arguments: json.RawMessage(args)})
		if err != nil || res.IsError || len(res.Content) != 1 {
			t.Fatalf("%s: %+v, %v", args, res, err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	prompt := `{` + key + `"anamnesis_agent":"claude","hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"` + dir + `","prompt":"why does recalcTax round each line?"}`
	if got := ask(prompt); !strings.Contains(got, `"hookEventName":"UserPromptSubmit","additionalContext":"[anamnesis:begin]`) || !strings.Contains(got, "Round tax per line") {
		t.Errorf("a prompt is answered %q", got)
	}
	for _, args := range []string{
		prompt, // it was shown before
		`{` + key + `"anamnesis_agent":"claude","hook_event_name":"Stop","session_id":"s","prompt":"x"}`,
		`{` + key + `"hook_event_name":["x"]}`, `{}`, `{` + key + `"anamnesis_agent":"nobody","hook_event_name":"UserPromptSubmit","prompt":"\u0000"}`,
	} {
		if got := ask(args); got != "{}" {
			t.Errorf("%s is answered %q", args, got)
		}
	}
}

// A tool that would write into the store is asked about over MCP too.
func TestHookToolGuardsStore(t *testing.T) {
	w := open(t, inShop)
	got := event(t, w.client(t), nil, map[string]any{
		"anamnesis_key": w.hookKey(t), "anamnesis_agent": "claude", "hook_event_name": "PreToolUse", "session_id": "s", "cwd": w.opts.Dir,
		"tool_name": "Write", "tool_input": map[string]any{"file_path": w.Store.Path("config.json"), "command": "", "notebook_path": ""},
	})
	if !strings.Contains(got, `"permissionDecision":"ask"`) || !strings.Contains(got, "config.json is in the user's memory") {
		t.Errorf("it is answered %q", got)
	}
}

// A client without hooks reads the page as a resource.
func TestPageResource(t *testing.T) {
	w := open(t)
	w.add(t, note.Note{Title: "Round tax per line", Body: "In cart.go.", Project: "shop"})
	cs := w.client(t)
	read := func(uri string) string {
		t.Helper()
		res, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		return res.Contents[0].Text
	}
	page := read("memory://page/shop")
	if strings.Count(page, agent.InjectStart) != 1 || strings.Count(page, agent.InjectEnd) != 1 || !strings.Contains(page, "- Round tax per line — In cart.go. [") {
		t.Errorf("%s", page)
	}
	if empty := read("memory://page/nowhere"); !strings.Contains(empty, "Nothing is known of nowhere yet.") {
		t.Errorf("%s", empty)
	}
}

// What is worth a note is said once: by the instructions of the server where the agent's model reads them, else by
// the page.
func TestRubricOnce(t *testing.T) {
	w := open(t, inShop)
	w.add(t, note.Note{Title: "Round tax per line", Body: "In cart.go.", Project: "shop"})
	if n := strings.Count(w.client(t).InitializeResult().Instructions, note.Rubric); n != 1 {
		t.Errorf("the instructions say it %d times", n)
	}
	for _, h := range agent.All {
		if h.Hooks == nil {
			continue
		}
		b, _, err := hooks.SessionStart(t.Context(), w.Rooms, agent.Event{SessionID: h.Name, Dir: w.opts.Dir}, hooks.StartOptions{Instructed: h.Instructed})
		if err != nil || !strings.Contains(b.Text, "Round tax per line") || strings.Contains(b.Text, note.Rubric) == h.Instructed {
			t.Errorf("%s: %v\n%s", h.Name, err, b.Text)
		}
	}
}
