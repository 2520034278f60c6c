// Package app holds the use cases that the faces share: what commands, tools of
// MCP, hooks and pages do, without how they look. A use case is a function that
// takes the opened rooms and its options, and returns a value; it prints nothing,
// and a face renders the value as text, JSON or a page.
//
// The package wires the rooms (Open), and has the use cases of notes, sessions, sync and teams. The
// others stand in the packages below it, one for each occasion: hooks, setup, workspace, history,
// curate, diagnose, and background, the run that nobody waits for.
//
// Failure policy: a use case returns an error and leaves nothing half-written. A
// failure that a face must tell apart is an *Error with its Kind. What went wrong
// beside the answer is shown through Host.Notify, one line each.
package app

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// A Progress gets how far a long work came.
type Progress interface {
	Step(done, total int)
	Done()
}

// A Host is what a face lends to the use cases. Only Config is needed.
type Host struct {
	Config   *config.Config
	Environ  func(flags []string) config.Environment // that Config was made of
	Disk     store.Disk                              // nil means the operating system's
	Now      func() time.Time                        // nil means the operating system's clock
	Store    *store.Store                            // if it was opened before; nil means that a use case opens it
	Flags    []string                                // KEY=VALUE of --set, which background runs get too
	By       ingest.Author                           // the caller; zero may only read
	Face     string                                  // the interface, as the journal of decisions names it
	Notify   func(line string)                       // tells people something beside the answer; nil tells nobody
	Progress func(what string) Progress              // shows a long work; the last word of what is what is counted; nil shows nothing
	Version  string                                  // of this program; "" for a development build
	Brief    bool                                    // a few questions will be asked of the index, and the process ends
	Peek     bool                                    // the index is looked at as it stands, or not at all
	// Backend opens the index of a store; nil means SQLite, in a file of it.
	Backend func(ctx context.Context, root string) (index.Backend, error)

	modelsOf string // the store whose models a throw-away store uses; "" for its own
}

// Rooms are the opened rooms of one store, wired. They are safe for concurrent
// use as far as each room is. Close releases them.
type Rooms struct {
	Config   *config.Config
	Store    *store.Store
	Index    *index.Index // of the notes of this machine
	All      *index.Index // with those that others share; Index without a team
	Redactor *redact.Redactor
	Ingester *ingest.Ingester
	Engine   *recall.Engine
	Injector *inject.Injector
	Recorder *capture.Recorder
	Kept     *session.Kept // what happened in sessions, word for word

	Stale  int    // files the index does not know yet; -1 when nobody counted
	Rules  error  // why the user's redaction rules cannot be used
	Notice string // what opening the index did
	Host   Host
	door   *tombstone.Door

	degraded func() string // of the index
	Drains   bool          // this is a background run
}

// IndexTrouble says, in one line, why a temporary index answers and what to do; ""
// when the usual one does.
func (r *Rooms) IndexTrouble() string {
	if r.degraded == nil {
		return ""
	}
	return r.degraded()
}

// Close releases the index. Rooms without one are closed already.
func (r *Rooms) Close() {
	if programsWait(r) || !r.Drains && r.Store != nil && !r.Store.ReadOnly() && forgottenWaits(r) {
		_ = r.Detach("drain")
	}
	if teamWaits(r) {
		_ = r.Detach("drain", "--team")
	}
	if r.Kept != nil {
		r.Kept.Close()
	}
	if r.Index != nil {
		_ = r.Index.Close()
	}
}

// MayRedact returns why nothing that has to be redacted may be written now: the
// user's own rules cannot be read, and without them it would not be redacted as
// they want it.
func (r *Rooms) MayRedact() error { return r.Rules }

// Notify tells people a line beside the answer.
func (r *Rooms) Notify(format string, args ...any) { r.Host.Notifyf(format, args...) }

// Notifyf tells people a line beside the answer.
func (h *Host) Notifyf(format string, args ...any) {
	if h.Notify != nil {
		h.Notify(fmt.Sprintf(format, args...))
	}
}

// Progress shows a long work.
func (r *Rooms) Progress(what string) Progress { return r.Host.progress(what) }

func (h *Host) progress(what string) Progress {
	if h.Progress == nil {
		return noProgress{}
	}
	return h.Progress(what)
}

type noProgress struct{}

func (noProgress) Step(int, int) {}
func (noProgress) Done()         {}

// Notifying returns the same rooms, with the functions that get the notices and the progress of
// one request; nil drops them. Closing them closes the rooms.
func (r *Rooms) Notifying(notify func(line string), progress func(what string) Progress) *Rooms {
	c := *r
	c.Host.Notify, c.Host.Progress = notify, progress
	return &c
}

// At is the host of a throw-away store in another folder, with the settings and the
// models of this one.
func (h *Host) At(root string) Host {
	box, c := *h, *h.Config
	box.modelsOf = cmp.Or(h.modelsOf, c.Home)
	c.Home, c.UserHome, box.Config = root, root, &c
	return box
}
