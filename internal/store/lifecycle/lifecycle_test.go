package lifecycle_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/lifecycle"
	"anamnesis/internal/store/storetest"
)

// world is a store, and a program that writes the name of each event to a file.
type world struct {
	s       *store.Store
	program string
	out     string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	s, err := store.Open(store.Options{Root: filepath.Join(dir, "store"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{s: s, program: filepath.Join(dir, "told"), out: filepath.Join(dir, "out")}
	script := "#!/bin/sh\necho \"$ANAMNESIS_EVENT $ANAMNESIS_HOME$ANAMNESIS_OTHER$ANAMNESIS_DISABLED\" >> " + w.out + "\n"
	storetest.WriteProgram(t, w.program, script)
	return w
}

func (w *world) log(t *testing.T, kind, text string) {
	t.Helper()
	if err := w.s.Events().Log(store.Record{Kind: kind, Text: text}); err != nil {
		t.Fatal(err)
	}
}

// run runs the programs and returns what was shown since the last time.
func (w *world) run(t *testing.T, o lifecycle.Options) string {
	t.Helper()
	if _, err := lifecycle.Run(t.Context(), w.s, o, []string{"PATH=" + os.Getenv("PATH"), "ANAMNESIS_HOME=/store", "ANAMNESIS_OTHER=x"}); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(w.out)
	_ = os.Remove(w.out)
	return strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", ", ")
}

func TestRun(t *testing.T) {
	w := newWorld(t)
	all := lifecycle.Options{Program: w.program}
	w.log(t, store.Written, "created") // last year
	w.log(t, store.Drained, "")
	w.log(t, store.Written, "updated")
	w.log(t, store.Drained, "")
	if got, want := w.run(t, all), "learning.updated /store1"; got != want {
		t.Errorf("the first run told %q, want %q", got, want)
	}
	if got := w.run(t, all); got != "" {
		t.Errorf("told again: %q", got)
	}
	w.log(t, store.Written, "held") // no note
	w.log(t, store.Written, "created")
	w.log(t, store.Reflected, "merge")
	if got, want := w.run(t, all), "learning.created /store1, consolidation.completed /store1"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	w.log(t, store.Written, "created")
	if got := w.run(t, lifecycle.Options{}); got != "" {
		t.Errorf("without programs it told %q", got)
	}
}

// A program that does not end is ended, which is said, and runs for the next event.
func TestHangs(t *testing.T) {
	w := newWorld(t)
	script := "#!/bin/sh\necho \"$ANAMNESIS_EVENT\" >> " + w.out + "\nexec sleep 600\n"
	storetest.WriteProgram(t, w.program, script)
	w.log(t, store.Drained, "")
	w.log(t, store.Written, "created")
	w.log(t, store.Written, "updated")
	w.log(t, store.Drained, "")
	ran, err := lifecycle.Run(t.Context(), w.s, lifecycle.Options{Program: w.program, Time: 300 * time.Millisecond}, []string{"PATH=" + os.Getenv("PATH")})
	if ran != 2 || err == nil || strings.Count(err.Error(), "did not end within 300ms") != 2 {
		t.Errorf("%d ran, %v", ran, err)
	}
}
