package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// PromptOptions say what a prompt is shown.
type PromptOptions struct {
	Project string             // its key; "" for the one of the event's or the current folder
	Limit   agent.ContextLimit // what the agent takes
	Try     bool               // tell nobody: nothing is remembered or logged
	Plan    *recall.Plan       // of the prompt, if it was made before; see promptSilent
}

// A PromptAnswer is what a prompt is shown, and why no more.
type PromptAnswer struct {
	Project string        `json:"project"`
	Text    string        `json:"text"`
	Silent  string        `json:"silent"` // why nothing is shown; "" when something is
	Shown   []note.ID     `json:"shown"`
	Cut     []note.ID     `json:"cut"`
	Again   []note.ID     `json:"again,omitempty"` // of those shown: lines repeated after many prompts
	Near    []store.Near  `json:"near"`
	Asked   []recall.Part `json:"asked"`
	Tokens  int           `json:"tokens"`
	TookMS  float64       `json:"took_ms"`
}

// Prompt answers a prompt: what arrived since the session began, and the notes that the
// prompt is about. It walks no folder and waits for no lock. What it returns counts as
// shown to the session of the event, and the event log has it.
func Prompt(ctx context.Context, r *app.Rooms, e agent.Event, o PromptOptions) (a PromptAnswer, err error) {
	s := surface{kind: store.Prompted, on: r.Config.Inject.Prompts, off: promptsOff}
	if !o.Try && e.SessionID != "" && e.SubagentID == "" && strings.TrimSpace(e.Prompt) != "" {
		defer func() { err = errors.Join(err, r.Store.Spool().ShownLog(e.SessionID, "").Prompt()) }()
	}
	return respond(ctx, r, e, o, s, func(p inject.Place, q recall.Query) (inject.Reminder, error) {
		p.Work = func() []string { return inWork(ctx, r, e) }
		p.Solved = func(fault string) (id, line string, err error) {
			s, ok, err := SolvedBefore(ctx, r, fault, p.Projects...)
			if !ok {
				return "", "", err
			}
			return s.ID, s.Line, err
		}
		if o.Plan == nil {
			plan := recall.PlanPrompt(e.Prompt)
			o.Plan = &plan
		}
		return r.Injector.Prompt(ctx, p, q, *o.Plan)
	})
}

// promptSilent reports whether a prompt is shown nothing whatever the notes say, and
// records it then. It opens no index: most prompts of a talk are of this kind. The first
// prompt of a session is not, because it tells what arrived. The plan of the prompt is nil
// when none had to be made for that.
func promptSilent(h app.Host, e agent.Event) (silent bool, plan *recall.Plan, err error) {
	s, err := app.OpenStore(h)
	if err != nil || s.ReadOnly() || e.SessionID == "" {
		return false, nil, err
	}
	r := &app.Rooms{Config: h.Config, Store: s, Host: h}
	why, err := Quiet(r, e.SessionID, e.Dir)
	if err != nil {
		return false, nil, err
	}
	st, err := s.Spool().ShownLog(e.SessionID, "").State()
	if err != nil || why == "" && e.Opens && st.Started.IsZero() { // it brings what a session is shown at its start
		return false, nil, err
	}
	if why == "" && h.Config.Inject.Prompts {
		if !st.Started.IsZero() && !st.Prompted {
			return false, nil, nil
		}
		p := recall.PlanPrompt(e.Prompt)
		if why = p.Silent; why == "" {
			return false, &p, nil
		}
	} else if why == "" {
		why = promptsOff
	}
	if strings.TrimSpace(e.Prompt) != "" { // some agents send an empty one after each call of a tool
		err = s.Spool().ShownLog(e.SessionID, "").Prompt()
	}
	return true, nil, errors.Join(err, logShown(r, store.Prompted, e, PromptAnswer{Project: project.Identify(s, e.Dir).Key, Silent: why}))
}

// Opens reports whether a prompt opens a session, or the context of one that was lost: its agent
// took no text before it. The host has its store opened.
func Opens(h app.Host, e agent.Event) bool {
	if e.SessionID == "" {
		return false
	}
	st, err := h.Store.Spool().ShownLog(e.SessionID, "").State()
	return err == nil && (e.Opens && st.Started.IsZero() || st.Lost)
}

// promptsOff is why nothing is shown where the setting says so.
const promptsOff = "prompts are shown nothing: inject.prompt.on is false"

// A surface is a place at which a session is shown something.
type surface struct {
	kind string // of its records in the event log
	on   bool
	off  string // what is said when it is not on
	mute bool   // a call that nothing is shown at is not logged: there are many
}

// respond answers an event with what its session is shown, unless that is switched off, and records it.
func respond(ctx context.Context, r *app.Rooms, e agent.Event, o PromptOptions, s surface,
	what func(inject.Place, recall.Query) (inject.Reminder, error),
) (a PromptAnswer, err error) {
	began := time.Now()
	place, scope, err := sessionPlace(ctx, r, e, o.Project, o.Limit)
	if err != nil {
		return a, err
	}
	if o.Try {
		place.Session = ""
	}
	var said inject.Reminder
	switch quiet, err := Quiet(r, e.SessionID, e.Dir); {
	case err != nil:
		return a, err
	case !s.on:
		said.Silent = s.off
	case quiet != "":
		said.Silent = quiet
	default:
		q := recall.Query{Session: e.SessionID}
		scope.Apply(&q)
		if said, err = what(place, q); err != nil {
			return a, err
		}
	}
	a = PromptAnswer{
		Project: place.Project, Text: said.Text, Silent: said.Silent, Shown: said.Shown, Cut: said.Cut, Again: said.Again,
		Near: said.Near, Asked: said.Parts,
		Tokens: said.Tokens, TookMS: app.Milliseconds(time.Since(began)),
	}
	if o.Try || s.mute && a.Text == "" && len(a.Near) == 0 {
		return a, nil
	}
	return a, logShown(r, s.kind, e, a)
}

// logShown records what a session was shown and what it was nearly shown.
func logShown(r *app.Rooms, kind string, e agent.Event, a PromptAnswer) error {
	rec := store.Record{
		Kind: kind, Session: e.SessionID, Project: a.Project, Notes: a.Shown, Near: a.Near, Count: len(a.Shown), Text: a.Silent,
		Out: a.Tokens, MS: a.TookMS,
	}
	if r.Config.Events.Queries && len(a.Asked) > 0 {
		rec.Query = r.Redactor.Redact(note.Line(a.Asked[0].Text, promptLogged)).String()
	}
	return r.Store.Events().Log(rec)
}

// promptLogged is how many characters of a prompt are looked at for the event log,
// which keeps fewer: a secret that is cut by its bound would not be known as one.
const promptLogged = 2000

// LastPrompt is what a hook showed last, at a prompt or elsewhere, and why no more.
type LastPrompt struct {
	Kind    string        `json:"kind"` // prompt, tool, subagent
	At      string        `json:"at"`
	Session string        `json:"session"`
	Project string        `json:"project"`
	Query   string        `json:"query,omitempty"`
	Silent  string        `json:"silent,omitempty"`
	Tokens  int           `json:"tokens"`
	MS      float64       `json:"ms"`
	Shown   []app.NamedID `json:"told"`
	Near    []NamedNear   `json:"near"`
}

// A NamedNear is a note that was nearly shown, or a part of the prompt without one.
type NamedNear struct {
	app.NamedID
	Why string `json:"why"`
}

// Last returns the last prompt that a hook saw, or the call of a tool or the sub-agent
// after it that was shown something or nearly so. The error is of kind NotFound when there
// was none.
func Last(ctx context.Context, r *app.Rooms) (a LastPrompt, err error) {
	var last store.Record
	files, err := r.Store.Events().Files()
	if err != nil {
		return a, err
	}
	for _, file := range slices.Backward(files) {
		if _, err := r.Store.Events().Records(file, 0, func(rec store.Record) {
			if rec.Shows() && rec.Kind != store.Injected {
				last = rec
			}
		}); err != nil {
			return a, err
		}
		if last.Kind != "" {
			break
		}
	}
	if last.Kind == "" {
		return a, &app.Error{Kind: app.NotFound, Err: errors.New("no hook has seen a prompt yet; `anamnesis doctor` says whether hooks run")}
	}
	titles := map[note.ID]string{}
	a = LastPrompt{
		Kind: last.Kind,
		At:   last.At, Session: last.Session, Project: last.Project, Query: last.Query, Silent: last.Text, Tokens: last.Out, MS: last.MS,
		Shown: []app.NamedID{}, Near: []NamedNear{},
	}
	for _, id := range last.Notes {
		a.Shown = append(a.Shown, app.NamedID{ID: id, Title: app.TitleOf(ctx, r, titles, id)})
	}
	for _, n := range last.Near {
		a.Near = append(a.Near, NamedNear{app.NamedID{ID: n.ID, Title: app.TitleOf(ctx, r, titles, n.ID)}, n.Why})
	}
	return a, nil
}

// Compacted forgets what a session was shown: its context was lost. Where the agent started the
// session again after the compaction, it was shown the page since, and keeps that.
func Compacted(r *app.Rooms, e agent.Event) error {
	if e.SessionID == "" {
		return nil
	}
	shown := r.Store.Spool().ShownLog(e.SessionID, e.SubagentID)
	if st, err := shown.State(); err != nil || !st.Started.IsZero() && !st.Prompted {
		return err
	}
	return shown.Clear()
}
