package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A server says hello before its index is filled; what is asked first waits until it is.
func TestServedBeforeFilled(t *testing.T) {
	r, err := app.OpenServed(t.Context(), apptest.Host(t, "patience=1"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const notes = 3000 // more than fit the time that a call waits for changed files
	folder := r.Store.Path("memory/semantic")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		id := note.NewID(r.Store.Now())
		text := fmt.Sprintf("---\nid: %s\ntype: semantic\ntitle: note %d\nproject: global\nscope: portable\n---\nIt is about matter %d.\n", id, i, i)
		if err := os.WriteFile(filepath.Join(folder, string(id)+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, err := app.OpenServed(t.Context(), r.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, _, walked, err := again.Index.State(t.Context()); err != nil || !walked.IsZero() {
		t.Errorf("the server walked before it said hello: %v, %v", walked, err)
	}
	if stale, err := hooks.NewRefresher(again).Refresh(t.Context()); stale != 0 || err != nil {
		t.Errorf("%d files are not known, %v", stale, err)
	}
	rows, err := again.Index.Select(t.Context(), index.Filter{}, 0)
	if err != nil || len(rows) != notes {
		t.Errorf("the first call knows %d of %d notes, %v", len(rows), notes, err)
	}
}
