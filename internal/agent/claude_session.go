package agent

import (
	"errors"
	"hash/maphash"
	"io"
	"strings"
)

const (
	maxUUIDs     = 1 << 20 // records whose uuid is remembered; beyond it duplicates go unnoticed
	maxSummaries = 1000
)

// ReadSession implements SessionSource.
func (claude) ReadSession(r io.Reader, limits Limits) (*Session, error) {
	return readClaude(r, limits, false)
}

// readClaude reads the records of a session, or of one of its sub-agents.
func readClaude(r io.Reader, limits Limits, subagent bool) (*Session, error) {
	limits = limits.withDefaults()
	c := newClaudeReader(limits)
	c.subagent = subagent
	lines := newLineReader(r, limits)
	for {
		l, err := lines.read()
		c.line(l)
		if err != nil {
			c.branches.decide()
			c.takeBack(func(t *Turn) bool { return c.branches.left(t.Offset) })
			if errors.Is(err, io.EOF) {
				err = nil
			}
			c.session.markCopied()
			return c.finish(), err
		}
	}
}

// A claudeReader turns lines into a session.
type claudeReader struct {
	builder
	uuids    map[uint64]struct{}
	seed     maphash.Seed
	start    starter
	record   claudeRecord
	branches branchTree
	subagent bool // the records of a sub-agent are read, which are the sidechain of its session
}

func newClaudeReader(limits Limits) *claudeReader {
	return &claudeReader{
		builder:  newBuilder(limits),
		uuids:    make(map[uint64]struct{}),
		seed:     maphash.MakeSeed(),
		branches: newBranchTree(),
	}
}

// line takes one line of the file.
func (c *claudeReader) line(l line) {
	s := &c.session
	text := trimLine(l.text)
	if !l.whole && (l.long || len(text) == 0) {
		if l.long || lost(l.text) {
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
	if len(text) > 0 && err == nil && lost(l.text) { // what stood before the record
		s.Skipped.NotJSON++
	}
	switch {
	case l.long:
		s.Skipped.Oversized++
	case lost(l.text) && len(text) == 0:
		s.Skipped.NotJSON++
	case len(text) == 0:
		s.Skipped.Blank++
	case err != nil:
		s.Skipped.NotJSON++
	case !object:
		s.Skipped.NotObject++
	default:
		c.record.sidechain = c.record.sidechain && !c.subagent
		c.facts()
		if kind := c.take(l.offset); !c.record.sidechain {
			c.branches.add(c.record.uuid, c.record.continues(), kind, l.offset)
		}
	}
}

// facts notes what any record may tell about the session.
func (c *claudeReader) facts() {
	s, r := &c.session, &c.record
	if at, ok := r.at(); ok {
		c.seen(at)
	}
	if !is(r.session, s.ID) && isString(r.session) {
		c.named(unquote(r.session))
	}
	if first(&s.Dir, r.dir, validDir); !r.sidechain { // a sub-agent may work elsewhere
		c.at(r.dir, r.branch)
	}
	first(&s.Branch, r.branch, validBranch)
	first(&s.Version, r.version, isVersion)
	c.start.see(r)
	s.Headless = c.start.headless()
}

// take files the record under what it is, and returns what it means for the branches.
func (c *claudeReader) take(offset int64) (kind recordKind) {
	s, r := &c.session, &c.record
	if r.sidechain {
		s.Skipped.Sidechain++
		return otherRecord
	}
	if is(r.kind, "user") || is(r.kind, "assistant") {
		kind = talkRecord
	}
	if is(r.kind, "last-prompt") && r.explicit {
		c.branches.back(r.leaf)
	}
	if is(r.kind, "ai-title") {
		if title := titleOf(r.title); title != "" && !s.Named {
			s.Title = title
		}
		return kind
	}
	if is(r.kind, "custom-title") {
		if name := titleOf(r.name); name != "" {
			s.Title, s.Named = name, true
		}
		return kind
	}
	if is(r.kind, "summary") {
		if text := strings.TrimSpace(StripInjected(unquote(r.summary))); text != "" && len(s.Summaries) < maxSummaries {
			s.Summaries = append(s.Summaries, clip(text, 64<<10))
		}
		return kind
	}
	content, meta := r.said()
	s.Failed = s.Failed || r.failed
	switch {
	case meta:
		s.Skipped.Meta++
		return kind
	case content == nil:
		s.Skipped.Other++
		return kind
	case c.duplicate():
		s.Skipped.Duplicate++
		return kind
	}
	if t, ok := c.turn(content); ok {
		t.UUID, t.Offset = clip(unquote(r.uuid), 128), offset
		t.At, _ = r.at()
		if t.Role == User {
			t.Asker = c.start.last
		}
		c.keep(t)
		switch {
		case t.Role != User || t.Text == "":
		case kind == talkRecord && (t.Command == "" || isString(r.continues())):
			kind = promptRecord
		case is(r.kind, "attachment"):
			kind = steerRecord
		}
	}
	return kind
}

// turn reads what the record says. The output of a local command is no word of the user.
func (c *claudeReader) turn(content []byte) (t Turn, ok bool) {
	if is(c.record.kind, "assistant") {
		return c.assistant(content)
	}
	t, ok = c.user(content)
	return t, ok && (!is(c.record.kind, "system") || t.Command != "")
}

// A starter knows whether a person or a program runs a session, or each in turn.
type starter struct {
	program, person bool
	last            Asker // as far as the last record that tells
	known           bool  // the last record says it
}

// see takes what one record says of it.
func (s *starter) see(r *claudeRecord) {
	asker, known := r.asker()
	if s.known = known; !known {
		return
	}
	s.last = asker
	s.program, s.person = s.program || asker == Program, s.person || asker == Person
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
	u := utterance{plan: unquote(c.record.plan) != ""}
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
	t.Spans = shorten(t.Spans, len(t.Text))
	return t, ok && (t.Text != "" || t.Interrupted)
}

// result puts a tool's result beside its use.
func (c *claudeReader) result(b claudeBlock) {
	use := c.waiting(unquote(b.useID))
	if use == nil {
		return
	}
	var texts []string
	eachBlock(b.content, func(part claudeBlock) {
		if is(part.kind, "text") {
			texts = append(texts, cutReminders(StripInjected(unquote(part.text))))
		}
	})
	c.answer(use, strings.Join(texts, "\n"), b.isError)
	switch {
	case use.Name == "AskUserQuestion" && !b.isError: // a tool of the client: no other writes its result
		use.Reply = clip(answers(member(c.record.answer, "answers")), c.limits.Text)
	case c.record.denial != nil:
		c.deniedBy(use)
	case b.isError:
		c.denied(use)
	}
}

// answers joins what the user answered to the agent's questions: a text for each, or several.
func answers(value []byte) string {
	var all []string
	add := func(value []byte) {
		if text := strings.TrimSpace(StripInjected(unquote(value))); text != "" {
			all = append(all, text)
		}
	}
	_, _ = eachMember(value, func(_, answer []byte) {
		if isString(answer) {
			add(answer)
			return
		}
		eachElement(answer, add)
	})
	return strings.Join(all, "\n\n")
}

// deniedBy notes that a use was refused where the record says by whom: then no tool wrote its text. The client calls a
// refusal by its mode or its settings rejected by the user as well; its verdict tells them apart.
func (c *claudeReader) deniedBy(use *ToolUse) {
	source := unquote(member(c.record.verdict, "source"))
	if !is(c.record.denial, "user-rejected") || source != "" && !strings.HasPrefix(source, "user_") {
		return
	}
	use.Error, use.Denied = true, true
	if _, said, ok := strings.Cut(use.Result, refusedTail); ok {
		use.Reply = clip(strings.TrimSpace(said), c.limits.Text)
	}
}

// Texts with which the harness says that the user refused the use of a tool.
const (
	refused     = "The user doesn't want to proceed with this tool use."
	refusedTail = "the user said:\n"
)

// denied notes that the user refused a use, and with which words. The text stands where
// what a tool printed stands too, so it says whose words they are only where the harness
// puts its own words before a failure: not for tools of other servers, and not in the
// first version, whose shell printed what it was given.
func (c *claudeReader) denied(use *ToolUse) {
	rest, ok := strings.CutPrefix(use.Result, refused)
	if !ok {
		return
	}
	use.Denied = true
	first, _, _ := strings.Cut(c.session.Version, ".")
	if strings.HasPrefix(use.Name, "mcp__") || use.Path == "" && (first == "" || first == "0" || first == "1") {
		return
	}
	if _, said, ok := strings.Cut(rest, refusedTail); ok {
		use.Reply = clip(strings.TrimSpace(said), c.limits.Text)
	}
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
	c.await(t.Tools)
	return t, t.Text != "" || len(t.Tools) > 0
}
