package capture

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
)

// A countingSource counts the sessions that are read.
type countingSource struct {
	agent.SessionSource
	read *atomic.Int64
}

func (c countingSource) ReadSession(r io.Reader, limits agent.Limits) (*agent.Session, error) {
	c.read.Add(1)
	return c.SessionSource.ReadSession(r, limits)
}

func counting(t *testing.T) (*agent.Harness, *atomic.Int64) {
	t.Helper()
	h := *agent.Default()
	read := &atomic.Int64{}
	h.Sessions = countingSource{h.Sessions, read}
	return &h, read
}

// writeForks writes sessions that were forked from one another: each holds all that the one
// before it holds, and a separate turn.
func writeForks(t *testing.T, dir string, n int) (files []string) {
	t.Helper()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var shared strings.Builder
	for i := range n {
		id := fmt.Sprintf("s%03d", i)
		fmt.Fprintf(&shared, `{"type":"user","sessionId":"ID","uuid":"u%d","timestamp":%q,"message":{"role":"user","content":"prompt %d"}}`+"\n",
			i, at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), i)
		file := filepath.Join(dir, id+".jsonl")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(shared.String(), `"ID"`, `"`+id+`"`)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// A run over a family of sessions reads each of them twice at most, once for itself and once
// for the others, and finds what a run over one finds.
func TestForksAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	files := writeForks(t, dir, 24)
	h, read := counting(t)
	r := &Recorder{family: &family{}, store: &store.Store{}}
	for i, file := range files {
		q := Request{Harness: h, Transcript: file}
		got, err := r.read(q)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := (&Recorder{family: &family{}, store: &store.Store{}}).read(Request{Harness: agent.Default(), Transcript: file})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Turns) != 1 || got.Turns[0].Text != fmt.Sprintf("prompt %d", i) || len(alone.Turns) != 1 {
			t.Errorf("%s holds %d turns of its own, %d when it is asked for alone", file, len(got.Turns), len(alone.Turns))
		}
	}
	if n := read.Load(); n > 2*int64(len(files)) {
		t.Errorf("%d sessions were read %d times", len(files), n)
	}
}

// What is remembered of a folder holds no longer than the folder stays as it is.
func TestFamilyChanges(t *testing.T) {
	dir := t.TempDir()
	files := writeForks(t, dir, 2)
	long := time.Now().Add(-time.Hour)
	settle := func() {
		t.Helper()
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
		long = long.Add(time.Minute)
	}
	settle()
	r := &Recorder{family: &family{}, store: &store.Store{}}
	turns := func(file string) int {
		t.Helper()
		s, err := r.read(Request{Harness: agent.Default(), Transcript: file})
		if err != nil {
			t.Fatal(err)
		}
		return len(s.Turns)
	}
	if n := turns(files[1]); n != 1 {
		t.Fatalf("%d turns", n)
	}
	// The first one goes on, with what the second one has as well.
	grown, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	grown = append(grown, `{"type":"user","sessionId":"s000","uuid":"more","timestamp":"2026-05-01T12:00:00Z","message":{"role":"user","content":"more"}}`+"\n"...)
	if err := os.WriteFile(files[0], []byte(strings.ReplaceAll(string(grown), "s001", "s000")), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := turns(files[1]); n != 2 {
		t.Errorf("the fork has %d turns, now that the other one holds all of it", n)
	}
	// A third one is made, then the others go.
	third := filepath.Join(dir, "s002.jsonl")
	grown = append(grown, strings.ReplaceAll(string(grown[strings.LastIndexByte(string(grown[:len(grown)-1]), '\n')+1:]), "more", "most")...)
	if err := os.WriteFile(third, []byte(strings.NewReplacer("s000", "s002", "s001", "s002").Replace(string(grown))), 0o600); err != nil {
		t.Fatal(err)
	}
	settle()
	if n := turns(third); n != 1 {
		t.Errorf("a third one has %d turns of its own", n)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	if n := turns(third); n != 4 {
		t.Errorf("%d turns of a session that is alone, want 4", n)
	}
}

// near finds what sorting the whole folder finds.
func TestNear(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 6))
	base := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, n := range []int{1, 2, 30, maxRelatives, maxRelatives + 1, 3 * maxRelatives} {
		for _, spread := range []int{1, 3, 50, 100_000} {
			var all folder
			for i := range n {
				file := filepath.Join(dir, fmt.Sprintf("%d-%d-%d", n, spread, (i*37)%n))
				at := base.Add(time.Duration(rnd.IntN(spread)) * time.Second)
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(file, at, at); err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				all.files = append(all.files, &sibling{file: file, info: info})
			}
			slices.SortFunc(all.files, func(a, b *sibling) int {
				return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.file, b.file))
			})
			for range 20 {
				self := all.files[rnd.IntN(n)]
				if got, want := all.near(self.info, self.info.Name()), sortedNear(all.files, self.info); !slices.Equal(got, want) {
					t.Fatalf("%d files within %d s: %d are near, want %d, or others", n, spread, len(got), len(want))
				}
			}
		}
	}
}

func sortedNear(files []*sibling, self fs.FileInfo) []*sibling {
	away := func(s *sibling) int64 { return int64(s.info.ModTime().Sub(self.ModTime()).Abs()) }
	all := slices.DeleteFunc(slices.Clone(files), func(s *sibling) bool { return s.info.Name() == self.Name() })
	slices.SortFunc(all, func(a, b *sibling) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a.file, b.file)) })
	return all[:min(len(all), maxRelatives)]
}

// Several goroutines may capture sessions of one folder.
func TestFamilyOfMany(t *testing.T) {
	files := writeForks(t, t.TempDir(), 12)
	r := &Recorder{family: &family{}, store: &store.Store{}}
	var wait sync.WaitGroup
	for _, file := range slices.Concat(files, files) {
		wait.Go(func() {
			if s, err := r.read(Request{Harness: agent.Default(), Transcript: file}); err != nil || len(s.Turns) != 1 {
				t.Errorf("%s: %v, %v", file, s, err)
			}
		})
	}
	wait.Wait()
}
