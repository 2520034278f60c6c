package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store/tombstone"

	"github.com/spf13/cobra"
)

type serveOptions struct {
	http      string
	tokenFile string
	hosts     []string
}

func newServe(p *program) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the memory to agents, over MCP",
		Long: `Serve the memory over the Model Context Protocol, on standard input and output. Agents
start it themselves: ` + "`anamnesis init`" + ` registers it with Claude Code, docs/mcp.md says how
with others.

With --http it listens on an address of this machine instead. Every request must
carry the token that stands in the file mcp.token of the store.`,
		Example: `  anamnesis serve
  anamnesis serve --http 127.0.0.1:7823`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), p.stdin, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "listen on `ADDRESS`:PORT of this machine")
	f.StringVar(&o.tokenFile, "token-file", "", "read the token from `FILE` (default: mcp.token in the store; made when it is missing)")
	f.StringSliceVar(&o.hosts, "allow-host", nil, "a `NAME` besides localhost under which clients may reach it (may be repeated)")
	return cmd
}

// bare is what happens without a command: a program that sends something gets
// the server, a person gets help.
func (p *program) bare(cmd *cobra.Command) error {
	if terminal(p.stdin) {
		return cmd.Help()
	}
	in := bufio.NewReader(p.stdin)
	if _, err := in.Peek(1); err != nil {
		return cmd.Help()
	}
	return p.serve(cmd.Context(), in, serveOptions{})
}

func (p *program) serve(ctx context.Context, in io.Reader, o serveOptions) error {
	if o.http == "" && (o.tokenFile != "" || len(o.hosts) > 0) {
		return usage("serve: --token-file and --allow-host belong to --http")
	}
	if o.http == "" { // agents start it so, with the environment that init gave them
		env := p.environ(p.sets)
		env.Written = true
		p.cfg = config.Load(env)
	}
	p.lasting = true
	signal.Ignore(syscall.SIGPIPE) // a client that is gone is an end like others: calls get their time
	m, err := p.wrap(app.OpenServed(ctx, p.host()))
	if err != nil {
		return err
	}
	defer m.close()
	srv, err := m.server()
	if err != nil {
		return err
	}
	if o.http == "" {
		return srv.Stdio(ctx, in, p.stdout)
	}
	return p.serveHTTP(ctx, m, srv, o)
}

// server wires the room of MCP.
func (m *memory) server() (*mcp.Server, error) {
	c := m.p.cfg
	dir, _ := os.Getwd()
	rooms := mcp.Rooms{
		Engine: m.Engine, Index: m.Index, Store: m.Store, Ingester: m.Ingester, MayWrite: m.MayRedact,
		Refresh: app.NewRefresher(m.Rooms).Refresh, Merged: func(ctx context.Context, dir string, some []string) []string {
			return app.MergedBranches(ctx, m.Rooms, dir, some)
		}, Sync: m.serveSync, Status: m.serveStatus, Forget: m.serveForget,
		Handoffs: handoffs{m},
	}
	if c.Events.Queries {
		rooms.Redact = func(s string) redact.Text { return m.Redactor.Redact(s) }
	}
	return mcp.New(rooms, mcp.Options{
		Machine: c.MachineID, Version: buildVersion(), Dir: dir, Start: agent.InjectStart, End: agent.InjectEnd,
		Reach:  recall.ScopeOptions{Global: c.Recall.Global, AllBranches: c.Recall.AllBranches},
		Branch: c.Recall.Branch, Gate: c.Recall.MinOverlap > 0,
		Grace: c.Wait(serveGrace), Wait: c.Wait(rootsTime),
	})
}

// How long the server waits for others.
const (
	serveGrace = 2 * time.Second // for its own calls, when the client is gone
	rootsTime  = time.Second     // for a client to name its folders
	mergedTime = time.Second     // for git to say what is merged
)

func (m *memory) serveSync(ctx context.Context) (mcp.SyncResult, error) {
	s, err := app.Sync(ctx, m.Rooms, app.SyncOptions{Remote: true})
	if err != nil {
		return mcp.SyncResult{}, err
	}
	rep, err := m.Index.Sync(ctx, index.SyncOptions{})
	detail := s.Detail
	if m.p.cfg.Sync.Remote == "" && !strings.Contains(detail, "remote") {
		detail += "; no remote is configured"
	}
	return mcp.SyncResult{Pushed: s.Pushed, Pulled: s.Pulled, Conflicted: s.Conflicted, Head: s.Head, Indexed: rep.Indexed, Detail: detail}, err
}

func (m *memory) serveStatus(ctx context.Context) (mcp.SyncStatus, error) {
	s, err := app.SyncStatus(ctx, m.Rooms)
	return mcp.SyncStatus{Initialized: s.Initialized, Remote: s.Remote, Head: s.Head, Dirty: s.Dirty, Detail: s.Detail}, err
}

func (m *memory) serveForget(ctx context.Context, id note.ID, apply bool) (mcp.ForgetPlan, error) {
	f, err := tombstone.Plan(m.Store, id)
	if apply && err == nil {
		f, err = m.Ingester.Forget(ctx, id, m.Disallow)
	}
	return mcp.ForgetPlan{
		ID: f.ID, Title: f.Title, Applied: apply && err == nil, Notes: f.Notes, History: f.History, Held: f.Held, Conflicts: f.Conflicts,
		InGit: m.inGit(f),
	}, err
}

// inGit reports whether git's history may hold what is forgotten.
func (m *memory) inGit(f tombstone.Forgotten) bool {
	_, err := os.Stat(m.Store.Path("memory/.git"))
	return !errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(f.Tombstone, "memory/")
}

// handoffs lets agents leave notes for the next session.
type handoffs struct{ m *memory }

func (h handoffs) Leave(ctx context.Context, left mcp.Handoff) (ingest.Outcome, error) {
	return h.m.Ingester.LeaveHandoff(ctx, ingest.Handoff{Project: left.Project, Title: left.Title, Body: left.Body, Days: left.Days})
}

func (h handoffs) Pending(ctx context.Context, projects []string) ([]*note.Note, error) {
	rows, err := h.m.Ingester.Handoffs(ctx, projects)
	if err != nil {
		return nil, err
	}
	var notes []*note.Note
	for _, c := range h.m.Index.Contents(ctx, rows) {
		if c.Err == nil {
			notes = append(notes, c.Note)
		}
	}
	return notes, nil
}

func (h handoffs) Acknowledge(ctx context.Context, id note.ID) error {
	_, err := h.m.Ingester.AcknowledgeHandoff(ctx, id, "")
	return err
}

// serveHTTP listens until it is interrupted.
func (p *program) serveHTTP(ctx context.Context, m *memory, srv *mcp.Server, o serveOptions) error {
	token, from, err := m.token(o.tokenFile)
	if err != nil {
		return err
	}
	err = srv.Listen(ctx, o.http, mcp.HTTPOptions{Token: token, Hosts: o.hosts}, func(address string) {
		p.note("serving on http://%s; clients send `Authorization: Bearer` with the token in %s", address, from)
	})
	switch {
	case errors.Is(err, mcp.ErrAddress):
		return usage("serve: --http %w", err)
	case errors.Is(err, mcp.ErrOpenAddress):
		return usage("serve: --http %w; name with --allow-host under which name they may come, and put TLS in front", err)
	case err != nil:
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// tokenFile holds the token of the server over HTTP. It is of this machine.
const tokenFile = "mcp.token"

// token reads the token, and makes one where none was made yet.
func (m *memory) token(file string) (token, from string, err error) {
	own := file == ""
	if own {
		file = m.Store.Path(tokenFile)
	}
	data, err := os.ReadFile(file)
	if own && errors.Is(err, fs.ErrNotExist) {
		data = []byte(rand.Text() + "\n")
		err = m.Store.Replace(tokenFile, data)
	}
	if err != nil {
		return "", file, fmt.Errorf("serve: the token: %w", err)
	}
	return strings.TrimSpace(string(data)), file, nil
}
