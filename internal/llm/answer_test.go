package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
)

// LL-03: JSON, in a fence or not, and nothing around it.
func TestParseAnswer(t *testing.T) {
	for _, text := range []string{"{}", " [1] \n", "```json\n{}\n```", "```\n[]\n```\n", "null", "\"```\""} {
		if _, err := llm.ParseAnswer(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "no", "{} {}", "{}\nThere you go.", "Sure: {}", "```json\n{}\n``` done", "```json\n{}", "{", "{'a': 1}", "```{}```", strings.Repeat("[", 100_000),
	} {
		if v, err := llm.ParseAnswer(text); err == nil {
			t.Errorf("%.40q: %v", text, v)
		}
	}
}

// LL-08: what `config test` says.
func TestPing(t *testing.T) {
	s := llmtest.New(t)
	s.Answer = func(string, string) string { return "ok" }
	chats := llmtest.New(t)
	chats.Answer = func(string, string) string { return "How can I help\nyou? " + strings.Repeat("é", 99) }
	empty := llmtest.New(t)
	empty.Answer = func(string, string) string { return " " }
	refuses := llmtest.New(t)
	refuses.Always(llmtest.Echo)
	hangs := llmtest.New(t)
	hangs.Always(llmtest.Hang)
	for _, tt := range []struct {
		o    llm.GeneratorOptions
		want string
		ok   bool
	}{
		{llm.GeneratorOptions{}, "provider=heuristic (no LLM configured; nothing to test)", true},
		{llm.GeneratorOptions{Provider: llm.Heuristic, Model: "m"}, "provider=heuristic (no LLM configured; nothing to test)", true},
		{llm.GeneratorOptions{Provider: llm.OpenAI, Key: "k"}, "incomplete config (need provider, model, base_url, api_key)", false},
		{llm.GeneratorOptions{Provider: llm.OpenAI, Model: "m"}, "incomplete config (need provider, model, base_url, api_key)", false},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m"}, "incomplete config (need provider, model, base_url, api_key)", false},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: s.URL}, "ok (provider=local model=m)", true},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: chats.URL}, `it was to answer with the word ok, and said "How can I help you? é`, false},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: empty.URL}, "empty reply from provider", false},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: refuses.URL, Key: testKey}, "request failed: ask local/m: ask " + refuses.Host() + ": HTTP 400", false},
		{llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: hangs.URL, Timeout: 0.1}, "request failed: ask local/m: ", false},
	} {
		got, ok := llm.Ping(t.Context(), tt.o, llm.Network{}, nil, nil)
		if !strings.HasPrefix(got, tt.want) || ok != tt.ok || strings.Contains(got, testKey) {
			t.Errorf("%+v: %q, %v, want %q", tt.o, got, ok, tt.want)
		}
	}
}

// What is asked to see whether a model is there is paid for as well: it counts,
// and when nothing is left nobody is asked.
func TestPingCounts(t *testing.T) {
	s := llmtest.New(t)
	s.Answer = func(string, string) string { return "ok" }
	o := llm.GeneratorOptions{Provider: llm.Local, Model: "m", URL: s.URL}
	b := &budget{left: 1, refuses: fmt.Errorf("%w: 1 of 1 answers", llm.ErrSpent)}
	if text, ok := llm.Ping(t.Context(), o, llm.Network{}, nil, b.of()); !ok || b.tokens == 0 {
		t.Errorf("%q, %d tokens", text, b.tokens)
	}
	s.Forget()
	text, ok := llm.Ping(t.Context(), o, llm.Network{}, nil, b.of())
	if want := "not asked: ask local/m: the daily budget of models is spent: 1 of 1 answers"; ok || text != want || len(s.Received()) != 0 {
		t.Errorf("%q, asked %d times", text, len(s.Received()))
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"{}", "```json\n[]\n```", "[1, 2", "\ufeff{}", "```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		if v, err := llm.ParseAnswer(text); err == nil {
			if fenced, err := llm.ParseAnswer("```json\n" + text + "\n```"); err != nil && !strings.Contains(text, "```") {
				t.Errorf("%q is %v, and in a fence %v, %v", text, v, fenced, err)
			}
		}
	})
}
