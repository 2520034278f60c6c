package agent

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
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
	c := claudePeek{r: r, size: max(size, 0), deadline: deadline}
	settled, err := c.head(min(c.size, headBytes))
	if err == nil {
		err = c.tail(min(c.size, tailBytes))
	}
	c.g.Complete = err == nil && settled && !c.g.Late && c.size <= tailBytes
	return &c.g, err
}

type claudePeek struct {
	r        io.ReaderAt
	size     int64
	deadline time.Time
	g        PeekResult
	record   claudeRecord

	paths []string // edited files, the last edit first
}

func (c *claudePeek) late() bool {
	c.g.Late = c.g.Late || !c.deadline.IsZero() && time.Now().After(c.deadline)
	return c.g.Late
}

// read fills buf from offset; a file that shrank meanwhile gives less.
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
		c.g.ID, c.g.Dir, c.g.Branch, c.g.Version = s.ID, s.Dir, s.Branch, s.Version
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

// tail walks the lines backwards from the end: first the last outcome is found,
// and all the way the edited files are gathered.
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
	slices.Reverse(c.paths)
	var files fileList
	for _, p := range c.paths {
		files.add(p)
	}
	c.g.FilesTouched = files.list
	return nil
}

// line looks at one line, the last ones first. Most are told by a search for a
// few bytes that cannot stand inside a JSON string without a backslash.
func (c *claudePeek) line(text []byte) {
	assistant := bytes.Contains(text, []byte(`"assistant"`))
	wantText := assistant && c.g.LastOutcome == "" && bytes.Contains(text, []byte(`"text"`))
	wantTools := assistant && bytes.Contains(text, []byte(`"tool_use"`)) &&
		(bytes.Contains(text, []byte(`"file_path"`)) || bytes.Contains(text, []byte(`"notebook_path"`)))
	wantTime := c.g.Ended.IsZero() && bytes.Contains(text, []byte(`"timestamp"`))
	if !wantText && !wantTools && !wantTime {
		return
	}
	text = trimLine(text)
	if object, err := c.record.read(text); err != nil || !object {
		return
	}
	r := &c.record
	if at, ok := r.at(); ok && wantTime {
		c.g.Ended = at
	}
	if !wantText && !wantTools || r.sidechain || !is(r.kind, "assistant") {
		return
	}
	content, _ := r.said()
	var texts, paths []string
	eachBlock(content, func(b claudeBlock) {
		switch {
		case wantText && is(b.kind, "text"):
			if t := strings.TrimSpace(StripInjected(unquote(b.text))); t != "" {
				texts = append(texts, t)
			}
		case wantTools && is(b.kind, "tool_use"):
			if p := b.edited(); p != "" {
				paths = append(paths, p)
			}
		}
	})
	if wantText {
		c.g.LastOutcome = clip(strings.Join(texts, "\n"), Limits{}.withDefaults().Text)
	}
	slices.Reverse(paths)
	c.paths = append(c.paths, paths...)
}
