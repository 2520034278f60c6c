package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/indextest"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// An always makes the posting file after each change.
type always struct{ *sqlite.DB }

func (a always) Apply(ctx context.Context, b index.Batch) error {
	if err := a.DB.Apply(ctx, b); err != nil {
		return err
	}
	return a.CopyPostings(ctx)
}

// TestContractPosted runs the suite on databases whose posting file has all.
func TestContractPosted(t *testing.T) {
	for _, private := range []bool{true, false} {
		indextest.Run(t, func(t *testing.T) indextest.Database {
			path := filepath.Join(t.TempDir(), "index.db")
			return indextest.Database{Private: private, Open: func(t *testing.T, origin string) index.Backend {
				return always{openWith(t, sqlite.Options{Path: path, Origin: origin, Busy: 50 * time.Millisecond})}
			}, Hold: func(t *testing.T) func() { return hold(t, path) }}
		})
	}
}

// A world makes notes and questions of few words.
type world struct{ *rand.Rand }

func (r world) text(n int) string {
	words := make([]string, 1+r.IntN(n))
	for i := range words {
		words[i] = fmt.Sprintf("word%d", r.IntN(8)*r.IntN(12))
	}
	return strings.Join(words, " ")
}

func (r world) entry(i int) index.Entry {
	n := &note.Note{
		ID: note.ID(fmt.Sprintf("n%04d", i)), Type: note.Types[r.IntN(len(note.Types))], Scope: []note.Scope{note.Portable, note.Local}[r.IntN(2)],
		Title: r.text(5), Body: r.text(60), Project: fmt.Sprintf("p%d", r.IntN(4)), UpdatedAt: note.At(time.Unix(int64(i), 0)),
	}
	n.AddTags(r.text(2))
	if r.IntN(6) == 0 {
		n.Status = "archived"
	}
	if r.IntN(6) == 0 {
		n.Supersedes = []note.ID{note.ID(fmt.Sprintf("n%04d", r.IntN(i+1)))}
	}
	if r.IntN(8) == 0 {
		for range 100 {
			n.Body += " " + r.text(8) + "\n\n"[:1+r.IntN(2)]
		}
	}
	ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope}
	e := index.NewEntry(n, ref, n.Format(), nil)
	for j := range e.Passages {
		if r.IntN(8) > 0 {
			e.Passages[j].Model, e.Passages[j].Vector = "m", vector(r.IntN(300))
		}
	}
	return e
}

func (r world) batch(size, ids int) (b index.Batch) {
	seen := map[int]bool{}
	for range size {
		i := r.IntN(ids)
		if seen[i] {
			continue
		}
		if e := r.entry(i); r.IntN(5) > 0 {
			b.Put = append(b.Put, e)
		} else {
			b.Drop = append(b.Drop, e.Ref.Path)
		}
		seen[i] = true
	}
	return b
}

func (r world) filter() (f index.Filter) {
	f.Now = time.Unix(1000, 0)
	for range r.IntN(3) {
		f.Projects = append(f.Projects, fmt.Sprintf("p%d", r.IntN(5)))
	}
	if r.IntN(3) == 0 {
		f.Types = note.Types[r.IntN(2) : 2+r.IntN(2)]
	}
	if r.IntN(3) == 0 {
		f.Scope = note.Local
	}
	f.Dead = r.IntN(3) == 0
	return f
}

// TestPostedAgrees asks two databases the same, over many changes: one with a posting file
// that is older or newer, and one without.
func TestPostedAgrees(t *testing.T) {
	for seed := range uint64(3) {
		r := world{rand.New(rand.NewPCG(seed, 7))}
		plain, copied := open(t, filepath.Join(t.TempDir(), "index.db")), open(t, filepath.Join(t.TempDir(), "index.db"))
		posted := 0
		for round := range 12 {
			b := r.batch(8, 60)
			for _, db := range []*sqlite.DB{plain, copied} {
				if err := db.Apply(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			if round == 2 || r.IntN(5) == 0 {
				if err := copied.CopyPostings(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if ok, err := copied.Posted(t.Context()); err != nil {
				t.Fatal(err)
			} else if ok {
				posted++
			}
			for range 4 {
				agree(t, r, plain, copied)
			}
			if t.Failed() {
				t.Fatalf("seed %d, round %d", seed, round)
			}
		}
		if posted < 9 {
			t.Errorf("seed %d: the copy answers in %d rounds of 12", seed, posted)
		}
	}
}

func agree(t *testing.T, r world, plain, copied *sqlite.DB) {
	t.Helper()
	tokens := strings.Fields(r.text(6) + " nowhere")
	slices.Sort(tokens)
	tokens = slices.Compact(tokens)
	f, limit := r.filter(), 1+r.IntN(60)
	var got [2]struct {
		Terms           []index.Term
		Match, Near, By []index.Candidate
	}
	for i, db := range []*sqlite.DB{plain, copied} {
		terms, err := db.Frequencies(t.Context(), tokens)
		if err != nil {
			t.Fatal(err)
		}
		for j := range terms {
			terms[j].Weight = index.IDF(terms[j].Frequency, 500)
		}
		if got[i].Match, err = db.Match(t.Context(), terms, f, limit); err != nil {
			t.Fatal(err)
		}
		for j := range terms {
			terms[j].Postings = ""
		}
		got[i].Terms = terms
		question := make([]float32, 64)
		question[0] = 1
		if got[i].Near, err = db.Nearest(t.Context(), "m", question, f, limit, 0); err != nil {
			t.Fatal(err)
		}
		var keys []int64
		for key := range int64(200) {
			keys = append(keys, key*7)
		}
		if got[i].By, err = db.Passages(t.Context(), keys, f); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(got[0], got[1], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("tokens %v, filter %+v, limit %d: without and with the file:\n%s", tokens, f, limit, diff)
	}
}

// A file that is damaged or that belongs to another index answers nothing, and what is
// asked at the same time is answered as if there were none.
func TestPostedDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	name := filepath.Join(dir, "index-postings.bin")
	r := world{rand.New(rand.NewPCG(1, 1))}
	plain := open(t, filepath.Join(t.TempDir(), "index.db"))
	db := open(t, path)
	b := r.batch(40, 60)
	for _, x := range []*sqlite.DB{plain, db} {
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CopyPostings(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += len(whole) / 25 {
		data := slices.Clone(whole)
		if at%2 == 0 {
			data[at] ^= 0x55
		} else {
			data = data[:at]
		}
		if err := os.WriteFile(filepath.Join(dir, "new"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), name); err != nil {
			t.Fatal(err)
		}
		other := openWith(t, sqlite.Options{Path: path})
		for range 4 {
			agree(t, r, plain, other)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, err := db.Posted(t.Context()); !ok || err != nil {
		t.Errorf("the whole one answers: %v, %v", ok, err)
	}
	if err := os.Rename(name, filepath.Join(filepath.Dir(plain.Path()), "index-postings.bin")); err != nil {
		t.Fatal(err)
	}
	if ok, err := plain.Posted(t.Context()); ok || err != nil {
		t.Errorf("that of another index answers: %v, %v", ok, err)
	}
}

// A question makes the file of many passages when there is none of use, in memory where nothing may
// be written.
func TestPostedMade(t *testing.T) {
	dir := t.TempDir()
	path, name := filepath.Join(dir, "index.db"), filepath.Join(dir, "index-postings.bin")
	r := world{rand.New(rand.NewPCG(3, 3))}
	db := open(t, path)
	var b index.Batch
	for i := range 1500 {
		b.Put = append(b.Put, r.entry(i))
	}
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	ask := func(db *sqlite.DB, beside bool) (found []index.Candidate) {
		t.Helper()
		terms, err := db.Frequencies(t.Context(), []string{"word6"})
		if err != nil {
			t.Fatal(err)
		}
		terms[0].Weight = 1
		if found, err = db.Match(t.Context(), terms, index.Filter{Dead: true}, 20); err != nil || len(found) != 20 {
			t.Errorf("%d found, %v", len(found), err)
		}
		if ok, err := db.Posted(t.Context()); ok != beside || err != nil {
			t.Errorf("a file beside the index answers: %v, %v, want %v", ok, err, beside)
		}
		return found
	}
	want := ask(db, true)
	if err := os.Truncate(name, 5000); err != nil {
		t.Fatal(err)
	}
	other := openWith(t, sqlite.Options{Path: path})
	if diff := cmp.Diff(want, ask(other, true)); diff != "" {
		t.Errorf("a file that was cut:\n%s", diff)
	}
	if err := os.WriteFile(name, []byte("no such file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Close(), db.Close()); err != nil { // folds the log
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask(openWith(t, sqlite.Options{Path: path, ReadOnly: true}), false)); diff != "" {
		t.Errorf("in memory:\n%s", diff)
	}
	if data, err := os.ReadFile(name); string(data) != "no such file" || err != nil {
		t.Errorf("a reader wrote the file: %v", err)
	}
}

// Tidy makes the file when it lacks much, and the list of what went does not grow for ever.
func TestTidyPostings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	db := open(t, path)
	r := world{rand.New(rand.NewPCG(2, 2))}
	posted := func(want bool) {
		t.Helper()
		if err := db.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ok, err := db.Posted(t.Context()); ok != want || err != nil {
			t.Errorf("a file answers: %v, %v, want %v", ok, err, want)
		}
	}
	apply := func(b index.Batch) {
		t.Helper()
		if err := db.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	var b index.Batch
	for i := range 20 {
		b.Put = append(b.Put, r.entry(i))
	}
	apply(b)
	posted(false)
	for i := range 300 {
		b.Put = append(b.Put, r.entry(20+i))
	}
	apply(b)
	posted(true)
	first, err := os.Stat(filepath.Join(dir, "index-postings.bin"))
	if err != nil {
		t.Fatal(err)
	}
	again := func() bool {
		t.Helper()
		posted(true)
		fi, err := os.Stat(filepath.Join(dir, "index-postings.bin"))
		if err != nil {
			t.Fatal(err)
		}
		return !os.SameFile(first, fi)
	}
	apply(index.Batch{Put: b.Put[:10]})
	if again() {
		t.Error("ten notes make the copy anew")
	}
	for range 3 {
		apply(b)
		if !again() {
			t.Error("everything changed, and the copy is the old one")
		}
	}
	gone := 0
	if err := sqliteRow(t, path, "SELECT count(*) FROM gone", &gone); err != nil {
		t.Fatal(err)
	}
	if passages := 0; sqliteRow(t, path, "SELECT count(*) FROM passages", &passages) == nil && gone > 2*passages {
		t.Errorf("%d passages are kept as gone, of %d", gone, passages)
	}
	if err := db.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.bin")); len(left) > 0 {
		t.Errorf("a reset leaves %v", left)
	}
}

func sqliteRow(t *testing.T, path, query string, dest ...any) error {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.QueryRowContext(t.Context(), query).Scan(dest...)
}

// A process of a few questions sees what it wrote itself by another handle, also when it found
// nothing before.
func TestPostedAfterOwnWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db, writer := openWith(t, sqlite.Options{Path: path, Brief: true}), open(t, path)
	n := &note.Note{ID: "a", Type: note.Semantic, Title: "Use pgx", Body: "For Postgres.", Project: "shop"}
	e := index.NewEntry(n, store.Ref{Path: store.NotePath(note.Portable, n.Type, n.ID), Scope: note.Portable}, n.Format(), nil)
	for _, want := range []int{0, 1} {
		terms, err := db.Frequencies(t.Context(), []string{"pgx"})
		if err != nil || terms[0].Frequency != want {
			t.Errorf("%+v, %v, want a frequency of %d", terms, err, want)
		}
		if err := writer.Apply(t.Context(), index.Batch{Put: []index.Entry{e}}); err != nil {
			t.Fatal(err)
		}
	}
}
