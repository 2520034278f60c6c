package learn

import (
	"fmt"
	"hash/maphash"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
)

// A Circle is a stretch in which the agent did the same again and again: one call three
// times, or two calls by turns.
type Circle struct {
	Turn  int    // of the last call
	Tool  string // its name
	What  string // the command line or file, "" when the call has none
	Times int
	Swing bool // it went between two calls
}

// The bounds of a circle.
const (
	circleRepeat = 3 // calls in a row
	circleSwing  = 4 // calls of A, B, A, B
)

// Circles finds them in a session, in its order. A longer one is found once: the count
// goes on as long as nothing else is called. What the user says in between ends one.
func Circles(s *agent.Session) []Circle { return circlesOf(s.Turns) }

type toolCall struct {
	key  uint64
	turn int
	use  *agent.ToolUse
}

func circlesOf(turns []agent.Turn) (all []Circle) {
	var calls []toolCall
	open := false // the last circle may go on
	seed := maphash.MakeSeed()
	for i := range turns {
		if turns[i].Human() || turns[i].Interrupted {
			calls, open = nil, false
			continue
		}
		for j := range turns[i].Tools {
			if turns[i].Tools[j].Own {
				continue
			}
			c := toolCall{turns[i].Tools[j].Hash(seed), i, &turns[i].Tools[j]}
			if open && c.key == calls[len(calls)-1].key {
				all[len(all)-1].Times++
				all[len(all)-1].Turn = i
				continue
			}
			if open {
				calls, open = nil, false
			}
			if calls = append(calls, c); len(calls) > circleSwing {
				calls = calls[1:]
			}
			if found, ok := circleAt(calls); ok {
				all, open = append(all, found), !found.Swing
				if found.Swing {
					calls = nil
				}
			}
		}
	}
	return all
}

// circleAt reports whether the last calls are a circle.
func circleAt(calls []toolCall) (Circle, bool) {
	n := len(calls)
	same := func(a, b int) bool { return calls[n-a].key == calls[n-b].key }
	c := Circle{}
	switch {
	case n >= circleRepeat && same(1, 2) && same(2, circleRepeat):
		c.Times = circleRepeat
	case n >= circleSwing && same(1, 3) && same(2, circleSwing) && !same(1, 2):
		c.Times, c.Swing = circleSwing/2, true
	default:
		return Circle{}, false
	}
	last := calls[n-1]
	c.Turn, c.Tool, c.What = last.turn, last.use.Name, session.CommandOf(*last.use)
	if c.What == "" {
		c.What = last.use.Path
	}
	return c, true
}

// String tells a circle in a few words.
func (c *Circle) String() string {
	what := c.Tool
	if c.What != "" {
		what = session.Code(c.What)
	}
	if c.Swing {
		return fmt.Sprintf("%s by turns with another call, %d times each", what, c.Times)
	}
	return fmt.Sprintf("%s %d times in a row", what, c.Times)
}

// armedFor is how long an event bears on what the user says next.
const armedFor = 10 * time.Minute

// armed returns the last event of a kind shortly before what is said in a turn, and after
// what was said before that; nil when there is none.
func armed(turns []agent.Turn, noted []Observed, at int, kind ObservedKind) *Observed {
	now := turns[at].At
	since := now.Add(-armedFor)
	if from := before(turns, at); from < at && turns[from].Human() && turns[from].At.After(since) {
		since = turns[from].At
	}
	for i := len(noted) - 1; i >= 0; i-- {
		if n := &noted[i]; n.Kind == kind && !n.At.After(now) && n.At.After(since) {
			return n
		}
	}
	return nil
}
