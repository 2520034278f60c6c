package store_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func TestShownLog(t *testing.T) {
	s, _ := open(t)
	a, b := draft("a"), draft("b")
	one := s.Spool().ShownLog("s", "")
	claim := func(shown *store.ShownLog, want int, injections ...store.Injection) {
		t.Helper()
		if mine, err := shown.Claim(injections...); len(mine) != want || err != nil {
			t.Errorf("claimed %v, %v; want %d", mine, err, want)
		}
	}
	claim(one, 0)
	claim(one, 2, store.InjectionOf(a), store.InjectionOf(b), store.InjectionOf(b))
	claim(one, 0, store.InjectionOf(a))
	claim(s.Spool().ShownLog("s", "agent"), 1, store.InjectionOf(a))
	claim(s.Spool().ShownLog("t", ""), 1, store.InjectionOf(a))
	changed := *a
	changed.Body += " now"
	claim(one, 1, store.InjectionOf(&changed), store.InjectionOf(a))
	if err := one.Clear(); err != nil {
		t.Fatal(err)
	}
	claim(one, 1, store.InjectionOf(a))

	files, err := s.Spool().Entries("spool/told")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	// A torn line counts as none.
	for _, f := range files {
		name := s.Path("spool/told/" + f.Name())
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, data[:len(data)-9], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	claim(one, 1, store.InjectionOf(a))
	claim(one, 0, store.InjectionOf(a))

	if err := s.Spool().SweepShownLogs(); err != nil {
		t.Fatal(err)
	}
	if left, _ := s.Spool().Entries("spool/told"); len(left) != 3 {
		t.Errorf("%d files after an early sweep", len(left))
	}
	long := time.Now().AddDate(0, 0, -15)
	for _, f := range files[:2] {
		if err := os.Chtimes(s.Path("spool/told/"+f.Name()), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Spool().SweepShownLogs(); err != nil {
		t.Fatal(err)
	}
	if left, _ := s.Spool().Entries("spool/told"); len(left) != 1 {
		t.Errorf("%d files after a sweep", len(left))
	}
	if st, err := s.Spool().ShownLog("never", "").State(); err != nil || st.Has(a) || !st.Started.IsZero() {
		t.Errorf("%+v, %v", st, err)
	}
	if err := s.Spool().ShownLog("never", "").Clear(); err != nil {
		t.Error(err)
	}
}

// A call of a tool shows a note once, also one that the start of the session showed; what a tool
// showed counts at prompts.
func TestShownAtTool(t *testing.T) {
	s, _ := open(t)
	a, b, shown := draft("a"), draft("b"), s.Spool().ShownLog("s", "")
	claim := func(of func(...store.Injection) ([]store.Injection, error), want int, injections ...store.Injection) {
		t.Helper()
		if mine, err := of(injections...); len(mine) != want || err != nil {
			t.Errorf("claimed %v, %v; want %d", mine, err, want)
		}
	}
	claim(shown.Claim, 1, store.InjectionOf(a))
	if st, err := shown.State(); err != nil || !st.Has(a) || st.HasAtTool(a) {
		t.Errorf("after the start: %+v, %v", st, err)
	}
	claim(shown.ClaimAtTool, 2, store.InjectionOf(a), store.InjectionOf(b), store.InjectionOf(b))
	claim(shown.ClaimAtTool, 0, store.InjectionOf(a), store.InjectionOf(b))
	claim(shown.Claim, 0, store.InjectionOf(b))
	if st, err := shown.State(); err != nil || !st.Has(b) || !st.HasAtTool(a) || st.Count() != 2 {
		t.Errorf("after the tool: %+v, %v", st, err)
	}
	if err := shown.Clear(); err != nil {
		t.Fatal(err)
	}
	claim(shown.ClaimAtTool, 1, store.InjectionOf(a))
}

// A session begins, goes on after a resume, and loses its context.
func TestShownBegin(t *testing.T) {
	s, _ := open(t)
	a, shown := draft("a"), s.Spool().ShownLog("s", "")
	state := func(started, prompted, has bool) {
		t.Helper()
		if st, err := shown.State(); err != nil || st.Started.IsZero() == started || st.Prompted != prompted || st.Has(a) != has {
			t.Errorf("%+v, %v", st, err)
		}
	}
	state(false, false, false)
	for _, step := range []struct {
		do                     func() error
		started, prompted, has bool
	}{
		{func() error { return shown.Begin(true) }, true, false, false},
		{func() error { _, err := shown.Claim(store.InjectionOf(a)); return err }, true, false, true},
		{shown.Prompt, true, true, true},
		{func() error { return shown.Begin(false) }, true, false, true},
		{shown.Prompt, true, true, true},
		{shown.Clear, true, true, false},
		{func() error { return shown.Begin(true) }, true, false, false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		state(step.started, step.prompted, step.has)
	}
}

// Hooks that fire side by side tell a note once.
func TestShownTogether(t *testing.T) {
	s, _ := open(t)
	var mu sync.Mutex
	shown := map[note.ID]int{}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			mine, err := s.Spool().ShownLog("s", "").Claim(store.InjectionOf(draft("a")), store.InjectionOf(draft("b")), store.InjectionOf(draft("c")))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			for _, m := range mine {
				shown[m.Note]++
			}
		})
	}
	all.Wait()
	if len(shown) != 3 || shown["a"] != 1 || shown["b"] != 1 || shown["c"] != 1 {
		t.Errorf("shown %v", shown)
	}
}
