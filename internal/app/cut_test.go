package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/index"
)

// Somebody cuts a file of the index, page by page, under a process that searches in it: the
// process lives, it answers or says that the index is made again, and then it finds all.
// In CI it is cut at every page, else at some that stand evenly in it.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		file  string
		notes int
	}{{"index.db", 20}, {"index-postings.bin", 600}, {"vectors-*.bin", 600}} {
		t.Run(c.file, func(t *testing.T) {
			if os.Getenv("ANAMNESIS_TEST_CUT") != "" {
				cutIt(t, c.file, c.notes)
				return
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestCut$/^"+strings.ReplaceAll(c.file, "*", ".*")+"$", "-test.v")
			if testing.Short() {
				cmd.Args = append(cmd.Args, "-test.short")
			}
			cmd.Env = append(os.Environ(), "ANAMNESIS_TEST_CUT=1")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestCut/"+c.file) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

const page = 4096

// cutIt is the process that searches.
func cutIt(t *testing.T, pattern string, notes int) {
	r := apptest.Open(t)
	dir := r.Store.Path("memory/semantic")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		text := fmt.Sprintf("---\nid: 01M7000000000000000000%04d\ntype: semantic\ntitle: Printer %d\nproject: global\n---\nThe printer %d of floor %d jams on thick paper.\n", i, i, i, i%7)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("printer-%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	search := func(ctx context.Context) error {
		a, err := app.Again(ctx, r, func(ctx context.Context, r *app.Rooms) (app.SearchAnswer, error) {
			return app.Search(ctx, r, app.SearchOptions{Text: "printer jams on thick paper", K: 5, Look: true})
		})
		if err == nil && a.Count == 0 {
			err = &app.Error{Kind: app.NotFound}
		}
		return err
	}
	step := int64(page)
	for cut := int64(0); ; cut += step {
		for try := 1; ; try++ {
			if _, err := r.Index.Sync(t.Context(), index.SyncOptions{}); err != nil {
				t.Fatalf("cut at %d: %v", cut-step, err)
			}
			err := errors.Join(r.Index.Fold(t.Context()), search(t.Context())) // as a background run does
			if err == nil {
				break
			}
			if try == 3 || !clear(err) { // SQLite looks at a file that was cut when it opens another connection
				t.Fatalf("cut at %d, and made again: %v", cut-step, err)
			}
		}
		found, _ := filepath.Glob(r.Store.Path(pattern))
		if len(found) != 1 {
			t.Fatalf("cut at %d: %s was not made again: %v", cut-step, pattern, found)
		}
		fi, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if cut >= fi.Size() {
			return
		}
		switch {
		case testing.Short():
			step = max(page, fi.Size()/8/page*page)
		case os.Getenv("ANAMNESIS_CI") == "": // who runs all tests by hand waits for them
			step = max(page, fi.Size()/24/page*page)
		}
		cutUnder(t, search, found[0], cut)
	}
}

// cutUnder cuts a file while some search.
func cutUnder(t *testing.T, search func(context.Context) error, file string, cut int64) {
	var searches atomic.Int64
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := search(t.Context()); err != nil && !clear(err) {
					t.Errorf("cut at %d: %v", cut, err)
				}
				searches.Add(1)
			}
		})
	}
	wait := func(more int64) {
		for from := searches.Load(); searches.Load() < from+more && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	wait(2)
	if err := os.Truncate(file, cut); err != nil {
		t.Error(err)
	}
	wait(6)
	stop()
	all.Wait()
}

// clear reports whether an error says that the index is being made again, or comes of an
// index that another question is filling.
func clear(err error) bool {
	var kinded *app.Error
	return errors.Is(err, index.ErrLost) || errors.As(err, &kinded) && kinded.Kind == app.NotFound
}
