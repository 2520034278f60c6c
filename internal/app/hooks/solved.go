package hooks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/risk"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
)

// askedProjects are the projects that a question about sessions is about.
func askedProjects(ctx context.Context, r *app.Rooms, q *app.Question) ([]string, error) {
	q.Listed = true
	s, err := q.FindScope(ctx, r)
	var out recall.Query
	s.Apply(&out)
	return app.SessionProjects(out.Projects), err
}

// FixView is an exchange that met an error.
type FixView struct {
	app.ExchangeHead
	Solved bool   `json:"solved"`
	Exact  bool   `json:"exact"` // the same error; else one like it
	Error  string `json:"error,omitempty"`
	Cause  string `json:"cause,omitempty"`
	Remedy string `json:"remedy,omitempty"`
	Reply  string `json:"reply"`
}

// FixAnswer is what is known of an error.
type FixAnswer struct {
	Found []FixView `json:"found"`
}

// Fix finds the exchanges that met an error, those that ended it first. Without one the error is of
// kind NotFound and comes with the answer.
func Fix(ctx context.Context, r *app.Rooms, q app.Question, errorText string, limit int) (a FixAnswer, err error) {
	a.Found = []FixView{}
	projects, err := askedProjects(ctx, r, &q)
	if err != nil {
		return a, err
	}
	all, err := r.Kept.Fix(ctx, session.Query{Text: errorText, Projects: projects, Limit: limit}, false)
	for i := range all {
		f := &all[i]
		a.Found = append(a.Found, FixView{
			app.HeadOfExchange(&f.Hit.Session, &f.Hit.Exchange), f.Solved, f.Exact, note.Harmless(f.Solution.Error), note.Harmless(f.Solution.Cause),
			note.Harmless(f.Solution.Remedy), app.CutShown(f.Hit.Exchange.Reply, app.ShownReply),
		})
		a.Found[i].Ask = app.CutShown(a.Found[i].Ask, app.ShownAsk)
	}
	if err == nil && len(a.Found) == 0 {
		err = &app.Error{Kind: app.NotFound}
	}
	return a, err
}

// A Solved is the exchange that ended an error.
type Solved struct {
	ID   string `json:"id"`
	Line string `json:"line"` // error, cause and remedy, at most 320 characters; harmless
}

// solvedChars bounds Solved.Line: 80 tokens.
const solvedChars = 80 * recall.CharsPerToken

// SolvedBefore returns the exchange of the given projects, all of them when there are none, in which the
// same error, but for paths, numbers and times, stopped coming. ok is false when none did, when only a
// history in a repository tells of one, and when what was said of it reads like orders to an agent or
// names a risky act.
func SolvedBefore(ctx context.Context, r *app.Rooms, errorText string, projects ...string) (s Solved, ok bool, err error) {
	if r.Kept == nil || !r.Kept.On() {
		return s, false, nil
	}
	all, err := r.Kept.Fix(ctx, session.Query{Text: errorText, Projects: projects, Limit: solvedTried}, true)
	for i := range all {
		f := &all[i]
		if !f.Solved || slices.Contains(agent.ProjectTools(), f.Hit.Session.Agent) { // whoever may commit wrote it
			continue
		}
		line := text.Cut(note.Harmless(f.Solution.String()), solvedChars)
		dir, _ := os.Getwd() // without a folder nothing is known of files
		_, risky := risk.Find(line, app.KnownToShow(ctx, r, dir, f.Hit.Session.Project))
		if risky || redact.PromptInjection(line) {
			return s, false, nil
		}
		return Solved{session.ExchangeID(f.Hit.Session.Key, f.Solution.Exchange), line}, true, nil
	}
	return s, false, err
}

// solvedTried is how many exchanges are looked at for one that an agent of this machine wrote.
const solvedTried = 8

// HowAnswer lists the commands that were run for a task.
type HowAnswer struct {
	Ways []session.Way `json:"ways"`
}

// How lists the commands that were run for a task. Without one the error is of kind NotFound and comes
// with the answer.
func How(ctx context.Context, r *app.Rooms, q app.Question, task string, limit int) (a HowAnswer, err error) {
	projects, err := askedProjects(ctx, r, &q)
	if err != nil {
		return a, err
	}
	a.Ways, err = r.Kept.How(ctx, session.Query{Text: task, Projects: projects, Limit: limit})
	if err == nil && len(a.Ways) == 0 {
		a.Ways, err = []session.Way{}, &app.Error{Kind: app.NotFound}
	}
	return a, err
}

// A BlameView is an exchange that edited a file.
type BlameView struct {
	app.ExchangeHead
	File    string   `json:"file"`
	Commits []string `json:"commits"`
	Line    bool     `json:"line"` // it made the commit that wrote the line
}

// BlameAnswer lists the exchanges that edited a file, newest first; the one that wrote the line stands
// before all others.
type BlameAnswer struct {
	File    string      `json:"file"`
	Line    int         `json:"line,omitempty"`
	Commit  string      `json:"commit,omitempty"` // that wrote the line
	Touched []BlameView `json:"touched"`
}

// Blame lists the exchanges that edited PATH or PATH:LINE. Without one the error is of kind NotFound and
// comes with the answer.
func Blame(ctx context.Context, r *app.Rooms, q app.Question, name string, limit int) (a BlameAnswer, err error) {
	a.File, a.Touched = name, []BlameView{}
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if n, nerr := strconv.Atoi(name[i+1:]); nerr == nil && n > 0 {
			a.File, a.Line = name[:i], n
		}
	}
	projects, err := askedProjects(ctx, r, &q)
	if err != nil {
		return a, err
	}
	asked, cancel := context.WithTimeout(ctx, app.GitTime)
	defer cancel()
	commit, inside := replica.LineCommit(asked, a.File, config.Environ(), a.Line)
	a.Commit = commit
	if inside == "" {
		inside = filepath.ToSlash(a.File)
	}
	all, err := r.Kept.Touched(ctx, session.Query{Projects: projects, Limit: max(limit, 50)}, inside)
	for i := range all {
		t := &all[i]
		v := BlameView{app.HeadOfExchange(&t.Hit.Session, &t.Hit.Exchange), t.File, append([]string{}, t.Commits...), false}
		v.Ask = app.CutShown(v.Ask, app.ShownAsk)
		v.Line = commit != "" && slices.ContainsFunc(t.Commits, func(id string) bool { return len(id) >= 7 && strings.HasPrefix(commit, id) })
		a.Touched = append(a.Touched, v)
	}
	slices.SortStableFunc(a.Touched, func(x, y BlameView) int {
		switch {
		case x.Line == y.Line:
			return 0
		case x.Line:
			return -1
		}
		return 1
	})
	a.Touched = a.Touched[:min(len(a.Touched), max(limit, 1))]
	if err == nil && len(a.Touched) == 0 {
		err = &app.Error{Kind: app.NotFound}
	}
	return a, err
}

// A ResumeView is a session, and what goes on with it.
type ResumeView struct {
	app.SessionView
	Dir     string   `json:"dir"`
	Command []string `json:"command"`        // the client's; empty where it has none, or no longer has the session
	Gone    bool     `json:"gone,omitempty"` // the client no longer has the session: its transcript is not where it was read
}

// ResumeAnswer lists the last sessions of a project.
type ResumeAnswer struct {
	Sessions []ResumeView `json:"sessions"`
}

// Resume lists the last sessions of a project over all agents, newest first, without those in which only
// programs asked. Without one the error is of
// kind NotFound and comes with the answer.
func Resume(ctx context.Context, r *app.Rooms, o app.SessionsOptions) (a ResumeAnswer, err error) {
	a.Sessions = []ResumeView{}
	all, err := app.ChooseSessions(ctx, r, o)
	all = slices.DeleteFunc(all, func(s session.Session) bool { return s.Program })
	for i := range all[:min(len(all), max(o.Limit, 1))] {
		v := ResumeView{SessionView: app.ViewSession(&all[i]), Dir: all[i].Dir, Command: []string{}}
		if h := agent.ByName(all[i].Agent); h != nil && h.Resume != nil && agent.ValidID(v.Session) && v.Session[0] != '-' {
			if v.Gone = gone(h, all[i].Transcript); !v.Gone {
				v.Command = append(slices.Clone(h.Resume), v.Session)
			}
		}
		a.Sessions = append(a.Sessions, v)
	}
	if err == nil && len(a.Sessions) == 0 {
		err = app.Errorf(app.NotFound, "no session%s is kept; `anamnesis import transcripts --apply` takes past ones in", chosen(o))
	}
	return a, err
}

// chosen says which sessions were asked for.
func chosen(o app.SessionsOptions) (text string) {
	switch o.Project {
	case "":
	case ".":
		text = " of this project"
	default:
		text = " of " + note.Line(o.Project, 80)
	}
	if o.Agent != "" {
		text += " of the agent " + note.Line(o.Agent, 40)
	}
	if o.Since != "" {
		text += " since " + note.Line(o.Since, 40)
	}
	return text
}

// gone reports whether a client no longer has the file of a session. It may have compressed it since, moved it with the
// session's folder, or put it into its archive: then a file of the same name is elsewhere among its sessions.
func gone(h *agent.Harness, transcript string) bool {
	if transcript == "" || h.Sessions == nil { // kept by a version that did not note it
		return false
	}
	if _, err := os.Stat(transcript); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(transcript), "/")
	name, _, _ := strings.Cut(parts[len(parts)-1], ".")
	for _, of := range h.Sessions.SessionFiles() {
		depth := strings.Count(of, "/") + 1
		if len(parts) <= depth {
			continue
		}
		if fits, _ := path.Match(of, strings.Join(parts[len(parts)-depth:], "/")); !fits {
			continue
		}
		home := strings.Join(parts[:len(parts)-depth], "/")
		for _, pattern := range h.Sessions.SessionFiles() {
			if names, _ := filepath.Glob(home + "/" + path.Dir(pattern) + "/" + name + ".*"); len(names) > 0 {
				return false
			}
		}
	}
	return true
}

// ResumeCommand is the command that goes on with a session, ready to run in its folder.
func ResumeCommand(ctx context.Context, v *ResumeView) (*exec.Cmd, error) {
	if v.Gone {
		return nil, app.Errorf(app.NotFound, "resume: %s no longer has session %s; `anamnesis sessions show %s` prints what is kept of it",
			v.Agent, v.Session, v.Key)
	}
	if len(v.Command) == 0 {
		return nil, app.Errorf(app.Failed, "resume: %s has no command that goes on with a session", v.Agent)
	}
	program, err := exec.LookPath(v.Command[0])
	if err != nil {
		return nil, app.Errorf(app.Failed, "resume: %s is not on the PATH; install it, or run %s where it is",
			v.Command[0], strings.Join(v.Command, " "))
	}
	cmd := exec.CommandContext(ctx, program, v.Command[1:]...)
	cmd.Dir = v.Dir
	return cmd, nil
}
