package eval_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"anamnesis/internal/eval"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// pairs writes notes of which some can be merged without a loss and some cannot.
func (w *world) pairs() {
	w.add(
		note.Note{ID: "safe-a", Body: "Rotate the staging certificate weekly."},
		note.Note{ID: "safe-b", Body: "The staging certificate is rotated weekly, every week."},
		note.Note{ID: "lost-a", Body: "Parsnips grow."},
		note.Note{ID: "lost-b", Body: "Vegetables grow."},
		note.Note{ID: "more-a", Body: "Turnips like shade."},
		note.Note{ID: "more-b", Body: "Turnips like shade and rain."},
		note.Note{ID: "new-a", Body: "Beets want sand.", Provenance: note.Provenance{Source: note.Learning, Confidence: 0.8}},
		note.Note{ID: "new-b", Body: "Beets want sun.", Provenance: note.Provenance{Source: note.Learning, Confidence: 0.8}},
	)
}

var gateCases = []eval.Case{ask("rotate staging certificate", "safe-a"), ask("parsnips", "lost-a"), ask("turnips", "more-a"), ask("beets", "new-a")}

// proposal makes the proposal of a model that answers with groups.
func (w *world) proposal(groups ...map[string]any) (*reflection.Reflector, reflection.Proposal) {
	w.Helper()
	data, err := json.Marshal(groups)
	if err != nil {
		w.Fatal(err)
	}
	w.answer = func(llm.Prompt) (string, error) { return string(data), nil }
	r := w.reflector(w.Workbench)
	p, err := r.Propose(w.Context(), "p")
	if err != nil || len(p.Groups) != len(groups) {
		w.Fatal(p.Groups, err)
	}
	return r, p
}

func keeps(keeper string, superseded ...string) map[string]any {
	return map[string]any{"action": "keep", "keeper_id": keeper, "superseded_ids": superseded}
}

func synthesis(title, body string, superseded ...string) map[string]any {
	return map[string]any{"action": "synthesize", "type": "semantic", "title": title, "body": body, "superseded_ids": superseded}
}

// MG-07: groups that lose nothing are applied, one that loses something is not,
// and those after it are tried as if it had never been.
func TestMergeGate(t *testing.T) {
	w := newWorld(t)
	w.pairs()
	r, p := w.proposal(
		keeps("safe-b", "safe-a"),
		keeps("lost-b", "lost-a"),
		synthesis("Roots", "They want sand and sun.", "new-a", "new-b"), // nobody finds it by its name
		keeps("more-b", "more-a"),
	)
	before := w.tree()
	g, err := w.lab().Gate(t.Context(), gateCases, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Baseline() != 1 || g.K() != 8 || w.tree() != before {
		t.Errorf("baseline %v at %d, store unchanged: %v", g.Baseline(), g.K(), w.tree() == before)
	}
	m, err := g.Merge(t.Context(), r, p)
	if err != nil || len(m.Applied) != 2 || m.Applied[1].Keeper != "more-b" || m.Superseded != 2 {
		t.Fatalf("%+v %v", m, err)
	}
	if len(m.Refused) != 2 || m.Refused[0].Group.Keeper != "lost-b" || m.Refused[1].Group.New.Title != "Roots" {
		t.Fatalf("%+v", m.Refused)
	}
	for _, r := range m.Refused {
		if r.Why != "" || r.Before != 1 || r.After != 0.75 {
			t.Errorf("%+v", r)
		}
	}
	if rep := w.measure(gateCases...); rep.Recall.At[8] != 1 {
		t.Errorf("after the merge: %+v", rep.Recall)
	}

	// The same gate goes on with another proposal: what was applied is in its copy.
	r, p = w.proposal(synthesis("Beets", "Beets want sand and sun.", "new-a", "new-b"))
	if m, err = g.Merge(t.Context(), r, p); err != nil || len(m.Applied) != 1 || len(m.Synthesized) != 1 {
		t.Errorf("%+v %v", m, err)
	}
	if err := g.Close(); err != nil || len(w.copies) != 1 {
		t.Errorf("%v, %d copies", err, len(w.copies))
	}
	w.gone()
}

// The copy is, byte for byte, what it was before a group that was refused.
func TestMergeGateTakesBack(t *testing.T) {
	w := newWorld(t)
	w.pairs()
	_, p := w.proposal(keeps("lost-b", "lost-a"), synthesis("Roots", "They want sand and sun.", "new-a", "new-b"))
	g, err := w.lab().Gate(t.Context(), gateCases, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	notes := func() string {
		return hashNotes(t, w.copies[0])
	}
	before := notes()
	gate := g.For(p)
	for i, group := range p.Groups {
		_, after, ok, err := gate(t.Context(), []reflection.Group{group})
		if err != nil || ok || after != 0.75 || notes() != before {
			t.Errorf("group %d: after %v, ok %v, %v; taken back: %v", i, after, ok, err, notes() == before)
		}
	}
}

// hashNotes hashes the trees of notes and what became of them, without times.
func hashNotes(t *testing.T, root string) (all string) {
	t.Helper()
	for _, tree := range []string{"memory", "local", "history"} {
		err := filepath.WalkDir(filepath.Join(root, tree), func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all += name + "\n" + readFile(t, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What the gate let through and the store refused afterwards is taken back too.
func TestMergeGateFollowsStore(t *testing.T) {
	w := newWorld(t)
	w.pairs()
	_, p := w.proposal(keeps("safe-b", "safe-a"), keeps("more-b", "more-a"))
	g, err := w.lab().Gate(t.Context(), gateCases, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	before := hashNotes(t, w.copies[0])
	gate := g.For(p)
	if _, _, ok, err := gate(t.Context(), p.Groups[:1]); !ok || err != nil || hashNotes(t, w.copies[0]) == before {
		t.Fatal(ok, err)
	}
	// The first group was not applied: the second is tried alone.
	if _, _, ok, err := gate(t.Context(), p.Groups[1:]); !ok || err != nil {
		t.Fatal(ok, err)
	}
	_, _, _, err = gate(t.Context(), []reflection.Group{p.Groups[0], p.Groups[0], p.Groups[0]})
	wantErr(t, err, "the gate knows")
}

// A case that names a note which others replaced since asks for the note that stands for it now:
// before the merge and after it.
func TestMergeGateFollowsWhatReplaces(t *testing.T) {
	w := newWorld(t)
	w.add(
		note.Note{ID: "older", Body: "Rotate the staging certificate daily.", Supersedes: []note.ID{"gone"}},
		note.Note{ID: "newer", Body: "Rotate the staging certificate weekly.", Supersedes: []note.ID{"older"}},
		note.Note{ID: "other", Body: "The staging certificate is rotated weekly, every week."},
	)
	w.add(fillers("filler", 4)...)
	r, p := w.proposal(keeps("other", "newer"))
	g, err := w.lab().Gate(t.Context(), []eval.Case{ask("rotate staging certificate", "gone"), ask("staging certificate", "older")}, 8, nil)
	if err != nil || g.Baseline() != 1 {
		t.Fatal(g, err)
	}
	defer g.Close()
	m, err := g.Merge(t.Context(), r, p)
	if err != nil || len(m.Applied) != 1 || len(m.Refused) != 0 {
		t.Errorf("%+v %v", m, err)
	}
}

// A group that the copy refuses alone is not applied, and its reason is shown.
func TestMergeGateRefused(t *testing.T) {
	w := newWorld(t)
	w.pairs()
	r, p := w.proposal(synthesis("Note safe-a", "The staging certificate is rotated weekly, every week.", "new-a", "new-b"))
	setup := w.lab()
	setup.Reflector = func(b *eval.Workbench) *reflection.Reflector {
		n, _, ref, err := b.Store.Read(store.NotePath(note.Portable, note.Semantic, "new-a"))
		if err != nil {
			t.Fatal(err)
		}
		n.Body = "Changed in the copy."
		if ref, _, err = storetest.Put(b.Store, n, ref, store.Update); err == nil {
			err = b.Index.Refresh(t.Context(), ref.Path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return w.reflector(b)
	}
	g, err := setup.Gate(t.Context(), gateCases[:3], 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	m, err := g.Merge(t.Context(), r, p)
	if err != nil || len(m.Applied) != 0 || len(m.Refused) != 1 {
		t.Fatalf("%+v %v", m, err)
	}
	if want := "new-a has changed since it was compared"; m.Refused[0].Why != want {
		t.Errorf("why %q, want %q", m.Refused[0].Why, want)
	}
}

// MG-07: without a set, or without approved cases, there is no gate.
func TestGateCases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eval.jsonl")
	_, _, err := eval.GateCases(file, nil)
	wantErr(t, err, "recall-gated; no eval set at "+file)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	file = writeFile(t, lineB+"\n")
	_, warnings, err := eval.GateCases(file, nil)
	wantErr(t, err, "no approved cases in "+file)
	if len(warnings) != 1 {
		t.Error(warnings)
	}
	if cases, _, err := eval.GateCases(writeFile(t, lineA), nil); err != nil || len(cases) != 1 {
		t.Error(cases, err)
	}
	w := newWorld(t)
	_, err = w.lab().Gate(t.Context(), nil, 8, nil)
	wantErr(t, err, "no cases")
}
