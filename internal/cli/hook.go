package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/config"
	"anamnesis/internal/store"

	"github.com/spf13/pflag"
)

// A hookCommand is a command that a harness runs at an event. Hooks are found
// and run before the command tree is built: they are what must be fast.
type hookCommand struct {
	deadline time.Duration // after it the hook gives up and exits 0
	flags    func(*pflag.FlagSet)
	run      func(context.Context, agent.Harness, agent.Event) error
}

// hookCommands lists them. Standard input with an event on it, or the mark that
// init puts before every command, makes a command a hook; by hand it works in
// the foreground and says what it did.
func (p *program) hookCommand(name string) *hookCommand {
	switch name {
	case "inject":
		var o injectOptions
		return &hookCommand{5 * time.Second, o.addFlags, func(ctx context.Context, h agent.Harness, e agent.Event) error {
			return p.injectHook(ctx, h, e, o)
		}}
	case "capture":
		var o captureOptions
		return &hookCommand{time.Second, o.addFlags, func(_ context.Context, h agent.Harness, e agent.Event) error {
			if o.transcript != "" {
				e.TranscriptPath = o.transcript
			}
			return p.captureHook(h, e, o)
		}}
	case "sync":
		return &hookCommand{time.Second, func(*pflag.FlagSet) {}, func(context.Context, agent.Harness, agent.Event) error {
			return p.detach("drain", "--sync")
		}}
	}
	return nil
}

// hook runs name as a hook if that is what it was called as. done is false for
// everything else: the command tree takes over.
func (p *program) hook(name string, args []string) (done bool) {
	hc := p.hookCommand(name)
	if hc == nil || terminal(p.stdin) {
		return false
	}
	env := p.environ(nil)
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
	fs.StringArrayVar(&p.sets, "set", nil, "")
	fs.BoolVar(&p.json, "json", false, "")
	hc.flags(fs)
	err := fs.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		p.sets, p.json = nil, false
		return false
	}
	h := agent.Harness(agent.Claude{})
	event, rerr := agent.ReadEvent(h, p.stdin, 0, 0)
	if event.Name == "" && !marked {
		p.event = &event // what there is on standard input is read by now
		p.sets, p.json = nil, false
		return false // mistakes are for the command tree, too
	}
	p.cfg = config.Load(p.environ(p.sets))
	if p.cfg.Disabled {
		return true
	}
	if errors.Is(rerr, agent.ErrNoEvent) {
		rerr = nil // a marked hook of an agent that sends nothing
	}
	// What is wrong with the flags or the settings goes into the log; the hook
	// does its work with the others.
	rerr = errors.Join(rerr, err)
	for _, w := range slices.Concat(p.cfg.Warnings, p.cfg.Mistaken) {
		rerr = errors.Join(rerr, errors.New(w))
	}
	p.guard(name, hc, h, event, rerr)
	return true
}

// guard runs a hook so that it cannot harm its agent: a deadline, no panic, no
// message, a record of any failure.
func (p *program) guard(name string, hc *hookCommand, h agent.Harness, e agent.Event, rerr error) {
	fail := func(err error) {
		if s, serr := p.openStore(); serr == nil {
			_ = s.Log(store.Record{Kind: store.HookFailure, Session: e.SessionID, Text: name + " " + e.Name, Error: err.Error()})
		}
	}
	most := p.cfg.Wait(hc.deadline)
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
	if err := errors.Join(rerr, hc.run(ctx, h, e)); err != nil {
		fail(err)
	}
}
