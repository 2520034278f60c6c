package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/eval"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// gone fails when a copy is still there.
func (w *world) gone() {
	w.Helper()
	if len(w.copies) == 0 {
		w.Error("there was no copy")
	}
	for _, root := range w.copies {
		if _, err := os.Stat(root); !errors.Is(err, os.ErrNotExist) {
			w.Errorf("the copy %s is still there", root)
		}
	}
}

// EV-06: a copy has the notes, is another store, and goes away.
func TestCopy(t *testing.T) {
	w := newWorld(t)
	w.add(note.Note{ID: "a", Title: "Portable"}, note.Note{ID: "b", Scope: note.Local, Title: "Local"})
	root := w.Store.Root()
	for name, text := range map[string]string{
		"redact.toml": "# rules\n", "memory/.git/HEAD": "ref", "memory/semantic/.tmp-anamnesis-1": "half",
		"memory/projects.yaml": "aliases:\n- {from: q, to: p}\n", "spool/x.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("/etc/passwd", filepath.Join(root, "memory", "semantic", "link.md"))
	before := w.tree()
	c, err := eval.OpenCopy(t.Context(), w.Store, w.setup, nil)
	if err != nil {
		t.Fatal(err)
	}
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(c.Store.Root(), name))
		return err == nil
	}
	for name, want := range map[string]bool{
		"memory/semantic/a.md": true, "local/semantic/b.md": true, "memory/projects.yaml": true, "redact.toml": true,
		"memory/.git": false, "memory/semantic/.tmp-anamnesis-1": false, "memory/semantic/link.md": false, "spool/x.json": false,
	} {
		if there(name) != want {
			t.Errorf("%s in the copy: %v", name, !want)
		}
	}
	ref, err := c.Store.Find("a")
	if err != nil {
		t.Fatal(err)
	}
	n, _, ref, err := c.Store.Read(ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	n.Title = "Changed"
	if _, _, err := storetest.Put(c.Store, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if w.tree() != before {
		t.Error("the live store changed")
	}
	w.gone()
}

// EV-06: whatever happens, the copy goes away.
func TestCopyGoesAway(t *testing.T) {
	w := newWorld(t)
	w.add(fillers("topic", 3)...)
	fails := func(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
		w.copies = append(w.copies, root)
		return nil, errors.New("no index")
	}
	_, err := eval.OpenCopy(t.Context(), w.Store, fails, nil)
	wantErr(t, err, "no index")

	live := func(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
		w.copies = append(w.copies, root)
		return w.wire(ctx, w.Store.Root(), disk)
	}
	_, err = eval.OpenCopy(t.Context(), w.Store, live, nil)
	wantErr(t, err, "itself was opened")

	ctx, cancel := context.WithCancel(t.Context())
	w.answer = func(llm.Prompt) (string, error) { cancel(); return "[]", nil }
	w.sessions("p", 3)
	before := w.tree()
	if _, err := w.lab().Reflect(ctx, nil, eval.RunOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		w.answer = func(llm.Prompt) (string, error) { panic("a model") }
		_, _ = w.lab().Reflect(t.Context(), nil, eval.RunOptions{})
	}()
	if w.tree() != before {
		t.Error("the live store changed")
	}
	w.gone()
}

// sessions writes n sessions of a project.
func (w *world) sessions(project string, n int) {
	w.Helper()
	for i := range n {
		w.add(note.Note{
			ID: note.ID(fmt.Sprintf("%s-s%d", project, i)), Type: note.Episodic, Project: project, Title: fmt.Sprintf("Session %d of %s", i, project),
			Body:       fmt.Sprintf("We ran make gen in step %d, and the clients of %s were generated. %s", i, project, strings.Repeat("Then more happened. ", 30)),
			Provenance: note.Provenance{Source: note.SessionEnd, Confidence: 1, Session: fmt.Sprint(project, i)},
		})
	}
}

// EV-07: reflection on a copy: what it would change, what was skipped, what failed.
func TestReflectExperiment(t *testing.T) {
	w := newWorld(t)
	w.sessions("good", 3)
	w.sessions("bad", 2)
	w.sessions("few", 1)
	before := w.tree()
	w.answer = func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User.String(), "of bad") {
			return "I cannot do that.", nil
		}
		return `[{"type":"procedural","title":"Generate the clients","body":"Run make gen."}]`, nil
	}
	x, err := w.lab().Reflect(t.Context(), []eval.Case{ask("make gen clients", "good-s0", "good-s1", "good-s2")}, eval.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x.Kind != eval.Reflecting || x.Projects != 1 || x.Notes != 1 || x.Skipped != 1 || len(x.Failed) != 1 || x.Failed[0].Project != "bad" {
		t.Errorf("%+v", x)
	}
	was, is := x.Before.WorkingSet.PerProject, x.After.WorkingSet.PerProject
	if is["good"] <= was["good"] || is["bad"] != was["bad"] { // the page of the one has a line more
		t.Errorf("working sets %v, then %v", was, is)
	}
	text := x.String()
	for _, want := range []string{
		"inject tokens (mean/project): ", "recall:\n  recall@1: ", "reflected: 1 project(s), 1 note(s) written; skipped 1 below-threshold project(s)\n",
		"failed: bad: reflection output is not a JSON array",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if w.tree() != before {
		t.Error("the live store changed")
	}
	w.gone()

	w.answer = nil
	if _, err := w.lab().Reflect(t.Context(), nil, eval.RunOptions{}); !errors.Is(err, learn.ErrNoModel) {
		t.Error(err)
	}
}

// EV-07: what became worse is marked.
func TestExperimentText(t *testing.T) {
	report := func(at1, mrr, mean float64) *eval.Report {
		return &eval.Report{
			Recall:     eval.Recall{Cases: 2, At: map[int]float64{1: at1, 8: 1}, MRR: mrr},
			WorkingSet: eval.WorkingSet{MeanTokens: mean},
		}
	}
	x := &eval.Experiment{Kind: eval.Reflecting, Before: report(1, 1, 200), After: report(0.5, 0.75, 150), Projects: 2, Notes: 5, Skipped: 1, Regressed: true}
	want := `eval experiment: reflection on a copy of the store; the store is unchanged
inject tokens (mean/project): 200 -> 150 (-25.0%)
recall:
  recall@1: 1.000 -> 0.500 REGRESSION
  recall@8: 1.000 -> 1.000
  mrr: 1.000 -> 0.750 REGRESSION
reflected: 2 project(s), 5 note(s) written; skipped 1 below-threshold project(s)
WARNING: recall regressed after reflection
`
	if got := x.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// keep is a group by which one note stands for others.
func keep(keeper string, superseded ...string) string {
	data, _ := json.Marshal([]map[string]any{{"action": "keep", "keeper_id": keeper, "superseded_ids": superseded}})
	return string(data)
}

// EV-08: cases that merging makes worse, and whether that is only their ids.
func TestMergeExperiment(t *testing.T) {
	w := newWorld(t)
	w.add(
		note.Note{ID: "moved-a", Project: "a", Body: "Rotate the staging certificate weekly."},
		note.Note{ID: "moved-b", Project: "a", Body: "The staging certificate is rotated weekly, every week."},
		note.Note{ID: "lost-a", Project: "b", Body: "Parsnips grow."},
		note.Note{ID: "lost-b", Project: "b", Body: "Vegetables grow."},
		note.Note{ID: "alone", Project: "c", Body: "Nobody compares this."},
	)
	before := w.tree()
	w.answer = func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User.String(), "moved-a") {
			return keep("moved-b", "moved-a"), nil
		}
		return keep("lost-b", "lost-a"), nil
	}
	cases := []eval.Case{ask("rotate staging certificate", "moved-a"), ask("parsnips", "lost-a"), ask("nobody compares", "alone"), ask("zzz", "lost-a")}
	x, err := w.lab().Merge(t.Context(), cases, eval.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := x.String()
	for _, want := range []string{
		"merged: 2 project(s), 2 group(s) applied; skipped 1 below-threshold project(s)\n",
		"WARNING: recall regressed after merge\n",
		`per-case regressions (2):
- "rotate staging certificate"
    expected moved-a  superseded -> moved-b [retrieved @rank 1]
    => ARTIFACT (info moved; re-key eval to the superseder)
- "parsnips"
    expected lost-a  superseded -> lost-b [not retrieved]
    => REAL LOSS (recall genuinely degraded)
`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if w.tree() != before {
		t.Error("the live store changed")
	}
	w.gone()
}

func TestRegressionText(t *testing.T) {
	r := func() *eval.Report { return &eval.Report{Recall: eval.Recall{At: map[int]float64{8: 1}}} }
	id := note.ID(strings.Repeat("x", 60))
	x := &eval.Experiment{Kind: eval.Merging, Before: r(), After: r(), Regressions: []eval.Regression{{
		Query:    "a \x1b[2J query",
		Expected: []eval.Expected{{ID: id, Rank: 11}, {ID: "low", Rank: 11, Was: 2}, {ID: "gone", Was: 1}},
	}}}
	text := x.String()
	for _, want := range []string{`- "a \x1b[2J query"`, "expected " + string(id) + "  NOT superseded, after-rank 11", "expected gone  NOT superseded, not in top-25\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
