package capture

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/redact"
	"anamnesis/internal/store/project"
)

// Facts are what a summary is made of.
type facts struct {
	id, dir, branch string
	also            []string // other session ids in the file
	started, ended  time.Time
	title           string // the agent's own, "" for none
	headless        bool   // a program asked, not a person
	failed          bool   // the agent's client answered with an error of its own
	first           string // the first prompt, which may be a command
	exchanges       []exchange
	fixes           []learn.Fix
	files           []string

	finished, circles, refused []string // of the agent's list, of its calls
	committed                  []string // a line each
	commits                    []string // ids of those that stand
}

func sessionFacts(s *agent.Session) facts {
	f := facts{
		id: s.ID, also: s.Also, dir: s.Dir, branch: s.Branch, started: s.Started, ended: s.Ended,
		title: s.Title, headless: s.Headless, failed: s.Failed, first: s.FirstPrompt(), exchanges: exchanges(s.Dialogue()),
		fixes: lastFixes(s.Turns), files: s.FilesTouched(), refused: learn.Refused(s),
	}
	commits := learn.Commits(s)
	f.committed = commitLines(commits)
	for i := range commits {
		if c := &commits[i]; !c.Undone && len(c.Undoes) == 0 && len(f.commits) < maxCommits {
			f.commits = append(f.commits, c.ID)
		}
	}
	for _, it := range finished(s.Turns) {
		f.finished = append(f.finished, it.String())
	}
	for _, c := range learn.Circles(s) {
		f.circles = append(f.circles, c.String())
	}
	f.circles = f.circles[max(0, len(f.circles)-maxCircles):]
	return f
}

// maxFixes is how many fixes a note keeps.
const maxFixes = 5

// lastFixes returns the last fixes of a session.
func lastFixes(turns []agent.Turn) []learn.Fix {
	all := learn.Fixes(turns)
	return all[max(0, len(all)-maxFixes):]
}

// maxCircles is how many of the stretches in which an agent went in circles are told.
const maxCircles = 5

// peekFacts are the facts of a session that was only peeked at: what stands before
// its tail is missing, and so are the commands.
func peekFacts(g *agent.PeekResult) facts {
	return facts{
		id: g.ID, dir: g.Dir, branch: g.Branch, started: g.Started, ended: g.Ended,
		title: g.Title, headless: g.Headless, failed: g.Failed, first: g.FirstPrompt, exchanges: exchanges(g.Dialogue), files: g.FilesTouched,
	}
}

// asked reports whether a person asked something real.
func (f *facts) asked() bool {
	return !f.headless && slices.ContainsFunc(f.exchanges, func(e exchange) bool { return e.real() })
}

// tools reports whether the agent used any.
func (f *facts) tools() bool {
	return slices.ContainsFunc(f.exchanges, func(e exchange) bool { return e.tools })
}

// texts returns what was said and done, for what it gives away.
func (f *facts) texts() []string {
	all := append([]string{f.title, f.first, f.branch}, f.files...)
	for i := range f.exchanges {
		all = append(append(all, f.exchanges[i].prompt), f.exchanges[i].replies...)
	}
	for i := range f.fixes {
		x := &f.fixes[i]
		all = append(append(all, x.Failed, x.Passed, x.Output), x.Did...)
	}
	return slices.Concat(all, f.finished, f.circles, f.refused, f.committed)
}

// mapped returns f with every text changed in the same way.
func (f facts) mapped(change func(string) string) facts {
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = change(text)
		}
		return texts
	}
	f.title, f.first, f.branch, f.files = change(f.title), change(f.first), change(f.branch), all(f.files)
	f.finished, f.circles, f.refused = all(f.finished), all(f.circles), all(f.refused)
	f.committed = all(f.committed)
	f.exchanges, f.fixes = slices.Clone(f.exchanges), slices.Clone(f.fixes)
	for i := range f.exchanges {
		e := &f.exchanges[i]
		e.prompt, e.replies = change(e.prompt), all(e.replies)
	}
	for i := range f.fixes {
		x := &f.fixes[i]
		x.Failed, x.Passed, x.Output, x.Did, x.Edited = change(x.Failed), change(x.Passed), change(x.Output), all(x.Did), all(x.Edited)
	}
	return f
}

// redacted returns f with its secrets masked, what one text gives away in all of
// them. It comes before anything is cut:
// half a key matches no rule.
func (f facts) redacted(r *redact.Redactor) facts {
	r = r.Knowing(f.texts()...)
	f.exchanges = slices.Clone(f.exchanges)
	for i := range f.exchanges {
		e := &f.exchanges[i]
		e.replies = e.replies[max(0, len(e.replies)-1):] // only the last word is kept of any
	}
	return f.mapped(func(s string) string { return r.Redact(s).String() })
}

// places shortens the paths of a machine: what lies in the session's repository is
// told relative to it, what lies in the home folder with a tilde. The note is read
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

// shortened returns f with shorter paths.
func (f facts) shortened(p places) facts { return f.mapped(p.short) }
