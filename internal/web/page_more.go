package web

import (
	"cmp"
	"net/url"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/connect"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A sessionsPage lists what sessions were shown, the latest first.
type sessionsPage struct {
	Sessions []*app.SessionLog `json:"sessions"`
	Since    string            `json:"since"`
	Project  string            `json:"project"`
}

const shownSessions = 60

func sessions(r *request) (any, error) {
	p := sessionsPage{Since: cmp.Or(r.get("since"), "30d"), Project: r.get("project")}
	log, err := keep(r, "log "+p.Since+" "+p.Project, func() (app.LogAnswer, error) {
		return app.Log(r.ctx, r.rooms, app.LogOptions{Since: p.Since, Project: p.Project, Limit: shownSessions})
	})
	p.Sessions = log.Sessions
	return p, err
}

// A sessionPage is all that happened in a session.
type sessionPage struct {
	Session string        `json:"session"`
	Steps   []step        `json:"steps"` // oldest first
	Project string        `json:"project"`
	Notes   []app.NamedID `json:"notes"` // each once
	Tokens  int           `json:"tokens"`
}

// A step is one record of a session.
type step struct {
	store.Record
	Did   string            `json:"did"` // in words
	Shown []app.NamedID     `json:"told,omitempty"`
	Close []hooks.NamedNear `json:"nearly,omitempty"`
}

// did says in words what a record is about.
var did = map[string]string{
	store.Started: "the session started", store.Injected: "was shown at its start", store.Prompted: "typed a prompt",
	store.SwitchedOff: "had its hooks switched off",
	store.ToolShown:   "was shown before a tool ran", store.Tasked: "gave a sub-agent a task", store.SubagentShown: "shown a sub-agent",
	store.Policed: "the policy spoke", store.Recalled: "asked", store.Written: "wrote",
	store.Captured: "was captured", store.Damaged: "could not be read whole",
	store.HookFailure: "a hook failed", store.HookRefused: "a hook was refused", store.Notified: "your program was run",
	store.Gap: "no result", store.Reflected: "taught a reflection", store.Asked: "a model was asked",
	store.Synced: "was synced", store.Drained: "the queue ran", store.Shared: "was shared",
}

func oneSession(r *request) (any, error) {
	a, err := history.Session(r.ctx, r.rooms, r.id(), cmp.Or(r.get("since"), "365d"))
	if err != nil {
		return nil, err
	}
	p := sessionPage{Session: a.Session}
	seen := map[note.ID]bool{}
	for _, rec := range a.Records {
		s := step{Record: rec, Did: cmp.Or(did[rec.Kind], rec.Kind)}
		for _, id := range rec.Notes {
			n := app.NamedID{ID: id, Title: a.Titles[id]}
			s.Shown = append(s.Shown, n)
			if !seen[id] {
				seen[id] = true
				p.Notes = append(p.Notes, n)
			}
		}
		for _, n := range rec.Near {
			s.Close = append(s.Close, hooks.NamedNear{NamedID: history.TitlesOf(r.ctx, r.rooms, n.ID)[0], Why: n.Why})
		}
		if rec.Shows() {
			p.Tokens += rec.Out
		}
		p.Project = cmp.Or(p.Project, rec.Project)
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// A machinesPage lists the machines and the agents on this one.
type machinesPage struct {
	app.MachinesAnswer
	Repo   app.SyncState   `json:"repo"`
	Agents []agentRow      `json:"agents"`
	Jobs   []job           `json:"jobs"`
	Held   []app.InboxItem `json:"held"`
}

// An agentRow is a coding agent on this machine.
type agentRow struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Found bool   `json:"found"`
	Hooks bool   `json:"can_be_connected"`

	State *setup.AgentState `json:"state,omitempty"` // of one that can be connected
}

func machines(r *request) (any, error) {
	m, err := r.s.fleet.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	p := machinesPage{MachinesAnswer: *m, Repo: m.State}
	found := setup.FoundAgents(app.Host{Config: r.rooms.Config})
	states := setup.Agents(app.Host{Config: r.rooms.Config})
	for _, a := range connect.All() {
		row := agentRow{Name: a.Name, Title: a.Title, Found: slices.Contains(found, a), Hooks: a.Connects()}
		if i := slices.IndexFunc(states, func(s setup.AgentState) bool { return s.Agent == a.Name }); i >= 0 {
			row.State = &states[i]
		}
		p.Agents = append(p.Agents, row)
	}
	for _, name := range []string{"sync", "reindex"} {
		if j := r.s.jobs.last(name); j != nil {
			p.Jobs = append(p.Jobs, *j)
		}
	}
	if p.Held, err = app.Inbox(r.ctx, r.rooms, app.WaitingWithheld); err != nil {
		return nil, err
	}
	return p, nil
}

// A timelinePage lists the notes by the time they were written, around one of them or the
// newest.
type timelinePage struct {
	Days   []day             `json:"days"`
	Anchor note.ID           `json:"anchor,omitempty"`
	Query  string            `json:"query,omitempty"`
	Rows   []recall.StageRow `json:"around,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// A day is the notes that were written on it.
type day struct {
	Day   string         `json:"day"`
	Notes []app.NoteView `json:"notes"`
}

const timelineNotes = 120

func timeline(r *request) (any, error) {
	p := timelinePage{Query: r.get("q"), Anchor: note.ID(r.get("note"))}
	if p.Query != "" || p.Anchor != "" {
		q := app.Question{Global: true, AllBranches: true, Lambda: app.Unset}
		a, err := app.Timeline(r.ctx, r.rooms, q, p.Anchor, p.Query, 10, 10)
		if !app.Answers(err) {
			return nil, err
		}
		p.Rows, p.Anchor, p.Error = a.Rows, a.Anchor, a.Error
		return p, nil
	}
	list, err := app.List(r.ctx, r.rooms, app.Selection{All: true, Project: r.get("project")}, timelineNotes)
	for _, n := range list.Notes {
		at := cmp.Or(n.UpdatedAt, n.CreatedAt)
		date := at[:min(len(at), len("2006-01-02"))]
		if len(p.Days) == 0 || p.Days[len(p.Days)-1].Day != date {
			p.Days = append(p.Days, day{Day: date})
		}
		last := &p.Days[len(p.Days)-1]
		last.Notes = append(last.Notes, n)
	}
	return p, err
}

// A gonePage lists the notes that are not recalled.
type gonePage struct {
	Chains [][]app.NoteView `json:"chains"` // the newest of each first
	Notes  []app.NoteView   `json:"notes"`  // archived, expired or in quarantine
}

const shownGone = 200

func gone(r *request) (any, error) {
	rows, err := history.Gone(r.ctx, r.rooms, shownGone)
	if err != nil {
		return nil, err
	}
	var p gonePage
	seen := map[note.ID]bool{}
	for _, row := range rows {
		switch {
		case row.SupersededBy == "":
			p.Notes = append(p.Notes, row)
		case !seen[row.ID]:
			chain, err := history.Chain(r.ctx, r.rooms, string(row.ID))
			if err != nil {
				return nil, err
			}
			for _, n := range chain {
				seen[n.ID] = true
			}
			p.Chains = append(p.Chains, chain)
		}
	}
	return p, nil
}

func showQueue(r *request) (any, error) { return history.Queue(r.rooms) }

// A statisticsPage counts the notes and what memory did.
type statisticsPage struct {
	diagnose.StatsAnswer
	Cost   diagnose.CostAnswer `json:"cost"`
	Recall app.RecallState     `json:"recall"`
	Months []bar               `json:"-"`
	Since_ string              `json:"-"`
}

func statistics(r *request) (any, error) {
	since := cmp.Or(r.get("since"), "30d")
	s, err := keep(r, "stats "+since, func() (diagnose.StatsAnswer, error) { return diagnose.Stats(r.ctx, r.rooms, since) })
	if err != nil {
		return nil, err
	}
	p := statisticsPage{StatsAnswer: s, Since_: since}
	if p.Cost, err = diagnose.Cost(r.ctx, r.rooms.Store, r.rooms.Config, since); err != nil {
		return nil, err
	}
	if p.Recall, err = app.RecallStatus(r.ctx, r.rooms); err != nil {
		return nil, err
	}
	months := counts(s.Notes.ByMonth)
	slices.SortFunc(months, func(a, b count) int { return cmp.Compare(a.Name, b.Name) })
	months = months[max(0, len(months)-24):]
	most := 1
	for _, m := range months {
		most = max(most, m.N)
	}
	for i, m := range months {
		p.Months = append(p.Months, bar{Name: m.Name, N: m.N, At: i * 40, Of: m.N * 100 / most})
	}
	return p, nil
}

// sessionPath is the address of the page of a session.
func sessionPath(id string) string { return "/sessions/" + url.PathEscape(id) }
