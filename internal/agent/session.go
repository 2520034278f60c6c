package agent

import (
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A SessionSource is how the sessions of an agent are found and read. They may
// stand one in a file, in many files (a fork that holds only what is its own), or
// as rows of a database that is one file for all.
//
// The caller walks the agent's home folder, refuses links and pipes, opens the
// files that match and closes them; a source gets them opened. Whatever its
// storage, a source gives a session as one stream of records, so that offsets
// mean the same for all: Session.Next and the size that an event noted are
// offsets in that stream, which only ever grows.
type SessionSource interface {
	// SessionFiles are patterns, with slashes, in the form of package path, of
	// the files below the agent's home folder in which sessions stand.
	SessionFiles() []string

	// SessionsIn lists the ids of the sessions in a file that matches; name is
	// its path. An id is empty where the file is one session, whose records say
	// its id. None and no error: the file holds no session of a person, only that
	// of a sub-agent, say.
	SessionsIn(name string, f File) (ids []string, err error)

	// Open returns the records of one session, the oldest first. An id that the
	// source does not need is ignored. The records of a session that another one
	// continues stand before its own. The stream is good until f is closed.
	Open(f File, id string) (*io.SectionReader, error)

	// ReadSession reads records, or a stretch of them that begins at a record. It
	// streams: memory is bounded by limits, not by the input. The session is
	// never nil; an error is a failed read, and the session then holds what came
	// before it. Bad records are counted in Session.Skipped.
	ReadSession(r io.Reader, limits Limits) (*Session, error)

	// Peek finds the few facts that a hook needs in the first headBytes and the
	// last tailBytes of size bytes of records, and stops when deadline has passed.
	// Zero values mean 256 KB, 2 MB and no deadline. The result is never nil.
	Peek(r io.ReaderAt, size, headBytes, tailBytes int64, deadline time.Time) (*PeekResult, error)
}

// ProjectFolders is an optional ability of a SessionSource: sessions stand in a
// folder for each working directory, whose name is made of the directory's, and
// memories may stand there, too.
type ProjectFolders interface {
	// ProjectFolder returns the folder in which a file stands, "" when in none.
	// Both are paths below the agent's home folder, with slashes.
	ProjectFolder(file string) string

	// FolderName returns what a name of a directory becomes in the folder's name.
	FolderName(dir string) string
}

// A DirNoter is an optional ability of a SessionSource: the working directory of a session
// that does not say it stands in a separate file.
type DirNoter interface {
	// DirFile returns that file for the file of a session, "" for none. Both are paths below
	// the agent's home folder, with slashes.
	DirFile(file string) string
}

// A LateWriter is an optional ability of a SessionSource: the agent writes records a while
// after the hooks that tell of them, so the size of a file at an event says nothing.
type LateWriter interface {
	// Late reports whether that is so.
	Late() bool

	// Ended reports whether the last bytes of a file are those of a session that is over.
	Ended(tail []byte) bool
}

// A File is an opened file; an os.File is one.
type File interface {
	io.ReaderAt
	Name() string
	Stat() (fs.FileInfo, error)
}

// A Role says who speaks in a turn.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// An Asker says who asked: a person, or a program that ran the agent. What the agent asked a sub-agent is no turn
// of a session (Harness.ReadSubagent).
type Asker string

// The askers.
const (
	Person   Asker = ""
	Program  Asker = "program"
	Subagent Asker = "sub-agent" // the agent asked a sub-agent
)

// A Session is what one transcript says, without the noise of its harness:
// sub-agents, meta records, reminders and our own injected blocks are gone.
type Session struct {
	ID      string // the first valid id in the file; the hook's payload is the better authority
	Dir     string // the first absolute working directory
	Branch  string // the first branch; a detached HEAD is none
	Remote  string // the address of its repository's remote, where the client records it
	Version string // of the harness
	Title   string // the last title that the harness made for it, or the user's name for it; "" for none
	Named   bool   // Title is the user's

	// Headless says that a program asked, not a person: every record that tells how
	// its harness was started says so.
	Headless bool

	// Failed says that the agent's own client spoke in its place at least once: a
	// server that refused, a limit that was reached. Such a record is no turn.
	Failed bool

	// The times of the first and the last record; zero if none could be read. Undated says that the caller took Ended from
	// somewhere else.
	Started, Ended time.Time
	Undated        bool

	// Resumed says that the file begins where the user went back to, in another file of the session.
	Resumed bool

	Turns     []Turn // in force: what the user took back is only in All
	Summaries []string

	// Also lists the other session ids met in the file. A resumed transcript
	// may carry the records of the session it continues; to the person it is
	// one conversation, so all records count and the ids are kept here.
	Also []string

	Skipped Skipped

	// Next is the offset just behind the last complete record: where the next
	// reading of a growing transcript may begin.
	Next int64

	files []string
	all   []Turn // Turns with those that the user took back; nil when there are none
}

// All returns every turn, with those that the user took back, in order.
func (s *Session) All() []Turn {
	if s.all == nil {
		return s.Turns
	}
	return s.all
}

// Number returns the place in All of a turn of Turns. It stays the same when the user takes turns
// back later.
func (s *Session) Number(turn int) int {
	for i := range s.all {
		switch {
		case s.all[i].TakenBack:
		case turn == 0:
			return i
		default:
			turn--
		}
	}
	return turn
}

// A Turn is one record of the conversation: a prompt, a text, tool uses.
type Turn struct {
	Role  Role
	Asker Asker // of a user's turn
	Text  string

	// Command is the slash command, "/clear", when that is what the user typed;
	// Text is then the command with its arguments, not a human sentence.
	Command string

	// Spans divides the text of a user's turn by author: ordered, disjoint. What lies in none of
	// them was not typed. Nil: the whole text was, or a command's arguments. Ask Typed and Authors.
	Spans []Span

	// TakenBack says that the user went back to before this turn: its words hold no more, and what
	// was done may have been undone.
	TakenBack bool

	// Interrupted marks the place where the user stopped the agent. Such a turn has no text.
	Interrupted bool

	// Where is the folder of the turn, nil while it is that of the session. A user may change the folder
	// of a session, and so may a command that the agent runs.
	Where *Where

	Tools  []ToolUse
	At     time.Time
	UUID   string
	Offset int64 // where its record begins, in bytes from the start of the reader
}

// A Where is a folder in which a session worked, and the branch there, "" where no record says it.
type Where struct{ Dir, Branch string }

// PartID returns the id of the nth part of a session, from 2: what it was in another project than the one in
// which it began. No id of a client has a dot (ValidID).
func PartID(session string, n int) string { return session + "." + strconv.Itoa(n) }

// PartOf reports whether id is that of a session, or of a part of it.
func PartOf(id, session string) bool {
	n, ok := strings.CutPrefix(id, session+".")
	return id == session || ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// Within returns the part of a session that is made of some of its turns: in reports whether a turn of
// All is one of them. The title and the summaries, which are about the whole session, are not part of it.
func (s *Session) Within(in func(n int) bool) *Session {
	part := *s
	part.Title, part.Named, part.Summaries, part.Turns, part.all = "", false, nil, nil, nil
	all := slices.Clone(s.All())
	for n := range all {
		if in(n) {
			part.all = append(part.all, all[n])
			if !all[n].TakenBack {
				part.Turns = append(part.Turns, all[n])
			}
		} else {
			all[n].TakenBack = true // so that its files are left out
		}
	}
	files := fileList{list: s.FilesTouched()}
	part.files = files.without(all).list
	return &part
}

// Human reports whether t is a sentence in which the agent was asked something.
func (t Turn) Human() bool { return t.Role == User && t.Command == "" && t.Text != "" }

// A Line is what a turn comes to for those who need no tools: who said what.
type Line struct {
	Role Role
	Text string // "" where the agent only used tools

	Asker       Asker
	Spans       []Span // as of the turn
	Command     bool   // Text is a slash command
	Interrupted bool   // the user stopped the agent here
	Tools       bool   // tools were used
}

// line returns what is left of a turn without its tools.
func (t *Turn) line() Line {
	return Line{
		Role: t.Role, Text: t.Text, Asker: t.Asker, Spans: t.Spans, Command: t.Command != "", Interrupted: t.Interrupted, Tools: len(t.Tools) > 0,
	}
}

// A ToolUse is one use of a tool by the assistant, with its result once that was met.
type ToolUse struct {
	ID, Name string
	Path     string          // the file it edits; empty for every other tool
	Input    json.RawMessage // valid JSON; values too large for Limits.Input are replaced by a string that tells their size
	Result   string
	Error    bool
	Denied   bool   // the user did not let it run; Error is true too
	Own      bool   // the call printed what this program knows (package session), and did nothing else
	Answer   string // what it printed, which is then not in Result
	Reply    string // what the user said with that, or answered to the agent's questions, where no one else can have written it
}

// Skipped counts what a reader left out, and why.
type Skipped struct {
	Blank     int `json:"blank"`      // empty lines
	NotJSON   int `json:"not_json"`   // lines that are no JSON, and blocks of NUL bytes
	NotObject int `json:"not_object"` // JSON, but no record
	Other     int `json:"other"`      // records of other types, or without a message
	Oversized int `json:"oversized"`  // lines longer than Limits.Line
	Sidechain int `json:"sidechain"`  // records of sub-agents
	Meta      int `json:"meta"`       // records that the harness wrote for itself: meta, compaction, API errors
	Duplicate int `json:"duplicate"`  // records whose uuid was met before
	Orphan    int `json:"orphan"`     // tool results whose tool use was not met
	Partial   int `json:"partial"`    // a half-written last line
	Dropped   int `json:"dropped"`    // turns dropped from the middle because of Limits.Total
}

// Bad is the number of lines that were no records at all.
func (s Skipped) Bad() int { return s.NotJSON + s.NotObject + s.Oversized }

// Unreadable is the number of lines that could not be read, with a half-written last line: of a session that is
// over, that one is lost, too.
func (s Skipped) Unreadable() int { return s.Bad() + s.Partial }

// Limits bounds what a reader keeps. Zero fields mean the default in brackets.
//
// A text that is cut ends at white space and never inside a private key, so
// that a redactor still recognises what is left.
type Limits struct {
	Bytes  int64 // stop after so many bytes [no limit]
	Line   int   // skip longer lines [16 MB]
	Text   int   // of one prompt or assistant text [1 MB]
	Input  int   // of one tool input [64 KB]
	Result int   // of one tool result [256 KB]
	Total  int   // of all turns; the oldest behind the first quarter go first [64 MB]
}

func (l Limits) withDefaults() Limits {
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&l.Line, 16<<20)
	def(&l.Text, 1<<20)
	def(&l.Input, 64<<10)
	def(&l.Result, 256<<10)
	def(&l.Total, 64<<20)
	return l
}

// Prompts returns the human sentences in order.
func (s *Session) Prompts() []string {
	var out []string
	for _, t := range s.Turns {
		if t.Human() {
			out = append(out, t.Text)
		}
	}
	return out
}

// FirstPrompt is what the user asked for: the first human sentence, or a slash
// command with arguments that the agent answered before one was typed. A
// session of bare commands has its first command; "" means no prompt at all.
func (s *Session) FirstPrompt() string {
	p, _ := s.firstPrompt()
	return p
}

// firstPrompt also reports whether later turns can no longer change the answer.
func (s *Session) firstPrompt() (prompt string, settled bool) {
	for i, t := range s.Turns {
		switch {
		case t.Human():
			return t.Text, true
		case t.Command == "":
			continue
		case t.Text != t.Command && i+1 < len(s.Turns) && s.Turns[i+1].Role == Assistant:
			// The agent answers only to commands that are prompts;
			// "/model opus" and its like are followed by the next prompt.
			return t.Text, true
		case prompt == "":
			prompt = t.Text
		}
	}
	return prompt, false
}

// Dialogue returns what was said, in order.
func (s *Session) Dialogue() []Line {
	lines := make([]Line, len(s.Turns))
	for i := range s.Turns {
		lines[i] = s.Turns[i].line()
	}
	return lines
}

// FilesTouched lists the files that were edited, each once, in the order of the first edit.
func (s *Session) FilesTouched() []string {
	if s.files != nil {
		return slices.Clone(s.files)
	}
	var files fileList
	for _, t := range s.Turns {
		for _, u := range t.Tools {
			files.add(u.Path)
		}
	}
	return files.list
}

// A PeekResult is what SessionSource.Peek found; its fields mean what
// they mean in Session.
type PeekResult struct {
	ID, Dir, Branch, Version, Title string
	Headless, Failed, Named         bool
	Started, Ended                  time.Time
	FirstPrompt                     string
	FilesTouched                    []string
	Dialogue                        []Line   // of the tail
	Moved                           []string // folders other than Dir in which the tail was said, at most maxMoved

	// Complete says that the whole transcript was within sight and seen, so
	// that ReadSession would find nothing else.
	Complete bool
	// Late says that the deadline cut the look short.
	Late bool
}

// maxMoved bounds the folders of a tail.
const maxMoved = 16

// moved notes a folder of the tail.
func (g *PeekResult) moved(dir string) {
	if dir != "" && dir != g.Dir && len(g.Moved) < maxMoved && !slices.Contains(g.Moved, dir) {
		g.Moved = append(g.Moved, dir)
	}
}

// maxFiles bounds the list of edited files; no session of a person comes near.
const maxFiles = 10_000

// A fileList is a set of paths that remembers its order.
type fileList struct {
	list []string
	seen map[string]bool
}

func (f *fileList) add(path string) {
	if path == "" || f.seen[path] || len(f.list) >= maxFiles {
		return
	}
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	f.seen[path] = true
	f.list = append(f.list, path)
}

// without returns the list without the files that were edited only in turns that the user took back.
func (f *fileList) without(turns []Turn) (out fileList) {
	left := make(map[string]bool)
	for _, gone := range []bool{true, false} {
		for i := range turns {
			for _, u := range turns[i].Tools {
				if turns[i].TakenBack == gone {
					left[u.Path] = gone
				}
			}
		}
	}
	for _, path := range f.list {
		if !left[path] {
			out.add(path)
		}
	}
	return out
}
