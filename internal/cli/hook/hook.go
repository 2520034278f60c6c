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
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/store"

	"github.com/spf13/pflag"
)

// A Process is what an agent starts.
type Process struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Environ func(flags []string) config.Environment
	Disk    store.Disk                                                    // nil means the operating system's
	Now     func() time.Time                                              // nil means the operating system's clock
	Backend func(ctx context.Context, root string) (index.Backend, error) // see app.Host

	Event *agent.Event // what Run found on standard input of a command that is no hook

	host app.Host
	json bool
}

// maxPayload is how much of an event is read: a tool may write a large file, and a rule
// that denies one must not be passed by making it larger.
const maxPayload = 16 << 20

// A command is what an agent runs at an event: a row, or one half of it.
type command struct {
	row   *row
	flags func(*pflag.FlagSet, *call)
	named bool // by the agent and its event, as arguments
}

// commandOf returns the command of a name, nil when it is none that an agent runs.
// Standard input with an event on it, or the mark that init puts before every
// command, makes a command a hook; by hand it works in the foreground and says
// what it did. "hook" is one always.
func commandOf(name string) *command {
	none := func(*pflag.FlagSet, *call) {}
	switch name {
	case "hook":
		return &command{flags: none, named: true}
	case "inject":
		return &command{row: said(agent.SessionStart), flags: func(fs *pflag.FlagSet, c *call) { StartFlags(fs, &c.start) }}
	case "capture":
		return &command{row: noted(agent.SessionEnd), flags: func(fs *pflag.FlagSet, c *call) { CaptureFlags(fs, &c.capture) }}
	case "sync":
		row := noted(agent.SessionStart)
		row.note = (*Process).besideStart
		return &command{row: row, flags: none}
	}
	return nil
}

// StartFlags adds the flags of a session start.
func StartFlags(fs *pflag.FlagSet, o *hooks.StartOptions) {
	fs.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of the session's or the current folder)")
	fs.Int("k", 0, "means nothing any more: the page has all notes") // hooks of the program before this one give it
	_ = fs.MarkHidden("k")
}

// CaptureFlags adds the flags of a capture.
func CaptureFlags(fs *pflag.FlagSet, o *hooks.CaptureOptions) {
	fs.StringVar(&o.Transcript, "transcript", "", "session `FILE` (default: the one the event names)")
	fs.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of the session's folder)")
	fs.StringVar(&o.Source, "source", hooks.SessionEnd, "`TAG` that says what triggered the capture")
	fs.BoolVar(&o.NoSync, "no-sync", false, "commit here, do not sync")
}

// Run runs name as a hook if that is what it was called as. done is false for
// everything else: the command tree takes over.
func (p *Process) Run(name string, args []string) (done bool) {
	cmd := commandOf(name)
	if cmd == nil {
		return false
	}
	env := p.Environ(nil)
	mark, _ := env.Lookup(config.HookMark)
	marked := mark == "1"
	if name == "sync" && !marked {
		return false
	}
	c := call{harness: agent.Default()}
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.StringArrayVar(&p.host.Flags, "set", nil, "")
	fs.BoolVar(&p.json, "json", false, "")
	cmd.flags(fs, &c)
	err := fs.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return false
	}
	known := true
	if cmd.named {
		name = strings.TrimSpace(name + " " + strings.Join(fs.Args(), " "))
		if h := agent.ByName(fs.Arg(0)); h != nil && h.Hooks != nil {
			c.harness = h
		} else {
			known = false
		}
	}
	lazy := debug.SetGCPercent(briefly) // the event may be megabytes long
	defer func() {
		if !done {
			debug.SetGCPercent(lazy)
		}
	}()
	var rerr error
	c.event, rerr = agent.ReadEvent(c.harness, p.Stdin, maxPayload, 0)
	c.event.Program = env.ByProgram()
	if h := agent.ByName(c.event.Harness); h != nil && !cmd.named { // another agent runs our plugin
		c.harness = h
	}
	switch {
	case cmd.named && fs.NArg() == 0 && errors.Is(rerr, agent.ErrNoEvent):
		return false // by hand: the command tree explains it
	case !cmd.named && c.event.Name == "" && !marked:
		p.Event = &c.event // what there is on standard input is read by now
		return false       // mistakes are for the command tree, too
	}
	if errors.Is(rerr, agent.ErrNoEvent) {
		rerr = nil // a marked hook of an agent that sends nothing
	}
	r := cmd.row
	if cmd.named {
		if r, err = rowOf(&c, fs.Args(), known); r == nil && err == nil {
			return true // nothing is to be done at this event
		}
	}
	p.start(name, r, c, errors.Join(rerr, err))
	return true
}

// rowOf returns the row that the arguments of the command hook name, nil for an
// event at which we do nothing. The harness is the one that sent the event.
func rowOf(c *call, args []string, known bool) (*row, error) {
	if len(args) != 2 {
		return nil, errors.New("an agent and an event belong behind the command, and nothing else")
	}
	if !known {
		return nil, fmt.Errorf("no agent of the name %q has hooks", args[0])
	}
	event := args[1]
	if h := agent.ByName(c.event.Harness); h != nil && h != c.harness { // its plugin runs the hooks of another
		c.harness, event = h, cmp.Or(c.event.Name, event)
	}
	kind, ok := c.harness.Hooks.Kind(event)
	if !ok {
		return nil, fmt.Errorf("%s has no event %q", c.harness.Title, event)
	}
	c.event.Name = cmp.Or(c.event.Name, event) // not every agent writes it into the payload
	r, ok := find(kind)
	if !ok {
		return nil, nil
	}
	c.capture = r.capture
	return &r, nil
}

// start works out the settings and runs a row. What is wrong with the flags or
// the settings goes into the log; the hook does its work with the others. Without
// a row it is for the log alone.
func (p *Process) start(name string, r *row, c call, err error) {
	settings := config.Load(p.Environ(p.host.Flags))
	if settings.Disabled {
		if r != nil && (r.event == agent.SessionStart || r.event == agent.SessionEnd) {
			_ = hooks.SwitchedOff(app.Host{Config: settings, Disk: p.Disk, Now: p.Now, Brief: true}, c.event)
		}
		return
	}
	p.host.Config, p.host.Disk, p.host.Now, p.host.Brief, p.host.Backend = settings, p.Disk, p.Now, true, p.Backend
	if r == nil {
		p.fail(name, c.event, err)
		return
	}
	for _, w := range slices.Concat(settings.Warnings, settings.Mistaken) {
		err = errors.Join(err, errors.New(w))
	}
	if c.event.TranscriptPath == "" {
		c.event.TranscriptPath = transcriptOf(settings.AgentHomes()[c.harness.Name], c.harness, c.event)
	}
	p.guard(name+" "+c.event.Name, r, c, err)
}

// transcriptOf finds the transcript of a session that an event does not name; "" when the
// agent has none for it.
func transcriptOf(home string, h *agent.Harness, e agent.Event) string {
	if h.Transcript == nil || e.SessionID == "" || !filepath.IsAbs(home) {
		return ""
	}
	pattern := h.Transcript(home, e.SessionID)
	files, _ := filepath.Glob(pattern)
	if len(files) == 0 && h.OtherName != nil {
		files, _ = filepath.Glob(h.OtherName(pattern))
	}
	switch {
	case len(files) > 0:
		return files[len(files)-1]
	case !strings.ContainsAny(pattern, `*?[`): // it is not there yet
		return pattern
	}
	return ""
}

// briefly is how much a hook may allocate, in percent of the 4 MB that the runtime
// begins with: most hooks end before anything is collected.
const briefly = 800

// opened returns the host with the store opened, which asks the disk whether it can be
// written: once is enough for all that one hook does. The process keeps its own host, which
// the timer of guard reads.
func (p *Process) opened() (h app.Host, err error) {
	h = p.host
	h.Store, err = app.OpenStore(h)
	return h, err
}

// fail leaves a record of a failure: nobody reads what a hook says.
func (p *Process) fail(what string, e agent.Event, err error) {
	if s, serr := app.OpenStore(p.host); serr == nil {
		_ = s.Events().Log(store.Record{Kind: store.HookFailure, Session: e.SessionID, Text: what, Error: err.Error()})
	}
}

// guard runs a row so that it cannot harm its agent: a deadline, no panic, no
// message, a record of any failure.
func (p *Process) guard(what string, r *row, c call, rerr error) {
	most := p.host.Config.Wait(r.wait)
	timer := time.AfterFunc(most, func() {
		p.failed(what, c, fmt.Errorf("gave up after %v", most))
		if r.say != nil { // if a missing file of the index made it slow, the next prompt finds it rebuilt
			_ = app.Detach(p.host, "drain")
		}
		os.Exit(0) // whatever hangs, the agent does not wait for it
	})
	defer timer.Stop()
	defer func() {
		if r := recover(); r != nil {
			p.failed(what, c, fmt.Errorf("panic: %v", r))
		}
	}()
	ctx := context.Background() // the timer ends the process; a context that ends costs each question to SQLite a goroutine
	if err := errors.Join(rerr, r.run(ctx, p, c)); err != nil {
		p.failed(what, c, err)
	}
}

// failed is fail for a row that did not finish: the sessions that it had to leave to a
// background run are found by a later one.
func (p *Process) failed(what string, c call, err error) {
	p.fail(what, c.event, err)
	if c.capture.Source != "" {
		_ = hooks.MissedCapture(p.host, c.harness, c.event)
	}
}
