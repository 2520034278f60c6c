// Package inject decides what an agent is shown at the start of a session, at a prompt,
// before a tool runs and when a sub-agent starts, and renders it.
//
// A session's start shows the page of its project: a line for each note, what the user laid down
// first, then what is known, the skills, and what the last session left. Notes without room stand
// there by topic.
//
// What is injected is data in a frame: fixed marks around it (so that a capture can cut
// it out again), and texts that cannot forge the frame or another note. It stays under a budget.
//
// Failure policy: a note that cannot be read is left out and named in the
// Block; there is an error only when nothing can be said at all. Nothing to
// say is an empty text: zero bytes.
package inject

import (
	"context"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/risk"
	"anamnesis/internal/store"
)

// Options are the settings of what is injected.
type Options struct {
	PageTokens int      // of the page of a project, at most
	Announce   bool     // the user is shown a line about it
	ShownTypes []string // learning types that the page has; none means all

	Fresh bool // look whether the code that notes name is still there

	Slots     bool   // tell the slots
	SkillTier string // how skills are shown at a session's start: SkillsFirst, SkillsExclusive; else not

	Prompts      bool // tell something at prompts
	PromptTokens int  // of all that is shown at one prompt

	Tools     bool // tell rules before tools run
	Subagents bool // tell sub-agents what their task is about
}

// How much is shown beside the page, at most. The page has a line of every note, so these
// are few; a token is recall.CharsPerToken characters. The reasons stand in docs/decisions/prompts.md.
const (
	startNotes     = 3    // notes that are looked up for a session's start
	promptNotes    = 2    // notes at one prompt
	toolTokens     = 200  // tokens before one call of a tool
	subagentNotes  = 5    // notes for one sub-agent
	subagentTokens = 200  // tokens for one sub-agent
	slotChars      = 4000 // characters of all slots together; what does not fit whole is only counted
)

// A Place is where a session works.
type Place struct {
	Project  string   // the key that is shown and logged
	Projects []string // every key of the project
	Root     string   // its folder, absolute; "" when nobody knows
	Clone    string   // the top folder of its git working tree, absolute; "" when it is none
	Branch   string   // that is checked out, "" for the trunk
	Branches []string // whose notes are shown besides the trunk's (recall.Scope.Branches); nil means all
	Session  string
	Machine  string // that the session is on

	HasBranch func(branch string) bool // whether the clone has a branch, local or remote; nil: no checks

	Agent   string          // the sub-agent of the session that is shown; "" for the session itself
	Pending []*note.Note    // sessions of this project that ended and are not written yet, newest first
	Work    func() []string // finds the files that are in work, the newest last; asked once at most; nil knows none
	// Solved returns the exchange of an earlier session that solved an error, and a line about it; ""
	// for none. Nil knows none.
	Solved func(fault string) (id, line string, err error)

	Notice  string          // one line that the user should hear of, empty for none
	Resumed bool            // the session goes on: what it wrote itself is not shown
	Since   time.Time       // of a session that was shown something: only what is newer is shown; zero shows all
	Loaded  func() []Loaded // finds the files of instructions that its agent loads; nil knows none

	Limit int            // what the agent takes at most; 0 means no limit
	Size  func(rune) int // what a character counts towards it; nil counts UTF-16 code units

	Instructed bool // the agent's model reads in our MCP server's instructions what is worth a note

	Bare bool // the page stands in another text: it has no title, and does not say how to use it

	Start, End string // the marks around the block, by which a capture cuts it out again
}

// branchOf says of a note that another machine wrote on a branch which this clone does not have that it may not hold here; "" for others.
// On the machine that wrote it, a branch that is gone was merged or given up.
func (p *Place) branchOf(n *note.Note) string {
	b := n.HeldTo()
	if b == "" || b == p.Branch || n.MachineID == p.Machine || p.HasBranch == nil || p.HasBranch(b) {
		return ""
	}
	return " (on the branch " + oneLine(neutralise(b)) + ", which is not in this clone)"
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

	Injections []store.Injection // Shown, as the session was shown it
	Named      []store.Injection // Shown in a line that does not say all of the note

	Again []note.ID // of those Shown at a prompt: a line that is repeated after many prompts

	Unread int // turns that no reader has decided on, in the section at its end

	Laid  int       // lines of what the user laid down
	Known int       // other lines
	Last  time.Time // of the last session; zero when there is none

	Lines   []Line  // of a page, in its order
	Topics  []Topic // of a page
	Dropped []Line  // not on the page, and why

	moved map[note.ID]bool // they name code that is not as it was

	LookedUp int    // how often notes were looked up for a session's start: 0 or 1
	Settled  string // why not, where a skill made that needless (R11)
}

// An Injector makes blocks.
type Injector struct {
	engine *recall.Engine
	store  *store.Store
	opts   Options

	known func(ctx context.Context, dir, project string) risk.Known // nil: nothing is known of projects
}

// Knowing lets in ask what is known in a project, before it shows what an agent said. It is called before in is used.
func (in *Injector) Knowing(known func(ctx context.Context, dir, project string) risk.Known) {
	in.known = known
}

// New returns an Injector.
func New(e *recall.Engine, s *store.Store, o Options) *Injector {
	return &Injector{engine: e, store: s, opts: o}
}

// mayShow reports whether a note's type is one that sessions are shown at their start.
func (in *Injector) mayShow(n *note.Note) bool {
	return n.LearningType == "" || len(in.opts.ShownTypes) == 0 || slices.Contains(in.opts.ShownTypes, n.LearningType)
}

// Log records that b was shown, for the counters and for those who ask why.
func (in *Injector) Log(p Place, b Block, took time.Duration) error {
	return in.store.Events().Log(store.Record{
		Kind: store.Injected, Session: p.Session, Project: p.Project,
		Notes: b.Shown, Count: len(b.Shown), Out: recall.Tokens(b.Text), MS: float64(took.Microseconds()) / 1000, Text: b.Settled,
	})
}
