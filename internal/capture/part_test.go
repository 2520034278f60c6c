package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	words "anamnesis/internal/session" // session is a line of a transcript here
)

// saidIn is a prompt that was typed in a folder, and what the agent answered.
func saidIn(at int, dir, text string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":"s1","cwd":%q,"timestamp":"2026-05-01T10:%02d:00Z","message":{"role":"user","content":%q}}`+"\n", dir, at, text) +
		fmt.Sprintf(`{"type":"assistant","sessionId":"s1","cwd":%q,"timestamp":"2026-05-01T10:%02d:30Z","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n", dir, at, "Finished: "+text)
}

// repository makes a folder with a repository, which has no remote.
func (r *room) repository(name string) string {
	r.Helper()
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		r.Fatal(err)
	}
	for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".git", file), []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
	}
	return dir
}

// TestMovedSession: what a session was in each project is a note of that project, and says nothing of the others.
func TestMovedSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the transcripts are not quoted")
	}
	type turn struct{ dir, text string }
	for name, c := range map[string]struct {
		turns []turn
		want  map[string][]string // by project, the prompts in its note
	}{
		"stays": {[]turn{{"shop", "Fix alpha"}, {"shop", "Fix bravo"}}, map[string][]string{"shop": {"alpha", "bravo"}}},
		"moves": {[]turn{{"shop", "Fix alpha"}, {"other", "Fix bravo"}}, map[string][]string{"shop": {"alpha"}, "other": {"bravo"}}},
		"comes back": {
			[]turn{{"shop", "Fix alpha"}, {"other", "Fix bravo"}, {"shop", "Fix charlie"}},
			map[string][]string{"shop": {"alpha", "charlie"}, "other": {"bravo"}},
		},
		"three": {
			[]turn{{"shop", "Fix alpha"}, {"other", "Fix bravo"}, {"shop/vendor/lib", "Fix charlie"}},
			map[string][]string{"shop": {"alpha"}, "other": {"bravo"}, "lib": {"charlie"}},
		},
		"a folder inside":      {[]turn{{"shop", "Fix alpha"}, {"shop/build", "Fix bravo"}}, map[string][]string{"shop": {"alpha", "bravo"}}},
		"a plain folder":       {[]turn{{"notes", "Fix alpha"}, {"notes/drafts", "Fix bravo"}}, map[string][]string{"notes": {"alpha", "bravo"}}},
		"two plain folders":    {[]turn{{"notes", "Fix alpha"}, {"letters", "Fix bravo"}}, map[string][]string{"notes": {"alpha"}, "letters": {"bravo"}}},
		"into a repository":    {[]turn{{"notes", "Fix alpha"}, {"notes/repo", "Fix bravo"}}, map[string][]string{"notes": {"alpha"}, "repo": {"bravo"}}},
		"folders that are off": {[]turn{{"gone/one", "Fix alpha"}, {"gone/two", "Fix bravo"}}, map[string][]string{"one": {"alpha"}, "two": {"bravo"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			for _, repo := range []string{"shop", "other", "shop/vendor/lib", "notes/repo"} {
				r.repository(repo)
			}
			for _, plain := range []string{"shop/build", "notes/drafts", "letters"} {
				if err := os.MkdirAll(filepath.Join(r.dir, plain), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			text := ""
			for i, turn := range c.turns {
				text += saidIn(i, filepath.Join(r.dir, turn.dir), turn.text)
			}
			ids := make(map[string]bool)
			for range 2 { // a session that is captured again makes the same notes
				first := r.capture(text)
				got := make(map[string]string)
				for _, one := range append([]capture.Capture{first}, first.Also...) {
					n := one.Outcome.Note
					if n == nil || n.Project != one.Project {
						t.Fatalf("%s: %+v", one.Project, n)
					}
					got[n.Project], ids[string(n.ID)] = n.Title+"\n"+n.Body, true
				}
				for project, words := range c.want {
					for _, word := range []string{"alpha", "bravo", "charlie"} {
						if strings.Contains(got[project], word) != slices.Contains(words, word) {
							t.Errorf("the note of %s, wanted %q:\n%s", project, words, got[project])
						}
					}
				}
				if len(got) != len(c.want) {
					t.Errorf("notes of %d projects: %v", len(got), got)
				}
			}
			if len(ids) != len(c.want) {
				t.Errorf("%d notes; want %d", len(ids), len(c.want))
			}
		})
	}
}

// TestMovedSessionElsewhere: what clients but Claude Code record of the folder counts, too.
func TestMovedSessionElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the transcripts are not quoted")
	}
	const thread = "01a0c0de-1111-7aaa-8bbb-000000000001"
	codexTurn := func(dir, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-10T10:01:00Z","type":"turn_context","payload":{"cwd":%q}}`+"\n", dir) +
			fmt.Sprintf(`{"timestamp":"2026-11-10T10:02:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`+"\n", text) +
			`{"timestamp":"2026-11-10T10:03:00Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is done."}]}}` + "\n"
	}
	qwenTurn := func(dir, text string) string {
		return fmt.Sprintf(`{"uuid":%q,"sessionId":"q1","timestamp":"2026-11-10T10:02:00Z","type":"user","cwd":%q,"message":{"role":"user","parts":[{"text":%q}]}}`+"\n", text, dir, text) +
			fmt.Sprintf(`{"uuid":"a-%s","sessionId":"q1","timestamp":"2026-11-10T10:03:00Z","type":"assistant","cwd":%q,"message":{"role":"model","parts":[{"text":"It is done."}]}}`+"\n", text, dir)
	}
	for name, c := range map[string]struct {
		file  string
		begin func(dir string) string
		turn  func(dir, text string) string
	}{
		"codex": {
			"rollout-2026-11-10T10-00-00-" + thread + ".jsonl",
			func(dir string) string {
				return fmt.Sprintf(`{"timestamp":"2026-11-10T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":%q,"source":"cli"}}`+"\n", thread, dir)
			},
			codexTurn,
		},
		"qwen": {"q1.jsonl", func(string) string { return "" }, qwenTurn},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			shop, other := r.repository("shop"), r.repository("other")
			text := c.begin(shop) + c.turn(shop, "Round the tax of alpha, half up") + c.turn(other, "Name the branch bravo, please")
			got, err := r.Capture(t.Context(), capture.Request{Harness: agent.ByName(name), Transcript: r.file(c.file, text), Source: "session-end"})
			if err != nil || got.Project != "shop" || len(got.Also) != 1 || got.Also[0].Project != "other" {
				t.Fatalf("%q, %v, %+v", got.Project, err, got.Also)
			}
			n := got.Also[0].Outcome.Note
			if body := n.Title + "\n" + n.Body; strings.Contains(body, "alpha") || !strings.Contains(body, "bravo") {
				t.Errorf("the note of other:\n%s", body)
			}
		})
	}
}

// TestPreviewOfMovedSession: a session is not shown from the queue in a project of which only its end was.
func TestPreviewOfMovedSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the transcripts are not quoted")
	}
	r := newRoom(t)
	shop, other := r.repository("shop"), r.repository("other")
	text := saidIn(1, shop, "Fix alpha in the shop") + saidIn(2, other, "Fix bravo in the other one")
	e := agent.Event{SessionID: "s1", TranscriptPath: r.file("s1.jsonl", text), Dir: other}
	if err := r.Enqueue(agent.Default(), e, "session-end", "", false); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{"shop", "other"} {
		if notes := r.Preview([]string{project}, time.Now().Add(time.Hour)); len(notes) > 0 {
			t.Errorf("%s is shown %q", project, notes[0].Title)
		}
	}
	d, err := r.Drain(t.Context(), nil)
	if err != nil || len(d.Captured) != 2 || d.Captured[0].Project != "shop" || d.Captured[1].Project != "other" {
		t.Errorf("%+v", d)
	}
}

// TestMovedBeforeItsFirstPrompt: a session in whose first folder nothing was asked is kept, and an import knows that.
func TestMovedBeforeItsFirstPrompt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the transcripts are not quoted")
	}
	r := newRoom(t)
	shop, other := r.repository("shop"), r.repository("other")
	kept := words.New(r.store, words.Options{Keep: true})
	t.Cleanup(kept.Close)
	r.Recorder = r.Keeping(kept)
	text := fmt.Sprintf(`{"type":"system","sessionId":"s1","cwd":%q,"timestamp":"2026-05-01T10:00:00Z","content":"begun"}`+"\n", shop) +
		saidIn(1, other, "Fix bravo in the other one") + saidIn(2, other, "Fix charlie, too")
	if c := r.capture(text); len(c.Also) != 1 || c.Also[0].Project != "other" || c.Kept != nil || c.Also[0].Kept != nil {
		t.Fatalf("%+v", c)
	}
	if r.Unkept("claude", "s1", time.Now()) {
		t.Error("an import would keep it once more")
	}
}
