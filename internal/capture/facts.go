package capture

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
)

// Facts are what a note of a session is made of. Its texts are clean: redacted before they were
// cut, with the paths of this machine shortened. Only dir and branch are as they stand.
type facts struct {
	id, dir, branch, remote string
	cleanBranch             string
	also                    []string // other session ids in the file
	started, ended          time.Time
	undated                 bool   // no record says when it was
	title                   string // the agent's own, "" for none
	named                   bool   // the title is the user's
	summaries               []string
	headless                bool               // a program asked, not a person
	failed                  bool               // the agent's client answered with its own error
	first                   string             // the first prompt, which may be a command
	exchanges               []session.Exchange // in force
	kept                    []session.Exchange // with those that the user took back
	fixes                   []session.Fix
	files                   []string

	open, finished, circles, refused []string // of the agent's list, of its calls
	committed                        []string // a line each
	commits                          []string // ids of those that stand
}

// factsOf gathers the facts of a session. The Recorder knows it (knowing).
func (r *Recorder) factsOf(q Request, s *agent.Session) facts {
	clean := r.cleaner(s.Dir, q.Dir)
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = clean(texts[i])
		}
		return texts
	}
	f := facts{
		id: s.ID, also: s.Also, dir: s.Dir, branch: s.Branch, remote: s.Remote, cleanBranch: clean(s.Branch), started: s.Started, ended: s.Ended,
		undated: s.Undated,
		title:   clean(s.Title), named: s.Named, summaries: all(s.Summaries),
		headless: s.Headless, failed: s.Failed, first: clean(s.FirstPrompt()),
		kept: session.Cut(s, clean), files: all(s.FilesTouched()), refused: all(learn.Refused(s)),
	}
	session.Tie(f.kept, q.Commits)
	f.exchanges = session.InForce(f.kept)
	commits := session.Commits(s)
	f.committed = all(commitLines(commits))
	for i := range commits {
		if c := &commits[i]; !c.Undone && len(c.Undoes) == 0 && len(f.commits) < maxCommits {
			f.commits = append(f.commits, c.ID)
		}
	}
	for _, it := range finished(s.Turns) {
		f.finished = append(f.finished, clean(it.String()))
	}
	for _, it := range itemsOf(s.Turns) {
		if !it.done && !r.opts.Slots { // the slot tells them as long as they are open
			f.open = append(f.open, clean(it.text))
		}
	}
	for _, c := range learn.Circles(s) {
		f.circles = append(f.circles, clean(c.String()))
	}
	f.circles = f.circles[max(0, len(f.circles)-maxCircles):]
	for _, x := range lastFixes(s.Turns) {
		x.Failed, x.Passed, x.Output, x.Did, x.Edited = clean(x.Failed), clean(x.Passed), clean(x.Output), all(x.Did), all(x.Edited)
		f.fixes = append(f.fixes, x)
	}
	return f
}

// maxFixes is how many fixes a note keeps.
const maxFixes = 2

// lastFixes returns the last fixes of a session.
func lastFixes(turns []agent.Turn) []session.Fix {
	all := session.Fixes(turns)
	return all[max(0, len(all)-maxFixes):]
}

// maxCircles is how many of the stretches in which an agent went in circles are shown.
const maxCircles = 2

// peekFacts are the facts of a session that was only peeked at: what stands before
// its tail is missing, and so are the commands.
func (r *Recorder) peekFacts(g *agent.PeekResult) facts {
	texts := append([]string{g.Title, g.FirstPrompt, g.Branch}, g.FilesTouched...)
	for _, l := range g.Dialogue {
		texts = append(texts, l.Text)
	}
	with := *r
	with.redactor = r.redactor.Knowing(texts...)
	clean := with.cleaner(g.Dir, "")
	f := facts{
		id: g.ID, dir: g.Dir, branch: g.Branch, cleanBranch: clean(g.Branch), started: g.Started, ended: g.Ended,
		title: clean(g.Title), named: g.Named, headless: g.Headless, failed: g.Failed, first: clean(g.FirstPrompt),
	}
	lines := slices.Clone(g.Dialogue)
	for i := range lines {
		lines[i].Text = clean(lines[i].Text)
	}
	f.exchanges = session.FromLines(lines)
	for _, file := range g.FilesTouched {
		f.files = append(f.files, clean(file))
	}
	return f
}

// cleaner returns what redacts a text of a session and shortens the paths in it. dirs are where it
// worked; the first one that is not empty counts.
func (r *Recorder) cleaner(dirs ...string) learn.Clean {
	dir := ""
	for _, d := range dirs {
		if dir == "" {
			dir = d
		}
	}
	places := placesOf(dir, r.store.Home())
	return func(text string) string {
		if text == "" {
			return ""
		}
		return places.short(r.redactor.Redact(text).String())
	}
}

// asked reports whether a person asked something real.
func (f *facts) asked() bool { return !f.headless && f.real() }

// real reports whether anybody asked something real.
func (f *facts) real() bool {
	return slices.ContainsFunc(f.exchanges, func(e session.Exchange) bool { return e.Real() })
}

// tools reports whether the agent used any.
func (f *facts) tools() bool {
	return slices.ContainsFunc(f.exchanges, func(e session.Exchange) bool { return e.Tools })
}

// places shortens the paths of a machine: what lies in the session's repository is
// shown relative to it, what lies in the home folder with a tilde. The note is read
// on machines where the repository stands elsewhere.
type places struct{ replacer *strings.Replacer }

// placesOf returns the places of a session that worked in dir, on this machine or
// on another one.
func placesOf(dir, home string) places {
	var pairs []string
	add := func(folder, short string) {
		folder = strings.TrimRight(folder, `/\`)
		if folder == "" || strings.HasSuffix(folder, ":") { // the root of a disk is no place
			return
		}
		separator := "/"
		if !strings.Contains(folder, "/") {
			separator = `\`
		}
		pairs = append(pairs, folder+separator, short)
	}
	if dir != "" {
		if top := project.Top(dir); top != "" && filepath.Clean(top) != filepath.Clean(home) {
			add(top, "")
		}
		if filepath.Clean(dir) != filepath.Clean(home) {
			add(dir, "")
		}
	}
	if home != "" {
		add(home, "~/")
	}
	return places{strings.NewReplacer(pairs...)}
}

// short shortens the paths in a text.
func (p places) short(text string) string { return p.replacer.Replace(text) }
