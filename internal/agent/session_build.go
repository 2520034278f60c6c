package agent

import (
	"bytes"
	"slices"
	"strings"
	"time"

	textform "anamnesis/internal/text"
)

const (
	maxPending = 4096 // tool uses that wait for their result
	maxAlso    = 64
)

// A builder puts a session together from what the records of any agent say. It holds
// what Limits allow.
type builder struct {
	limits  Limits
	session Session
	files   fileList
	pending map[string]*ToolUse
	kept    int // bytes held by the turns
	rewinds int
	times   span
	begins  map[string]int64 // of records that a user may go back to: where each begins, by id
	dir     []byte           // the last record of a folder, as JSON
	where   *Where           // of the turns that follow
}

func newBuilder(limits Limits) builder {
	return builder{limits: limits.withDefaults(), pending: make(map[string]*ToolUse)}
}

// finish returns the session as it is by now.
func (c *builder) finish() *Session {
	c.session.files = c.files.list
	return &c.session
}

// seen notes the time of a record.
func (c *builder) seen(at time.Time) {
	c.times.add(at)
	c.session.Started, c.session.Ended = c.times.within()
}

// named notes an id of the session. The first counts.
func (c *builder) named(id string) {
	switch s := &c.session; {
	case !ValidID(id) || id == s.ID: // not a name that we could give to a file, or nothing new
	case s.ID == "":
		s.ID = id
	case !slices.Contains(s.Also, id) && len(s.Also) < maxAlso:
		s.Also = append(s.Also, id)
	}
}

// first takes a value into a field that has none yet, if it may stand there.
func first(field *string, value []byte, valid func(string) bool) {
	if *field == "" && isString(value) {
		if v := decode(value); valid(v) {
			*field = v
		}
	}
}

// at notes the folder and the branch of a record, as JSON strings. They are those of the turns that follow.
func (c *builder) at(dir, branch []byte) {
	s := &c.session
	first(&s.Dir, dir, validDir)
	first(&s.Branch, branch, validBranch)
	if len(dir) == 0 || bytes.Equal(dir, c.dir) {
		return
	}
	c.dir = bytes.Clone(dir)
	var w Where
	first(&w.Dir, dir, validDir)
	first(&w.Branch, branch, validBranch)
	switch w.Dir {
	case "":
	case s.Dir:
		c.where = nil
	default:
		c.where = &w
	}
}

func isVersion(v string) bool { return len(v) <= 64 && !hasControl(v) }

// await remembers the tools of a turn, whose results come later. The list must not
// grow any more: results point into it.
func (c *builder) await(tools []ToolUse) {
	for i := range tools {
		if len(c.pending) >= maxPending {
			clear(c.pending)
		}
		c.pending[tools[i].ID] = &tools[i]
	}
}

// waiting returns the tool use that waits for a result, nil when there is none.
func (c *builder) waiting(id string) *ToolUse {
	use := c.pending[id]
	if use == nil || id == "" {
		c.session.Skipped.Orphan++
		return nil
	}
	delete(c.pending, id)
	return use
}

// answer stores the result of a tool use; of a progress bar it keeps the last state.
func (c *builder) answer(use *ToolUse, result string, failed bool) {
	use.Result, use.Error = clip(textform.Overwritten(result), c.limits.Result), failed
	c.kept += len(use.Result)
}

// use makes the record of a tool that the agent used. Of the files that it edits the
// first is its path; the others are noted, too.
func (c *builder) use(tools []tool, id, name string, input []byte) ToolUse {
	u := ToolUse{ID: clip(id, 256), Name: clip(name, 256), Input: boundInput(input, c.limits.Input)}
	for _, t := range tools {
		if t.name != name {
			continue
		}
		u.Name = t.as
		if t.kind == editTool || t.kind == patchTool {
			for _, file := range callOf(t.kind, Event{ToolInput: input}).Files {
				if validFile(file) {
					if u.Path == "" {
						u.Path = file
					}
					c.files.add(file)
				}
			}
		}
		break
	}
	return u
}

// said keeps what one speaker said, without what we injected.
func (c *builder) said(t Turn) {
	t.Text = clip(strings.TrimSpace(StripInjected(t.Text)), c.limits.Text)
	t.Spans = shorten(t.Spans, len(t.Text))
	if t.Role == User && isCommand(t.Text) {
		t.Command = t.Text
	}
	if t.Text != "" || len(t.Tools) > 0 || t.Interrupted {
		c.await(t.Tools)
		c.keep(t)
	}
}

// maxReplaced is how many turns back one is looked for that a later record replaces.
const maxReplaced = 2000

// replace puts a turn in the place of the one with its id. It reports false when that is
// not there any more.
func (c *builder) replace(t Turn) bool {
	t.Text = clip(strings.TrimSpace(StripInjected(t.Text)), c.limits.Text)
	t.Spans = shorten(t.Spans, len(t.Text))
	turns := c.session.Turns
	for i := len(turns) - 1; i >= max(0, len(turns)-maxReplaced); i-- {
		if turns[i].UUID == t.UUID && turns[i].Role == t.Role {
			t.Offset, t.Where = turns[i].Offset, turns[i].Where // where it began
			if t.Role == User && isCommand(t.Text) {
				t.Command = t.Text
			}
			c.kept += t.size() - turns[i].size()
			turns[i] = t
			c.session.Skipped.Duplicate++
			return true
		}
	}
	return false
}

// keep appends a turn. When the turns grow beyond Limits.Total, the oldest ones
// behind the first quarter go: how a session began and how it ended matter most.
func (c *builder) keep(t Turn) {
	s := &c.session
	t.Where = c.where
	s.Turns = append(s.Turns, t)
	if c.kept += t.size(); c.kept <= c.limits.Total {
		return
	}
	c.kept = 0 // recounted: results may have gone to turns that were dropped since
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

// record notes where the record with an id begins, for backTo.
func (c *builder) record(id string, offset int64) {
	if c.begins == nil {
		c.begins = make(map[string]int64)
	}
	if _, ok := c.begins[id]; !ok && id != "" && len(c.begins) < maxUUIDs {
		c.begins[id] = offset
	}
}

// maxRewinds is how often a user goes back in one session: each time all turns are looked at.
const maxRewinds = 4096

// goesBack counts how often the user went back, and reports whether that is still followed.
func (c *builder) goesBack() bool {
	c.rewinds++
	return c.rewinds <= maxRewinds
}

// backTo notes that the user went back to before the record with an id; to the beginning, where that
// is not known.
func (c *builder) backTo(id string) {
	if !c.goesBack() {
		return
	}
	turns := c.session.Turns
	from := c.begins[id]
	at := slices.IndexFunc(turns, func(t Turn) bool { return t.UUID == id && !t.TakenBack })
	for i := range turns {
		if at >= 0 && i >= at || at < 0 && turns[i].Offset >= from {
			turns[i].TakenBack = true
		}
	}
}

// backBy notes that the user took back the last prompts, so many, and what came of them.
func (c *builder) backBy(prompts int) {
	if !c.goesBack() {
		return
	}
	turns := c.session.Turns
	for i := len(turns) - 1; i >= 0 && prompts > 0; i-- {
		t := &turns[i]
		if t.Role == User && t.Text != "" && !t.TakenBack {
			prompts--
		}
		t.TakenBack = true
	}
}

// splitTaken ends a reading: turns that were marked as taken back leave the talk.
func (c *builder) splitTaken() { c.takeBack(func(*Turn) bool { return false }) }

// takeBack takes the turns that the user took back out of the talk. left tells which those are.
func (c *builder) takeBack(left func(*Turn) bool) {
	s := &c.session
	var kept []Turn
	all := s.All()
	for i := range all {
		t := &all[i]
		if t.TakenBack = t.TakenBack || left(t); !t.TakenBack {
			kept = append(kept, *t)
		}
	}
	if len(kept) == len(s.Turns) {
		return
	}
	s.Turns, s.all = kept, all
	c.files = c.files.without(all)
}

// size is about what a turn holds in memory.
func (t *Turn) size() int {
	n := 184 + len(t.Text) + len(t.UUID) + 32*len(t.Spans)
	for _, u := range t.Tools {
		n += 128 + len(u.ID) + len(u.Name) + len(u.Path) + len(u.Input) + len(u.Result)
	}
	return n
}
