package agent

import (
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

const (
	maxUUIDs     = 1 << 20 // records whose uuid is remembered; beyond it duplicates go unnoticed
	maxPending   = 4096    // tool uses that wait for their result
	maxSummaries = 1000
	maxAlso      = 64
)

// ReadSession implements SessionSource.
func (claude) ReadSession(r io.Reader, limits Limits) (*Session, error) {
	limits = limits.withDefaults()
	c := newClaudeReader(limits)
	lines := newLineReader(r, limits)
	for {
		l, err := lines.read()
		c.line(l)
		if errors.Is(err, io.EOF) {
			return c.finish(), nil
		}
		if err != nil {
			return c.finish(), err
		}
	}
}

// A claudeReader turns lines into a session.
type claudeReader struct {
	limits  Limits
	session Session
	files   fileList
	uuids   map[uint64]struct{}
	seed    maphash.Seed
	pending map[string]*ToolUse
	kept    int // bytes held by the turns
	start   starter
	record  claudeRecord
}

func newClaudeReader(limits Limits) *claudeReader {
	return &claudeReader{
		limits:  limits,
		uuids:   make(map[uint64]struct{}),
		seed:    maphash.MakeSeed(),
		pending: make(map[string]*ToolUse),
	}
}

func (c *claudeReader) finish() *Session {
	c.session.files = c.files.list
	return &c.session
}

// line takes one line of the file.
func (c *claudeReader) line(l line) {
	s := &c.session
	text := trimLine(l.text)
	if !l.whole && (l.long || len(text) == 0) {
		if l.long {
			s.Skipped.Partial++
		}
		return
	}
	var object bool
	var err error
	if len(text) > 0 {
		object, err = c.record.read(text)
	}
	if err != nil && !l.whole {
		s.Skipped.Partial++
		return
	}
	s.Next = l.end
	switch {
	case l.long:
		s.Skipped.Oversized++
	case len(text) == 0:
		s.Skipped.Blank++
	case err != nil:
		s.Skipped.NotJSON++
	case !object:
		s.Skipped.NotObject++
	default:
		c.facts()
		c.take(l.offset)
	}
}

// facts notes what any record may tell about the session.
func (c *claudeReader) facts() {
	s, r := &c.session, &c.record
	if at, ok := r.at(); ok {
		if s.Started.IsZero() {
			s.Started = at
		}
		s.Ended = at
	}
	if !is(r.session, s.ID) && isString(r.session) {
		if id := unquote(r.session); !ValidID(id) {
			// not a name that we could give to a file
		} else if s.ID == "" {
			s.ID = id
		} else if !slices.Contains(s.Also, id) && len(s.Also) < maxAlso {
			s.Also = append(s.Also, id)
		}
	}
	first := func(field *string, value []byte, valid func(string) bool) {
		if *field == "" && isString(value) {
			if v := unquote(value); valid(v) {
				*field = v
			}
		}
	}
	first(&s.Dir, r.dir, validDir)
	first(&s.Branch, r.branch, validBranch)
	first(&s.Version, r.version, func(v string) bool { return len(v) <= 64 && !hasControl(v) })
	c.start.see(r.entry)
	s.Headless = c.start.headless()
}

// take files the record under what it is.
func (c *claudeReader) take(offset int64) {
	s, r := &c.session, &c.record
	if r.sidechain {
		s.Skipped.Sidechain++
		return
	}
	if is(r.kind, "ai-title") {
		if title := titleOf(r.title); title != "" {
			s.Title = title
		}
		return
	}
	if is(r.kind, "summary") {
		if text := strings.TrimSpace(StripInjected(unquote(r.summary))); text != "" && len(s.Summaries) < maxSummaries {
			s.Summaries = append(s.Summaries, clip(text, 64<<10))
		}
		return
	}
	content, meta := r.said()
	s.Failed = s.Failed || r.failed
	switch {
	case meta:
		s.Skipped.Meta++
		return
	case content == nil:
		s.Skipped.Other++
		return
	case c.duplicate():
		s.Skipped.Duplicate++
		return
	}
	if t, ok := c.turn(content); ok {
		t.UUID, t.Offset = clip(unquote(r.uuid), 128), offset
		t.At, _ = r.at()
		c.keep(t)
	}
}

// turn reads what the record says. The output of a local command is no word of the user.
func (c *claudeReader) turn(content []byte) (t Turn, ok bool) {
	if is(c.record.kind, "assistant") {
		return c.assistant(content)
	}
	t, ok = c.user(content)
	return t, ok && (!is(c.record.kind, "system") || t.Command != "")
}

// A starter knows how a session was started, by the member entrypoint of its
// records. An agent that a program runs says "sdk-cli", "sdk-ts" and the like.
type starter struct{ program, person bool }

func (s *starter) see(entry []byte) {
	switch entry := unquote(entry); {
	case entry == "":
	case strings.HasPrefix(entry, "sdk"):
		s.program = true
	default:
		s.person = true
	}
}

func (s starter) headless() bool { return s.program && !s.person }

// titleOf reads the title that the harness made for a session: one line.
func titleOf(value []byte) string {
	return clip(strings.Join(strings.Fields(StripInjected(unquote(value))), " "), 256)
}

// duplicate reports whether a record with this uuid was met before. Only
// records that say something are asked, so that a broken one does not hide the
// whole one that follows it.
func (c *claudeReader) duplicate() bool {
	if !isString(c.record.uuid) {
		return false
	}
	id := maphash.Bytes(c.seed, c.record.uuid)
	_, dup := c.uuids[id]
	if !dup && len(c.uuids) < maxUUIDs {
		c.uuids[id] = struct{}{}
	}
	return dup
}

// user reads a user's message: words, and the results of tools.
func (c *claudeReader) user(content []byte) (Turn, bool) {
	var u utterance
	eachBlock(content, func(b claudeBlock) {
		switch {
		case is(b.kind, "text"):
			u.add(unquote(b.text))
		case is(b.kind, "tool_result"):
			c.result(b)
		}
	})
	t, ok := u.turn()
	t.Text = clip(t.Text, c.limits.Text)
	return t, ok && (t.Text != "" || t.Interrupted)
}

// result puts a tool's result beside its use.
func (c *claudeReader) result(b claudeBlock) {
	id := unquote(b.useID)
	use := c.pending[id]
	if use == nil || id == "" {
		c.session.Skipped.Orphan++
		return
	}
	delete(c.pending, id)
	var texts []string
	eachBlock(b.content, func(part claudeBlock) {
		if is(part.kind, "text") {
			texts = append(texts, cutReminders(StripInjected(unquote(part.text))))
		}
	})
	use.Result = clip(strings.Join(texts, "\n"), c.limits.Result)
	use.Error = b.isError
	c.kept += len(use.Result)
}

// assistant reads an assistant's message: texts and tool uses. Thinking is left out.
func (c *claudeReader) assistant(content []byte) (Turn, bool) {
	t := Turn{Role: Assistant}
	var texts []string
	eachBlock(content, func(b claudeBlock) {
		switch {
		case is(b.kind, "text"):
			if text := strings.TrimSpace(StripInjected(unquote(b.text))); text != "" {
				texts = append(texts, text)
			}
		case is(b.kind, "tool_use"):
			use := ToolUse{
				ID:    clip(unquote(b.id), 256),
				Name:  clip(unquote(b.name), 256),
				Path:  b.edited(),
				Input: boundInput(b.input, c.limits.Input),
			}
			c.files.add(use.Path)
			t.Tools = append(t.Tools, use)
		}
	})
	t.Text = clip(strings.Join(texts, "\n"), c.limits.Text)
	// The list does not grow any more, so results can point into it.
	for i := range t.Tools {
		if len(c.pending) >= maxPending {
			clear(c.pending)
		}
		c.pending[t.Tools[i].ID] = &t.Tools[i]
	}
	return t, t.Text != "" || len(t.Tools) > 0
}

// keep appends a turn. When the turns grow beyond Limits.Total, the oldest ones
// behind the first quarter go: how a session began and how it ended matter most.
func (c *claudeReader) keep(t Turn) {
	s := &c.session
	s.Turns = append(s.Turns, t)
	if t.Role == Assistant && t.Text != "" {
		s.outcome = t.Text
	}
	if c.kept += t.size(); c.kept <= c.limits.Total {
		return
	}
	c.kept = 0 // counted anew: results may have gone to turns that were dropped since
	from, head := -1, 0
	for i := range s.Turns {
		size := s.Turns[i].size()
		if c.kept += size; from < 0 && c.kept > c.limits.Total/4 {
			from, head = i, c.kept-size
		}
	}
	to := from
	for to < len(s.Turns)-1 && c.kept > max(head, c.limits.Total/8*7) {
		c.kept -= s.Turns[to].size()
		to++
	}
	s.Turns = slices.Delete(s.Turns, from, to)
	s.Skipped.Dropped += to - from
}

// size is about what a turn holds in memory.
func (t *Turn) size() int {
	n := 160 + len(t.Text) + len(t.UUID)
	for _, u := range t.Tools {
		n += 128 + len(u.ID) + len(u.Name) + len(u.Path) + len(u.Input) + len(u.Result)
	}
	return n
}
