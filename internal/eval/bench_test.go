package eval_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// Sizes of what is measured.
const (
	benchNotes    = 10_000
	benchProjects = 20
	benchCases    = 200
)

// large makes a store of generated notes, with word vectors, and cases about
// some of them.
func large(b *testing.B) (*world, []eval.Case) {
	b.Helper()
	if testing.Short() {
		b.Skip("takes a store of 10,000 notes")
	}
	w := &world{TB: b}
	var err error
	if w.redactor, err = redact.New(); err != nil {
		b.Fatal(err)
	}
	if w.words, err = embed.OpenStatic(index.Words); err != nil {
		b.Fatal(err)
	}
	w.open()
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		for range 2 + r.IntN(2) {
			words[i] += string("bcdfgklmnprst"[r.IntN(13)]) + string("aeiou"[r.IntN(5)])
		}
	}
	text := func(n int) string {
		var all []string
		for range n {
			all = append(all, words[r.IntN(1+r.IntN(len(words)))])
		}
		return strings.Join(all, " ")
	}
	types := []note.Type{note.Procedural, note.Semantic, note.Episodic}
	var cases []eval.Case
	for i := range benchNotes {
		at := note.At(now.Add(-time.Duration(i) * time.Minute))
		n := note.Note{
			ID: note.ID(fmt.Sprintf("n%05d", i)), Type: types[i%3], Scope: note.Portable, Title: text(6), Body: text(110),
			Project: fmt.Sprintf("project-%02d", r.IntN(benchProjects)), MachineID: "box", UserID: "self", WorkspaceID: "personal",
			Provenance: note.Provenance{Source: note.Human, Confidence: 1}, CreatedAt: at, UpdatedAt: at,
		}
		path := w.Store.Path(store.NotePath(n.Scope, n.Type, n.ID))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, n.Format(), 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(path, now.AddDate(0, -1, 0), now.AddDate(0, -1, 0)); err != nil { // as of a store in use
			b.Fatal(err)
		}
		if i%(benchNotes/benchCases) == 0 {
			all := strings.Fields(n.Body)
			cases = append(cases, ask(strings.Join(all[:6], " "), n.ID))
		}
	}
	if _, err := w.Index.Sync(b.Context(), index.SyncOptions{}); err != nil {
		b.Fatal(err)
	}
	return w, cases
}

func BenchmarkMeasure(b *testing.B) {
	w, cases := large(b)
	for b.Loop() {
		if rep := w.measure(cases...); rep.Recall.At[8] < 0.9 {
			b.Fatal(rep)
		}
	}
}

func BenchmarkReflect(b *testing.B) {
	w, cases := large(b)
	w.answer = func(llm.Prompt) (string, error) {
		return `[{"type":"semantic","title":"What all sessions say","body":"Nothing in particular."}]`, nil
	}
	before := w.tree()
	for b.Loop() {
		x, err := w.lab().Reflect(b.Context(), cases, eval.RunOptions{})
		if err != nil || x.Projects != benchProjects {
			b.Fatal(x, err)
		}
	}
	if w.tree() != before {
		b.Error("the live store changed")
	}
	w.gone()
}

func BenchmarkMergeGate(b *testing.B) {
	w, cases := large(b)
	var ids []string
	for _, row := range must(w.Index.Select(b.Context(), index.Filter{Projects: []string{"project-00"}, Types: []note.Type{note.Semantic}, Now: now}, 20)) {
		ids = append(ids, string(row.ID))
	}
	w.answer = func(llm.Prompt) (string, error) {
		var groups []string
		for i := 0; i+1 < len(ids); i += 2 {
			groups = append(groups, strings.Trim(keep(ids[i], ids[i+1]), "[]\n"))
		}
		return "[" + strings.Join(groups, ",") + "]", nil
	}
	r := w.reflector(w.Workbench)
	p, err := r.Propose(b.Context(), "project-00")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g, err := w.lab().Gate(b.Context(), cases, 8, nil)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if m, err := g.Merge(b.Context(), r, p); err != nil || len(m.Applied)+len(m.Refused) != len(p.Groups) {
			b.Fatal(m, err)
		}
		b.ReportMetric(float64(time.Since(began).Milliseconds())/float64(len(p.Groups)), "ms/group")
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
