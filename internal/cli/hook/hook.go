// Package hook is the short way of hooks: a command that an agent runs at one
// of its events, found and run before any command tree is built.
//
// A hook walks no folder, asks no model and no network, and takes no lock that it
// waits for. What is slow it leaves to a background run.
//
// Failure policy: a hook always exits 0 and prints nothing but its answer. A
// failure, a panic or a deadline is a record in the event log.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/store"

	"github.com/spf13/pflag"
)

// A Process is what an agent starts.
type Process struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Environ func(flags []string) config.Environment
	Disk    store.Disk // nil means the operating system's

	Event *agent.Event // what Run found on standard input of a command that is no hook

	host app.Host
	json bool
}

// A hook is a command that a harness runs at an event.
type hook struct {
	deadline time.Duration // after it the hook gives up and exits 0
	flags    func(*pflag.FlagSet)
	run      func(context.Context, agent.Harness, agent.Event) error
}

// find returns the hook of a command. Standard input with an event on it, or the
// mark that init puts before every command, makes a command a hook; by hand it
// works in the foreground and says what it did.
func (p *Process) find(name string) *hook {
	switch name {
	case "inject":
		o := app.StartOptions{}
		return &hook{5 * time.Second, func(fs *pflag.FlagSet) { StartFlags(fs, &o) }, func(ctx context.Context, h agent.Harness, e agent.Event) error {
			return p.sessionStart(ctx, h, e, o)
		}}
	case "capture":
		o := app.CaptureOptions{}
		return &hook{time.Second, func(fs *pflag.FlagSet) { CaptureFlags(fs, &o) }, func(_ context.Context, h agent.Harness, e agent.Event) error {
			return app.EnqueueCapture(p.host, h, e, o)
		}}
	case "sync":
		return &hook{time.Second, func(*pflag.FlagSet) {}, func(context.Context, agent.Harness, agent.Event) error {
			return app.Detach(p.host, "drain", "--sync")
		}}
	}
	return nil
}

// StartFlags adds the flags of a session start.
func StartFlags(fs *pflag.FlagSet, o *app.StartOptions) {
	fs.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of the session's or the current folder)")
	fs.IntVar(&o.K, "k", -1, "project notes at most (default: the setting inject.k)")
}

// CaptureFlags adds the flags of a capture.
func CaptureFlags(fs *pflag.FlagSet, o *app.CaptureOptions) {
	fs.StringVar(&o.Transcript, "transcript", "", "session `FILE` (default: the one the event names)")
	fs.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of the session's folder)")
	fs.StringVar(&o.Source, "source", app.SessionEnd, "`TAG` that says what triggered the capture")
	fs.BoolVar(&o.NoSync, "no-sync", false, "commit here, do not sync")
}

// Run runs name as a hook if that is what it was called as. done is false for
// everything else: the command tree takes over.
func (p *Process) Run(name string, args []string) (done bool) {
	found := p.find(name)
	if found == nil {
		return false
	}
	env := p.Environ(nil)
	mark, _ := env.Lookup(config.HookMark)
	marked := mark == "1"
	if name == "sync" && !marked {
		return false
	}
	if marked && config.Disabled(env) {
		return true // before anything is read
	}
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.StringArrayVar(&p.host.Flags, "set", nil, "")
	fs.BoolVar(&p.json, "json", false, "")
	found.flags(fs)
	err := fs.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return false
	}
	h := agent.Harness(agent.Claude{})
	event, rerr := agent.ReadEvent(h, p.Stdin, 0, 0)
	if event.Name == "" && !marked {
		p.Event = &event // what there is on standard input is read by now
		return false     // mistakes are for the command tree, too
	}
	c := config.Load(p.Environ(p.host.Flags))
	if c.Disabled {
		return true
	}
	p.host.Config, p.host.Disk = c, p.Disk
	if errors.Is(rerr, agent.ErrNoEvent) {
		rerr = nil // a marked hook of an agent that sends nothing
	}
	// What is wrong with the flags or the settings goes into the log; the hook
	// does its work with the others.
	rerr = errors.Join(rerr, err)
	for _, w := range slices.Concat(c.Warnings, c.Mistaken) {
		rerr = errors.Join(rerr, errors.New(w))
	}
	p.guard(name, found, h, event, rerr)
	return true
}

// guard runs a hook so that it cannot harm its agent: a deadline, no panic, no
// message, a record of any failure.
func (p *Process) guard(name string, found *hook, h agent.Harness, e agent.Event, rerr error) {
	fail := func(err error) {
		if s, serr := app.OpenStore(p.host); serr == nil {
			_ = s.Events().Log(store.Record{Kind: store.HookFailure, Session: e.SessionID, Text: name + " " + e.Name, Error: err.Error()})
		}
	}
	most := p.host.Config.Wait(found.deadline)
	timer := time.AfterFunc(most, func() {
		fail(fmt.Errorf("gave up after %v", most))
		os.Exit(0) // whatever hangs, the agent does not wait for it
	})
	defer timer.Stop()
	defer func() {
		if r := recover(); r != nil {
			fail(fmt.Errorf("panic: %v", r))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if err := errors.Join(rerr, found.run(ctx, h, e)); err != nil {
		fail(err)
	}
}

// sessionStart answers a session start. It does not walk the tree: the notes it
// prints are read from their files, and the rest is left to a background run.
func (p *Process) sessionStart(ctx context.Context, h agent.Harness, e agent.Event, o app.StartOptions) error {
	began := time.Now()
	r, err := app.Open(ctx, p.host, app.StartWait)
	if err != nil {
		return err
	}
	// The index is not closed: the last connection that closes writes what others
	// left in the journal into the database and waits for the disk. The process
	// is about to end anyway.
	fresh, err := app.Fresh(ctx, r)
	if err != nil {
		return err
	}
	o.Limit = h.ContextLimit()
	b, place, err := app.SessionStart(ctx, r, e, o)
	if err != nil {
		return err
	}
	if b.Text != "" {
		if _, err := p.Stdout.Write(h.Reply(e, b.Text)); err != nil {
			return err
		}
	}
	if !r.Store.ReadOnly() && (!fresh || app.Overdue(r)) {
		_ = app.Detach(p.host, "drain")
	}
	if len(b.Shown) == 0 {
		return nil
	}
	return r.Injector.Log(place, b, time.Since(began))
}
