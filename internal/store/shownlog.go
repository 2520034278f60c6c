package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// A Injection is a note as a session was shown it. A note that changed since is another
// telling.
type Injection struct {
	Note note.ID `json:"note"`
	Hash string  `json:"hash"` // of its title and body
}

// InjectionOf returns the telling of a note.
func InjectionOf(n *note.Note) Injection {
	sum := sha256.Sum256([]byte(n.Title + "\x00" + n.Body))
	return Injection{n.ID, hex.EncodeToString(sum[:8])}
}

// A ShownLog is what one session, or one sub-agent of it, has been shown. It takes no lock:
// hooks run side by side and wait for nobody. It is safe for concurrent use, by
// several processes too.
//
// It is a file of lines that are only ever appended. Who wants to tell a note claims
// it: it appends the claim under a separate name, reads the file, and has the note
// when its claim is the first one. A line that is torn counts as none.
type ShownLog struct {
	s    *Store
	name string
}

// shownLine is a line: a claim; the start of a session or its first prompt; with Clear
// the end of the claims above it; a task of a sub-agent, and the start of one; an event
// that no record of the session keeps; or a verdict.
type shownLine struct {
	*Injection
	By       string    `json:"by,omitempty"`
	Tool     bool      `json:"tool,omitempty"` // the claim is for a call of a tool
	Line     bool      `json:"line,omitempty"` // its line was shown, not its body: no claim
	Start    time.Time `json:"start,omitzero"`
	Prompt   bool      `json:"prompt,omitempty"`
	Clear    bool      `json:"clear,omitempty"`
	Task     *Task     `json:"task,omitempty"`
	Agent    *Task     `json:"agent,omitempty"`
	Observed *Observed `json:"noted,omitempty"`
	Nudge    string    `json:"nudge,omitempty"` // the sentence that the agent was asked to keep, by its hash
	News     string    `json:"news,omitempty"`  // a line for the user, which the next prompt shows
	Owed     *bool     `json:"owed,omitempty"`  // whether the next prompt is to hand out unread turns, which were not there at the start
	Said     int       `json:"said,omitempty"`  // how many of them were shown
	Read     int       `json:"read,omitempty"`  // the last turn that a reader has seen, counted from 1

	Verdict Verdict   `json:"verdict,omitempty"`
	Of      []note.ID `json:"of,omitempty"` // what the verdict is of
}

// A ShownState is what the file of a session says.
type ShownState struct {
	Started  time.Time // when the session was shown its first block; zero when it was not
	Prompted bool      // it had a prompt since
	Lost     bool      // it lost its context, and was shown nothing at a start since
	Prompts  int       // that it had since it began or lost its context
	Nudges   []string  // hashes of the sentences that its agent was asked to keep, in order
	Owed     bool      // the next prompt hands out unread turns
	News     []string  // lines for the user that were not shown yet
	Read     int       // turns that a reader has seen, 0 for none
	first    map[Injection]string
	tools    map[Injection]string // the same, of claims for calls of tools
	lines    map[Injection]int    // shown as a line, and how many prompts there had been then
}

// Has reports whether a note was shown, as it is, since the session began or lost its
// context.
func (s *ShownState) Has(n *note.Note) bool {
	_, ok := s.first[InjectionOf(n)]
	return ok
}

// HasAtTool reports whether a note was shown, as it is, at a call of a tool since then. What the
// start of the session or a prompt showed does not count.
func (s *ShownState) HasAtTool(n *note.Note) bool {
	_, ok := s.tools[InjectionOf(n)]
	return ok
}

// Line reports whether the line of a note was shown, as it is, since then, and how many prompts
// ago.
func (s *ShownState) Line(n *note.Note) (shown bool, ago int) {
	at, ok := s.lines[InjectionOf(n)]
	return ok, s.Prompts - at
}

// Count is how many notes the session was shown since it began or lost its context.
func (s *ShownState) Count() int {
	n := len(s.first)
	for t := range s.lines {
		if _, ok := s.first[t]; !ok {
			n++
		}
	}
	return n
}

// Bounds of what is kept: of a longer file only the end is read, and what a session was
// shown is forgotten a while after its last prompt.
const (
	maxShownLog = 1 << 20
	shownLogAge = 14 * 24 * time.Hour
)

// ShownLog returns what a session was shown, or a sub-agent in it. Both names come from
// outside and are not trusted: the file is named by their hash.
func (q *Spool) ShownLog(session, agent string) *ShownLog {
	sum := sha256.Sum256([]byte(session + "\x00" + agent))
	return &ShownLog{q.s, layout.Shown + "/" + hex.EncodeToString(sum[:12]) + ".jsonl"}
}

// State reads the file. A session without one was shown nothing.
func (t *ShownLog) State() (ShownState, error) {
	st := ShownState{first: make(map[Injection]string), tools: make(map[Injection]string), lines: make(map[Injection]int)}
	data, err := t.read()
	if err != nil {
		return st, fmt.Errorf("read what the session was shown: %w", err)
	}
	for line := range bytes.Lines(data) {
		var l shownLine
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		switch {
		case l.Clear:
			st.Lost = !st.Started.IsZero()
			clear(st.first)
			clear(st.tools)
			clear(st.lines)
			st.Prompts = 0
		case l.Nudge != "":
			st.Nudges = append(st.Nudges, l.Nudge)
		case l.Read > 0:
			st.Read = l.Read
		case l.Owed != nil:
			st.Owed = *l.Owed
		case l.News != "":
			st.News = append(st.News, l.News)
		case l.Said > 0:
			st.News = st.News[min(l.Said, len(st.News)):]
		case !l.Start.IsZero():
			st.Started, st.Prompted, st.Lost = l.Start, false, false
		case l.Prompt:
			st.Prompted = true
			st.Prompts++
		case l.Injection != nil && l.Line:
			st.lines[*l.Injection] = st.Prompts
		case l.Injection != nil:
			if _, ok := st.first[*l.Injection]; !ok {
				st.first[*l.Injection] = l.By
			}
			if _, ok := st.tools[*l.Injection]; !ok && l.Tool {
				st.tools[*l.Injection] = l.By
			}
		}
	}
	return st, nil
}

func (t *ShownLog) read() ([]byte, error) {
	if err := t.s.folders(t.name); err != nil { // also when it is reached through a link
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	f, err := os.Open(t.s.Path(t.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, fi.Size()-maxShownLog), maxShownLog))
}

// Claim returns those of some injections that the caller may tell: the others were shown
// before, or another process is just telling them.
func (t *ShownLog) Claim(injections ...Injection) ([]Injection, error) {
	return t.claim(injections, false)
}

// ClaimAtTool is Claim for a call of a tool: only other calls of tools have shown a note before.
func (t *ShownLog) ClaimAtTool(injections ...Injection) ([]Injection, error) {
	return t.claim(injections, true)
}

// ShowLines says that the lines of notes are shown. Their bodies may still be claimed.
func (t *ShownLog) ShowLines(injections ...Injection) error {
	by := ulid.Make().String() // says when
	var lines []byte
	for _, telling := range injections {
		lines = append(lines, lineOf(shownLine{Injection: &telling, By: by, Line: true})...)
	}
	if len(lines) == 0 {
		return nil
	}
	return t.append(lines)
}

func (t *ShownLog) claim(injections []Injection, tool bool) ([]Injection, error) {
	by := ulid.Make().String()
	var lines []byte
	for _, telling := range injections {
		lines = append(lines, lineOf(shownLine{Injection: &telling, By: by, Tool: tool})...)
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if err := t.append(lines); err != nil {
		return nil, err
	}
	st, err := t.State()
	if err != nil {
		return nil, err
	}
	first := st.first
	if tool {
		first = st.tools
	}
	var mine []Injection
	for _, telling := range injections {
		if first[telling] == by {
			mine = append(mine, telling)
			delete(first, telling) // twice among them
		}
	}
	return mine, nil
}

func lineOf(l shownLine) []byte {
	line, err := json.Marshal(l)
	if err != nil {
		panic(err) // strings and times
	}
	return append(line, '\n')
}

// Begin says that the session is shown its first block now. With fresh its context is
// new: what was shown before is forgotten.
func (t *ShownLog) Begin(fresh bool) error {
	var lines []byte
	if fresh {
		lines = lineOf(shownLine{Clear: true})
	}
	return t.append(append(lines, lineOf(shownLine{Start: t.s.now()})...))
}

// Prompt says that the session had a prompt.
func (t *ShownLog) Prompt() error { return t.append(lineOf(shownLine{Prompt: true})) }

// Nudge says that the agent was asked to keep a sentence, which the hash names.
func (t *ShownLog) Nudge(hash string) error { return t.append(lineOf(shownLine{Nudge: hash})) }

// Owe says whether the next prompt is to hand out unread turns: a session that has just ended was not captured yet when this
// one started.
func (t *ShownLog) Owe(owed bool) error { return t.append(lineOf(shownLine{Owed: &owed})) }

// News leaves a line for the user of the session.
func (t *ShownLog) News(line string) error { return t.append(lineOf(shownLine{News: line})) }

// SaidNews says that so many of the lines for the user were shown.
func (t *ShownLog) SaidNews(lines int) error { return t.append(lineOf(shownLine{Said: lines})) }

// SeenTo says that a reader has seen the session up to a turn, counted from 1.
func (t *ShownLog) SeenTo(turns int) error { return t.append(lineOf(shownLine{Read: turns})) }

// Clear forgets what was shown: the context of the session was lost.
func (t *ShownLog) Clear() error {
	if _, err := os.Lstat(t.s.Path(t.name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return t.append(lineOf(shownLine{Clear: true}))
}

func (t *ShownLog) append(lines []byte) error {
	err := t.s.unwritable
	if err == nil {
		err = t.s.folders(t.name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = t.s.disk.MkdirAll(t.s.Path(layout.Shown))
	}
	if err == nil {
		err = t.s.disk.Append(t.s.Path(t.name), lines)
	}
	if err != nil {
		return fmt.Errorf("remember what the session is shown: %w", err)
	}
	return nil
}

// SweepShownLogs removes the files of sessions that have not been shown anything for long.
func (q *Spool) SweepShownLogs() error {
	entries, err := q.Entries(layout.Shown)
	var errs []error
	for _, entry := range entries {
		if fi, err := entry.Info(); err == nil && q.s.now().Sub(fi.ModTime()) > shownLogAge {
			errs = append(errs, q.Remove(layout.Shown+"/"+entry.Name()))
		}
	}
	return errors.Join(append(errs, err)...)
}
