package index_test

import (
	"context"
	"testing"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
)

// letters is a model that runs in this process, for the background run.
type letters struct{ asked int }

func (*letters) Name() string         { return "letters" }
func (*letters) Dim() int             { return 256 }
func (*letters) Traits() embed.Traits { return embed.Traits{Deferred: true} }

func (l *letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.asked++
	all := make([][]float32, len(texts))
	for i, text := range texts {
		all[i] = make([]float32, l.Dim())
		for _, b := range []byte(text) {
			all[i][b]++
		}
	}
	return all, nil
}

// A deferred model of this process gives no vectors while notes are indexed, and
// needs no redactor.
func TestDeferredInProcess(t *testing.T) {
	b := newBench(t)
	model := &letters{}
	ix := index.New(b.Backend, b.store, index.Embedding{Local: model})
	for _, id := range []string{"a", "b", "c"} {
		b.file("memory/semantic/"+id+".md", id, "Note "+id, false)
	}
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if waiting, all, err := ix.Waiting(t.Context()); err != nil || waiting != 3 || all != 3 || model.asked != 0 {
		t.Errorf("%d of %d passages wait, asked %d times, %v", waiting, all, model.asked, err)
	}
	if rep, err := ix.EmbedMissing(t.Context(), 0, nil); err != nil || rep.Model != "letters" || rep.Done != 3 || rep.Left != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	for range 2 { // the second is remembered
		if name, unit, err := ix.Question(t.Context(), "note a"); err != nil || name != "letters" || len(unit) != model.Dim() || model.asked != 2 {
			t.Errorf("%s, %d values, asked %d times, %v", name, len(unit), model.asked, err)
		}
	}
	if waiting, _, err := ix.Waiting(t.Context()); err != nil || waiting != 0 {
		t.Errorf("%d passages wait, %v", waiting, err)
	}
	// The parts of a prompt are asked by turns.
	before := model.asked
	for i := range 12 {
		text := []string{"one part", "another part", "a third"}[i%3]
		if _, unit, err := ix.Question(t.Context(), text); err != nil || unit['z'] != 0 || unit['o'] == 0 && i%3 < 2 {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n := model.asked - before; n != 3 {
		t.Errorf("three questions by turns ask the model %d times", n)
	}
	for i := range 20 { // more than are remembered
		if _, _, err := ix.Question(t.Context(), "question "+string(rune('a'+i))); err != nil {
			t.Error(err)
		}
	}
	if n := model.asked - before; n != 23 {
		t.Errorf("twenty questions more ask the model %d times", n-3)
	}
}
