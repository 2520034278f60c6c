package store_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A sub-agent gets the task that was given before it, and where several of its type
// start at once, all of them.
func TestTasksOfSubagents(t *testing.T) {
	for name, c := range map[string]struct{ steps, want string }{
		"one":                      {"a/x s/x", "a"},
		"one after the other":      {"a/x s/x b/x s/x", "a b"},
		"two at once":              {"a/x b/x s/x s/x", "ab ab"},
		"a third joins":            {"a/x b/x s/x c/x s/x s/x d/x s/x", "ab abc abc d"},
		"of two types":             {"a/x b/y s/y s/x", "b a"},
		"without a type":           {"a/ s/x", "a"},
		"none":                     {"s/x", ""},
		"none is left":             {"a/x s/x s/x", "a "},
		"a start that nobody gave": {"s/x a/x s/x", " a"},
		"refused, and a new turn":  {"a/x turn b/x s/x", "b"},
	} {
		s, err := store.Open(store.Options{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		shown, turn := s.Spool().ShownLog("s", ""), "1"
		var got []string
		for _, step := range strings.Fields(c.steps) {
			what, kind, _ := strings.Cut(step, "/")
			switch what {
			case "turn":
				turn = "2"
			case "s":
				tasks, err := shown.TakeTasks(store.Task{Turn: turn, Type: kind})
				if err != nil {
					t.Fatal(err)
				}
				ids := ""
				for _, task := range tasks {
					for _, id := range task.Notes {
						ids += string(id)
					}
				}
				got = append(got, ids)
			default:
				if err := shown.NoteTask(store.Task{Turn: turn, Type: kind, Notes: []note.ID{note.ID(what)}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if st, err := shown.State(); err != nil || st.Has(&note.Note{ID: "a"}) {
			t.Errorf("%s: a task counts as shown, %v", name, err)
		}
	}
}

func TestTaskIsShort(t *testing.T) {
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Spool().ShownLog("s", "")
	ids := slices.Repeat([]note.ID{note.ID(strings.Repeat("x", 128))}, 1000)
	if err := shown.NoteTask(store.Task{Notes: ids}); err != nil {
		t.Fatal(err)
	}
	if tasks, err := shown.TakeTasks(store.Task{}); err != nil || len(tasks) != 1 || len(tasks[0].Notes) != 12 {
		t.Errorf("%d tasks, %v", len(tasks), err)
	}
}
