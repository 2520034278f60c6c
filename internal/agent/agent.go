// Package agent knows coding agents: the sessions they write, the hook events
// they send, the answers they read and the settings they keep.
//
// A Harness is one coding agent. Each lives in a file of its own and is named
// in All; nothing registers itself. The package turns foreign bytes into plain
// values and back: it opens no file, starts no process and reads no
// environment variable, so every function here can be tested with a string.
//
// What comes from a harness is untrusted. Readers are tolerant: a damaged
// record is skipped and counted, never fatal, and memory is bounded whatever
// the input. Ids and paths are checked before anyone sees them, invalid UTF-8
// is decoded lossily, and the blocks that we injected ourselves are cut out of
// every text (see StripInjected), so that memory never echoes itself.
//
// Writers are strict: a settings file that cannot be read without doubt is
// refused with the place and the reason, and nothing but our own entries moves.
package agent

import (
	"bytes"
	"io"
	"time"
)

// A Harness is one coding agent: how its sessions are read, how its events
// arrive, how answers go back, where its settings stand. Implementations are
// stateless values, safe for concurrent use, and pass agenttest.Run.
type Harness interface {
	// Name is the short name used in commands, notes and folders: "claude".
	Name() string

	// ReadSession reads a whole transcript, or a stretch of one that begins at
	// a line. It streams: memory is bounded by limits, not by the input. The
	// session is never nil; an error is a failed read, and the session then
	// holds what came before it. Bad records are counted in Session.Skipped.
	ReadSession(r io.Reader, limits Limits) (*Session, error)

	// Glance finds the few facts that a hook needs in the first headBytes and
	// the last tailBytes of a transcript, and stops when deadline has passed.
	// Zero values mean 256 KB, 2 MB and no deadline. The glimpse is never nil.
	Glance(r io.ReaderAt, size, headBytes, tailBytes int64, deadline time.Time) (*Glimpse, error)

	// Event reads one hook payload. The event is what could be read before the
	// error, if any; ReadEvent decides what a caller gets to see of it.
	Event(payload []byte) (Event, error)

	// Reply says text to the agent in answer to e, in the dialect of that event.
	// It returns nil, so zero bytes, when text is blank or when the event has no
	// way to carry a text.
	Reply(e Event, text string) []byte

	// ContextLimit is how much text a hook may answer with, in UTF-16 code units.
	// An agent that gets more shows its model a stub, so a caller stays below.
	ContextLimit() int

	// Sessions is the glob pattern of all transcripts below the harness's home
	// folder, and SettingsPath the file that Install and Uninstall edit.
	Sessions(home string) string
	SettingsPath(home string) string

	// Hooks lists the hooks of a plain installation, in order. Base is the
	// quoted command line without its subcommand, as CommandPrefix makes it.
	Hooks(base string) []Hook

	// Install returns the settings with exactly these hooks of ours in them.
	// Own tells our commands from those of others. Installing twice is
	// installing once; whatever is not ours stays byte for byte as it was.
	// A blank file becomes a fresh one. An error leaves nothing half-done.
	Install(old []byte, hooks []Hook, own func(command string) bool) ([]byte, error)

	// Uninstall removes exactly our entries and what became empty because of it.
	// Uninstall after Install restores the bytes of a file that held none of ours.
	Uninstall(old []byte, own func(command string) bool) ([]byte, error)
}

// All lists the harnesses, in the order in which help and init show them.
var All = []Harness{
	Claude{},
}

// Find returns the harness with the given name, or nil.
func Find(name string) Harness {
	for _, h := range All {
		if h.Name() == name {
			return h
		}
	}
	return nil
}

// A Hook is one command that a harness runs at an event.
type Hook struct {
	Event   string
	Matcher string // which variants of the event; empty means all
	Command string
	Timeout int  // seconds; 0 leaves it to the harness
	Async   bool // the harness does not wait for it
}

// An Edit is a proposed change of a settings file. Old is nil when the file does not exist.
type Edit struct {
	Path     string
	Old, New []byte
}

// Changed reports whether applying e would change anything.
func (e Edit) Changed() bool { return !bytes.Equal(e.Old, e.New) }
