package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// meta is what every request carries since 2026-07-28.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}}`

// TestEras speaks every version of the protocol as bytes.
func TestEras(t *testing.T) {
	w := open(t)
	w.add(t, note.Note{Title: "walrus", Body: "it swims"})
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			r := w.raw(t)
			p := r.initialize(version)
			var hello struct {
				ProtocolVersion, Instructions string
				ServerInfo                    struct{ Name string }
				Capabilities                  map[string]any
			}
			if err := json.Unmarshal(p.Result, &hello); err != nil || hello.ProtocolVersion != version || hello.ServerInfo.Name != "anamnesis" {
				t.Fatalf("initialize: %s %v", p.Result, err)
			}
			if n := len(strings.Fields(hello.Instructions)); n == 0 || n > 80 {
				t.Errorf("the instructions have %d words", n)
			}
			if hello.Capabilities["tools"] == nil || hello.Capabilities["prompts"] == nil || hello.Capabilities["resources"] == nil || hello.Capabilities["logging"] != nil {
				t.Errorf("capabilities: %v", hello.Capabilities)
			}
			r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if p := r.next(); p.ID != 1.0 || !bytes.Contains(p.Result, []byte("memory_search")) {
				t.Errorf("tools/list: %s", p.Result)
			}
			r.send(`{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"memory_search","arguments":{"query":"walrus"}}}`)
			if p := r.next(); p.ID != "two" || !bytes.Contains(p.Result, []byte("it swims")) {
				t.Errorf("tools/call: %s", p.Result)
			}
			r.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
			if code := r.code(); code != 0 {
				t.Errorf("ping: %d", code)
			}
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		r := w.raw(t)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{%s}}`, meta)
		if p := r.next(); !bytes.Contains(p.Result, []byte("2026-07-28")) {
			t.Errorf("server/discover: %s %v", p.Result, p.Error)
		}
		r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"walrus"},%s}}`, meta)
		if p := r.next(); !bytes.Contains(p.Result, []byte("it swims")) {
			t.Errorf("tools/call: %s %v", p.Result, p.Error)
		}
		r.send(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{%s}}`, meta)
		if code := r.code(); code != -32601 {
			t.Errorf("initialize in the era without: %d", code)
		}
	})
}

// TestBadLines shows that a line that is no message is answered, and that the
// session goes on.
func TestBadLines(t *testing.T) {
	r := open(t).raw(t)
	r.initialize("2025-06-18")
	for _, tt := range []struct {
		name, line string
		code       int
		id         any
	}{
		{"no JSON", `{"jsonrpc":"2.0","id":7,"meth`, -32700, nil},
		{"text", `hello`, -32700, nil},
		{"two messages", `{"jsonrpc":"2.0","id":7,"method":"ping"} {"jsonrpc":"2.0","id":8,"method":"ping"}`, -32700, nil},
		{"bytes", "\xff\xfe\x00", -32700, nil},
		{"a number", `17`, -32600, nil},
		{"a string", `"ping"`, -32600, nil},
		{"null", `null`, -32600, nil},
		{"no message", `{"foo":1}`, -32600, nil},
		{"an old version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, 7.0},
		{"a method that is no text", `{"jsonrpc":"2.0","id":"x","method":17}`, -32600, "x"},
		{"an id that is none", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, nil},
		{"deep", `{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, -32600, 7.0},
		{"deeper", strings.Repeat("[", 100_000), -32700, nil},
		{"an empty batch", `[]`, -32600, nil},
		{"a large batch", `[` + strings.Repeat("1,", 60) + `1]`, -32600, nil},
		{"a batch of nonsense", `[1]`, -32600, nil},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"tools/eat"}`, -32601, 7.0},
		{"an unknown tool", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"eat"}}`, -32602, 7.0},
		{"ten megabytes", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 10<<20) + `"}}`, -32600, nil},
	} {
		r.send("%s", tt.line)
		p := r.next()
		if p.Error == nil || p.Error.Code != tt.code || p.ID != tt.id {
			t.Errorf("%s: %+v %+v, want code %d for id %v", tt.name, p, p.Error, tt.code, tt.id)
		}
		r.send("\n  \r\n" + `{"jsonrpc":"2.0","id":"on","method":"ping"}` + "\r")
		if p := r.next(); p.ID != "on" || p.Error != nil {
			t.Fatalf("%s: the session did not go on: %+v", tt.name, p)
		}
	}
	// A batch is answered message by message, and responses to nothing are passed over.
	r.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":99,"result":{}},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	if a, b := r.next(), r.next(); a.Error != nil || b.Error != nil || a.ID == b.ID {
		t.Errorf("a batch: %+v %+v", a, b)
	}
}

// TestLongLineIsNotKept sends a line without an end and looks at memory's bound:
// what is read beyond MaxLine is thrown away as it comes.
func TestLongLineIsNotKept(t *testing.T) {
	in := io.MultiReader(io.LimitReader(forever('x'), 32<<20), strings.NewReader("\n"+`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+"}}\n"))
	var out bytes.Buffer
	if err := open(t).server.Stdio(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "-32600") || !strings.Contains(lines[1], `"id":1`) {
		t.Errorf("got %d lines: %.200s", len(lines), out.String())
	}
}

type forever byte

func (f forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

// blocking makes a world whose sync waits until its call is cancelled.
func blocking(t *testing.T) (w *world, began, cancelled chan struct{}) {
	began, cancelled = make(chan struct{}), make(chan struct{})
	w = open(t, func(w *world) {
		w.opts.Grace = 200 * time.Millisecond
		w.doubles.Sync = func(ctx context.Context) (app.SyncResult, int, error) {
			close(began)
			<-ctx.Done()
			close(cancelled)
			return app.SyncResult{}, 0, ctx.Err()
		}
	})
	return w, began, cancelled
}

const callSync = `{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"memory_sync"}}`

// TestVanish shows how a server ends: without an error, and with its calls cancelled.
func TestVanish(t *testing.T) {
	wait := func(t *testing.T, what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(long):
			t.Fatalf("%s: nothing happened", what)
		}
	}
	t.Run("its end of the pipe closes", func(t *testing.T) {
		w, began, cancelled := blocking(t)
		r := w.raw(t)
		r.initialize("2025-06-18")
		r.send(callSync)
		wait(t, "begin", began)
		r.in.Close()
		wait(t, "cancel", cancelled)
		if err := <-r.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		r.ended <- nil
	})
	t.Run("it does not read any more", func(t *testing.T) {
		w, began, cancelled := blocking(t)
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- w.server.Stdio(t.Context(), in, out) }()
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_sync",%s}}`+"\n", meta)
		wait(t, "begin", began)
		fromServer.Close()
		fmt.Fprintln(toServer, "nonsense")
		wait(t, "cancel", cancelled)
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		toServer.Close()
	})
	t.Run("the process is told to end", func(t *testing.T) {
		w, began, cancelled := blocking(t)
		ctx, cancel := context.WithCancel(t.Context())
		in, toServer := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- w.server.Stdio(ctx, in, io.Discard) }()
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_sync",%s}}`+"\n", meta)
		wait(t, "begin", began)
		cancel()
		wait(t, "cancel", cancelled)
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		toServer.Close()
	})
	t.Run("it cancels a call", func(t *testing.T) {
		w, began, cancelled := blocking(t)
		r := w.raw(t)
		r.initialize("2025-06-18")
		r.send(callSync)
		wait(t, "begin", began)
		r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
		wait(t, "cancel", cancelled)
	})
	t.Run("a call does not heed its cancellation", func(t *testing.T) {
		release := make(chan struct{})
		w := open(t, func(w *world) {
			w.opts.Grace = 200 * time.Millisecond
			w.doubles.Sync = func(context.Context) (app.SyncResult, int, error) { <-release; return app.SyncResult{}, 0, nil }
		})
		in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_sync",%s}}`+"\n", meta)
		if err := w.server.Stdio(t.Context(), strings.NewReader(in), io.Discard); err != nil {
			t.Errorf("ended with %v", err)
		}
		close(release)
	})
	t.Run("it only listens", func(t *testing.T) {
		w := open(t, func(w *world) { w.opts.Grace = time.Hour })
		in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`+"\n", meta)
		if err := w.server.Stdio(t.Context(), strings.NewReader(in), io.Discard); err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("reading fails", func(t *testing.T) {
		broken := errors.New("walrus in the wire")
		err := open(t).server.Stdio(t.Context(), io.MultiReader(strings.NewReader("x\n"), failing{broken}), io.Discard)
		if !errors.Is(err, broken) {
			t.Errorf("ended with %v", err)
		}
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestScript shows that a script that writes its calls and closes the pipe gets
// every answer.
func TestScript(t *testing.T) {
	w := open(t, func(w *world) { w.opts.Grace = time.Minute })
	w.add(t, note.Note{Title: "walrus", Body: "it swims"})
	var in, out bytes.Buffer
	const calls = 60
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"walrus"},%s}}`+"\n", i, meta)
	}
	if err := w.server.Stdio(t.Context(), &in, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "it swims"); n != calls {
		t.Errorf("%d answers, want %d", n, calls)
	}
}

// TestRootsAreAskedOnce shows when a client is asked in which folders it works:
// once, and again when it says that they changed.
func TestRootsAreAskedOnce(t *testing.T) {
	w := open(t)
	a, b := t.TempDir(), t.TempDir()
	w.add(t, note.Note{Title: "a", Body: "walrus", Project: project.Identify(w.Store, a).Key})
	w.add(t, note.Note{Title: "b", Body: "walrus", Project: project.Identify(w.Store, b).Key})
	r := w.raw(t)
	r.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"raw","version":"1"}}}`)
	r.next()
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	list := func(want string, roots ...string) {
		t.Helper()
		r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_list"}}`)
		for _, dir := range roots {
			p := r.next()
			if p.Method != "roots/list" {
				t.Fatalf("not asked: %+v", p)
			}
			r.send(`{"jsonrpc":"2.0","id":%v,"result":{"roots":[{"uri":"https://example.com/x"},{"uri":"file://%s"}]}}`, p.ID, dir)
		}
		if p := r.next(); p.ID != 1.0 || !bytes.Contains(p.Result, []byte(`\"title\":\"`+want+`\"`)) {
			t.Errorf("%+v %s, want %s", p, p.Result, want)
		}
	}
	list("a", a)
	list("a")
	r.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	list("b", b)
	list("b")
}

// FuzzGuard sends whatever bytes: every line that comes back is a message, and a
// regular call is answered behind them.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{
		"", "\n\n", "{", "[]", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null\n17\n\"x\"",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"x"},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_list","arguments":{"cursor":"MSAyIHg","limit":2},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://project/%00",` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":null}`, "{\"jsonrpc\":\"2.0\",\"id\":1e99,\"method\":\"\"}",
	} {
		f.Add([]byte(s))
	}
	w := open(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 || bytes.Contains(data, []byte("memory_write")) || bytes.Contains(data, []byte("listen")) && len(data) > 512 {
			return
		}
		last := `{"jsonrpc":"2.0","id":"the last one","method":"server/discover","params":{` + meta + "}}\n"
		var out safe
		if err := w.server.Stdio(t.Context(), strings.NewReader(string(data)+"\n"+last), &out); err != nil {
			t.Fatal(err)
		}
		answered := false
		for line := range strings.Lines(out.String()) {
			var p reply
			if err := json.Unmarshal([]byte(line), &p); err != nil || p.Version != "2.0" || p.Method == "" && (p.Error == nil) == (p.Result == nil) {
				t.Fatalf("%q brought %q: %v", data, line, err)
			}
			answered = answered || p.ID == "the last one"
		}
		if !answered {
			t.Fatalf("%q silenced the server", data)
		}
	})
}

// A safe buffer may be written to while it is read.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
