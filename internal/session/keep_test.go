package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
)

// A room is what is kept in a store of a test.
type room struct {
	*testing.T
	*session.Kept
	store *store.Store
}

func newRoom(t *testing.T, o session.Options) *room {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o.Keep = true
	r := &room{t, session.New(s, o), s}
	t.Cleanup(r.Close)
	return r
}

// put keeps a session of lines (agenttest.Talk) and brings the index into step.
func (r *room) put(id string, ended time.Time, lines ...string) session.Head {
	r.Helper()
	s := agenttest.Talk(lines...)
	h := session.Head{Session: id, Agent: "claude", Project: "shop", Started: ended.Add(-time.Hour), Ended: ended}
	h.Title = session.TitleOf("", nil, session.Cut(s, strings.TrimSpace))
	if err := r.Put(r.Context(), h, session.Cut(s, strings.TrimSpace), nil); err != nil {
		r.Fatal(err)
	}
	r.sync()
	return h
}

func (r *room) sync() {
	r.Helper()
	if err := r.Sync(r.Context(), nil); err != nil {
		r.Fatal(err)
	}
}

// ids asks a question and returns what it finds.
func (r *room) ids(question string, projects ...string) (ids []string) {
	r.Helper()
	hits, err := r.Search(r.Context(), session.Query{Text: question, Projects: projects, Limit: 5})
	if err != nil {
		r.Fatal(err)
	}
	for i := range hits {
		ids = append(ids, hits[i].ID())
	}
	return ids
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const (
	asked   = "> the invoice mail is sent twice after a retry"
	because = "The queue redelivers the job because the worker never acknowledges it."
)

// What is kept is found by what stands in the middle of a session, and nothing else is found.
func TestSearch(t *testing.T) {
	r := newRoom(t, session.Options{})
	one := r.put("a", noon, "> add the invoice page", "~ page.go", "Added.", asked, because, "~ worker.go", "$ go test ./queue => ok  queue 0.1s", "It acknowledges first now.")
	r.put("b", noon, "> rename the theme colours", "~ theme.css", "Renamed the variables.")
	if got := r.ids("why was the invoice mail sent twice", "shop"); len(got) == 0 || got[0] != one.Key()+".2" {
		t.Errorf("found %q, want %s.2 first", got, one.Key())
	}
	for _, question := range []string{"which pancake recipe did the unicorn prefer", "", "the of and"} {
		if got := r.ids(question, "shop"); len(got) > 0 {
			t.Errorf("%q finds %q", question, got)
		}
	}
	if got := r.ids("invoice mail sent twice", "elsewhere"); len(got) > 0 {
		t.Errorf("another project finds %q", got)
	}
}

// A session that is captured again is what it is now; sessions that come later are merged in.
func TestIndexGrows(t *testing.T) {
	r := newRoom(t, session.Options{})
	r.put("a", noon, asked, because)
	r.put("a", noon, "> the zebra importer hangs", "It waited for a lock.")
	if got := r.ids("invoice mail sent twice"); len(got) > 0 {
		t.Errorf("what the session was finds %q", got)
	}
	for _, animal := range strings.Fields("walrus ocelot badger heron lizard otter pelican quail") {
		r.put(animal, noon, "> the "+animal+" importer hangs", "The "+animal+" file had no end.")
	}
	for _, animal := range []string{"zebra", "walrus", "quail"} {
		if got := r.ids("the " + animal + " importer hangs"); len(got) == 0 {
			t.Errorf("%s is not found", animal)
		}
	}
	files, err := filepath.Glob(r.store.Path("sessions.index/*.postings"))
	if err != nil || len(files) > 4 {
		t.Errorf("%d shards, %v", len(files), err)
	}
}

// An index that is gone, cut short or no index is built again from what is kept.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(r *room, shard, catalogue string) error{
		"deleted":      func(r *room, _, _ string) error { return os.RemoveAll(r.store.Path("sessions.index")) },
		"a shard gone": func(_ *room, shard, _ string) error { return os.Remove(shard) },
		"a shard cut":  func(_ *room, shard, _ string) error { return os.Truncate(shard, 100) },
		"a bit":        func(_ *room, shard, _ string) error { return flip(shard) },
		"no catalogue": func(_ *room, _, catalogue string) error { return os.Remove(catalogue) },
		"not JSON":     func(_ *room, _, catalogue string) error { return os.WriteFile(catalogue, []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, session.Options{})
			h := r.put("a", noon, asked, because)
			r.put("b", noon, "> rename the theme colours", "Renamed the variables of the theme.", "~ theme.css")
			shards, err := filepath.Glob(r.store.Path("sessions.index/*.postings"))
			if err != nil || len(shards) == 0 {
				t.Fatal(shards, err)
			}
			if err := damage(r, shards[0], r.store.Path("sessions.index/catalogue.json")); err != nil {
				t.Fatal(err)
			}
			fresh := &room{t, session.New(r.store, session.Options{Keep: true}), r.store}
			defer fresh.Close()
			if got := fresh.ids("why was the invoice mail sent twice"); len(got) == 0 || got[0] != h.Key()+".1" {
				t.Errorf("found %q", got)
			}
		})
	}
}

// Questions that find no index yet leave that alone which another process is writing.
func TestAskedWhileWritten(t *testing.T) {
	for range 8 {
		r := newRoom(t, session.Options{})
		var readers sync.WaitGroup
		written := make(chan struct{})
		for range 3 {
			readers.Go(func() {
				for {
					fresh := session.New(r.store, session.Options{Keep: true})
					_, err := fresh.Search(t.Context(), session.Query{Text: "why was the invoice mail sent twice", Limit: 5})
					if fresh.Close(); err != nil {
						t.Errorf("search: %v", err)
						return
					}
					select {
					case <-written:
						return
					default:
					}
				}
			})
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			r.put(id, noon, asked, because)
		}
		close(written)
		readers.Wait()
	}
}

// flip changes bytes in the middle of a file.
func flip(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i := 128; i < len(data)-200; i += 16 {
		data[i] ^= 0x40
	}
	return os.WriteFile(name, data, 0o600)
}

// What was forgotten is in no file, and a later capture does not bring it back.
func TestForget(t *testing.T) {
	r := newRoom(t, session.Options{})
	lines := []string{"> add the invoice page", "Added.", asked, because, "> thanks a lot, now the footer", "The footer is done, with links."}
	h := r.put("a", noon, lines...)
	if err := r.Forget(t.Context(), map[string][]int{h.Key(): {2}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := r.ids("why was the invoice mail sent twice"); len(got) > 0 {
			t.Errorf("found %q", got)
		}
		head, all, err := r.Read(h.Key())
		if err != nil || len(all) != 2 || all[0].N != 1 || all[1].N != 3 || head.Title != "" {
			t.Errorf("kept %+v of %+v, %v", all, head, err)
		}
		r.put("a", noon, lines...)
	}
	if err := r.Forget(t.Context(), map[string][]int{h.Key(): nil}); err != nil {
		t.Fatal(err)
	}
	r.put("a", noon, lines...)
	if _, _, err := r.Read(h.Key()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the session is still there: %v", err)
	}
	if !r.Has("claude", "a") {
		t.Error("an import would take the session in again")
	}
}

// The oldest sessions go first, beyond the days and beyond the bytes.
func TestPrune(t *testing.T) {
	now := time.Now()
	r := newRoom(t, session.Options{Days: 30})
	r.put("old", now.AddDate(0, 0, -31), "> the heron importer hangs", "It waited.")
	r.put("new", now.AddDate(0, 0, -1), "> the otter importer hangs", "It waited.")
	if n, until, err := r.Prune(t.Context(), now.AddDate(0, 0, -30), nil); n != 1 || err != nil || !until.Before(now.AddDate(0, 0, -30)) {
		t.Errorf("%d removed, which ended until %v, %v", n, until, err)
	}
	if len(r.ids("heron importer hangs")) > 0 || len(r.ids("otter importer hangs")) == 0 {
		t.Error("the wrong one went")
	}
	n, _, err := r.Prune(t.Context(), time.Time{}, func(h *session.Head) bool { return h.Session == "new" })
	if u, _ := r.Usage(); n != 0 || err != nil || u.Sessions != 0 {
		t.Errorf("%d removed, %d left, %v", n, u.Sessions, err)
	}
}

// A secret in an ask, a reply, a command or an output is in no file of what is kept, nor in its index.
func TestSecretsAreNotKept(t *testing.T) {
	token, word := "ghp_"+strings.Repeat("Zq7", 12), "hunter-gatherer-42"
	lines := []string{
		"> login as admin with " + word + " fails, the token is " + token,
		"$ curl -H 'Authorization: Bearer " + token + "' https://x.example => ok " + word,
		"$ PGPASSWORD=" + word + " psql -c 'select 1' !> " + strings.Repeat("row\n", 50) + "error: password authentication failed for " + word + "\n" + token,
		"~ " + token + ".go", "The password " + word + " is wrong, and " + token + " has expired.",
	}
	rules, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	rules = rules.Knowing(lines...)
	r := newRoom(t, session.Options{})
	s := agenttest.Talk(lines...)
	h := session.Head{Session: "a", Agent: "claude", Project: "shop", Ended: noon}
	if err := r.Put(t.Context(), h, session.Cut(s, func(text string) string { return rules.Redact(text).String() }), nil); err != nil {
		t.Fatal(err)
	}
	r.sync()
	_, all, err := r.Read(h.Key())
	if err != nil || len(all) != 1 || len(all[0].Steps) != 3 {
		t.Fatalf("kept %+v, %v", all, err)
	}
	if text := all[0].Text(); strings.Contains(text, token) || strings.Contains(text, word) {
		t.Errorf("a secret is kept:\n%s", text)
	}
	if got := r.ids(token); len(got) > 0 {
		t.Errorf("a secret finds %q", got)
	}
	if got := r.ids("password authentication failed"); len(got) == 0 {
		t.Error("what stands around it is not found")
	}
}

// A secret whose name was typed and whose value was pasted is masked, too.
func TestSecretOverABorder(t *testing.T) {
	const name, value = "The staging server needs API_TOKEN=", "q8Zr2mW7xK4nB1vC9sD3"
	rules, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	clean := func(text string) string { return rules.Redact(text).String() }
	if clean(value) != value || strings.Contains(clean(name+value), value) {
		t.Fatal("the value must be a secret by its name alone")
	}
	s := agenttest.Talk("> x", "Done.")
	s.Turns[0].Text = name + value
	s.Turns[0].Spans = []agent.Span{
		{From: 0, To: len(name), By: agent.Typed}, {From: len(name), To: len(name + value), By: agent.Pasted},
	}
	for _, e := range session.Cut(s, clean) {
		if strings.Contains(e.Text()+e.Ask, value) {
			t.Errorf("a secret is kept: %+v", e)
		}
	}
}
