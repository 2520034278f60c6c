package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/mcp"
	"anamnesis/internal/recall"

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
	in := bufio.NewReader(p.stdin)
	if !terminal(p.stdin) {
		if _, err := in.Peek(1); err == nil {
			return p.serve(cmd.Context(), in, serveOptions{})
		}
	}
	if p.json {
		return usage("give a command; `anamnesis --help` lists them")
	}
	return cmd.Help()
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
	h := p.host()
	h.Face = "mcp"
	r, err := app.OpenServed(ctx, h)
	if err != nil {
		return err
	}
	defer r.Close()
	srv, err := p.server(r)
	if err != nil {
		return err
	}
	filling, stop := context.WithCancel(ctx)
	var filled sync.WaitGroup
	filled.Go(func() { srv.Fill(filling) })
	defer func() { // before the rooms are closed
		stop()
		filled.Wait()
	}()
	if o.http == "" {
		return srv.Stdio(ctx, in, p.stdout)
	}
	return p.serveHTTP(ctx, r, srv, o)
}

// server makes the server of MCP.
func (p *program) server(r *app.Rooms) (*mcp.Server, error) {
	c := p.cfg
	dir, _ := os.Getwd()
	return mcp.New(r, mcp.Options{
		Machine: c.MachineID, Version: buildVersion(), Dir: dir, Start: agent.InjectStart, End: agent.InjectEnd,
		Reach: recall.ScopeOptions{Global: c.Recall.Global, AllBranches: c.Recall.AllBranches},
		Grace: c.Wait(serveGrace), Wait: c.Wait(rootsTime), Dialog: connect.ShowsDialog(parentProcess()),
	})
}

// How long the server waits for others.
const (
	serveGrace = 2 * time.Second // for its own calls, when the client is gone
	rootsTime  = time.Second     // for a client to name its folders
)

// serveHTTP listens until it is interrupted.
func (p *program) serveHTTP(ctx context.Context, r *app.Rooms, srv *mcp.Server, o serveOptions) error {
	token, from, err := app.ServerToken(r.Store, o.tokenFile)
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
