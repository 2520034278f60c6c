// Package inject decides what an agent is shown at the start of a session, at a prompt,
// before a tool runs and when a sub-agent starts, and renders it.
//
// What an earlier session handed over comes first, then the slots, the skills, the working
// set, and last the few notes that the branch, the files in work and the open items name.
//
// A block is data in a frame: fixed marks around it (so that a capture can cut
// it out again), a preamble that says what it is, and bodies that cannot forge
// the frame or another note. It stays under a budget; what does not fit is
// excerpted with the command that shows the rest.
//
// Failure policy: a note that cannot be read is left out and named in the
// Block; there is an error only when nothing can be said at all. Nothing to
// say is an empty text: zero bytes.
package inject

import (
	"context"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// Options are the settings of the working set and its rendering.
type Options struct {
	Page       bool // a session's start shows the page of its project; else the block of notes
	PageTokens int  // of the page
	Announce   bool // the user is shown a line about it

	K        int // project notes at most
	MaxChars int // of the whole block, in UTF-16 units, or as Place.Size counts; 0 means no budget
	MaxNote  int // of one note's body, likewise

	ToldTypes []string // learning types that the working set has; none means all

	Fresh bool // look whether the code that notes name is still there

	RuleChars int // of the list of rules that sessions taught, likewise; 0 lists none

	Slots     bool // tell the slots
	SlotChars int  // of all slots together; what does not fit whole is only counted

	StartK        int     // notes that are looked up for a session's start, at most
	SkillTier     string  // how skills are shown then: SkillsFirst, SkillsExclusive; else not
	SkillMinScore float64 // of a skill that is shown (recall.SkillHit.Score)
	SkillSettles  bool    // a fresh skill that is about all of it makes looking up notes needless (R11)

	Prompts      bool // tell something at prompts
	PromptK      int  // notes at one prompt at most
	PromptTokens int  // of all that is shown at one prompt

	Tools      bool // tell rules before tools run
	ToolTokens int  // of all that is shown before one call of a tool

	Subagents      bool // tell sub-agents what their task is about
	SubagentK      int  // notes for one sub-agent at most
	SubagentTokens int  // of all that one is shown
}

// A Place is where a session works.
type Place struct {
	Project  string   // the key that is shown and logged
	Projects []string // every key of the project
	Root     string   // its folder, absolute; "" when nobody knows
	Clone    string   // the top folder of its git working tree, absolute; "" when it is none
	Branch   string   // that is checked out, "" for the trunk
	Branches []string // whose notes are shown besides the trunk's (recall.Scope.Branches); nil means all
	Session  string
	Machine  string          // that the session is on
	Agent    string          // the sub-agent of the session that is shown; "" for the session itself
	Pending  []*note.Note    // sessions of this project that ended and are not written yet, newest first
	Work     func() []string // finds the files that are in work, the newest last; asked once at most; nil knows none
	// Solved returns the exchange of an earlier session that solved an error, and a line about it; ""
	// for none. Nil knows none.
	Solved func(fault string) (id, line string, err error)

	Notice  string          // one line that the user should hear of, empty for none
	Resumed bool            // the session goes on: what it wrote itself is not shown
	Since   time.Time       // of a session that was shown something: only what is newer is shown; zero shows all
	Loaded  func() []Loaded // finds the files of instructions that its agent loads; nil knows none

	Limit int            // what the agent takes at most; 0 means no limit
	Size  func(rune) int // what a character counts towards it; nil counts UTF-16 code units

	Start, End string // the marks around the block, by which a capture cuts it out again
}

// A Loaded is a file of instructions that an agent loads without us.
type Loaded struct {
	Name string // for people
	Text string
}

// A Block is what an agent is shown.
type Block struct {
	Text    string // ends in a line feed, or is empty
	Shown   []note.ID
	Cut     []note.ID // shown in part
	Left    []note.ID // only counted: no room
	Missing []string  // could not be read, and why

	Withheld []note.ID // not shown, because nothing is left of the code that they name

	Told  []store.Telling // Shown, as the session was shown it
	Named []store.Telling // Shown in a line that does not say all of the note

	Again []note.ID // of those Shown at a prompt: a line that is repeated after many prompts

	Laid  int       // lines of what the user laid down
	Known int       // other lines
	Last  time.Time // of the last session; zero when there is none

	Lines   []Line  // of a page, in its order
	Topics  []Topic // of a page
	Dropped []Line  // not on the page, and why

	listed []*note.Note     // in the list of rules
	moved  map[note.ID]bool // they name code that is not as it was

	LookedUp int    // how often notes were looked up for a session's start: 0 or 1
	Settled  string // why not, where a skill made that needless (R11)
}

// An Injector makes blocks.
type Injector struct {
	engine *recall.Engine
	store  *store.Store
	opts   Options
}

// New returns an Injector.
func New(e *recall.Engine, s *store.Store, o Options) *Injector {
	return &Injector{engine: e, store: s, opts: o}
}

// Block returns what a session at p is shown at its start. q says which notes may be
// looked up for it.
func (in *Injector) Block(ctx context.Context, p Place, q recall.Query) (Block, error) {
	pending := p.Pending[:min(len(p.Pending), max(0, in.opts.K))]
	rows, err := in.startRows(ctx, p, pending)
	if err != nil {
		return Block{}, err
	}
	var b Block
	var notes []*note.Note
	for i, c := range in.engine.Contents(ctx, rows) {
		r := &rows[i]
		if r.Kind != note.Handoff && r.Type == note.Episodic && r.Project != note.Global && pending != nil { // the newest sessions come first
			notes = append(notes, pending...)
			pending = nil
		}
		if c.Err != nil {
			b.Missing = append(b.Missing, c.Err.Error())
			continue
		}
		if c.Note.ID == r.ID && in.tells(c.Note) {
			notes = append(notes, c.Note)
		}
	}
	notes = append(notes, pending...)
	t, err := in.tier(ctx, p, q, notes, openItems(notes))
	if err != nil { // what every session is shown is not lost with it
		b.Missing = append(b.Missing, "look up notes for the session's start: "+err.Error())
	}
	b.LookedUp, b.Settled = t.runs, t.why
	first := len(notes)
	if i := slices.IndexFunc(notes, func(n *note.Note) bool { return n.Kind != note.Handoff && n.Kind != note.Slot }); i >= 0 {
		first = i
	}
	notes = in.sift(ctx, p, append(slices.Insert(notes, first, t.skills...), t.hits...), &b)
	switch list, err := in.rules(ctx, p, notes, &b); {
	case err != nil:
		b.Missing = append(b.Missing, "list the rules of the project: "+err.Error())
	case list != nil:
		notes = slices.Insert(notes, first, list)
	}
	notes = in.fitSlots(notes, measure(p.Size), &b)
	in.render(notes, p, &b)
	return b, nil
}

// tells reports whether a note's type is one that sessions are shown at their start.
func (in *Injector) tells(n *note.Note) bool {
	return n.LearningType == "" || len(in.opts.ToldTypes) == 0 || slices.Contains(in.opts.ToldTypes, n.LearningType)
}

// startRows returns what a session start is about: what waits for it, and the working
// set.
func (in *Injector) startRows(ctx context.Context, p Place, pending []*note.Note) ([]index.Row, error) {
	rows, err := in.engine.WorkingSet(ctx, p.Projects, p.Branches, in.opts.K, pending)
	if err != nil {
		return nil, err
	}
	waiting, slots, err := in.engine.First(ctx, p.Projects)
	if !in.opts.Slots {
		slots = nil
	}
	return slices.Concat(waiting, slots, rows), err
}

// Log records that b was shown, for the counters and for those who ask why.
func (in *Injector) Log(p Place, b Block, took time.Duration) error {
	return in.store.Events().Log(store.Record{
		Kind: store.Injected, Session: p.Session, Project: p.Project,
		Notes: b.Shown, Count: len(b.Shown), Out: recall.Tokens(b.Text), MS: float64(took.Microseconds()) / 1000, Text: b.Settled,
	})
}
