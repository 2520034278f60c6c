package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/connect"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// hookKey gives the store a key, as init does.
func (w *world) hookKey(t *testing.T) string {
	t.Helper()
	const key = "K3YOFTHISSTOREANDNOOTHER22"
	if err := connect.KeepHookKey(w.Store, key); err != nil {
		t.Fatal(err)
	}
	return key
}

// event calls the tool that answers events and returns its text.
func event(t *testing.T, cs *sdk.ClientSession, meta sdk.Meta, members map[string]any) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Meta: meta, Name: connect.HookTool, Arguments: members})
	if err != nil || res.IsError || len(res.Content) != 1 {
		t.Fatalf("%v: %+v, %v", members, res, err)
	}
	return res.Content[0].(*sdk.TextContent).Text
}

// refusals returns the reasons for refused events in the event log.
func (w *world) refusals(t *testing.T) (all []string) {
	t.Helper()
	files, err := w.Store.Events().Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := w.Store.Events().Records(file, 0, func(r store.Record) {
			if r.Kind == store.HookRefused {
				all = append(all, r.Error)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Whoever is no hook of this machine gets the quiet answer, and what it asked for changes nothing for the session that
// it named.
func TestForgedHook(t *testing.T) {
	w := open(t, inShop)
	w.add(t, note.Note{Title: "Round tax per line", Body: "recalcTax in cart.go rounds each line to cents before summing.", Project: "shop"})
	prompt := func(session, key string) map[string]any {
		return map[string]any{
			"anamnesis_agent": "claude", "anamnesis_key": key, "hook_event_name": "UserPromptSubmit", "session_id": session,
			"cwd": w.opts.Dir, "prompt": "why does recalcTax round each line?",
		}
	}
	quiet := func(what, got string) {
		t.Helper()
		if got != "{}" {
			t.Errorf("%s is answered %q", what, got)
		}
	}
	shown := func(what, got string) {
		t.Helper()
		if !strings.Contains(got, "Round tax per line") {
			t.Errorf("%s is answered %q", what, got)
		}
	}
	forger := w.client(t)
	quiet("an empty key where the store has none", event(t, forger, nil, prompt("real", "")))
	key := w.hookKey(t)
	for range 2 {
		quiet("no key", event(t, forger, nil, prompt("real", "")))
		quiet("a wrong key", event(t, forger, nil, prompt("real", key[1:]+"X")))
		quiet("a beginning of the key", event(t, forger, nil, prompt("real", key[:5])))
		quiet("a call of a model of Claude Code", event(t, forger, sdk.Meta{"claudecode/toolUseId": "toolu_1"}, prompt("real", key)))
		quiet("a call of a model of Codex", event(t, forger, sdk.Meta{"callId": "call_1"}, prompt("real", key)))
	}
	// A client whose own session is another one.
	shown("a session's own hook", event(t, forger, nil, prompt("mine", key)))
	quiet("an event of another session", event(t, forger, nil, prompt("real", key)))
	quiet("an event of no session", event(t, forger, nil, prompt("", key)))
	forged := filepath.Join(w.opts.Dir, "projects", "-p", "mine.jsonl")
	if err := os.MkdirAll(filepath.Dir(forged), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(forged, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := prompt("mine", key)
	with["transcript_path"] = forged
	event(t, forger, nil, with)

	shown("the real hook of the session", event(t, w.client(t), nil, prompt("real", key)))
	if got := w.refusals(t); len(got) != 5 || !strings.Contains(strings.Join(got, "\n"), "transcript") {
		t.Errorf("each reason is recorded once: %q", got)
	}
}

// A client goes on to another session when that starts: its own hook records it.
func TestHookFollowsSession(t *testing.T) {
	w := open(t, inShop)
	key := w.hookKey(t)
	w.add(t, note.Note{Title: "Round tax per line", Body: "recalcTax in cart.go rounds each line to cents before summing.", Project: "shop"})
	cs := w.client(t)
	ask := func(name, session string) string {
		return event(t, cs, nil, map[string]any{
			"anamnesis_key": key, "hook_event_name": name, "session_id": session, "cwd": w.opts.Dir, "prompt": "why does recalcTax round each line?",
		})
	}
	started := func(session string) {
		t.Helper()
		e := agent.Event{SessionID: session, TranscriptPath: filepath.Join(w.opts.Dir, session+".jsonl")}
		if err := w.Recorder.Started(agent.Default(), e, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	const title = "Round tax per line"
	started("elsewhere") // in another terminal, before
	if got := ask("UserPromptSubmit", "first"); !strings.Contains(got, title) {
		t.Errorf("the first session: %q", got)
	}
	if got := ask("UserPromptSubmit", "elsewhere"); got != "{}" {
		t.Errorf("a session that started before: %q", got)
	}
	started("cleared")
	if got := ask("UserPromptSubmit", "cleared"); !strings.Contains(got, title) {
		t.Errorf("the session after a clear: %q", got)
	}
	if got := ask("UserPromptSubmit", "first"); got != "{}" {
		t.Errorf("the session before the clear: %q", got)
	}
	ask("SessionStart", "told") // of a client whose servers have a session's start
	if got := ask("UserPromptSubmit", "told"); !strings.Contains(got, title) {
		t.Errorf("the session that an event started: %q", got)
	}
}

// A transcript counts where its agent keeps sessions, whatever links say.
func TestHookTranscript(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	h := agent.Default()
	write := func(names ...string) string {
		t.Helper()
		file := filepath.Join(names...)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(from, to string) string {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Skip(err)
		}
		return from
	}
	own := write(home, "projects", "-src-shop", "s.jsonl")
	forged := write(other, "projects", "-src-shop", "s.jsonl")
	for what, is := range map[string]struct {
		file string
		ok   bool
	}{
		"its own":             {own, true},
		"of another folder":   {forged, false},
		"beside the projects": {write(home, "s.jsonl"), false},
		"a way out":           {home + "/projects/-src-shop/../../../" + filepath.Base(other) + "/projects/-src-shop/s.jsonl", false},
		"a link to a file":    {link(filepath.Join(home, "projects", "-src-shop", "t.jsonl"), forged), false},
		"a link to a folder":  {filepath.Join(link(filepath.Join(home, "projects", "-out"), filepath.Dir(forged)), "s.jsonl"), false},
		"none":                {filepath.Join(home, "projects", "-src-shop", "none.jsonl"), false},
	} {
		if got := mcp.OwnTranscript(home, h, is.file); got != is.ok {
			t.Errorf("%s (%s): %v", what, is.file, got)
		}
	}
	moved := t.TempDir() // all projects on another disk
	link(filepath.Join(moved, "projects"), filepath.Join(home, "projects"))
	if !mcp.OwnTranscript(moved, h, filepath.Join(moved, "projects", "-src-shop", "s.jsonl")) {
		t.Error("the folder of all projects may be a link")
	}
	if mcp.OwnTranscript("", h, own) {
		t.Error("where no home is known, nothing is its own")
	}
}

// What comes over HTTP is no event: no client started that server.
func TestHookOverHTTP(t *testing.T) {
	w := open(t, inShop)
	key := w.hookKey(t)
	w.add(t, note.Note{Title: "Round tax per line", Body: "recalcTax in cart.go rounds each line to cents before summing.", Project: "shop"})
	h, err := w.server.Handler(mcp.HTTPOptions{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: srv.URL, HTTPClient: &http.Client{Transport: bearer{token}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := event(t, cs, nil, map[string]any{
		"anamnesis_key": key, "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": w.opts.Dir, "prompt": "why does recalcTax round each line?",
	}); got != "{}" {
		t.Errorf("it is answered %q", got)
	}
}
