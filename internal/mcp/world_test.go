package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A world is a store with its rooms, and a server over them.
type world struct {
	store    *store.Store
	index    *index.Index
	ingester *ingest.Ingester
	handoffs *handoffs
	rooms    mcp.Rooms
	opts     mcp.Options
	server   *mcp.Server
}

// product is what package config sets, as far as it matters here.
var product = recall.Options{
	K1: 0.9, B: 0.6, TitleWeight: 1.2, TagsWeight: 1.5, Candidates: 200, LexicalWeight: 1, SemanticArm: true, SemanticWeight: 0.5,
	Rerank: true, RerankTimeout: 60, Patience: 100, MMR: true, MMRLambda: 0.7,
}

// long is how long something may take that takes no time on a machine with
// nothing else to do.
const long = 2 * time.Minute

// open makes a world. change may set options and rooms before the server is made.
func open(tb testing.TB, change ...func(*world)) *world {
	tb.Helper()
	s, err := store.Open(store.Options{Root: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	db, err := sqlite.Open(tb.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		tb.Fatal(err)
	}
	redactor, err := redact.New()
	if err != nil {
		tb.Fatal(err)
	}
	ix := index.New(db, s, index.Embedding{Local: words})
	w := &world{
		store: s, index: ix, ingester: ingest.New(s, ix, redactor, ingest.Options{MachineID: "elsewhere", HoldSimilar: true, Similarity: 0.8}),
		opts: mcp.Options{Machine: "laptop", Version: "test", Start: agent.InjectStart, End: agent.InjectEnd, Grace: long, Wait: long},
	}
	w.handoffs = &handoffs{world: w}
	w.rooms = mcp.Rooms{
		Engine: recall.New(ix, s, product, recall.Models{Words: words}), Index: ix, Store: s, Ingester: w.ingester, Redact: redactor.Redact,
		Refresh: func(ctx context.Context) (int, error) {
			rep, err := ix.Sync(ctx, index.SyncOptions{})
			if errors.Is(err, index.ErrBusy) {
				return -1, nil
			}
			return rep.Stale, err
		},
		Forget: w.forget, Handoffs: w.handoffs,
	}
	for _, f := range change {
		f(w)
	}
	if w.server, err = mcp.New(w.rooms, w.opts); err != nil {
		tb.Fatal(err)
	}
	return w
}

// add writes a note as a person would.
func (w *world) add(tb testing.TB, n note.Note) note.ID {
	tb.Helper()
	if n.Type == "" {
		n.Type = note.Semantic
	}
	n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
	out, err := w.ingester.Add(tb.Context(), ingest.Draft{Note: &n})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Note.ID
}

// forget is what the command does.
func (w *world) forget(ctx context.Context, id note.ID, apply bool) (mcp.ForgetPlan, error) {
	f, err := tombstone.Plan(w.store, id)
	if apply && err == nil {
		f, err = tombstone.Forget(storetest.Writer(w.store), id)
		if err == nil {
			err = w.index.Refresh(ctx, append(f.Notes, f.Tombstone)...)
		}
	}
	return mcp.ForgetPlan{ID: f.ID, Title: f.Title, Applied: apply, Notes: f.Notes, History: f.History, Held: f.Held, Conflicts: f.Conflicts}, err
}

// handoffs keeps handoffs as ordinary notes with a tag.
type handoffs struct {
	world *world
	mu    sync.Mutex
	done  []note.ID

	refuses error // for every id
}

func (h *handoffs) Leave(ctx context.Context, what mcp.Handoff) (ingest.Outcome, error) {
	return h.world.ingester.Add(ctx, ingest.Draft{Note: &note.Note{
		Type: note.Episodic, Title: what.Title, Body: what.Body, Project: what.Project, Tags: []string{"handoff"},
		ForgetAfter: note.At(time.Now().AddDate(0, 0, what.Days)), Provenance: note.Provenance{Source: note.Agent, Confidence: 0.8},
	}})
}

func (h *handoffs) Pending(ctx context.Context, projects []string) ([]*note.Note, error) {
	rows, err := h.world.index.Select(ctx, index.Filter{Projects: projects, Tags: []string{"handoff"}, Now: time.Now()}, 0)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*note.Note
	for _, r := range rows {
		if n, _, _, err := h.world.store.Read(r.Ref.Path); err == nil && !slices.Contains(h.done, n.ID) {
			all = append(all, n)
		}
	}
	return all, nil
}

func (h *handoffs) Acknowledge(ctx context.Context, id note.ID) error {
	if _, ok, err := h.world.index.Lookup(ctx, id); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("there is no handoff %s", id))
	}
	if h.refuses != nil {
		return h.refuses
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, id)
	return nil
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

// call calls a tool and returns its structured answer and its text.
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
	return res.StructuredContent.(map[string]any), text
}

// refused calls a tool that must say no, and returns why it does.
func refused(tb testing.TB, cs *sdk.ClientSession, tool string, a args) string {
	tb.Helper()
	res, err := cs.CallTool(tb.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		tb.Fatalf("%s: %v", tool, err)
	}
	if !res.IsError {
		tb.Fatalf("%s %v was accepted: %v", tool, a, res.StructuredContent)
	}
	return res.Content[0].(*sdk.TextContent).Text
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
