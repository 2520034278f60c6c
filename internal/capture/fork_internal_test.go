package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
)

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

func turnsOf(t *testing.T, file string) []agent.Turn {
	t.Helper()
	s, err := (&Recorder{store: &store.Store{}}).read(Request{Harness: agent.Default(), Transcript: file})
	if err != nil {
		t.Fatal(err)
	}
	return s.Turns
}

// Each of a family of forks has its own turn alone, whichever is asked for first, as long as the
// others stand beside it.
func TestForks(t *testing.T) {
	dir := t.TempDir()
	files := writeForks(t, dir, 12)
	for i := len(files) - 1; i >= 0; i-- {
		if got := turnsOf(t, files[i]); len(got) != 1 || got[0].Text != fmt.Sprintf("prompt %d", i) {
			t.Errorf("%s holds %d turns of its own", files[i], len(got))
		}
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
	for _, file := range files[2:] {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if got := turnsOf(t, files[1]); len(got) != 2 {
		t.Errorf("the fork has %d turns, now that the other one holds all of it", len(got))
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if got := turnsOf(t, files[1]); len(got) != 2 {
		t.Errorf("%d turns of a session that is alone, want 2", len(got))
	}
}

// The transcripts that were written nearest to one are looked at, no folder, no link and no file of another kind.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	base := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var want []string
	for i := range 2 * maxRelatives {
		file := filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i))
		at := base.Add(time.Duration(i%maxRelatives*(1-2*(i/maxRelatives))) * time.Minute) // as far before it as after it
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxRelatives/2 + 1 {
		want = append(want, filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)), filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i+maxRelatives)))
	}
	for _, other := range []string{"notes.md", "folder.jsonl"} {
		if err := os.Mkdir(filepath.Join(dir, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := beside(want[0])
	if w := want[1 : maxRelatives+1]; strings.Join(got, "\n") != strings.Join(w, "\n") {
		t.Errorf("%d files, want %d:\n%s\nwant\n%s", len(got), len(w), strings.Join(got, "\n"), strings.Join(w, "\n"))
	}
}
