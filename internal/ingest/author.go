package ingest

import (
	"fmt"
	"slices"

	"anamnesis/internal/note"
)

// An Author is who wants a change. The entry point knows it, and no field of a file says it: a
// terminal or the dashboard is a person, an MCP call is an agent.
type Author int

// The authors. The zero value is none, and nothing is admitted for it.
const (
	_        Author = iota
	Person          // a terminal without an agent's environment, or the dashboard
	Order           // "remember: …" in words that the agent's client marks as typed
	Quoted          // an agent or a model wrote it, and its quote was found in typed words
	Agent           // an agent, over MCP or from its shell
	Model           // a model that reads sessions or notes, and what this program makes of a session
	Program         // a command without a terminal, or the prompt of a run that no person watches
	Guest           // a machine without a store
	Import          // the memory of another tool
	Teammate        // a shared note of somebody else; it becomes no file of this store
)

var authorNames = [...]string{"", "person", "order", "quoted", "agent", "model", "program", "guest", "import", "teammate"}

func (a Author) String() string { return authorNames[a] }

// Speaks reports whether what an author writes is the user's word.
func (a Author) Speaks() bool { return a == Person || a == Order || a == Quoted }

// Unasked reports whether what the journal says that it was made by is an author that decides
// without the user.
func Unasked(by string) bool {
	return slices.ContainsFunc([]Author{Agent, Model, Guest, Import}, func(a Author) bool { return a.String() == by })
}

// source is what a note of the author has as its prov_source. had is what the draft says: of a
// model it tells which of this program's steps made it.
func (a Author) source(had string) string {
	switch a {
	case Person:
		return note.Human
	case Order, Quoted:
		return note.User
	case Agent:
		return note.Agent
	case Program:
		return note.Program
	case Guest:
		return note.Guest
	}
	switch had {
	case note.SessionEnd, note.Reflection, note.Merge, note.Learning:
		return had
	}
	if a == Import {
		return note.Import
	}
	return note.Learning
}

// A Situation is what a change would do to the notes of the store. Of those that apply the first counts.
type Situation int

// The situations, in their order.
const (
	Forgotten     Situation = iota // the statement was forgotten
	Instructs                      // it reads like orders to an agent
	Misquotes                      // the user's words that it quotes say the opposite
	Same                           // a note states it already
	RiskyAct                       // it makes an agent run or send something for which no person vouches (package risk)
	Elsewhere                      // it is for another project than the author's, or for all
	OwnersNote                     // it changes, or replaces, a note for which the user vouches
	NearDuplicate                  // a note says nearly the same
	OpposesNote                    // it contradicts a note for which the user does not vouch, or settles its subject otherwise
	OpposesTyped                   // it contradicts what the user typed in a session
	OpposesPerson                  // it contradicts what the user wrote, or reviewed
	Free                           // none of these
)

// An Action is what becomes of a change.
type Action string

// The actions.
const (
	Refuse     Action = "refuse"     // nothing is written; only the log has it
	Quarantine Action = "quarantine" // it is kept, and no session is shown it
	Confirm    Action = "confirm"    // the note that states it gets its evidence
	Create     Action = "create"     // it becomes a note
	CreateNear Action = "both"       // it becomes a note, and the answer names the one that it is like
	Replace    Action = "replace"    // it takes the place of the note; undoable
	Ask        Action = "ask"        // the user is asked which of the two holds, or both (Draft.Rival); until then nothing is written
	Propose    Action = "propose"    // it waits in the inbox
	IfNamed    Action = "if named"   // create when the user's own sentence names the act, else propose
	IfNewer    Action = "if newer"   // replace when the user's own sentence is newer and names the subject or the old value, else propose
	Mirror     Action = "show"       // shown as the teammate's
	Hide       Action = "hide"       // not shown: the own note says it
	IfTrusted  Action = "if trusted" // in force when the user trusts the teammate, else nothing
)

// actions is the table of who may do what. docs/authority.md is made of it.
var actions = map[Author][Free + 1]Action{
	//        forgotten  instructs   misquotes  same      risky    elsewhere  owner's  near        machine's  typed    person's  else
	Person:   {Refuse, Create, Create, Confirm, Create, Create, Create, CreateNear, Replace, Ask, Ask, Create},
	Order:    {Refuse, Quarantine, Create, Confirm, IfNamed, Propose, Propose, Confirm, Replace, IfNewer, Propose, Create},
	Quoted:   {Refuse, Quarantine, Propose, Confirm, IfNamed, Propose, Propose, Confirm, Replace, IfNewer, Propose, Create},
	Agent:    {Refuse, Quarantine, Propose, Confirm, Propose, Propose, Propose, Propose, Replace, Propose, Propose, Create},
	Model:    {Refuse, Quarantine, Propose, Confirm, Propose, Propose, Propose, Propose, Replace, Propose, Propose, Create},
	Program:  {Refuse, Quarantine, Propose, Confirm, Propose, Create, Propose, Propose, Replace, Propose, Propose, Create},
	Guest:    {Refuse, Quarantine, Propose, Confirm, Propose, Propose, Propose, Propose, Replace, Propose, Propose, Create},
	Import:   {Refuse, Quarantine, Propose, Confirm, Propose, Create, Propose, Propose, Create, Propose, Propose, Create},
	Teammate: {Refuse, Refuse, Mirror, Hide, Mirror, Refuse, Propose, Mirror, Mirror, Mirror, Mirror, Mirror},
}

// triggers says what becomes of each trigger of a note.
var triggers = map[Author]Action{
	Person: Create, Order: IfNamed, Quoted: IfNamed, Agent: Propose, Model: Propose, Program: Propose, Guest: Propose,
	Import: Propose, Teammate: IfTrusted,
}

// ActionOf returns what becomes of an author's change in a situation.
func ActionOf(by Author, s Situation) Action { return actions[by][s] }

// An Act is a change that is no note: a decision, or an order to the program.
type Act int

// The acts.
const (
	_          Act = iota
	Write          // leave notes, handoffs, slots: Admit decides
	Decide         // keep, reject, merge, edit or release what waits; edit or replace a note
	ArchiveOwn     // take a machine's note of the own project out of recall, undoably
	ArchiveAny     // take any note out of recall, undoably
	Erase          // forget for good, on every machine
	TakeBack       // undo a decision, a run or an import
	Configure      // settings, aliases of projects, remotes, what agents load
	Trust          // trust a teammate or a machine
)

var actNames = [...]string{
	"", "write", "decide what waits, or change a note of the user", "archive a machine's note of the session's project", "archive any note",
	"erase for good", "undo", "change settings", "trust somebody",
}

func (a Act) String() string { return actNames[a] }

// acts says who may do what. A program is a script of the user: it may do what a script is
// written for, and nothing that makes a sentence the user's word.
var acts = map[Author][]Act{
	Person:  {Write, Decide, ArchiveOwn, ArchiveAny, Erase, TakeBack, Configure, Trust},
	Agent:   {Write, ArchiveOwn},
	Program: {Write, ArchiveOwn, ArchiveAny, Erase, TakeBack, Configure},
}

// May returns nil when an author may do something, and else who may.
func May(by Author, a Act) error {
	for _, allowed := range acts[by] {
		if allowed == a {
			return nil
		}
	}
	return &PermissionError{by, a}
}

// A PermissionError says that an author may not do something.
type PermissionError struct {
	By  Author
	Act Act
}

func (e *PermissionError) Error() string {
	who := map[Author]string{Agent: "an agent", Program: "a command without a terminal"}[e.By]
	if who == "" {
		who = "a " + e.By.String()
	}
	where := "run the command in a terminal, or use the dashboard"
	if e.Act == Trust { // the dashboard trusts no teammate
		where = "run the command in a terminal"
	}
	return fmt.Sprintf("only the user may %s, and this came from %s; %s", e.Act, who, where)
}
