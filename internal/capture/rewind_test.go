package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	words "anamnesis/internal/session" // session is a line of a transcript here
)

// TestRewind holds that what the user took back is kept word for word, with a mark, and teaches nothing.
func TestRewind(t *testing.T) {
	r := newRoom(t)
	kept := words.New(r.store, words.Options{Keep: true})
	r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Learn: true}).Keeping(kept)
	line := func(id, parent, role, text string) string {
		content := fmt.Sprintf("%q", text)
		if role == "assistant" {
			content = `[{"type":"text","text":` + content + `},{"type":"tool_use","id":"t` + id + `","name":"Edit","input":{"file_path":"/src/app/` + id + `.go"}}]`
		}
		return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":"s1","cwd":"/src/app","timestamp":"2026-05-01T10:00:00Z","message":{"role":%q,"content":%s}}`+"\n",
			parent, role, id, role, content)
	}
	first := line("u1", "", "user", "Move the invoices to the ledger") + line("a1", "u1", "assistant", "The invoices are in the ledger.")
	gone := line("u2", "a1", "user", "remember: money is always a float64") + line("a2", "u2", "assistant", "Floats it is.")
	after := line("u3", "a1", "user", "remember: money is always int64 cents") + line("a3", "u3", "assistant", "Cents it is.")
	c := r.capture(first + gone + after)
	if c.Kept != nil || c.Learnt != 1 {
		t.Fatalf("%+v: %d learnt, want 1", c.Kept, c.Learnt)
	}
	h := words.Head{Session: "s1", Agent: agent.Default().Name}
	_, all, err := kept.Read(h.Key())
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %d exchanges", err, len(all))
	}
	for i, e := range all {
		if want := i == 1; e.TakenBack != want || strings.Contains(e.Text(), "taken back by the user") != want || e.N != i+1 {
			t.Errorf("exchange %d, %q: taken back %v", e.N, e.Ask, e.TakenBack)
		}
	}
	if got := c.Outcome.Note.Body; strings.Contains(got, "a2.go") || strings.Contains(got, "Floats") || !strings.Contains(got, "a3.go") {
		t.Errorf("the note of the session: %s", got)
	}
}

// TestRewindAfterwards holds that what was learnt before the user took it back holds no more.
func TestRewindAfterwards(t *testing.T) {
	r := newRoom(t)
	r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Learn: true})
	line := func(id, parent, role, text string) string {
		return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":"s1","cwd":"/src/app","timestamp":"2026-05-01T10:00:0%sZ","message":{"role":%q,"content":%q}}`+"\n",
			parent, role, id, id[1:], role, text)
	}
	before := line("u1", "", "user", "Move the invoices to the ledger") + line("a1", "u1", "assistant", "They are.") +
		line("u2", "a1", "user", "remember: money is always a float64") + line("a2", "u2", "assistant", "Floats it is.") +
		line("u3", "a2", "user", "No, you must never push to the main branch again!\nTwo.\nThree.\nremember: always run the zz tool first") + line("a3", "u3", "assistant", "Never again.")
	if c := r.capture(before); c.Learnt != 1 || len(r.store.Spool().Held()) != 1 {
		t.Fatalf("%d learnt, %d proposed", c.Learnt, len(r.store.Spool().Held()))
	}
	byModel := &note.Note{
		Type: note.Procedural, Title: "Tests run before every release", Body: "Why: said so.", Project: "app", Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.8, Session: "s1"},
		Evidence:   []note.Evidence{{Session: "claude/s1", Chunk: "c1", Quote: "you must never push to the main branch again"}},
	}
	if _, err := r.ingester.Admit(r.Context(), ingest.Draft{Note: byModel, By: ingest.Model, Here: "app"}); err != nil {
		t.Fatal(err)
	}
	r.capture(before + line("u4", "a1", "user", "remember: money is always int64 cents") + line("a4", "u4", "assistant", "Cents it is."))
	in := make(map[string]bool)
	for ref := range r.store.Walk() {
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil {
			t.Fatal(err)
		}
		if n.Type != note.Episodic {
			in[n.Title] = n.Live(r.store.Now())
		}
	}
	if len(in) != 3 || in["Money is always a float64"] || in["Tests run before every release"] || !in["Money is always int64 cents"] {
		t.Errorf("in force %v", in)
	}
	held := r.store.Spool().Held()
	if len(held) != 2 {
		t.Fatalf("waits: %+v", held)
	}
	for _, d := range held {
		if !slices.Contains([]string{"Money is always a float64", "Tests run before every release"}, d.Title) ||
			!strings.Contains(d.StatusReason, "took back the turn") {
			t.Errorf("waits: %+v", d)
		}
	}
}

// TestRewindInFiles holds the same where a rewind begins a new file of the same session, whichever of the
// files is asked for.
func TestRewindInFiles(t *testing.T) {
	const thread = "01a0c0de-1111-7aaa-8bbb-000000000001"
	header := func(more string) string {
		return `{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"` + thread + `","cwd":"/src/app","cli_version":"0.171.0","source":"cli"` + more + "}}\n"
	}
	say := func(ordinal int, role, text string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return fmt.Sprintf(`{"timestamp":"2026-11-20T10:00:%02dZ","ordinal":%d,"type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`+"\n", ordinal, ordinal, role, kind, text)
	}
	first := header("") + say(1, "user", "Move the invoices to the ledger, one service after the other") + say(2, "assistant", "The invoices are in the ledger now, every one of them.") +
		say(3, "user", "remember: money is always a float64") + say(4, "assistant", "Floats it is, everywhere in the code.")
	second := header(`,"history_base":{"thread_id":"`+thread+`","end_ordinal_exclusive":3,"end_byte_offset":9}`) +
		say(3, "user", "remember: money is always int64 cents") + say(4, "assistant", "Cents it is, everywhere in the code.")
	for _, asked := range []string{"first", "second", "both"} {
		t.Run(asked, func(t *testing.T) {
			r := newRoom(t)
			kept := words.New(r.store, words.Options{Keep: true})
			r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Learn: true}).Keeping(kept)
			var files []string
			for day, text := range map[string]string{"20": first, "21": second} {
				dir := filepath.Join(r.dir, "codex", "sessions", "2026", "11", day)
				name := "rollout-2026-11-" + day + "T10-00-00-" + thread + map[string]string{"20": "", "21": "_01a0c0df"}[day] + ".jsonl"
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, filepath.Join(dir, name))
			}
			slices.Sort(files)
			learnt := 0
			for i, file := range files {
				if asked == []string{"second", "first"}[i] {
					continue
				}
				c, err := r.Capture(r.Context(), capture.Request{Harness: agent.ByName("codex"), Transcript: file, Source: "session-end", Offset: int64(len([]string{first, second}[i]))})
				if err != nil {
					t.Fatal(err)
				}
				learnt += c.Learnt
			}
			h := words.Head{Session: thread, Agent: "codex"}
			_, all, err := kept.Read(h.Key())
			if err != nil || len(all) != 3 || !all[1].TakenBack || all[0].TakenBack || all[2].TakenBack || !strings.Contains(all[2].Ask, "cents") {
				t.Errorf("%v: %+v", err, all)
			}
			if learnt != 1 {
				t.Errorf("%d learnt, want 1", learnt)
			}
		})
	}
}
