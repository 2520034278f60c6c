package eval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/eval"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

// counted answers with a new question each time, and keeps what it was asked.
func counted(asked *[]string) model {
	return func(p llm.Prompt) (string, error) {
		*asked = append(*asked, p.User.String())
		return fmt.Sprintf(`{"query": "question %d"}`, len(*asked)), nil
	}
}

func (w *world) build(file string, m llm.Generator) eval.Build {
	return eval.Build{Bench: w.Workbench, Model: m, Redactor: w.redactor, File: file}
}

// EV-05, EV-10, W-28: what is asked about, in which order, and what never is.
func TestBuild(t *testing.T) {
	w := newWorld(t)
	key := "AKIA" + "QYZ7T3M5W2R8K4LP"
	w.add(
		note.Note{ID: "b1", Project: "b", Title: "B one", Body: "The key is " + key + " here."},
		note.Note{ID: "b2", Project: "b", Title: "B two", Body: "Second."},
		note.Note{ID: "a3", Project: "a", Title: "A three", Body: "Third.", Type: note.Procedural},
		note.Note{ID: "a1", Project: "a", Title: "A one", Body: "First.", Type: note.Procedural},
		note.Note{ID: "session", Project: "a", Type: note.Episodic, Title: "SESSION", Body: "x"},
		note.Note{ID: "here", Project: "a", Scope: note.Local, Title: "LOCAL", Body: "Of this machine alone."},
		note.Note{ID: "old", Project: "a", Title: "SUPERSEDED", Body: "Once."},
		note.Note{ID: "new", Project: "c", Title: "C new", Body: "Now.", Supersedes: []note.ID{"old"}},
		note.Note{ID: "over", Project: "a", Title: "EXPIRED", Body: "Once.", ForgetAfter: note.At(now.AddDate(0, -1, 0))},
		note.Note{ID: "filed", Project: "a", Title: "ARCHIVED", Body: "Once.", Status: "archived"},
		note.Note{ID: "orders", Project: "a", Title: "QUARANTINED", Body: "Once.", Quarantine: true},
		note.Note{ID: "hand", Project: "a", Title: "HANDOFF", Body: "Next.", Kind: note.Handoff},
	)
	file := filepath.Join(t.TempDir(), "eval.jsonl")
	var asked []string
	b := w.build(file, counted(&asked))
	b.N = 4
	done, err := b.Run(t.Context())
	if d := cmp.Diff(eval.Built{Asked: 4, Wrote: 4}, done); err != nil || d != "" {
		t.Fatal(err, d)
	}
	var titles []string
	for _, text := range asked {
		title, _, _ := strings.Cut(text, "\n")
		titles = append(titles, title)
		if strings.Contains(text, key) {
			t.Error("a secret was sent")
		}
	}
	if d := cmp.Diff([]string{"# A one", "# B one", "# C new", "# A three"}, titles); d != "" {
		t.Errorf("asked about (-want +got):\n%s", d)
	}
	if !strings.Contains(asked[1], "[REDACTED]") {
		t.Errorf("asked %q", asked[1])
	}
	cases, _, err := eval.Load(file, true, nil)
	if err != nil || len(cases) != 4 || cases[1].Approved || cases[1].Source != "llm:local/m" || cases[1].RelevantIDs[0] != "b1" || cases[1].NoteTitles[0] != "B one" {
		t.Fatalf("%+v %v", cases, err)
	}

	// A note that has a case, a refused one too, is not asked about again.
	edited := strings.Replace(readFile(t, file), `"approved":false`, `"approved":false,"rejected":true`, 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	b.N = 30
	if done, err = b.Run(t.Context()); err != nil || done != (eval.Built{Asked: 1, Wrote: 1, Known: 4}) || asked[4] != "# B two\nSecond." {
		t.Errorf("%+v %v %q", done, err, asked)
	}
	b.Types = []note.Type{note.Episodic}
	if done, err = b.Run(t.Context()); err != nil || done.Wrote != 1 || asked[5] != "# SESSION\nx" {
		t.Errorf("%+v %v %q", done, err, asked)
	}
}

// EV-05, W-56: a bad answer ends the build; what was paid for is kept, and
// nothing is made up.
func TestBuildBadAnswer(t *testing.T) {
	long := strings.Repeat("x", 501)
	for _, tt := range []struct{ name, answer, want string }{
		{"prose", "Here you are: {}", "not JSON"},
		{"list", `["q"]`, "not one whole JSON object"},
		{"other key", `{"question": "q"}`, "no query"},
		{"number", `{"query": 3}`, "cannot unmarshal number"},
		{"blank", `{"query": " \n"}`, "no query"},
		{"long", `{"query": "` + long + `"}`, "more than 500 characters"},
		{"control characters", `{"query": "a\u001b[2Jb"}`, "control characters"},
		{"nothing", "", "it was empty"},
		{"failure", "!", "no route"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add(fillers("topic", 4)...)
			calls := 0
			file := filepath.Join(t.TempDir(), "eval.jsonl")
			done, err := w.build(file, model(func(llm.Prompt) (string, error) {
				if calls++; calls < 3 {
					return fmt.Sprintf(`{"query": "question %d"}`, calls), nil
				}
				if tt.answer == "!" {
					return "", errors.New("no route to host")
				}
				return tt.answer, nil
			})).Run(t.Context())
			wantErr(t, err, tt.want)
			wantErr(t, err, "2 candidate(s) made before it are kept")
			cases, _, lerr := eval.Load(file, true, nil)
			want := 2 + llm.Tries
			if tt.answer == "!" { // asked again by the user alone
				want = 3
			}
			if done.Wrote != 2 || calls != want || lerr != nil || len(cases) != 2 {
				t.Errorf("%+v, %d calls, %v, %v", done, calls, cases, lerr)
			}
		})
	}
}

// W-56: two notes for which the model asks the same make one case.
func TestBuildDuplicates(t *testing.T) {
	w := newWorld(t)
	w.add(fillers("topic", 3)...)
	file := filepath.Join(t.TempDir(), "eval.jsonl")
	done, err := w.build(file, model(func(llm.Prompt) (string, error) { return "```json\n{\"query\": \"always this\"}\n```", nil })).Run(t.Context())
	if err != nil || done != (eval.Built{Asked: 3, Wrote: 1, Duplicates: 2}) {
		t.Errorf("%+v %v", done, err)
	}
}

func TestBuildStops(t *testing.T) {
	w := newWorld(t)
	w.add(fillers("topic", 3)...)
	file := filepath.Join(t.TempDir(), "eval", "eval.jsonl")
	if _, err := w.build(file, nil).Run(t.Context()); !errors.Is(err, learn.ErrNoModel) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asked []string
	b := w.build(file, counted(&asked))
	b.Progress = func(_ string, done, _ int) {
		if done == 1 {
			cancel()
		}
	}
	if done, err := b.Run(ctx); !errors.Is(err, context.Canceled) || done.Wrote != 1 {
		t.Error(done, err)
	}
}

// A server over HTTP hears the redacted note and nothing else of the store.
func TestBuildOverHTTP(t *testing.T) {
	w := newWorld(t)
	w.add(note.Note{ID: "a", Title: "Rotate", Body: "password = hunter2hunter2"},
		note.Note{ID: "b", Scope: note.Local, Title: "Here", Body: "Never leaves."})
	server := llmtest.New(t)
	server.Answer = func(system, user string) string { return `{"query": "how do credentials change"}` }
	gen, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: server.URL, Model: "m"}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done, err := w.build(filepath.Join(t.TempDir(), "eval.jsonl"), gen).Run(t.Context())
	if err != nil || done.Wrote != 1 || len(server.Received()) != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if sent := server.Bytes(); strings.Contains(sent, "hunter2") || strings.Contains(sent, "Never leaves") || !strings.Contains(sent, "# Rotate") {
		t.Errorf("sent %s", sent)
	}
}
