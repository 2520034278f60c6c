package agent

import (
	"strings"

	textform "anamnesis/internal/text" // text is a value of settings here
)

// An Author says how a stretch of a user's record came into it.
type Author string

// The authors.
const (
	Typed    Author = "typed"    // by the user, key by key as far as anybody can see
	Attached Author = "attached" // by the client: a file, a selection, what a command printed, a summary
	Pasted   Author = "pasted"   // by the user, from elsewhere: a log, code, a page
	Quoted   Author = "quoted"   // by the user, marked as another's words: "> …"
)

// A Span is a stretch of Turn.Text: From is its first byte, To the one behind its last.
type Span struct {
	From, To int
	By       Author
}

// Authors divides the text of a user's turn into spans, ordered, disjoint and without a gap; none for an
// assistant's turn. It looks into the text at each call: reading a session does not pay for it.
func (t *Turn) Authors() (out []Span) {
	if t.Role != User || t.Text == "" {
		return nil
	}
	add := func(from, to int, by Author) {
		switch n := len(out); {
		case from >= to:
		case n > 0 && out[n-1].By == by && out[n-1].To == from:
			out[n-1].To = to
		default:
			out = append(out, Span{from, to, by})
		}
	}
	done := 0
	for _, s := range t.parts() {
		add(done, s.From, Attached)
		done = s.To
		if s.By != Typed {
			add(s.From, s.To, s.By)
			continue
		}
		at := s.From
		for _, foreign := range foreignIn(t.Text[s.From:s.To]) {
			add(at, s.From+foreign.From, Typed)
			at = s.From + foreign.To
			add(s.From+foreign.From, at, foreign.By)
		}
		add(at, s.To, Typed)
	}
	add(done, len(t.Text), Attached)
	return out
}

// parts returns the spans of the text as the client marks them.
func (t *Turn) parts() []Span {
	if t.Spans == nil {
		from := 0
		if t.Command != "" { // its arguments
			from = min(len(t.Command), len(t.Text))
		}
		return []Span{{from, len(t.Text), Typed}}
	}
	return t.Spans
}

// foreignIn finds what in a typed text is not the user's own: what was pasted, and beside it
// what is quoted.
func foreignIn(s string) (out []Span) {
	pasted, quoted := textform.Pasted(s), textform.Quoted(s)
	for _, q := range quoted {
		for len(pasted) > 0 && pasted[0].From < q.To {
			p := pasted[0]
			if p.To > q.From { // pasted from before the quote, or within it: pasted covers it
				q.From = min(max(q.From, p.To), q.To)
			}
			if p.To > q.To && p.From >= q.From {
				break
			}
			out = append(out, Span{p.From, p.To, Pasted})
			pasted = pasted[1:]
		}
		if q.From < q.To {
			out = append(out, Span{q.From, q.To, Quoted})
		}
	}
	for _, p := range pasted {
		out = append(out, Span{p.From, p.To, Pasted})
	}
	return out
}

// Typed returns, in order, the stretches of the text that a person typed: without what the
// client attached, what was visibly pasted and what is quoted. Of a slash command these are
// its arguments. Each is trimmed and none is empty. A program types nothing.
func (t *Turn) Typed() (out []string) {
	if t.Asker == Program {
		return nil
	}
	for _, s := range t.Authors() {
		if s.By != Typed {
			continue
		}
		if own := strings.TrimSpace(t.Text[s.From:s.To]); own != "" {
			out = append(out, own)
		}
	}
	return out
}
