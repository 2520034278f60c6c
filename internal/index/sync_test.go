package index_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A bench is a store with an index and a clock.
type bench struct {
	testing.TB
	*index.Index
	store *store.Store
	now   time.Time

	writes int // of files that are not young
}

func newBench(t testing.TB) *bench {
	b := &bench{TB: t, now: time.Now()}
	var err error
	if b.store, err = store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return b.now }}); err != nil {
		t.Fatal(err)
	}
	b.reopen()
	t.Cleanup(func() { b.Close() })
	return b
}

func (b *bench) reopen() {
	b.Helper()
	db, err := sqlite.Open(context.Background(), sqlite.Options{Path: b.store.Path("index.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Index = index.New(db, b.store, index.Embedding{})
}

// discard deletes the index and opens a new one.
func (b *bench) discard() {
	b.Helper()
	b.Close()
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(b.store.Path("index.db" + ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.Fatal(err)
		}
	}
	b.reopen()
}

// file writes a note file, last changed long ago unless it is young.
func (b *bench) file(path, id, title string, young bool) {
	b.Helper()
	b.raw(path, fmt.Sprintf("---\nid: %s\ntype: semantic\ntitle: %s\n---\nbody of %s\n", id, title, title), young)
}

func (b *bench) raw(path, text string, young bool) {
	b.Helper()
	full := b.store.Path(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	at := b.now
	if !young { // no two of them at one time: nobody could tell those apart by their times
		b.writes++
		at = b.now.Add(-time.Hour + time.Duration(b.writes)*time.Millisecond)
	}
	if err := os.Chtimes(full, at, at); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) sync() index.Report {
	b.Helper()
	rep, err := b.Sync(context.Background(), index.SyncOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return rep
}

// titles are what the index knows, by path.
func (b *bench) titles() map[string]string {
	b.Helper()
	rows, err := b.Select(context.Background(), index.Filter{Dead: true}, 0)
	if err != nil {
		b.Fatal(err)
	}
	all := make(map[string]string)
	for _, r := range rows {
		all[r.Ref.Path] = r.Title
	}
	return all
}

func (b *bench) want(step string, want map[string]string) {
	b.Helper()
	if d := cmp.Diff(want, b.titles()); d != "" {
		b.Errorf("%s (-want +got):\n%s", step, d)
	}
}

func TestSync(t *testing.T) {
	b := newBench(t)
	b.file("memory/semantic/a.md", "a", "apple", false)
	b.file("local/semantic/deep/b.md", "b", "banana", false)
	rep := b.sync()
	if rep.Files != 2 || rep.Indexed != 2 {
		t.Errorf("%+v", rep)
	}
	b.want("first", map[string]string{"memory/semantic/a.md": "apple", "local/semantic/deep/b.md": "banana"})
	if rep := b.sync(); rep.Indexed != 0 || rep.Removed != 0 {
		t.Errorf("a second run changed something: %+v", rep)
	}
	b.file("memory/semantic/a.md", "a", "apricot", false)
	if err := os.Remove(b.store.Path("local/semantic/deep/b.md")); err != nil {
		t.Fatal(err)
	}
	if rep := b.sync(); rep.Indexed != 1 || rep.Removed != 1 {
		t.Errorf("%+v", rep)
	}
	b.want("a change and a removal", map[string]string{"memory/semantic/a.md": "apricot"})
	if err := os.Rename(b.store.Path("memory/semantic/a.md"), b.store.Path("memory/a.md")); err != nil {
		t.Fatal(err)
	}
	b.sync()
	b.want("a move", map[string]string{"memory/a.md": "apricot"})
}

// Notes that answer equally well stand in the order of their passages: the same
// files make the same index, whatever their times are.
func TestSyncOrder(t *testing.T) {
	var first []int64
	for _, ids := range [][]string{{"a", "b", "c", "d"}, {"c", "a", "d", "b"}} {
		b := newBench(t)
		for _, id := range ids {
			b.file("memory/semantic/"+id+".md", id, "apple "+id, false)
		}
		b.sync()
		rows, err := b.Select(t.Context(), index.Filter{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(rows, func(x, y index.Row) int { return strings.Compare(string(x.ID), string(y.ID)) })
		var keys []int64
		for _, r := range rows {
			keys = append(keys, r.Key)
		}
		if first == nil {
			first = keys
		}
		if d := cmp.Diff(first, keys); d != "" {
			t.Errorf("written in the order %v (-want +got):\n%s", ids, d)
		}
	}
}

// Two writes within the resolution of a file's time can leave size and time as
// they were; a file that is younger than the last walk is compared by its bytes.
func TestSyncRacyFile(t *testing.T) {
	b := newBench(t)
	b.file("memory/semantic/a.md", "a", "first", true)
	b.sync()
	b.file("memory/semantic/a.md", "a", "again", true) // same length, same time
	b.sync()
	b.want("the second write", map[string]string{"memory/semantic/a.md": "again"})
	b.now = b.now.Add(time.Minute)
	b.sync() // walks once more, from now on the file is old
	if rep := b.sync(); rep.Indexed != 0 {
		t.Errorf("%+v", rep)
	}
}

func TestSyncProblems(t *testing.T) {
	b := newBench(t)
	b.raw("memory/README.md", "# hello\n", false)
	b.raw("memory/semantic/half.md", "---\nid: h\ntype: sem", false)
	b.raw("memory/semantic/type.md", "---\nid: t\ntype: other\ntitle: x\n---\n", false)
	b.raw("memory/.git/x.md", "not looked at", false)
	b.raw("memory/semantic/.tmp-anamnesis-1.md", "nor this", false)
	b.file("memory/semantic/ok.md", "ok", "fine", false)
	rep := b.sync()
	var paths []string
	for _, p := range rep.Problems {
		paths = append(paths, p.Path)
		if p.Reason == "" || strings.Contains(p.Reason, b.store.Root()) {
			t.Errorf("%s: reason %q", p.Path, p.Reason)
		}
	}
	if want := []string{"memory/README.md", "memory/semantic/half.md", "memory/semantic/type.md"}; !slices.Equal(paths, want) {
		t.Errorf("problems %v, want %v", paths, want)
	}
	if rep := b.sync(); rep.Indexed != 0 || len(rep.Problems) != 3 {
		t.Errorf("again: %+v", rep)
	}
	b.file("memory/semantic/half.md", "h", "mended", false)
	if rep := b.sync(); len(rep.Problems) != 2 {
		t.Errorf("after mending one: %+v", rep)
	}
	b.want("what is a note", map[string]string{"memory/semantic/ok.md": "fine", "memory/semantic/half.md": "mended"})
}

// Of two files with one id the first path is the note, memory/ before local/,
// whatever the order in which they appear; when it goes, the other takes over.
func TestSyncSameID(t *testing.T) {
	paths := []string{"local/episodic/x.md", "memory/semantic/z.md", "memory/semantic/a.md"}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		b := newBench(t)
		for _, i := range order {
			b.file(paths[i], []string{"same", "SAME", "Same"}[i], "t"+fmt.Sprint(i), false)
			b.sync()
		}
		b.want("the first path", map[string]string{paths[2]: "t2"})
		if rep := b.sync(); len(rep.Problems) != 2 || !strings.Contains(rep.Problems[0].Reason, paths[2]) {
			t.Errorf("%v", rep.Problems)
		}
		for i, next := range []string{paths[1], paths[0]} {
			if err := os.Remove(b.store.Path(paths[2-i])); err != nil {
				t.Fatal(err)
			}
			b.sync()
			if got := b.titles(); len(got) != 1 || got[next] == "" {
				t.Errorf("after removing %s: %v", paths[2-i], got)
			}
		}
	}
}

func TestSyncBudget(t *testing.T) {
	b := newBench(t)
	for i := range 600 {
		b.file(fmt.Sprintf("memory/semantic/n%03d.md", i), fmt.Sprintf("n%03d", i), "t", false)
	}
	rep, err := b.Sync(t.Context(), index.SyncOptions{Budget: time.Nanosecond})
	if err != nil || rep.Stale == 0 {
		t.Errorf("%+v %v", rep, err)
	}
	if rep := b.sync(); rep.Stale != 0 || len(b.titles()) != 600 {
		t.Errorf("%+v", rep)
	}
}

func TestSyncHealsDamage(t *testing.T) {
	b := newBench(t)
	for i := range 50 {
		b.file(fmt.Sprintf("memory/semantic/n%03d.md", i), fmt.Sprintf("n%03d", i), "kumquat", false)
	}
	b.sync()
	b.Close()
	path := b.store.Path("index.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i += 7 { // everything behind the first page
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.reopen()
	m, err := b.Ask(t.Context(), "kumquat", index.Filter{Now: b.now}, 10)
	if _, _, walked, serr := b.State(t.Context()); err != nil || serr == nil && walked.IsZero() { // or it was found and rebuilt when it was opened
		rep := b.sync()
		if !rep.Healed && err != nil {
			t.Fatalf("%v, and Sync did not heal: %+v", err, rep)
		}
		m, err = b.Ask(t.Context(), "kumquat", index.Filter{Now: b.now}, 10)
	}
	if err != nil || len(m.Candidates) != 10 {
		t.Errorf("%d candidates, %v", len(m.Candidates), err)
	}
}

// Whatever happens to the files, in whatever order: after a Sync the index
// knows exactly the notes that are there.
func TestSyncFollowsTheFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		defer b.Close()
		disk := make(map[string]string)
		path := rapid.SampledFrom([]string{"memory/semantic/a.md", "memory/b.md", "memory/deep/er/c.md", "local/d.md"})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			p := path.Draw(rt, "path")
			switch rapid.SampledFrom([]string{"write", "write", "remove", "move", "sync", "break", "reindex"}).Draw(rt, "what") {
			case "write":
				title := rapid.StringMatching(`[a-z]{1,3}`).Draw(rt, "title")
				b.file(p, "id"+strings.NewReplacer("/", "-", ".md", "").Replace(p), title, rapid.Bool().Draw(rt, "young"))
				disk[p] = title
			case "break":
				b.raw(p, "no note", rapid.Bool().Draw(rt, "young"))
				delete(disk, p)
			case "remove":
				_ = os.Remove(b.store.Path(p))
				delete(disk, p)
			case "move":
				to := "memory/moved-" + fmt.Sprint(len(disk)) + ".md"
				if title, ok := disk[p]; ok && disk[to] == "" && os.Rename(b.store.Path(p), b.store.Path(to)) == nil {
					delete(disk, p)
					disk[to] = title
				}
			case "sync":
				b.sync()
			case "reindex":
				if _, err := b.Sync(context.Background(), index.SyncOptions{All: true}); err != nil {
					rt.Fatal(err)
				}
			}
			b.now = b.now.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "seconds")) * time.Second)
		}
		b.sync()
		got := b.titles()
		ids := make(map[string]bool) // a moved file and a new one may claim one id
		for p := range disk {
			ids[p] = true
		}
		for p, title := range got {
			if disk[p] != title {
				rt.Fatalf("%s is %q in the index, %q on the disk", p, title, disk[p])
			}
		}
		rep := b.sync()
		dup := 0
		for _, pr := range rep.Problems {
			if strings.HasPrefix(pr.Reason, "same id") {
				dup++
			}
		}
		if len(got)+dup != len(disk) {
			rt.Fatalf("%d in the index, %d with a claimed id, %d on the disk", len(got), dup, len(disk))
		}
		if rep.Indexed != 0 {
			rt.Fatalf("Sync is not idempotent: %+v", rep)
		}
	})
}

// A table can be missing without a walk noticing: an earlier build of ours made
// the file, or somebody opened it by hand.
func TestMissingTableHeals(t *testing.T) {
	for _, heal := range []string{"ask", "reindex"} {
		b := newBench(t)
		b.file("memory/semantic/a.md", "a", "kumquat", false)
		b.sync()
		db, err := sql.Open("sqlite", b.store.Path("index.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "DROP TABLE gone"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if heal == "reindex" {
			if rep, err := b.Sync(t.Context(), index.SyncOptions{All: true}); err != nil || !rep.Healed {
				t.Errorf("reindex: %+v %v", rep, err)
			}
		}
		m, err := b.Ask(t.Context(), "kumquat", index.Filter{Now: b.now}, 10)
		if err != nil || len(m.Candidates) != 1 {
			t.Errorf("%s: %d candidates, %v", heal, len(m.Candidates), err)
		}
	}
}

func TestFold(t *testing.T) {
	b := newBench(t)
	log := func(kind string, ids ...note.ID) {
		if err := b.store.Events().Log(store.Record{Kind: kind, Notes: ids}); err != nil {
			t.Fatal(err)
		}
	}
	log(store.Injected, "a", "b")
	log(store.Recalled, "a")
	log(store.Written, "a")
	for range 2 { // a second fold finds nothing new
		if err := b.Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	log(store.Injected, "a")
	if err := b.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := b.Counters(t.Context(), []note.ID{"a", "b", "c"})
	if err != nil || got["a"].Injected != 2 || got["a"].Recalled != 1 || got["b"].Injected != 1 || len(got) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	b.discard()
	if err := b.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, _ := b.Counters(t.Context(), []note.ID{"a", "b", "c"}); again["a"].Injected != 2 {
		t.Errorf("made again from the log: %+v", again)
	}
	// The month is dropped; neither this index nor a new one loses or doubles a count.
	for range 3 { // only when others came
		b.now = b.now.AddDate(0, 4, 0)
		log(store.Written, "a")
	}
	b.now = b.now.AddDate(0, 4, 0)
	log(store.Injected, "a")
	if n, err := b.store.Events().Compact(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for range 2 {
		for range 2 {
			if err := b.Fold(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := b.Counters(t.Context(), []note.ID{"a"}); got["a"].Injected != 3 || got["a"].Recalled != 1 {
			t.Errorf("after the month was dropped: %+v", got)
		}
		b.discard()
	}
}
