package imports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/imports"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// session writes a session of Claude Code that began on a day of May 2026.
func (r *room) session(name, id string, day int, dir, prompt, outcome string) string {
	r.Helper()
	return r.write(".claude/projects/-src-shop/"+name+".jsonl", sessionText(id, day, dir, prompt, outcome))
}

func sessionText(id string, day int, dir, prompt, outcome string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":%q,"cwd":%q,"timestamp":"2026-05-%02dT10:00:00Z","uuid":"%s-1","message":{"role":"user","content":%q}}
{"type":"assistant","sessionId":%q,"timestamp":"2026-05-%02dT10:05:00Z","uuid":"%s-2","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}
`, id, dir, day, id, prompt, id, day, id, outcome)
}

func (r *room) past(o imports.TranscriptOptions) *imports.Plan {
	r.Helper()
	return r.plan(r.Transcripts(r.Context(), o))
}

func TestTranscripts(t *testing.T) {
	r := newRoom(t)
	r.session("s1", "s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	r.session("s2", "s2", 3, "/src/shop", "fix the login", "The login works again, the cookie was wrong.")
	r.session("s3", "s3", 2, "/src/blog", "write a post", "The post about the release is written.")
	r.session("s4", "s4", 4, "/src/shop", "/clear", "ok")
	r.write(".claude/projects/-src-shop/agent-77.jsonl", strings.ReplaceAll(sessionText("s1", 1, "/src/shop", "sub", "agent"), `"type"`, `"isSidechain":true,"type"`))
	r.write(".claude/projects/-src-shop/empty.jsonl", "")
	r.write(".claude/projects/-src-shop/broken.jsonl", "\x00\xff{not json\n")
	if err := os.MkdirAll(filepath.Join(r.home, ".claude/projects/-src-shop/folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := r.past(imports.TranscriptOptions{})
	r.lacks(p, "agent-77.jsonl")
	r.want(p, "folder.jsonl", imports.Refused, "regular file")
	if len(r.notes()) != 0 {
		t.Fatal("a plan wrote notes")
	}
	var order []string
	for _, it := range p.Items {
		if it.Project != "" && it.Action == imports.Adds && !strings.Contains(it.Source, "empty") && !strings.Contains(it.Source, "broken") {
			order = append(order, strings.TrimSuffix(filepath.Base(it.Source), ".jsonl"))
		}
	}
	r.want(p, "s4.jsonl", imports.Skipped, "not worth a note")
	if want := []string{"s2", "s3", "s1"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	var last, total int64
	rep, err := r.Apply(t.Context(), p, func(d, of int64) { last, total = d, of })
	if err != nil || last != total || last == 0 {
		t.Fatalf("%v, %d of %d", err, last, total)
	}
	if len(rep.Created) != 3 || rep.Totals[imports.Trivial] != 0 {
		t.Errorf("%v", rep.Totals)
	}
	n := r.titled("fix the cart")
	if n.Type != note.Episodic || n.Project != "shop" || !slices.Equal(n.Tags, []string{"session", "import"}) || n.CreatedAt != "2026-05-01T10:00:00+00:00" || n.Provenance.Session != "s1" {
		t.Errorf("%+v", n)
	}
	if of := p.Totals(); of.New != len(rep.Created) {
		t.Errorf("the plan says %d new, %d came in", of.New, len(rep.Created))
	}
	// The second run has nothing to do, and reads no session whole.
	if got := r.past(imports.TranscriptOptions{}).Totals(); got.New != 0 || got.Unchanged != 3 || got.Bytes != 0 {
		t.Errorf("%+v", got)
	}
	// A trivial session that grew is looked at again.
	r.session("s4", "s4", 4, "/src/shop", "now do something", "It is done, and that is a good thing to know.")
	if got := r.past(imports.TranscriptOptions{}).Totals(); got.New != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTranscriptFilters(t *testing.T) {
	r := newRoom(t)
	r.session("s1", "s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	r.session("s2", "s2", 3, "/src/blog", "write a post", "The post about the release is written.")
	for _, tt := range []struct {
		o    imports.TranscriptOptions
		want int
	}{
		{imports.TranscriptOptions{}, 2},
		{imports.TranscriptOptions{Project: "shop"}, 1},
		{imports.TranscriptOptions{Project: "none"}, 0},
		{imports.TranscriptOptions{Since: time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)}, 1},
		{imports.TranscriptOptions{Since: time.Date(2126, 5, 2, 0, 0, 0, 0, time.UTC)}, 0},
		{imports.TranscriptOptions{Agent: "codex"}, 0},
		{imports.TranscriptOptions{Agent: "claude"}, 2},
	} {
		if got := len(r.past(tt.o).Items); got != tt.want {
			t.Errorf("%+v: %d sessions, want %d", tt.o, got, tt.want)
		}
	}
}

// The plan knows the id that capture gives, also for files that were renamed
// and for sessions that go on from another.
func TestTranscriptsKnowNotes(t *testing.T) {
	r := newRoom(t)
	first := sessionText("s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	r.write(".claude/projects/-src-shop/s1.jsonl", first)
	r.write(".claude/projects/-src-shop/s2.jsonl", first+sessionText("s2", 2, "/src/shop", "now the checkout page", "The checkout page counts as well."))
	renamed := strings.ReplaceAll(sessionText("s9", 3, "/src/shop", "and now the login", "Everything is as it should be, at last."), "s9-", "x-")
	r.write(".claude/projects/-src-shop/copy of s9.jsonl", renamed)
	p := r.past(imports.TranscriptOptions{})
	for file, want := range map[string]note.ID{
		"/s1.jsonl":         note.EpisodicID(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), "claude", "s1"),
		"/s2.jsonl":         note.EpisodicID(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), "claude", "s2"),
		"/copy of s9.jsonl": note.EpisodicID(time.Date(2026, 5, 3, 10, 0, 0, 0, time.UTC), "claude", "s9"),
	} {
		if got := item(t, p, file).ID; got != want {
			t.Errorf("%s: id %s, want %s", file, got, want)
		}
	}
	rep := r.apply(p)
	for _, it := range rep.Items {
		if it.Outcome != imports.Created || it.ID != item(t, p, it.Source).ID {
			t.Errorf("%s %s: id %s, planned %s", it.Source, it.Outcome, it.ID, item(t, p, it.Source).ID)
		}
	}
}

// What a fork copied of another session is counted with that one, whichever of the two comes
// first, and whether or not the other went on.
func TestTranscriptsOfForks(t *testing.T) {
	r := newRoom(t)
	shared := sessionText("s1", 1, "/src/shop", "fix the cart of the shop", "The cart counts again, the test covers it.")
	r.write(".claude/projects/-src-shop/s1.jsonl", shared+sessionText("s1b", 3, "/src/shop", "and the login page, too", "The login works again."))
	// The header of a fork was written when it was opened; the records are copies with its id.
	opened := `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-05-02T10:00:00Z","sessionId":"a0"}` + "\n"
	r.write(".claude/projects/-src-shop/a0.jsonl", opened+strings.ReplaceAll(shared, `"sessionId":"s1"`, `"sessionId":"a0"`)+
		sessionText("a0", 2, "/src/shop", "now the checkout page", "The checkout page counts as well."))
	r.apply(r.past(imports.TranscriptOptions{}))
	bodies := map[string]string{}
	for _, n := range r.notes() {
		bodies[n.Provenance.Session] = n.Title + "\n" + n.Body
	}
	if len(bodies) != 2 || !strings.Contains(bodies["s1"], "cart of the shop") || strings.Contains(bodies["a0"], "cart of the shop") ||
		!strings.Contains(bodies["a0"], "checkout page counts") {
		t.Errorf("the notes are %q", bodies)
	}
}

func TestTranscriptsStayAway(t *testing.T) {
	r := newRoom(t)
	r.session("s1", "s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	r.session("s2", "s2", 2, "/src/shop", "fix the login", "The login works again, the cookie was wrong.")
	r.apply(r.past(imports.TranscriptOptions{}))
	r.must(func() error {
		_, err := tombstone.Forget(storetest.Writer(r.store), r.titled("fix the cart").ID)
		return err
	})
	ref, err := r.store.Find(r.titled("fix the login").ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.store.Path(ref.Path)); err != nil {
		t.Fatal(err)
	}
	p := r.past(imports.TranscriptOptions{})
	r.want(p, "s1.jsonl", imports.Skipped, "forgotten")
	r.want(p, "s2.jsonl", imports.Skipped, "deleted")
}

func TestTranscriptsStopped(t *testing.T) {
	r := newRoom(t)
	for i := range 12 {
		r.session(fmt.Sprintf("s%d", i), fmt.Sprintf("s%d", i), i+1, "/src/shop", fmt.Sprintf("do thing %d", i), "It is done, and that is a good thing to know.")
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	rep, err := r.Apply(ctx, r.past(imports.TranscriptOptions{}), func(int64, int64) {
		if steps++; steps == 4 {
			cancel()
		}
	})
	if created := rep.Totals[imports.Created]; !errors.Is(err, context.Canceled) || created < 4 || created+rep.Totals[imports.Left] != 12 || len(r.notes()) < created {
		t.Errorf("%v, %v, %d notes", err, rep.Totals, len(r.notes()))
	}
	r.apply(r.past(imports.TranscriptOptions{}))
	if n := len(r.notes()); n != 12 {
		t.Errorf("%d notes", n)
	}
	if got := r.past(imports.TranscriptOptions{}).Totals(); got.New != 0 {
		t.Errorf("%+v", got)
	}
}

// A session that a hook captured is known, whatever machine made the note.
func TestTranscriptsAfterHook(t *testing.T) {
	r := newRoom(t)
	file := r.session("s1", "s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	if _, err := r.recorder.Capture(t.Context(), capture.Request{Harness: agent.Default(), Transcript: file, Session: "s1", Source: "session-end"}); err != nil {
		t.Fatal(err)
	}
	r.want(r.past(imports.TranscriptOptions{}), "s1.jsonl", imports.Unchanged, "note already")
}

// BenchmarkTranscripts imports sessions of 2 MB in the shape of real ones: most
// of their bytes are results of tools. SetBytes gives MB/s of JSONL.
func BenchmarkTranscripts(b *testing.B) {
	r := newRoom(b)
	var body bytes.Buffer
	filler := strings.Repeat("ok  \tgithub.com/acme/shop/cart\t0.021s\\n", 250)
	for i := 0; body.Len() < 2<<20; i++ {
		fmt.Fprintf(&body, `{"type":"assistant","sessionId":"ID","timestamp":"2026-05-01T10:00:00Z","uuid":"a%d","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"go test ./..."}}]}}
{"type":"user","sessionId":"ID","timestamp":"2026-05-01T10:00:01Z","uuid":"u%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}}
`, i, i, i, i, filler)
	}
	const files = 20
	var size int64
	for i := range files {
		id := fmt.Sprintf("bench-%d", i)
		text := sessionText(id, i+1, "/src/shop", "run the tests "+id, "All of the tests pass now, after the third try.") + strings.ReplaceAll(body.String(), `"ID"`, `"`+id+`"`)
		path := filepath.Join(r.home, ".claude/projects/-src-shop", id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		size += int64(len(text))
	}
	p, err := r.Transcripts(b.Context(), imports.TranscriptOptions{})
	if err != nil || p.Totals().New != files {
		b.Fatalf("%+v %v", p.Totals(), err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if _, err := r.Apply(b.Context(), p, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTranscriptsCompressed holds that a session comes in once, whether Codex compressed its file before or after,
// and that a compressed file that cannot be read is named.
func TestTranscriptsCompressed(t *testing.T) {
	r := newRoom(t)
	const name = ".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-"
	rollout := func(id, ask string) string {
		return fmt.Sprintf(`{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/src/shop","source":"cli"}}
{"timestamp":"2026-05-01T10:01:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}
{"timestamp":"2026-05-01T10:02:00Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is done now, and the tests of the cart pass."}]}}
`, id, ask)
	}
	compressed := func(text string) string {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(w.EncodeAll([]byte(text), nil))
	}
	r.write(name+"c1.jsonl.zst", compressed(rollout("c1", "fix the rounding of the cart")))
	both := rollout("c2", "fix the rounding of the invoices")
	r.write(name+"c2.jsonl", both)
	r.write(name+"c2.jsonl.zst", compressed(both))
	r.write(name+"c3.jsonl.zst", compressed(both)[:60])
	r.write(name+"c4.jsonl.zst", compressed(strings.ReplaceAll(rollout("c4", "look"), `"source":"cli"`, `"thread_source":"subagent"`)))
	p := r.past(imports.TranscriptOptions{Agent: "codex"})
	r.want(p, "c1.jsonl.zst", imports.Adds, "")
	r.want(p, "c2.jsonl", imports.Adds, "")
	r.want(p, "c2.jsonl.zst", imports.Skipped, "c2.jsonl")
	r.want(p, "c3.jsonl.zst", imports.Refused, "c3.jsonl.zst")
	r.lacks(p, "c4.jsonl.zst")
	rep, err := r.Apply(t.Context(), p, nil)
	if err != nil || len(rep.Created) != 2 || rep.Totals[imports.Failed] > 0 {
		t.Fatalf("%v, %v", err, rep.Totals)
	}
	if n := r.titled("fix the rounding of the cart"); n.Provenance.Session != "c1" || n.Project != "shop" {
		t.Errorf("%+v", n)
	}
	r.write(name+"c1.jsonl", rollout("c1", "fix the rounding of the cart")) // resumed
	if got := r.past(imports.TranscriptOptions{Agent: "codex"}).Totals(); got.New != 0 || got.Unchanged != 4 {
		t.Errorf("%+v", got)
	}
	for range 2 { // a background run records once, for doctor, what it cannot read
		rested, err := r.Rested(t.Context(), func(agent string) (from, until time.Time, ok bool) {
			return time.Time{}, time.Now().Add(time.Hour), agent == "codex"
		})
		if err != nil || rested.Keep(slices.Repeat([]bool{true}, len(rested.Sessions))) != nil {
			t.Fatal(err)
		}
	}
	var damaged []store.Record
	files, err := r.store.Events().Files()
	for _, f := range files {
		_, err = r.store.Events().Records(f, 0, func(rec store.Record) {
			if rec.Kind == store.Damaged {
				damaged = append(damaged, rec)
			}
		})
	}
	if err != nil || len(damaged) != 1 || !strings.HasSuffix(damaged[0].Text, "c3.jsonl.zst") || damaged[0].Error == "" {
		t.Errorf("%v: %+v", err, damaged)
	}
}

// TestTranscriptsDamaged holds that a plan counts the lines that cannot be read of a session of which nothing is
// made, and Apply those of the others.
func TestTranscriptsDamaged(t *testing.T) {
	r := newRoom(t)
	const folder = ".claude/projects/-src-shop/"
	good := sessionText("s1", 1, "/src/shop", "fix the cart", "The cart counts again, the test covers it.")
	line := strings.Index(good, "\n") + 1
	r.write(folder+"s1.jsonl", good[:line]+"\x00\x00\x00\n"+`{"type":"user","mess`+"\n"+good[line:])
	r.write(folder+"s2.jsonl", "\x00\x00\n"+`{"type":"user","sessionId":"s2","cwd":"/src/sh`+"\n"+`{"type":"assis`)
	r.session("s3", "s3", 2, "/src/shop", "fix the login", "The login works again, the cookie was wrong.")
	count := func(items []imports.Item) map[string]int {
		all := make(map[string]int)
		for _, it := range items {
			if it.Unreadable > 0 {
				all[filepath.Base(it.Source)] = it.Unreadable
			}
		}
		return all
	}
	p := r.past(imports.TranscriptOptions{})
	r.want(p, "s2.jsonl", imports.Skipped, "not worth a note")
	if diff := cmp.Diff(map[string]int{"s2.jsonl": 3}, count(p.Items)); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	rep, err := r.Apply(t.Context(), p, nil)
	if err != nil || len(rep.Created) != 2 {
		t.Fatalf("%v, %v", err, rep.Totals)
	}
	var items []imports.Item
	for _, d := range rep.Items {
		items = append(items, d.Item)
	}
	if diff := cmp.Diff(map[string]int{"s1.jsonl": 2, "s2.jsonl": 3}, count(items)); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
}
