package queue_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/storetest"
)

type work struct {
	Name string `json:"name"`
}

// A room is a queue whose clock is set by hand.
type room struct {
	*testing.T
	queue.Queue
	store *store.Store
	now   time.Time
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{T: t, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	var err error
	if r.store, err = store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return r.now }}); err != nil {
		t.Fatal(err)
	}
	r.Queue = queue.Of(r.store)
	return r
}

func (r *room) put(path, text string) {
	r.Helper()
	storetest.WriteFile(r.T, r.store.Path(path), text)
}

func (r *room) enqueue(k queue.Kind, key note.ID, name string) queue.Job {
	r.Helper()
	j, err := r.Enqueue(k, key, work{name}, time.Time{})
	if err != nil {
		r.Fatal(err)
	}
	return j
}

// jobs lists the jobs of a kind, and names tells them apart.
func (r *room) jobs(k queue.Kind) []queue.With[work] {
	r.Helper()
	all, err := queue.Jobs[work](r.Queue, k)
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func (r *room) names(k queue.Kind) string {
	r.Helper()
	var names []string
	for _, j := range r.jobs(k) {
		names = append(names, fmt.Sprintf("%s/%d", j.Payload.Name, j.Attempts))
	}
	return strings.Join(names, " ")
}

func (r *room) want(k queue.Kind, want string) {
	r.Helper()
	if got := r.names(k); got != want {
		r.Errorf("waiting: %q, want %q", got, want)
	}
}

func (r *room) claim(j queue.Job) queue.Job {
	r.Helper()
	j, ok, err := r.Claim(j)
	if err != nil || !ok {
		r.Fatalf("claim %s: %v %v", j.Path, ok, err)
	}
	return j
}

func (r *room) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func TestQueue(t *testing.T) {
	r := newRoom(t)
	first := r.enqueue(queue.Capture, "", "one")
	r.enqueue(queue.Capture, "", "two")
	if _, err := r.Enqueue(queue.Capture, "", work{strings.Repeat("x", 9000)}, time.Time{}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a job of 9 KB: %v", err)
	}
	r.want(queue.Capture, "one/0 two/0")

	// A job that kills its run three times is poisoned; one that fails is not.
	for range 5 {
		r.must(r.Release(r.claim(r.jobs(queue.Capture)[0].Job), time.Time{}, "the disk is full"))
	}
	if j := r.jobs(queue.Capture)[0]; j.Reason != "the disk is full" || j.Payload.Name != "one" {
		t.Errorf("%+v", j)
	}
	for i := range queue.MaxAttempts + 1 {
		_, ok, err := r.Claim(r.jobs(queue.Capture)[0].Job)
		if err != nil || ok != (i < queue.MaxAttempts) {
			t.Fatalf("attempt %d: %v %v", i, ok, err)
		}
	}
	r.want(queue.Capture, "two/0")
	if all := r.Poisoned(); len(all) != 1 || all[0].Why != "it stopped 3 background runs" || all[0].Path != "spool/poisoned/"+string(first.ID)+".3.json" {
		t.Errorf("poisoned: %v", all)
	}

	// A job that is retried waits with its attempt and its reason.
	j := r.claim(r.jobs(queue.Capture)[0].Job)
	r.must(r.Retry(j, r.now.Add(time.Hour), strings.Repeat("\x01é", 200)))
	r.enqueue(queue.Capture, "", "three")
	r.want(queue.Capture, "three/0 two/1")
	if j = r.jobs(queue.Capture)[1].Job; !j.Due().Equal(r.now.Add(time.Hour)) || !j.Created.Equal(r.now) || j.Reason == "" {
		t.Errorf("%+v", j)
	}
	for range 2 {
		r.must(r.Finish(j)) // what is gone is finished
	}
	r.must(r.Retry(j, time.Time{}, ""))
	r.want(queue.Capture, "three/0")
	if _, _, err := r.Claim(j); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("claimed what is gone: %v", err)
	}
}

// Under a key one job waits, and of some kinds not too many at all.
func TestKeys(t *testing.T) {
	r := newRoom(t)
	for i := range 210 {
		_, err := r.Enqueue(queue.Summary, note.ID(fmt.Sprint("n", i)), work{"old"}, time.Time{})
		if (err != nil) != (i >= 200) || err != nil && !errors.Is(err, queue.ErrFull) {
			t.Fatal(i, err)
		}
	}
	r.claim(r.jobs(queue.Summary)[0].Job)
	r.must(os.Rename(r.store.Path("spool/retry/n1.0.json"), r.store.Path("spool/retry/n1.json"))) // as version 1 called it
	r.enqueue(queue.Summary, "n0", "new")
	r.enqueue(queue.Summary, "n1", "new")
	all := r.jobs(queue.Summary)
	if len(all) != 200 {
		t.Errorf("%d wait", len(all))
	}
	for _, j := range all {
		if (j.ID == "n0" || j.ID == "n1") != (j.Payload.Name == "new") || j.Attempts != 0 {
			t.Errorf("%+v", j)
		}
	}
	for _, key := range []note.ID{"../x", "a/b", "a.b", "con", note.ID(strings.Repeat("a", 200))} {
		if _, err := r.Enqueue(queue.Batch, key, work{}, time.Time{}); err == nil {
			t.Errorf("%q became a name", key)
		}
	}
	if _, err := r.Enqueue(queue.Batch, "big", work{strings.Repeat("x", 17<<20)}, time.Time{}); err == nil {
		t.Error("a batch without end was kept")
	}
	r.want(queue.Capture, "") // the kinds do not see each other
}

// Files in the formats before there was a queue are jobs; what is rewritten of
// them is a file of today.
func TestVersion1(t *testing.T) {
	type session struct{ Harness, Source, Session, Transcript, Dir, Project string }
	type retry struct {
		Hash string
		Job  session
	}
	r := newRoom(t)
	r.put("spool/01KAAAAAAAAAAAAAAAAAAAAAAA.1.json", `{"v":1,"id":"01KAAAAAAAAAAAAAAAAAAAAAAA","at":"2026-11-20T09:00:00.123Z","kind":"capture","harness":"claude","event":"SessionEnd",`+
		`"source":"session-end","session":"8f0c","transcript":"/home/ada/8f0c.jsonl","offset":182733,"dir":"/src/app","project":"app","sync":true}`+"\n")
	r.put("spool/retry/01KBBBBBBBBBBBBBBBBBBBBBBB.json", `{"v":1,"id":"01KBBBBBBBBBBBBBBBBBBBBBBB","tries":2,"due":"2026-11-20T11:00:00Z","hash":"0123456789abcdef",`+
		`"job":{"v":0,"id":"","at":"","kind":"capture","harness":"claude","event":"","source":"precompact","session":"s2","transcript":"/home/ada/s2.jsonl","project":"app"}}`+"\n")
	r.put("spool/batches/9f86d081884c7d65.json", `{"v":1,"id":"9f86d081884c7d65","at":"2026-11-20T10:00:00+00:00","project":"app","model":"local/m",`+
		`"sources":[{"id":"01KCCCCCCCCCCCCCCCCCCCCCCC","hash":"00"}],"notes":["---\n"]}`+"\n")
	r.put("spool/poisoned/01KDDDDDDDDDDDDDDDDDDDDDDD.3.json", `{"v":1,"id":"01KDDDDDDDDDDDDDDDDDDDDDDD","at":"2026-11-20T09:00:00.123Z","kind":"capture","harness":"claude"}`)
	r.put("spool/poisoned/01KEEEEEEEEEEEEEEEEEEEEEEE.0.json", "{")

	for round := range 2 { // as it was found, and after it was claimed and rewritten
		captures, err := queue.Jobs[session](r.Queue, queue.Capture)
		if err != nil || len(captures) != 1 || captures[0].ID != "01KAAAAAAAAAAAAAAAAAAAAAAA" || captures[0].Attempts != 1 ||
			captures[0].Payload != (session{"claude", "session-end", "8f0c", "/home/ada/8f0c.jsonl", "/src/app", "app"}) {
			t.Fatalf("%+v %v", captures, err)
		}
		retries, err := queue.Jobs[retry](r.Queue, queue.Summary)
		if err != nil || len(retries) != 1 || retries[0].Attempts != 2+round || !retries[0].Due().Equal(r.now.Add(time.Hour)) ||
			retries[0].Payload != (retry{"0123456789abcdef", session{Harness: "claude", Source: "precompact", Session: "s2", Transcript: "/home/ada/s2.jsonl", Project: "app"}}) {
			t.Fatalf("%+v %v", retries, err)
		}
		batches, err := queue.Jobs[struct{ Notes []string }](r.Queue, queue.Batch)
		if err != nil || len(batches) != 1 || batches[0].ID != "9f86d081884c7d65" || !batches[0].Created.Equal(r.now) || batches[0].Payload.Notes[0] != "---\n" {
			t.Fatalf("%+v %v", batches, err)
		}
		if round == 0 {
			r.must(r.Release(r.claim(captures[0].Job), time.Time{}, "x"))
			r.must(r.Retry(r.claim(retries[0].Job), r.now.Add(time.Hour), "x"))
			r.must(r.Release(r.claim(batches[0].Job), time.Time{}, "x"))
		}
	}
	for _, file := range []string{"spool/01KAAAAAAAAAAAAAAAAAAAAAAA.1.json", "spool/retry/01KBBBBBBBBBBBBBBBBBBBBBBB.3.json", "spool/batches/9f86d081884c7d65.0.json"} {
		if data := string(storetest.ReadFile(t, r.store, file)); !strings.HasPrefix(data, `{"v":2,`) {
			t.Errorf("%s: %s", file, data)
		}
	}
	if all := r.Poisoned(); len(all) != 2 || all[0].Why != "" || all[1].Why != "the file holds no job" {
		t.Errorf("%v", all)
	}
	for _, file := range []string{"spool/told/a.jsonl", "spool/quiet/quiet.json", "spool/unread/p/s.json"} { // folders that hold no jobs
		r.must(r.store.Spool().Write(file, []byte("{}\n"), false))
	}
	if bad := r.Problems(); len(bad) != 0 {
		t.Errorf("%v", bad)
	}
}

// What is no job is set aside; what a newer version may understand, and what is no
// plain file, stays. All of it is named, and nothing of it ends the listing.
func TestHostile(t *testing.T) {
	r := newRoom(t)
	r.enqueue(queue.Capture, "", "good")
	head := func(v int, id, kind string) string {
		return fmt.Sprintf(`{"v":%d,"id":%q,"kind":%q,"at":"2026-11-20T10:00:00Z","payload":{"name":"bad"}}`, v, id, kind)
	}
	bad := map[string]string{
		"garbage.json": "{", "empty.0.json": "", "list.0.json": "[]", "null.0.json": "null", "no.0.json": "{}", "old.9x.json": head(2, "old", "capture"),
		"other.0.json": head(2, "another", "capture"), "minus.-1.json": head(2, "minus", "capture"), "way.0.json": head(2, "../way", "capture"),
		"bare.json": head(2, "bare", "capture"), "zero.0.json": head(0, "zero", "capture"), "huge.0.json": strings.Repeat("x", 20<<10),
		"when.0.json": `{"v":2,"id":"when","kind":"capture","at":"never","payload":{}}`, "void.0.json": `{"v":2,"id":"void","kind":"capture","at":"2026-11-20T10:00:00Z"}`,
		"shape.0.json": strings.Replace(head(2, "shape", "capture"), `{"name":"bad"}`, "[1]", 1), "99999999999999999999.0.json": "[[[[",
		"many.99999999999999999999.json": head(2, "many", "capture"),
	}
	left := map[string]string{"newer.0.json": head(3, "newer", "capture"), "kind.0.json": head(2, "kind", "walk"), "first.0.json": head(1, "first", "walk")}
	for name, text := range bad {
		r.put("spool/"+name, text)
	}
	for name, text := range left {
		r.put("spool/"+name, text)
	}
	r.put("spool/walks/a.0.json", head(2, "a", "walk"))
	r.put("spool/README.txt", "mine")
	r.put("spool/.hidden.json", "{")
	r.must(os.MkdirAll(r.store.Path("spool/.hidden"), 0o700))
	r.must(os.MkdirAll(r.store.Path("spool/retry/dir.0.json"), 0o700))
	if err := os.Symlink(r.store.Path("config.json"), r.store.Path("spool/link.0.json")); err != nil {
		t.Skip("no links here")
	}
	stays := len(left) + 3                                 // the folder of an unknown kind, a folder called like a job, a link
	if all := r.Problems(); len(all) != len(bad)-1+stays { // the payload is the business of its reader
		t.Errorf("%d problems of %d: %v", len(all), len(bad)-1+stays, all)
	}
	r.want(queue.Capture, "good/0")
	if all := r.Poisoned(); len(all) != len(bad) {
		t.Errorf("%d files set aside of %d: %v", len(all), len(bad), all)
	}
	for range 2 {
		all := r.Problems()
		for _, p := range all {
			if !p.Left || p.Why == "" {
				t.Errorf("%+v", p)
			}
		}
		if len(all) != stays {
			t.Errorf("left %v", all)
		}
	}
	for name := range left {
		if !r.store.Has("spool/" + name) {
			t.Errorf("%s is gone", name)
		}
	}

	// A folder that is a link is not followed.
	elsewhere := t.TempDir()
	storetest.WriteFile(t, filepath.Join(elsewhere, "a.0.json"), head(2, "a", "batch"))
	r.must(os.Symlink(elsewhere, r.store.Path("spool/batches")))
	if jobs, _, err := r.Look(queue.Batch); err == nil || len(jobs) != 0 {
		t.Errorf("%v %v", jobs, err)
	}
	if _, err := r.Enqueue(queue.Batch, "b", work{}, time.Time{}); err == nil {
		t.Error("a job was written through a link")
	}
}

// The disk stops at each of the steps that a run makes. What was enqueued is then
// waiting, set aside or finished: one of them, once.
func TestCrash(t *testing.T) {
	finished := 0
	for stop := 1; ; stop++ {
		root := t.TempDir()
		storetest.On(t, root, nil) // the folders of a store
		disk := storetest.NewCrashDisk(stop)
		q := queue.Of(storetest.On(t, root, disk))
		owed := make(map[string]bool) // what was acknowledged, and is not finished
		enqueue := func(k queue.Kind, key note.ID, name string) queue.Job {
			j, err := q.Enqueue(k, key, work{name}, time.Time{})
			if err == nil {
				owed[name] = true
			}
			return j
		}
		for i, k := range []queue.Kind{queue.Capture, queue.Summary, queue.Batch} {
			for _, end := range []string{"finish", "release", "retry", "poison", "claim"} {
				name := fmt.Sprint(end, i)
				j, _, err := q.Claim(enqueue(k, note.ID(name), name))
				if err != nil {
					continue
				}
				switch end {
				case "finish":
					delete(owed, name)
					_ = q.Finish(j)
				case "release":
					_ = q.Release(j, time.Time{}, "x")
				case "retry":
					_ = q.Retry(j, time.Time{}, "x")
				case "poison":
					_ = q.Poison(j, "x")
				case "claim": // killed; enqueued once more
					enqueue(k, note.ID(name), name)
				}
			}
		}
		stopped := disk.MkdirAll(root) != nil // one step more: it fails when any did

		r := &room{T: t, store: storetest.On(t, root, nil)}
		r.Queue = queue.Of(r.store)
		seen := make(map[string]int)
		for _, k := range []queue.Kind{queue.Capture, queue.Summary, queue.Batch} {
			for _, j := range r.jobs(k) {
				seen[j.Payload.Name]++
			}
		}
		if bad := r.Problems(); len(bad) != 0 {
			t.Errorf("stopped at %d: %v", stop, bad)
		}
		aside := 0
		for _, p := range r.Poisoned() {
			name := strings.Split(filepath.Base(p.Path), ".")[0]
			if aside++; p.Why != "x" {
				t.Errorf("stopped at %d: %v", stop, p)
			}
			seen[name] = max(seen[name], 1) // killed in between, it is set aside again
		}
		for name := range owed {
			if seen[name] == 0 {
				t.Errorf("stopped at %d: %s is lost", stop, name)
			}
		}
		for name, n := range seen { // what was enqueued again may be there as it was before, too
			if n > 1 && !strings.HasPrefix(name, "claim") || n > 2 || name == "" {
				t.Errorf("stopped at %d: %q is there %d times", stop, name, n)
			}
		}
		if !stopped {
			if finished = stop; len(seen) != 12 || aside != 3 {
				t.Errorf("without a stop: %v, %d set aside", seen, aside)
			}
			break
		}
	}
	if finished < 40 {
		t.Errorf("only %d steps", finished)
	}
	t.Logf("stopped at each of %d steps", finished)
}
