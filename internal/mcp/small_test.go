package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/session"
)

// TestSmallAnswers: a tool that changes something answers in 60 tokens, whatever became of the call.
func TestSmallAnswers(t *testing.T) {
	long := strings.Repeat("a long \"quoted\" reason ", 40)
	w := open(t, inShop, func(w *world) {
		w.doubles.Sync = func(context.Context) (app.SyncResult, int, error) {
			return app.SyncResult{Pushed: true, Pulled: 1234, Conflicted: true, Head: strings.Repeat("f", 40), Detail: long}, 1234, nil
		}
	})
	cs := w.client(t)
	w.add(t, note.Note{Title: "Use pnpm, never npm, in each of the packages of this repository and of the others", Project: "shop"})
	write := func(title string, more args) args {
		a := args{"type": "semantic", "title": title}
		for k, v := range more {
			a[k] = v
		}
		return a
	}
	port := write("The proxy is at 8443", args{"body": strings.Repeat("It was moved with the others in March. ", 200)})
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"memory_write", port, "created"},
		{"memory_write", port, "unchanged"},
		{"memory_write", write("The proxy is at 9443", args{"why": "moved"}), ""},
		{"memory_write", write("Never use pnpm, always npm, in each of the packages of this repository and of the others", nil), "held"},
		{"memory_write", write("Always run make lint", args{"project": "global"}), "held"},
		{"memory_write", write("The key of CI", args{"body": "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}), "created"},
		{"memory_handoff", args{"action": "leave", "title": "half a migration", "body": long}, "created"},
		{"memory_slot", args{"action": "append", "name": "self_notes", "text": "tests need redis"}, "created"},
		{"memory_slot", args{"action": "append", "name": "self_notes", "text": "and 8 GB"}, "updated"},
		{"memory_sync", nil, ""},
	} {
		got, text := call(t, cs, c.tool, c.args)
		if n := recall.Tokens(text); n > 60 {
			t.Errorf("%s %.80v: %d tokens: %s", c.tool, c.args, n, text)
		}
		if c.want != "" && got["outcome"] != c.want {
			t.Errorf("%s %.80v: %s", c.tool, c.args, text)
		}
		if c.want == "created" && c.tool == "memory_handoff" {
			if _, text := call(t, cs, "memory_handoff", args{"action": "acknowledge", "id": got["id"]}); recall.Tokens(text) > 60 {
				t.Errorf("acknowledge: %s", text)
			}
			if _, text := call(t, cs, "memory_forget", args{"id": got["id"], "apply": true}); recall.Tokens(text) > 60 {
				t.Errorf("forget: %s", text)
			}
		}
		if c.want == "held" && strings.Contains(agent.StripInjected(text), "packages") {
			t.Errorf("a capture would learn %s", text)
		}
	}
}

// Whatever a message says, it is cut so that the answer stays small, and its id stays.
func TestDoneIsSmall(t *testing.T) {
	ids := []note.ID{"01K00000000000000000000001", "01K00000000000000000000002", "01K00000000000000000000003"}
	for _, why := range []string{"", "short", strings.Repeat("\"\\<\n", 500), strings.Repeat("数据", 500)} {
		out := ingest.Outcome{Result: ingest.Held, Note: &note.Note{ID: ids[0]}, Why: why, Redacted: true}
		if text := mcp.Done(out, ids); recall.Tokens(text) > 60 || !strings.Contains(text, string(ids[0])) || !strings.Contains(text, "anamnesis review") {
			t.Errorf("%d tokens: %s", recall.Tokens(text), text)
		}
	}
}

// TestSearchSize: a search answers in 1,000 tokens with notes and sessions of whatever size, and in as many
// as the call or the setting says.
func TestSearchSize(t *testing.T) {
	w := open(t, inShop)
	for i := range 20 {
		w.add(t, note.Note{
			Title: fmt.Sprintf("Checkout rule %d of the coupons, which is about as long as titles are", i), Project: "shop",
			Tags: []string{"checkout", "coupons"}, Body: strings.Repeat(fmt.Sprintf("The coupon %d is applied twice at checkout. ", i), 60),
		})
	}
	for i := range 4 {
		s := agenttest.Talk("> the coupon is applied twice at checkout "+strings.Repeat("and again ", 100), "~ checkout.go", strings.Repeat("The listener runs twice. ", 200))
		h := session.Head{Session: fmt.Sprintf("s-%d", i), Agent: "claude", Project: "shop", Title: "Coupons", Started: s.Turns[0].At, Ended: s.Turns[len(s.Turns)-1].At}
		if err := w.Kept.Put(t.Context(), h, session.Cut(s, strings.TrimSpace), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Kept.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	cs := w.client(t)
	question := args{"query": "why is the coupon applied twice at checkout"}
	got, text := call(t, cs, "memory_search", question)
	if n := recall.Tokens(text); n > 1000 || n < 700 {
		t.Errorf("%d tokens: %s", n, text)
	}
	if len(result(got)) < 3 || got["sessions"] == nil || got["more"] == nil {
		t.Errorf("%d notes: %s", len(result(got)), text)
	}
	for _, most := range []int{200, 400, 3000} {
		question["max_tokens"] = most
		got, text := call(t, cs, "memory_search", question)
		if n := recall.Tokens(text); n > most || len(result(got)) == 0 {
			t.Errorf("max_tokens %d: %d tokens, %d notes", most, n, len(result(got)))
		}
	}
	delete(question, "max_tokens")
	w.Config.Recall.MaxTokens = 500
	if _, text := call(t, cs, "memory_search", question); recall.Tokens(text) > 500 {
		t.Errorf("the setting says 500: %d tokens", recall.Tokens(text))
	}
}
