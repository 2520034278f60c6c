package inject

import (
	"context"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// The frame of what a sub-agent is shown at its start.
var agentFrame = frame{
	heading:  "# Memory for this task",
	preamble: frameIntro,
	body:     taskText,
}

// taskText is what a sub-agent is shown of a note: what its line on a page would add to its title.
func taskText(n *note.Note) string {
	parts, _ := gist(n)
	return strings.Join(parts, "; ")
}

// A Brief is what memory has to say to a task that a session gives to a sub-agent.
type Brief struct {
	Notes  []*note.Note // what to tell, the first first
	Near   []store.Near
	Parts  []recall.Part
	Silent string // why there is nothing; "" when there is something
}

// Brief asks what a task is about, as a prompt is asked, and for the rules with a trigger that
// fits the commands, files and errors in it. The rules that the session was shown or wrote down
// itself come first, other rules then, the rest last: a sub-agent knows nothing of what its
// session knows. q says which notes may be shown.
func (in *Injector) Brief(ctx context.Context, p Place, q recall.Query, task string) (b Brief, err error) {
	plan := recall.PlanPrompt(task)
	if b.Parts, b.Silent = plan.Parts, plan.Silent; plan.Silent != "" {
		return b, nil
	}
	st, err := in.store.Spool().ShownLog(p.Session, "").State()
	if err != nil {
		return b, err
	}
	q.K = promptRead
	advice, err := in.engine.Advise(ctx, q, plan)
	if err != nil {
		return b, err
	}
	fitting, err := recall.Rules(ctx, in.engine, q, recall.TaskAction(p.Root, task))
	if err != nil {
		return b, err
	}
	for _, h := range fitting {
		b.Notes = append(b.Notes, h.Note)
	}
	for _, h := range advice.Hits {
		if !h.Note.Type.Durable() || h.Note.Kind != "" || !sure(h, false) {
			continue
		}
		if !slices.ContainsFunc(b.Notes, func(n *note.Note) bool { return n.ID == h.Note.ID }) {
			b.Notes = append(b.Notes, h.Note)
		}
	}
	for _, held := range advice.Held {
		b.Near = append(b.Near, store.Near{ID: held.Near, Why: held.Why})
	}
	place := func(n *note.Note) int {
		switch {
		case !recall.IsRule(n):
			return 2
		case p.Session != "" && n.Provenance.Session == p.Session || st.Has(n):
			return 0
		}
		return 1
	}
	slices.SortStableFunc(b.Notes, func(x, y *note.Note) int { return place(x) - place(y) })
	if len(b.Notes) == 0 {
		b.Silent = "no note is about it"
	}
	return b, nil
}

// Subagent returns what a sub-agent is shown at its start: of the notes that its task is
// about the first ones, each once, and before them what the user laid down in the session.
// What is returned counts as shown to it.
func (in *Injector) Subagent(ctx context.Context, p Place, said []string, notes []*note.Note) (Reminder, error) {
	var r Reminder
	shown := in.store.Spool().ShownLog(p.Session, p.Agent)
	var st store.ShownState
	var err error
	if p.Session != "" {
		if st, err = shown.State(); err != nil {
			return r, err
		}
	}
	var looked Block
	some := r.choose(in.sift(ctx, p, slices.Clone(notes), &looked), st.Has, subagentNotes)
	if p.Session != "" {
		if some, err = claimFrom(shown.Claim, some); err != nil {
			return r, err
		}
	}
	f := agentFrame
	f.tokens = subagentTokens
	for _, text := range said {
		f.lines = append(f.lines, "said by the user in this session: "+text)
	}
	r.Block = in.remind(some, nil, p, f, looked)
	r.Tokens = recall.Tokens(r.Text)
	switch {
	case len(some)+len(said) > 0:
	case len(notes) > 0:
		r.Silent = "what there is was shown before"
	default:
		r.Silent = "no note is about its task"
	}
	return r, nil
}
