package web

import (
	"cmp"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/connect"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A labPage is a question to memory, as it is asked somewhere, and all that happens to it.
type labPage struct {
	Ask     labForm                     `json:"ask"`
	Hits    []labHit                    `json:"hits,omitempty"`
	Gate    *recall.Gate                `json:"gate,omitempty"`
	Arms    []labArm                    `json:"arms,omitempty"`
	Scope   *recall.Scope               `json:"scope,omitempty"`
	Missing []string                    `json:"missing,omitempty"`
	Ranker  string                      `json:"reranker,omitempty"`
	TookMS  float64                     `json:"took_ms"`
	Lost    []app.NamedID               `json:"lost,omitempty"` // found as set, and not like this
	Shown   *labShown                   `json:"told,omitempty"`
	WhyNot  []history.Verdict           `json:"why_not,omitempty"`
	About   string                      `json:"about,omitempty"` // the title of the note that WhyNot is about
	Window  *app.WindowView             `json:"temporal,omitempty"`
	Persona *recall.Persona             `json:"persona,omitempty"`
	Stages  []history.Stage             `json:"-"`
	AllArms []string                    `json:"-"`
	Agents  []*connect.Client           `json:"-"`
	Places  []count                     `json:"-"`
	Events  []struct{ ID, Name string } `json:"-"`
}

// A labForm is what the lab is asked.
type labForm struct {
	Query   string   `json:"q"`
	As      string   `json:"as"`
	Project string   `json:"project"`
	Branch  string   `json:"branch"`
	Agent   string   `json:"agent"`
	Arms    []string `json:"arms"`
	Off     []string `json:"off"`
	Gate    bool     `json:"gate"`
	Note    string   `json:"note"`
	K       int      `json:"k"`
}

// Has reports whether a stage is off, or an arm is asked.
func (f labForm) Has(name string) bool {
	return slices.Contains(f.Off, name) || slices.Contains(f.Arms, name)
}

// A labHit is a hit with its reasons, and where it stands as set.
type labHit struct {
	app.HitView
	Rank  int       `json:"rank"`
	AsSet int       `json:"rank_as_set"` // 0: not found
	Found []labFind `json:"found"`
	Quote string    `json:"excerpt"`
}

// Moved says how far a hit moved.
func (h labHit) Moved() int { return h.AsSet - h.Rank }

type labFind struct {
	Arm string `json:"arm"`
	recall.Found
}

type labArm struct {
	recall.ArmReport
	MS float64 `json:"ms"`
}

// A labShown is what a session would be shown.
type labShown struct {
	Text   string            `json:"text"`
	Silent string            `json:"silent"`
	Shown  []app.NamedID     `json:"shown"`
	Near   []hooks.NamedNear `json:"near"`
	Asked  []recall.Part     `json:"asked"`
	Tokens int               `json:"tokens"`
}

// events are what the lab asks as.
var events = []struct{ ID, Name string }{
	{"search", "a search"},
	{"prompt", "a prompt"},
	{"task", "a sub-agent's task"},
	{"command", "a command of a tool"},
	{"file", "a file that a tool edits"},
	{"start", "a session start"},
}

const labHits = 10

func lab(r *request) (any, error) {
	side, err := r.s.side.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	f := labForm{
		Query: strings.TrimSpace(r.get("q")), As: cmp.Or(r.get("as"), "search"), Project: r.get("project"), Branch: r.get("branch"),
		Agent: r.get("agent"), Arms: r.all("arm"), Off: r.all("off"), Gate: r.get("gate") != "", Note: strings.TrimSpace(r.get("note")),
		K: max(1, r.number("k", labHits, recall.MaxK)),
	}
	f.Project = longProject(f.Project, side.Projects)
	p := labPage{Ask: f, Stages: history.Stages(), AllArms: recall.Arms(), Places: side.Projects, Events: events}
	for _, a := range connect.All() {
		if a.Connects() {
			p.Agents = append(p.Agents, a)
		}
	}
	if f.Query == "" && f.As != "start" {
		return p, nil
	}
	rooms, err := history.Without(r.rooms, f.Off)
	if err != nil {
		return nil, err
	}
	if f.As != "search" {
		return p.tell(r, rooms)
	}
	return p.search(r, rooms)
}

// longProject returns the key of a project that is named as pages print it.
func longProject(name string, known []count) string {
	long := ""
	for _, p := range known {
		switch {
		case p.Name == name:
			return name
		case shortProject(p.Name) == name && long == "":
			long = p.Name
		}
	}
	return cmp.Or(long, name)
}

// options are those of a search of the lab.
func (f labForm) options() app.SearchOptions {
	q := app.Question{Lambda: app.Unset, Mode: app.Modes[0].Name, Arms: f.Arms, Gate: f.Gate, NoCache: true, Branch: f.Branch}
	if q.Project = f.Project; f.Project == "" {
		q.Global, q.AllBranches = true, f.Branch == ""
	}
	return app.SearchOptions{Question: q, Text: f.Query, K: f.K, Look: true, Explain: true}
}

func (p labPage) search(r *request, rooms *app.Rooms) (any, error) {
	o := p.Ask.options()
	a, err := app.Search(r.ctx, rooms, o)
	if !app.Answers(err) {
		return nil, err
	}
	p.Gate, p.Missing, p.Ranker, p.TookMS, p.Scope = a.Gate, append(a.Missing, a.Failed...), a.Reranker, a.TookMS, &a.Scope
	p.Window, p.Persona = a.Temporal, a.Persona
	for _, arm := range a.Arms {
		p.Arms = append(p.Arms, labArm{arm, float64(arm.Took.Microseconds()) / 1000})
	}
	asSet := a
	if len(p.Ask.Off)+len(p.Ask.Arms) > 0 {
		plain := o
		plain.Arms = nil
		if asSet, err = app.Search(r.ctx, r.rooms, plain); !app.Answers(err) {
			return nil, err
		}
	}
	for i, h := range a.Hits {
		v := labHit{HitView: h, Rank: i + 1, Quote: excerpt(h.Body, a.Result.Hits[i].Start, a.Result.Hits[i].End)}
		v.AsSet = 1 + slices.IndexFunc(asSet.Hits, func(x app.HitView) bool { return x.ID == h.ID })
		for arm, f := range h.Arms {
			v.Found = append(v.Found, labFind{arm, f})
		}
		slices.SortFunc(v.Found, func(a, b labFind) int { return strings.Compare(a.Arm, b.Arm) })
		p.Hits = append(p.Hits, v)
	}
	for _, h := range asSet.Hits {
		if !slices.ContainsFunc(a.Hits, func(x app.HitView) bool { return x.ID == h.ID }) {
			p.Lost = append(p.Lost, app.NamedID{ID: h.ID, Title: h.Title})
		}
	}
	if p.Ask.Note != "" {
		if p.WhyNot, err = history.WhyNot(r.ctx, rooms, o, p.Ask.Note); err != nil {
			return nil, err
		}
		if row, err := app.Resolve(r.ctx, r.rooms, p.Ask.Note); err == nil {
			p.About = row.Title
		}
	}
	return p, nil
}

// tell asks as a hook does. Nobody is shown, and nothing is logged.
func (p labPage) tell(r *request, rooms *app.Rooms) (any, error) {
	o := hooks.PromptOptions{Project: cmp.Or(p.Ask.Project, note.Global), Try: true}
	if a := connect.ByName(p.Ask.Agent); a != nil && a.Connects() {
		o.Limit = a.Hooks.ContextLimit()
	}
	var a hooks.PromptAnswer
	var err error
	switch p.Ask.As {
	case "prompt":
		a, err = hooks.Prompt(r.ctx, rooms, agent.Event{Prompt: p.Ask.Query}, o)
	case "task":
		a, err = hooks.TryTask(r.ctx, rooms, agent.Event{}, p.Ask.Query, o)
	case "command":
		a, err = history.TryCall(r.ctx, rooms, agent.Call{Command: p.Ask.Query}, o)
	case "file":
		a, err = history.TryCall(r.ctx, rooms, agent.Call{Files: []string{p.Ask.Query}}, o)
	case "start":
		b, _, serr := hooks.SessionStart(r.ctx, rooms, agent.Event{}, hooks.StartOptions{Project: o.Project, Limit: o.Limit})
		a, err = hooks.PromptAnswer{Text: b.Text, Shown: b.Shown}, serr
	default:
		return nil, app.Errorf(app.Usage, "the lab cannot ask as %q", p.Ask.As)
	}
	if err != nil {
		return nil, err
	}
	p.TookMS = a.TookMS
	p.Shown = &labShown{Text: a.Text, Silent: a.Silent, Shown: history.TitlesOf(r.ctx, rooms, a.Shown...), Asked: a.Asked, Tokens: a.Tokens}
	for _, n := range a.Near {
		p.Shown.Near = append(p.Shown.Near, hooks.NamedNear{NamedID: history.TitlesOf(r.ctx, rooms, n.ID)[0], Why: n.Why})
	}
	return p, nil
}
