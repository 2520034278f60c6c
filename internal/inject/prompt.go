package inject

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A Reminder is what a session is shown at a prompt: the few notes that the prompt is
// about, each once.
type Reminder struct {
	Block
	Silent string       // why nothing is shown; "" when something is
	Tokens int          // of the text, an estimate
	Near   []store.Near // what was nearly shown
	Parts  []recall.Part
}

// A frame is what stands around the notes of a reminder. It is short: what it costs is
// paid at every one.
type frame struct {
	heading, preamble string
	body              func(*note.Note) string // what of a note is shown below its title
	tokens            int                     // of all, at most
	lines             []string                // shown before the notes, one a line
}

var promptFrame = frame{
	heading:  "# Memory for this prompt",
	preamble: frameIntro,
	body:     promptText,
}

// frameIntro says what the notes in a frame are.
const frameIntro = "From earlier sessions. What is from your user holds; check the rest against the code."

// promptRead is how many notes are read for one part of a prompt: those that were shown
// before take no place away.
const promptRead = 12

// leastBody is the room, in characters, below which a note's body is not worth a cut.
const leastBody = 60

// Prompt returns what a session at p is shown when its user says something: what arrived since
// the session started, once, and what memory has to say to the plan of the prompt. q says which
// notes may be shown. What is returned counts as shown.
func (in *Injector) Prompt(ctx context.Context, p Place, q recall.Query, plan recall.Plan) (Reminder, error) {
	shown := in.store.Spool().ShownLog(p.Session, p.Agent)
	st, err := shown.State()
	if err != nil {
		return Reminder{}, err
	}
	var r Reminder
	var notes []*note.Note
	if p.Agent == "" && !st.Started.IsZero() && !st.Prompted && p.Session != "" {
		if notes, err = in.arrived(ctx, p, &st); err != nil {
			return r, err
		}
	}
	if p.Work != nil {
		plan = plan.Finding(p.Work)
	}
	var again []*note.Note
	r.Parts, r.Silent = plan.Parts, plan.Silent
	if plan.Silent == "" {
		q.K = promptRead
		advice, err := in.engine.Advise(ctx, q, plan)
		if err != nil {
			return r, err
		}
		r.Parts = advice.Parts
		var answers []*note.Note
		answers, again = r.sort(p, &st, advice.Hits)
		notes = append(notes, answers...)
		for _, held := range advice.Held {
			r.Near = append(r.Near, store.Near{ID: held.Near, Why: held.Why})
		}
	}
	var looked Block
	notes = r.choose(in.sift(ctx, p, notes, &looked), st.Has, promptNotes)
	if p.Session != "" { // what nobody knows the session of is not remembered
		if notes, err = claimFrom(shown.Claim, notes); err != nil {
			return r, err
		}
		again = again[:min(len(again), max(0, promptNotes-len(notes)))]
		if err := shown.ShowLines(injections(slices.Concat(notes, again))...); err != nil {
			return r, err
		}
	}
	f := promptFrame
	f.tokens = in.opts.PromptTokens
	if f.lines, err = in.solved(p, plan, shown); err != nil {
		return r, err
	}
	r.Block = in.remind(notes, again, p, f, looked)
	r.Tokens = recall.Tokens(r.Text)
	switch {
	case len(notes)+len(again)+len(f.lines) > 0:
		r.Silent = ""
	case r.Silent == "" && slices.ContainsFunc(r.Near, func(n store.Near) bool { return n.Why == shownBefore || n.Why == onPage }):
		r.Silent = "what there is was shown before"
	case r.Silent == "":
		r.Silent = "no note is about it"
	}
	return r, nil
}

// solved returns the line of the exchange that solved an error of a prompt before, once a session.
func (in *Injector) solved(p Place, plan recall.Plan, shown *store.ShownLog) ([]string, error) {
	if p.Solved == nil {
		return nil, nil
	}
	for _, part := range plan.Parts {
		if part.Kind != recall.Fault {
			continue
		}
		id, line, err := p.Solved(part.Text)
		if err != nil || line == "" {
			return nil, err
		}
		if p.Session != "" {
			mine, err := shown.Claim(store.Injection{Note: note.ID(id), Hash: "solved"})
			if err != nil || len(mine) == 0 {
				return nil, err
			}
		}
		return []string{"solved before, in the exchange " + id + ": " + line}, nil
	}
	return nil, nil
}

// Why a note is not shown at a prompt.
const (
	shownBefore = "it was shown before"
	onPage      = "its line is on the page, and the prompt does not name it"
)

// The certainty from which on a note that the session has not seen answers a prompt: about four of
// five such notes are wanted (docs/eval.md).
const (
	sureEnough = 3.5
	sureNamed  = 1.5 // of one that the prompt names; one about a file in work needs no more than any certainty
)

// sure reports whether an answer is certain enough. line says that the session knows its line.
func sure(h recall.Advised, line bool) bool {
	return line || h.Certainty >= sureEnough || h.InWork || h.Named && h.Certainty >= sureNamed
}

// repeatAfter is how many prompts after a line was shown it may be repeated, once: long sessions
// lose sight of what stood at their start.
const repeatAfter = 20

// sort parts the answers to a prompt. A note whose line the session knows is opened only when the
// prompt names it, one that it does not know must be sure; a note of a session answers nothing.
// again are notes that were shown long ago and that the prompt names.
func (r *Reminder) sort(p Place, st *store.ShownState, hits []recall.Advised) (answers, again []*note.Note) {
	for _, h := range hits {
		n := h.Note
		line, ago := st.Line(n)
		near := func(why string) { r.Near = append(r.Near, store.Near{ID: n.ID, Why: why}) }
		switch {
		case !n.Type.Durable() || n.Kind != "":
			near("notes of sessions are found by a search")
		case p.Session != "" && n.Provenance.Session == p.Session && !line: // it knows
		case line && h.Named && ago >= repeatAfter:
			if st.Has(n) {
				again = append(again, n)
			} else {
				answers = append(answers, n)
			}
		case st.Has(n):
			near(shownBefore)
		case line && !h.Named:
			near(onPage)
		case !sure(h, line):
			near(fmt.Sprintf("certainty %.1f, %.1f is due", h.Certainty, sureEnough))
		default:
			answers = append(answers, n)
		}
	}
	return answers, again
}

func injections(notes []*note.Note) (all []store.Injection) {
	for _, n := range notes {
		all = append(all, store.InjectionOf(n))
	}
	return all
}

// choose takes the first k notes that were not shown, which shown says.
func (r *Reminder) choose(notes []*note.Note, shown func(*note.Note) bool, k int) []*note.Note {
	var chosen []*note.Note
	for _, n := range notes {
		switch {
		case slices.ContainsFunc(chosen, func(c *note.Note) bool { return c.ID == n.ID }):
		case shown(n):
			r.Near = append(r.Near, store.Near{ID: n.ID, Why: shownBefore})
		case len(chosen) == k:
			r.Near = append(r.Near, store.Near{ID: n.ID, Why: fmt.Sprintf("%d others come before it", k)})
		default:
			chosen = append(chosen, n)
		}
	}
	return chosen
}

// claimFrom returns those of the notes that no other hook of the session is showing. of is
// ShownLog.Claim, or that of a surface.
func claimFrom(of func(...store.Injection) ([]store.Injection, error), notes []*note.Note) ([]*note.Note, error) {
	mine, err := of(injections(notes)...)
	return slices.DeleteFunc(notes, func(n *note.Note) bool { return !slices.Contains(mine, store.InjectionOf(n)) }), err
}

// maxArrived is how many notes that arrived after a session's start its first prompt shows.
const maxArrived = 2

// arrived returns the newest handoffs and notes that a sync brought after the session's start.
func (in *Injector) arrived(ctx context.Context, p Place, st *store.ShownState) ([]*note.Note, error) {
	p.Since = st.Started
	rows, err := recall.PageSourceOf(in.engine).Known(ctx, p.Projects, p.Branches)
	if err != nil {
		return nil, err
	}
	waiting, _, err := in.engine.First(ctx, p.Projects)
	if err != nil {
		return nil, err
	}
	var b Block // a note that cannot be read is left out
	notes := in.read(ctx, slices.Concat(since(p, waiting), since(p, rows)), &b)
	notes = slices.DeleteFunc(notes, func(n *note.Note) bool {
		return n.Kind != note.Handoff && n.MachineID == p.Machine // what this machine wrote is of a session beside this one
	})
	return notes[:min(len(notes), maxArrived)], nil
}

// remind renders notes under the budget of a frame, which they share: what one does not need the
// next ones may have. Of the notes again only the lines are shown. looked is what sift found.
func (in *Injector) remind(notes, again []*note.Note, p Place, f frame, looked Block) (b Block) {
	b.Withheld = looked.Withheld
	if len(notes)+len(again)+len(f.lines) == 0 {
		return b
	}
	begin := p.Start + "\n" + f.heading + "\n" + f.preamble + "\n"
	for _, line := range f.lines {
		begin += "- " + oneLine(neutralise(line)) + "\n"
	}
	room := f.tokens*recall.CharsPerToken - utf8.RuneCountInString(begin+p.End) - 1
	if p.Limit > 0 {
		room = min(room, p.Limit-measure(p.Size).of(begin+p.End)-1)
	}
	var out strings.Builder
	out.WriteString(begin)
	all := slices.Concat(notes, again)
	for i, n := range all {
		body := ""
		if i < len(notes) {
			body = f.body(n)
		}
		text, cut := reminderOf(n, body, marks(n, false, looked.moved[n.ID])+p.branchOf(n), room/(len(all)-i))
		out.WriteString(text)
		room -= utf8.RuneCountInString(text)
		b.Shown, b.Injections = append(b.Shown, n.ID), append(b.Injections, store.InjectionOf(n))
		if cut {
			b.Cut = append(b.Cut, n.ID)
		}
	}
	for _, n := range again {
		b.Again = append(b.Again, n.ID)
	}
	b.Text = out.String() + p.End + "\n"
	return b
}

// promptText is what a prompt is shown of a note below its title.
func promptText(n *note.Note) string {
	switch body := strings.TrimSpace(note.Whole(n)); {
	case body == n.Title || body == n.Rule:
		return ""
	default:
		return strings.TrimPrefix(body, "Why: ")
	}
}

// reminderOf renders one note in at most room characters, its title at least, with the marks behind that.
func reminderOf(n *note.Note, body, marks string, room int) (text string, cut bool) {
	head := "- " + oneLine(neutralise(n.Title)) + marks
	if n.Kind == note.Handoff {
		head += " (handed over by an earlier session)"
	}
	id := " [" + shortID(n.ID) + "]\n"
	head = note.CutRunes(head, max(room-len(id), leastBody)) + id
	if body = neutralise(strings.TrimSpace(body)); body == "" {
		return head, false
	}
	body = "  " + strings.ReplaceAll(body, "\n", "\n  ") + "\n"
	left := room - utf8.RuneCountInString(head)
	if utf8.RuneCountInString(body) <= left {
		return head + body, false
	}
	if left < leastBody {
		return head, true
	}
	body = note.CutRunes(body, left-6)
	if i := strings.LastIndexAny(body, " \n"); i > len(body)/2 {
		body = body[:i]
	}
	return head + closeFence(strings.TrimRight(body, " \n")) + " …\n", true
}

// saidMark marks what the user vouches for, where its place does not say so.
const saidMark = " (from your user)"

// marks say in the line of a note who vouches for it, unless its place does, what its user added to it, and what speaks
// against it.
func marks(n *note.Note, laid, moved bool) (s string) {
	switch src := n.Provenance.Source; {
	case laid:
	case n.UserSaid():
		s = saidMark
	case n.Author != "":
	case src == note.Agent:
		s = " (an agent's note" + onWords(n) + ")"
	case src == note.Program, src == note.Guest, note.Changed(n):
		s = " (not confirmed)"
	case n.Learnt():
		s = " (not reviewed" + onWords(n) + ")"
	}
	if n.Author != "" {
		s += " (shared by " + oneLine(n.Author) + ")"
	}
	s += details(n)
	if moved {
		s += " (" + movedOn + ")"
	}
	return s
}

// maxOnWords is how much of the user's words the line of somebody else's note has, in characters.
const maxOnWords = 80

// onWords says on what words of the user an agent or a model rests a note that says more than they do.
func onWords(n *note.Note) string {
	if words := note.TypedWords(n); words != "" {
		return "; your user typed “" + cutLine(oneLine(neutralise(words)), maxOnWords) + "”"
	}
	return ""
}
