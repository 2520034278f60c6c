package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A world is a store with its rooms, and a server over them.
type world struct {
	*app.Rooms
	doubles mcp.Doubles
	opts    mcp.Options
	server  *mcp.Server
}

// long is how long something may take that takes no time on a machine with
// nothing else to do.
const long = 2 * time.Minute

// open makes a world. change may set options and doubles before the server is made.
func open(tb testing.TB, change ...func(*world)) *world {
	tb.Helper()
	w := &world{
		Rooms: apptest.Open(tb, "machine_id=elsewhere"),
		opts:  mcp.Options{Machine: "laptop", Version: "test", Start: agent.InjectStart, End: agent.InjectEnd, Grace: long, Wait: long},
	}
	w.doubles.Refresh = func(ctx context.Context) (int, error) { // without a background run
		rep, err := w.Index.Sync(ctx, index.SyncOptions{})
		if errors.Is(err, index.ErrBusy) {
			return -1, nil
		}
		return rep.Stale, err
	}
	for _, f := range change {
		f(w)
	}
	var err error
	if w.server, err = mcp.New(w.Rooms, w.opts); err != nil {
		tb.Fatal(err)
	}
	w.server.Replace(w.doubles)
	return w
}

// inShop lets the server work in the folder of a project named shop.
func inShop(w *world) {
	w.opts.Dir = filepath.Join(w.Config.Home, "src", "shop")
	if err := os.MkdirAll(w.opts.Dir, 0o700); err != nil {
		panic(err)
	}
}

// add writes a note as a person would.
func (w *world) add(tb testing.TB, n note.Note) note.ID {
	tb.Helper()
	if n.Type == "" {
		n.Type = note.Semantic
	}
	n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
	out, err := w.Ingester.Admit(tb.Context(), ingest.Draft{By: ingest.Person, Note: &n, Rival: ingest.KeepRival})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Note.ID
}

// pipes serves one client over two pipes and returns the client's ends. ended
// gives what Stdio returned.
func (w *world) pipes(tb testing.TB) (in io.WriteCloser, out io.ReadCloser, ended chan error) {
	tb.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- w.server.Stdio(context.WithoutCancel(tb.Context()), fromClient, toClient)
		toClient.Close()
	}()
	tb.Cleanup(func() {
		in.Close()
		out.Close()
		select {
		case <-ended:
		case <-time.After(long):
			tb.Error("the server did not end")
		}
	})
	return in, out, ended
}

type args = map[string]any

// call calls a tool and returns its answer, decoded and as text.
func call(tb testing.TB, cs *sdk.ClientSession, tool string, a args) (map[string]any, string) {
	tb.Helper()
	res, err := cs.CallTool(tb.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		tb.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		tb.Fatalf("%s %v: %s", tool, a, text)
	}
	return decoded(tb, res), text
}

// decoded is the answer of a tool, which is JSON between the marks, or without them.
func decoded(tb testing.TB, res *sdk.CallToolResult) (answer map[string]any) {
	tb.Helper()
	text := res.Content[0].(*sdk.TextContent).Text
	text = strings.TrimSuffix(strings.TrimPrefix(text, agent.InjectStart+"\n"), "\n"+agent.InjectEnd)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		tb.Fatalf("the answer is not JSON: %v: %s", err, text)
	}
	if res.StructuredContent != nil || len(res.Content) != 1 {
		tb.Errorf("the answer is sent more than once: %+v", res)
	}
	return answer
}

// refused calls a tool that must say no, and returns why it does.
func refused(tb testing.TB, cs *sdk.ClientSession, tool string, a args) string {
	tb.Helper()
	res, err := cs.CallTool(tb.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		tb.Fatalf("%s: %v", tool, err)
	}
	if !res.IsError {
		tb.Fatalf("%s %v was accepted: %+v", tool, a, res.Content[0])
	}
	return res.Content[0].(*sdk.TextContent).Text
}

// note reads the note that a call wrote.
func (w *world) note(tb testing.TB, written map[string]any) map[string]any {
	tb.Helper()
	got, _ := call(tb, w.client(tb), "memory_get", args{"ids": []any{written["id"]}})
	return result(got)[0]
}

// result is the list of an answer.
func result(got map[string]any) []map[string]any {
	var all []map[string]any
	for _, v := range got["result"].([]any) {
		all = append(all, v.(map[string]any))
	}
	return all
}

func field(list []map[string]any, key string) string {
	var all []string
	for _, m := range list {
		all = append(all, fmt.Sprint(m[key]))
	}
	return strings.Join(all, " ")
}
