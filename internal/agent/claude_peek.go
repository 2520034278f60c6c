package agent

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"
)

// peekPiece is how much is read at once; between two pieces the deadline is looked at.
const peekPiece = 128 << 10

// Peek implements SessionSource.
func (claude) Peek(r io.ReaderAt, size, headBytes, tailBytes int64, deadline time.Time) (*PeekResult, error) {
	if headBytes <= 0 {
		headBytes = 256 << 10
	}
	if tailBytes <= 0 {
		tailBytes = 2 << 20
	}
	c := claudePeek{r: r, size: max(size, 0), deadline: deadline, reader: newClaudeReader(Limits{}.withDefaults())}
	settled, err := c.head(min(c.size, headBytes))
	if err == nil {
		err = c.tail(min(c.size, tailBytes))
	}
	c.g.Complete = err == nil && settled && !c.g.Late && !c.back && c.size <= tailBytes
	return &c.g, err
}

type claudePeek struct {
	r        io.ReaderAt
	size     int64
	deadline time.Time
	g        PeekResult
	reader   *claudeReader // of the tail
	start    starter
	titled   bool

	// What was said and which files were edited, the last first. The uuids tell
	// which records repeat an earlier one.
	lines []Line
	uuids []string
	paths []string
	sure  int    // of so many lines it is known who asked
	asked string // a prompt that continues nothing, though others came before

	// Going back from a prompt, what stands before it in the file is in force from the record on that
	// it continues: needle is that record's id as its line has it, and from how much was gathered
	// behind it.
	needle []byte
	from   [2]int // of lines, of paths
	left   bool   // a prompt stands between
	back   bool   // the client says last that the user went back: to where, only the whole tells
	linked bool   // a record names the one before it
	began  bool   // the newest prompt continues nothing: all before it was taken back
}

func (c *claudePeek) late() bool {
	c.g.Late = c.g.Late || !c.deadline.IsZero() && time.Now().After(c.deadline)
	return c.g.Late
}

// read fills buf from offset; a file that shrank at the same time gives less.
func (c *claudePeek) read(buf []byte, offset int64) (int, error) {
	n, err := c.r.ReadAt(buf, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// head reads forward until the session's facts and its first prompt are known.
// It reports whether nothing behind could change them.
func (c *claudePeek) head(limit int64) (settled bool, err error) {
	reader := newClaudeReader(Limits{}.withDefaults())
	s := reader.finish()
	known := func() bool {
		_, prompt := s.firstPrompt()
		return prompt && s.ID != "" && s.Dir != "" && s.Branch != "" && !s.Started.IsZero()
	}
	defer func() {
		c.g.ID, c.g.Dir, c.g.Branch, c.g.Version, c.g.Title = s.ID, s.Dir, s.Branch, s.Version, s.Title
		c.start, c.g.Named = reader.start, s.Named
		c.g.Started, c.g.Ended = s.Started, s.Ended
		c.g.FirstPrompt = s.FirstPrompt()
	}()
	buf := make([]byte, limit)
	begin, filled := 0, 0 // buf[begin:filled] holds no whole line yet
	for filled < len(buf) && !known() && !c.late() {
		n, err := c.read(buf[filled:min(len(buf), filled+peekPiece/4)], int64(filled))
		if err != nil || n == 0 {
			return false, err
		}
		filled += n
		for !known() {
			i := bytes.IndexByte(buf[begin:filled], '\n')
			if i < 0 {
				break
			}
			reader.line(line{text: buf[begin : begin+i], whole: true})
			begin += i + 1
		}
	}
	if !known() && begin < filled {
		if int64(filled) == c.size {
			reader.line(line{text: buf[begin:filled]})
		} else if _, _ = reader.record.read(buf[begin:filled]); !reader.record.sidechain {
			// A record too long for the head: a pasted image, say. What stands
			// before its message is still good.
			reader.facts()
		}
	}
	return known() || int64(filled) == c.size, nil
}

// tail walks the lines backwards from the end, and gathers what was said and
// which files were edited.
func (c *claudePeek) tail(limit int64) error {
	base := c.size - limit
	buf := make([]byte, limit)
	c.g.Ended = time.Time{}
	end := len(buf)   // buf[:end] is still to be walked
	begin := len(buf) // buf[begin:] has been read
	var breaks []int  // line ends of one piece, found forwards because that search is the fast one
	for begin > 0 && !c.late() {
		from := max(0, begin-peekPiece)
		n, err := c.read(buf[from:begin], base+int64(from))
		if err != nil {
			return err
		}
		clear(buf[from+n : begin]) // NUL is blank
		breaks = breaks[:0]
		for at := from; ; {
			i := bytes.IndexByte(buf[at:begin], '\n')
			if i < 0 {
				break
			}
			breaks = append(breaks, at+i)
			at += i + 1
		}
		begin = from
		for _, at := range slices.Backward(breaks) {
			if c.late() {
				break
			}
			c.line(buf[at+1 : end])
			end = at
		}
	}
	if begin == 0 && base == 0 && !c.g.Late {
		c.line(buf[:end])
	}
	c.gathered()
	return nil
}

// gathered puts what the tail said into its order, a record that stands there
// twice at its first place.
func (c *claudePeek) gathered() {
	var files fileList
	for _, p := range slices.Backward(c.paths) {
		files.add(p)
	}
	c.g.FilesTouched, c.g.Headless = files.list, c.start.headless()
	if c.began {
		c.g.FirstPrompt = c.asked
	}
	seen := make(map[string]bool)
	for i, l := range slices.Backward(c.lines) {
		if id := c.uuids[i]; id != "" && seen[id] {
			continue
		} else if id != "" {
			seen[id] = true
		}
		c.g.Dialogue = append(c.g.Dialogue, l)
	}
}

// line looks at one line, the last ones first. Most are shown by a search for a
// few bytes that cannot stand inside a JSON string without a backslash.
func (c *claudePeek) line(text []byte) {
	// The order is that of the searches which soon find something: lines are long.
	if c.needle != nil && bytes.Contains(text, c.needle) {
		c.reach()
	}
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	said, wantTitle := false, false
	switch {
	case has(`"user"`):
		said = !has(`"tool_result"`) || has(`"text"`)
	case has(`"assistant"`):
		said = has(`"text"`) || has(`"tool_use"`)
	default:
		wantTitle = !c.g.Named && (!c.titled && has(`"ai-title"`) || has(`"custom-title"`))
		said = has(`"local_command"`) || has(`"queued_command"`)
		c.back = c.back || len(c.lines) == 0 && has(`"last-prompt"`) && has(`"explicit"`)
	}
	if !said && !wantTitle && (!c.g.Ended.IsZero() || !has(`"timestamp"`)) {
		return
	}
	r := &c.reader.record
	if object, err := r.read(trimLine(text)); err != nil || !object {
		return
	}
	if at, ok := r.at(); ok && c.g.Ended.IsZero() {
		c.g.Ended = at
	}
	if c.start.see(r); c.start.known { // records behind this one that do not tell are of the same asker
		for ; c.sure < len(c.lines); c.sure++ {
			if c.lines[c.sure].Role == User {
				c.lines[c.sure].Asker = c.start.last
			}
		}
	}
	switch {
	case r.sidechain:
	case is(r.kind, "ai-title"):
		if title := titleOf(r.title); title != "" && wantTitle {
			c.g.Title, c.titled = title, true
		}
	case is(r.kind, "custom-title"):
		if name := titleOf(r.name); name != "" && wantTitle {
			c.g.Title, c.g.Named = name, true
		}
	case said:
		c.say()
	}
}

// say notes what the record says.
func (c *claudePeek) say() {
	content, _ := c.reader.record.said()
	c.g.Failed = c.g.Failed || c.reader.record.failed
	if content == nil {
		return
	}
	t, ok := c.reader.turn(content)
	if !ok || c.began {
		return
	}
	if t.Role == User && c.start.known {
		t.Asker = c.start.last
	}
	prompt := t.Role == User && t.Text != "" && is(c.reader.record.kind, "user")
	c.left = c.left || prompt || c.needle != nil && is(c.reader.record.kind, "attachment") &&
		bytes.Equal(c.needle[len(needleName):], c.reader.record.parent)
	c.linked = c.linked || c.reader.branches.hash(c.reader.record.parent) != 0
	c.lines, c.uuids = append(c.lines, t.line()), append(c.uuids, string(c.reader.record.uuid))
	if c.start.known {
		c.sure = len(c.lines)
	}
	for _, u := range slices.Backward(t.Tools) {
		if u.Path != "" {
			c.paths = append(c.paths, u.Path)
		}
	}
	if prompt {
		var dir string
		first(&dir, c.reader.record.dir, validDir)
		c.g.moved(dir)
	}
	if prompt && c.needle == nil {
		c.follow(t)
	}
}

// follow looks for the record that a prompt continues.
func (c *claudePeek) follow(t Turn) {
	r := &c.reader.record
	switch parent := r.continues(); {
	case isString(parent) && len(parent) > 2:
		c.await(parent)
	case parent != nil && t.Command == "" && c.linked:
		c.began, c.asked = true, t.Text
	}
}

// needleName is what stands before the id of a record in its line.
const needleName = `"uuid":`

func (c *claudePeek) await(id []byte) {
	c.needle, c.left = append([]byte(needleName), id...), false
	c.from = [2]int{len(c.lines), len(c.paths)}
}

// reach is called at the record that was looked for: a branch in between was left.
func (c *claudePeek) reach() {
	if c.left {
		c.lines, c.uuids, c.paths = c.lines[:c.from[0]], c.uuids[:c.from[0]], c.paths[:c.from[1]]
		c.sure = min(c.sure, len(c.lines))
	}
	c.needle, c.left = nil, false
}
