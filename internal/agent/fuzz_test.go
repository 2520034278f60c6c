package agent_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// seeds adds the files of a folder below testdata/claude.
func seeds(f *testing.F, pattern string) {
	files, err := filepath.Glob(filepath.Join("testdata", "claude", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// checkTexts fails on what must never leave a reader.
func checkTexts(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(s, agent.InjectStart) || strings.Contains(s, agent.InjectEnd) {
			t.Errorf("our own block in %q", s)
		}
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) }) {
			t.Errorf("a control character in %q", s)
		}
		if strings.ToValidUTF8(s, "") != s {
			t.Errorf("invalid UTF-8: %q", s)
		}
	}
}

func FuzzReadSession(f *testing.F) {
	seeds(f, "*.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := agent.Limits{Line: 64 << 10, Text: 1000, Input: 400, Result: 1000, Total: 20_000}
		s, err := agent.Claude{}.ReadSession(bytes.NewReader(data), limits)
		if err != nil {
			t.Fatal(err)
		}
		if s.Next > int64(len(data)) || s.ID != "" && !agent.ValidID(s.ID) {
			t.Errorf("next %d of %d, id %q", s.Next, len(data), s.ID)
		}
		checkTexts(t, s.FirstPrompt(), lastOutcome(s.Dialogue()), strings.Join(s.Summaries, "\n"), strings.Join(s.FilesTouched(), "\n"))
		for _, turn := range s.Turns {
			checkTexts(t, turn.Text, turn.Command)
			for _, u := range turn.Tools {
				checkTexts(t, u.Result, u.Name)
				if len(u.Input) > limits.Input || len(u.Input) > 0 && !json.Valid(u.Input) {
					t.Errorf("input %q", u.Input)
				}
			}
		}
	})
}

func FuzzGlance(f *testing.F) {
	seeds(f, "*.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, window := range []int64{0, 1, 300, 5000} {
			g, err := agent.Claude{}.Peek(bytes.NewReader(data), int64(len(data)), window, window, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			checkTexts(t, g.FirstPrompt, lastOutcome(g.Dialogue))
			if g.ID != "" && !agent.ValidID(g.ID) {
				t.Errorf("id %q", g.ID)
			}
		}
	})
}

func FuzzReadEvent(f *testing.F) {
	seeds(f, "events/*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := agent.ReadEvent(agent.Default(), bytes.NewReader(data), 1<<16, time.Minute)
		if e.SessionID != "" && !agent.ValidID(e.SessionID) || strings.ContainsRune(e.TranscriptPath+e.Dir, 0) {
			t.Errorf("%v, %+v", err, e)
		}
		checkTexts(t, e.Prompt, e.Message)
		if reply := (agent.Claude{}).Reply(e, "x"); e.Name != "" && e.Name != "SessionStart" && len(reply) > 0 && !json.Valid(reply) {
			t.Errorf("reply %q", reply)
		}
	})
}

// FuzzEventText compares our JSON reading with the library's.
func FuzzEventText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83dx\u0041"`, `"\udc00\ud800"`, "\"\xff\xc3\"", `"\"\\\/\b\f\n\r\t"`, `[1,-0.5e-3,{"a":null}]`, `01`, `"\x"`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		payload := append(append([]byte(`{"message":`), value...), '}')
		e, err := agent.Claude{}.Event(agent.NewPayload(payload))
		if valid := json.Valid(payload); valid != (err == nil) && !strings.Contains(string(payload), strings.Repeat("[", 50)) {
			t.Fatalf("%q: %v, the library says %v", payload, err, valid)
		}
		var want struct{ Message any }
		if err == nil && utf8.Valid(payload) && json.Unmarshal(payload, &want) == nil && bytes.Count(payload, []byte(`:`)) == 1 {
			if s, _ := want.Message.(string); agent.StripInjected(text.Plain(s)) != e.Message {
				t.Errorf("%q: got %q, want %q", payload, e.Message, s)
			}
		}
	})
}
