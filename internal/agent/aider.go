package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// aiderSessions are the chats of aider: one Markdown file in the project, to which each chat is appended.
// A chat begins with a heading that says when; "#### " stands before what the user typed, "> " before what
// the program printed, and everything else is the model's.
var aiderSessions = chatSource{lineSource{files: []string{".aider.chat.history.md"}, text: aiderLines}}

// A chatSource is the SessionSource of a file with many chats, each a stretch of it.
type chatSource struct{ lineSource }

const aiderHead = "# aider chat started at "

// aiderStart reads the heading of a chat. Its time is that of the machine's clock.
func aiderStart(text []byte) (time.Time, bool) {
	rest, ok := bytes.CutPrefix(trimLine(text), []byte(aiderHead))
	if !ok || len(rest) > 40 {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05", string(rest), time.Local)
	if err != nil {
		return time.Time{}, false
	}
	return possible(at)
}

// A chat is a stretch of the file.
type chat struct {
	id       string
	from, to int64
}

// aiderID names a chat by its time and the first line of its first prompt.
func aiderID(at time.Time, prompt []byte) string {
	sum := sha256.Sum256(prompt)
	return at.Format("20060102T150405") + "-" + hex.EncodeToString(sum[:4])
}

// maxChats is how many chats of one file are read.
const maxChats = 10_000

// chats lists the chats of a file in which the user said anything. The id of one is made of its time and
// of its first prompt, which stay when the file grows.
func (s *chatSource) chats(f File) (all []chat, err error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	lines := newLineReader(io.NewSectionReader(f, 0, fi.Size()), Limits{}.withDefaults())
	seen := make(map[string]bool)
	var at time.Time
	var open bool // a chat has begun, and has no prompt yet
	var from int64
	for {
		l, err := lines.read()
		if begun, ok := aiderStart(l.text); ok {
			if n := len(all); n > 0 && all[n-1].to == 0 {
				all[n-1].to = l.offset
			}
			at, from, open = begun, l.offset, true
		} else if prompt, ok := bytes.CutPrefix(trimLine(l.text), []byte("#### ")); ok && open && l.whole && len(all) < maxChats {
			id := aiderID(at, trimLine(prompt))
			if !seen[id] {
				seen[id] = true
				all = append(all, chat{id: id, from: from})
			}
			open = false
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if n := len(all); n > 0 && all[n-1].to == 0 {
		all[n-1].to = fi.Size()
	}
	return all, nil
}

// SessionsIn implements SessionSource.
func (s *chatSource) SessionsIn(_ string, f File) (ids []string, err error) {
	all, err := s.chats(f)
	for i := range all {
		ids = append(ids, all[i].id)
	}
	return ids, err
}

// Open implements SessionSource.
func (s *chatSource) Open(f File, id string) (*io.SectionReader, error) {
	all, err := s.chats(f)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(c chat) bool { return c.id == id })
	if at < 0 {
		return nil, errors.New("it has no chat " + id)
	}
	return io.NewSectionReader(f, all[at].from, all[at].to-all[at].from), nil
}

var (
	aiderEdit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:Applied edit to|Creating empty file) (\S.{0,500})$`)
	})
	aiderCommit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Commit ([0-9a-f]{7,40}) (\S.{0,300})$`) })
	aiderRun    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Running (\S.*)$`) })
)

// An aiderReader puts the turns of a chat together.
type aiderReader struct {
	b      *builder
	user   []string
	words  strings.Builder // of the model
	tools  []ToolUse
	offset int64
	at     time.Time
	named  bool
	begun  bool // a prompt was met: what stands before is the start of the program
	block  bool // inside an edit that the model wrote
	pause  bool // the last line that was not empty is the program's: a prompt may follow
	fence  fence
}

func aiderLines(b *builder) (take func(line), end func()) {
	r := &aiderReader{b: b}
	return r.line, func() { r.asked(); r.answered() }
}

func (r *aiderReader) line(l line) {
	text := bytes.ToValidUTF8(bytes.TrimRight(l.text, " \t\r\n\x00"), []byte("\ufffd"))
	if at, ok := aiderStart(text); ok {
		r.asked()
		r.answered()
		r.at, r.begun, r.pause = at, false, true
		r.b.seen(at)
		return
	}
	if prompt, ok := bytes.CutPrefix(text, []byte("####")); ok && (len(prompt) == 0 || prompt[0] == ' ') && (r.pause || len(r.user) > 0) {
		if !r.named && bytes.HasPrefix(prompt, []byte(" ")) {
			r.named = true
			r.b.named(aiderID(r.at, trimLine(prompt)))
		}
		if len(r.user) == 0 {
			r.answered()
			r.offset = l.offset
		}
		r.begun, r.block, r.fence = true, false, fence{}
		if r.size() < r.b.limits.Text {
			r.user = append(r.user, string(bytes.TrimPrefix(prompt, []byte(" "))))
		}
		return
	}
	if !r.begun { // the line that started the program may hold anything
		r.pause = true
		return
	}
	if len(r.user) > 0 {
		if len(text) == 0 {
			return
		}
		r.asked()
		r.offset = l.offset
	}
	if said, ok := bytes.CutPrefix(text, []byte("> ")); ok && r.fence.ticks == 0 && !r.block {
		r.pause = true
		r.printed(string(said))
		return
	}
	r.pause = r.pause && len(text) == 0
	r.said(text)
}

func (r *aiderReader) size() (n int) {
	for _, s := range r.user {
		n += len(s) + 1
	}
	return n
}

// said takes a line of the model. The edits that it writes out are recognised by what was applied.
func (r *aiderReader) said(text []byte) {
	r.fence.line(text)
	switch {
	case bytes.HasPrefix(text, []byte("<<<<<<< SEARCH")):
		r.block = true
	case bytes.HasPrefix(text, []byte(">>>>>>> REPLACE")):
		r.block = false
	case !r.block && r.words.Len() < r.b.limits.Text:
		r.words.Write(text)
		r.words.WriteByte('\n')
	}
}

// printed takes a line of the program.
func (r *aiderReader) printed(s string) {
	if s = strings.TrimSpace(s); len(r.tools) >= maxPending {
		return
	}
	if m := aiderEdit().FindStringSubmatch(s); m != nil {
		r.tools = append(r.tools, r.b.toolMade("Edit", "file_path", m[1], m[1], ""))
	} else if m := aiderCommit().FindStringSubmatch(s); m != nil { // as git says it
		r.tools = append(r.tools, r.b.toolMade("Bash", "command", "git commit", "", "[aider "+m[1]+"] "+m[2]))
	} else if m := aiderRun().FindStringSubmatch(s); m != nil {
		r.tools = append(r.tools, r.b.toolMade("Bash", "command", m[1], "", ""))
	}
}

// asked ends what the user typed.
func (r *aiderReader) asked() {
	if text := strings.TrimSpace(valid(strings.Join(r.user, "\n"))); text != "" {
		r.b.said(Turn{Role: User, Text: text, At: r.at, Offset: r.offset})
	}
	r.user = nil
}

// answered ends what the model said and did.
func (r *aiderReader) answered() {
	text := strings.TrimSpace(valid(r.words.String()))
	if r.begun && (text != "" || len(r.tools) > 0) {
		r.b.said(Turn{Role: Assistant, Text: text, Tools: r.tools, At: r.at, Offset: r.offset})
	}
	r.words.Reset()
	r.tools, r.block, r.fence = nil, false, fence{}
}
