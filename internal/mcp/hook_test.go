package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An agent sends its events to a tool that no list of tools has; the answer is that of a hook.
func TestHookTool(t *testing.T) {
	w := open(t, inShop)
	dir := w.opts.Dir
	w.add(t, note.Note{Title: "Round tax per line", Body: "recalcTax in cart.go rounds each line to cents before summing.", Project: "shop"})
	cs := w.client(t)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name == agent.HookTool {
			t.Error("the model sees the tool")
		}
	}
	ask := func(args string) string {
		t.Helper()
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: agent.HookTool, Arguments: json.RawMessage(args)})
		if err != nil || res.IsError || len(res.Content) != 1 {
			t.Fatalf("%s: %+v, %v", args, res, err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	prompt := `{"anamnesis_agent":"claude","hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"` + dir + `","prompt":"why does recalcTax round each line?"}`
	if got := ask(prompt); !strings.Contains(got, `"hookEventName":"UserPromptSubmit","additionalContext":"[anamnesis:begin]`) || !strings.Contains(got, "Round tax per line") {
		t.Errorf("a prompt is answered %q", got)
	}
	for _, args := range []string{
		prompt, // it was shown before
		`{"anamnesis_agent":"claude","hook_event_name":"Stop","session_id":"s","prompt":"x"}`,
		`{"hook_event_name":["x"]}`, `{}`, `{"anamnesis_agent":"nobody","hook_event_name":"UserPromptSubmit","prompt":"\u0000"}`,
	} {
		if got := ask(args); got != "" {
			t.Errorf("%s is answered %q", args, got)
		}
	}
}
