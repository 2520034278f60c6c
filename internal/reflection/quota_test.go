package reflection_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

func TestQuota(t *testing.T) {
	w := newWorld(t)
	on := reflection.Options{QuotaGate: true}
	budget := func(o reflection.Options, byKey bool) *llm.Budget {
		return reflection.NewBudget(w.store, o).Watching("claude", byKey).For("read")
	}
	say := func(l llm.Limit) { budget(on, false).Limited("claude/sonnet", []llm.Limit{l}) }
	for _, tt := range []struct {
		name   string
		limit  llm.Limit
		opts   reflection.Options
		byKey  bool
		closed bool
	}{
		{"low", llm.Limit{Window: "five_hour", Used: 0.3}, on, false, false},
		{"rejected", llm.Limit{Window: "seven_day", Rejected: true}, on, false, true},
		{"rejected, by key", llm.Limit{Window: "seven_day", Rejected: true}, on, true, false},
		{"rejected for a while, by key", llm.Limit{Window: "default", Rejected: true, Until: w.now.Add(time.Minute)}, on, true, true},
		{"rejected until yesterday", llm.Limit{Window: "default", Rejected: true, Until: w.now.Add(-time.Minute)}, on, false, false},
		{"rejected, gate off", llm.Limit{Window: "seven_day", Rejected: true}, reflection.Options{}, false, false},
		{"surpassed", llm.Limit{Window: "five_hour", Surpassed: true}, on, false, true},
		{"surpassed, paid for", llm.Limit{Window: "five_hour", Surpassed: true, Overage: true}, on, false, false},
		{"just below", llm.Limit{Window: "seven_day_sonnet", Used: 0.919}, on, false, false},
		{"at the ceiling", llm.Limit{Window: "seven_day_sonnet", Used: 0.92}, on, false, true},
	} {
		w := newWorld(t)
		budget := reflection.NewBudget(w.store, tt.opts).Watching("claude", tt.byKey).For("read")
		budget.Limited("claude/sonnet", []llm.Limit{tt.limit})
		err := budget.Allow(t.Context())
		var closed *llm.ClosedError
		if errors.As(err, &closed) != tt.closed || tt.closed && (closed.Window != tt.limit.Window || !errors.Is(err, llm.ErrSpent)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// The same bytes are too old after the time to live, and nobody else's concern.
	say(llm.Limit{Window: "five_hour", Rejected: true})
	if err := reflection.NewBudget(w.store, on).Watching("codex", false).For("read").Allow(t.Context()); err != nil {
		t.Errorf("another vendor: %v", err)
	}
	w.now = w.now.Add(59 * time.Minute)
	if err := budget(on, false).Allow(t.Context()); err == nil {
		t.Error("within the hour the gate is open")
	}
	w.now = w.now.Add(2 * time.Minute)
	if err := budget(on, false).Allow(t.Context()); err != nil {
		t.Errorf("after an hour: %v", err)
	}
	// A line that says nonsense is passed over.
	if err := w.store.Events().Log(store.Record{Kind: store.Limited, Model: "claude/x", Text: "{"}); err != nil {
		t.Fatal(err)
	}
	if err := budget(on, false).Allow(t.Context()); err != nil {
		t.Error(err)
	}
}

// The file decides, not what the index says of it.
func TestExpire(t *testing.T) {
	for to, want := range map[string]int{"2020-01-01": 1, "2199-01-01": 0, "some day": 0} {
		w := newWorld(t)
		id := w.add(note.Note{Type: note.Semantic, Project: "app", Title: "Use the old gateway", Body: "b", ForgetAfter: "2020-02-01"})
		ref, err := w.store.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		file := w.store.Path(ref.Path)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), "2020-02-01", to)), 0o600); err != nil {
			t.Fatal(err)
		}
		if done, err := w.Expire(t.Context()); err != nil || len(done) != want {
			t.Errorf("%s: %+v, %v", to, done, err)
		}
		if again, err := w.Expire(t.Context()); err != nil || len(again) != 0 {
			t.Errorf("%s, again: %+v, %v", to, again, err)
		}
	}
}
