package hooks

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/inject"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/text"
)

// subagents is the surface at which sub-agents are shown something.
func subagents(r *app.Rooms) surface {
	return surface{
		kind: store.SubagentShown, on: r.Config.Inject.Subagents, off: "sub-agents are shown nothing: inject.subagents.on is false", mute: true,
	}
}

// noteTask keeps what memory has to say to a task until the sub-agent starts that the
// call of a tool gives it to: the agent does not tell the task when it starts. No word of
// the task is kept but those of the event log.
func noteTask(ctx context.Context, r *app.Rooms, e agent.Event, call agent.Call) error {
	began := time.Now()
	quiet, err := Quiet(r, e.SessionID, e.Dir)
	if err != nil || quiet != "" || !r.Config.Inject.Subagents || e.SessionID == "" {
		return err
	}
	place, scope, err := sessionPlace(ctx, r, e, "", agent.ContextLimit{})
	if err != nil {
		return err
	}
	q := recall.Query{Session: e.SessionID}
	scope.Apply(&q)
	b, err := r.Injector.Brief(ctx, place, q, call.Task)
	if err != nil {
		return err
	}
	task := store.Task{Turn: e.TurnID, Type: call.TaskType}
	for _, n := range b.Notes {
		task.Notes = append(task.Notes, n.ID)
	}
	for _, s := range constraintsOf(typed(r, e), call.Task) {
		task.Said = append(task.Said, r.Redactor.Redact(s).String())
	}
	if err := r.Store.Spool().ShownLog(e.SessionID, "").NoteTask(task); err != nil {
		return err
	}
	rec := store.Record{
		Kind: store.Tasked, Session: e.SessionID, Project: place.Project, Near: b.Near, Count: len(b.Notes), Text: b.Silent,
		MS: app.Milliseconds(time.Since(began)),
	}
	if r.Config.Events.Queries && len(b.Parts) > 0 {
		rec.Query = r.Redactor.Redact(note.Line(b.Parts[0].Text, promptLogged)).String()
	}
	return r.Store.Events().Log(rec)
}

// Subagent answers the start of a sub-agent: the notes that its task is about, or where
// several were given at once, those that any of them is about.
func Subagent(ctx context.Context, r *app.Rooms, e agent.Event, o PromptOptions) (PromptAnswer, error) {
	return respond(ctx, r, e, o, subagents(r), func(p inject.Place, _ recall.Query) (inject.Reminder, error) {
		tasks, err := r.Store.Spool().ShownLog(e.SessionID, "").TakeTasks(store.Task{Turn: e.TurnID, Type: e.SubagentType})
		if err != nil {
			return inject.Reminder{}, err
		}
		var ids []note.ID
		for i := range slices.MaxFunc(append(tasks, store.Task{}), func(a, b store.Task) int { return len(a.Notes) - len(b.Notes) }).Notes {
			for _, t := range tasks { // the first of each task, then the second
				if i < len(t.Notes) && !slices.Contains(ids, t.Notes[i]) {
					ids = append(ids, t.Notes[i])
				}
			}
		}
		notes, err := liveNotes(ctx, r, ids)
		if err != nil {
			return inject.Reminder{}, err
		}
		var said []string
		for _, t := range tasks {
			for _, s := range t.Said {
				if !slices.Contains(said, s) {
					said = append(said, s)
				}
			}
		}
		return r.Injector.Subagent(ctx, p, said, notes)
	})
}

// TryTask answers as Subagent would for a task; nothing is remembered of it.
func TryTask(ctx context.Context, r *app.Rooms, e agent.Event, task string, o PromptOptions) (PromptAnswer, error) {
	o.Try = true
	return respond(ctx, r, e, o, subagents(r), func(p inject.Place, q recall.Query) (inject.Reminder, error) {
		b, err := r.Injector.Brief(ctx, p, q, task)
		if err != nil || b.Silent != "" {
			return inject.Reminder{Silent: b.Silent, Near: b.Near, Parts: b.Parts}, err
		}
		said, err := r.Injector.Subagent(ctx, p, nil, b.Notes)
		said.Near, said.Parts = append(b.Near, said.Near...), b.Parts
		return said, err
	})
}

// liveNotes reads notes by their ids, in that order, without those that are gone.
func liveNotes(ctx context.Context, r *app.Rooms, ids []note.ID) (notes []*note.Note, err error) {
	var rows []index.Row
	for _, id := range ids {
		row, ok, err := r.Index.Lookup(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && !row.Dead {
			rows = append(rows, row)
		}
	}
	for i, c := range r.Engine.Contents(ctx, rows) {
		if c.Err == nil && c.Note.ID == rows[i].ID {
			notes = append(notes, c.Note)
		}
	}
	return notes, nil
}

// SubagentStopped forgets what a sub-agent was shown: it is over.
func SubagentStopped(r *app.Rooms, e agent.Event) error {
	if e.SessionID == "" || e.SubagentID == "" {
		return nil
	}
	return r.Store.Spool().ShownLog(e.SessionID, e.SubagentID).Clear()
}

// Bounds of what is taken from what a user said.
const (
	maxSaid     = 3
	maxSaidText = 200 // characters of a sentence

	maxSaidPrompt = 2000 // characters of a prompt
	maxSaidNames  = 8    // names in a sentence
)

// constraintsOf returns sentences of a session's user that hold for a task, in the order of the talk,
// the newest three at most: those that name a file or symbol of the task, and those without
// names that may be rules (learn.Cued). prompts are what the user typed.
func constraintsOf(prompts []string, task string) (said []string) {
	lower := strings.ToLower(task)
	for _, prompt := range slices.Backward(prompts) {
		for _, s := range slices.Backward(text.Sentences(text.Head(strings.ToValidUTF8(prompt, ""), maxSaidPrompt))) {
			s = strings.Join(strings.Fields(s), " ")
			if len(said) == maxSaid {
				break
			}
			if text.IsQuestion(s) || slices.Contains(said, s) || utf8.RuneCountInString(s) > maxSaidText {
				continue
			}
			names := index.Identifiers(s, maxSaidNames)
			holds := slices.ContainsFunc(names, func(n string) bool { return strings.Contains(lower, strings.ToLower(n)) })
			if len(names) == 0 {
				holds = learn.Cued(s)
			}
			if holds {
				said = append(said, s)
			}
		}
	}
	slices.Reverse(said)
	return said
}
