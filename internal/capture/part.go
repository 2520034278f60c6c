package capture

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
)

// A part is what a session was in one project. It is captured like a session, with its own id
// (agent.PartID), so that no project contains what was said in another.
type part struct {
	Request // its Project and its Session are those of the part
	session *agent.Session
}

// parts divides a session by the projects of its folders. A turn belongs to the folder in which its
// prompt was typed: what the agent then visits does not move it. The first part is that of the project in
// which the session began, and keeps its id; without any other it is the session itself.
func (r *Recorder) parts(q Request, s *agent.Session) []part {
	id := sessionOf(q, s)
	keys := []string{r.project(q, s)}
	where := []agent.Where{{Dir: s.Dir, Branch: s.Branch}}
	known := make(map[string]int)
	partOf := func(dir string) int {
		if dir == "" || q.Whole {
			return 0
		}
		at, ok := known[dir]
		if !ok {
			key := r.projectOf(q, s, dir, keys[0])
			if at = slices.Index(keys, key); at < 0 {
				at, keys, where = len(keys), append(keys, key), append(where, agent.Where{Dir: dir})
			}
			known[dir] = at
		}
		return at
	}
	all := s.All()
	of, now := make([]int, len(all)), 0
	for i := range all {
		t := &all[i]
		if t.Role == agent.User && t.Text != "" {
			now = 0
			if w := t.Where; w != nil {
				if now = partOf(w.Dir); now > 0 && where[now].Branch == "" {
					where[now].Branch = w.Branch
				}
			}
		}
		of[i] = now
	}
	var out []part
	count := len(keys) // a sub-agent's folder may be of none of them
	for n, key := range keys[:count] {
		p := part{q, s}
		p.Project, p.Whole, p.Session, p.client, p.asked = key, true, id, id, &q
		if len(keys) > 1 {
			p.session = s.Within(func(i int) bool { return of[i] == n })
			p.inPart = func(dir string) bool {
				at := partOf(dir)
				return at == n || n == 0 && at >= count
			}
			began, ended := between(p.session)
			if p.session.Ended = ended; n > 0 {
				p.session.Started = began
			}
		}
		if n > 0 {
			p.Dir = where[n].Dir
			p.session.Dir, p.session.Branch, p.session.Remote = where[n].Dir, where[n].Branch, ""
			p.Session = agent.PartID(id, n+1)
		}
		p.session = r.withoutForgotten(p.Request, p.session)
		out = append(out, p)
	}
	return out
}

// withoutForgotten returns a session without the exchanges that were forgotten: nothing is learnt from them again.
func (r *Recorder) withoutForgotten(q Request, s *agent.Session) *agent.Session {
	if r.kept == nil {
		return s
	}
	var all []session.Exchange
	lost, err := r.kept.Lost(session.Head{Agent: q.Harness.Name, Session: q.Session}, func() []session.Exchange {
		all = session.Cut(s, r.cleaner(s.Dir, q.Dir))
		return all
	})
	if err != nil || len(lost) == 0 {
		return s
	}
	gone := make([]bool, len(s.All()))
	for i := range all {
		end := len(gone)
		if i+1 < len(all) {
			end = all[i+1].First
		}
		is := slices.ContainsFunc(lost, func(e session.Exchange) bool { return e.First == all[i].First })
		for n := all[i].First; n < end; n++ {
			gone[n] = is
		}
	}
	return s.Within(func(n int) bool { return !gone[n] })
}

// between returns when the first and the last turn of a part of a session were, and otherwise the
// times of the session.
func between(s *agent.Session) (first, last time.Time) {
	for _, t := range s.All() {
		if first.IsZero() {
			first = t.At
		}
		if !t.At.IsZero() {
			last = t.At
		}
	}
	return cmp.Or(first, s.Started), cmp.Or(last, s.Ended)
}

// project returns the key of the project in which a session began. One whose folder is not on this machine, and
// not in its table, is filed by the remote that its client recorded.
func (r *Recorder) project(q Request, s *agent.Session) string {
	moved := slices.ContainsFunc(s.All(), func(t agent.Turn) bool { return t.Where != nil })
	switch dir := s.Dir; {
	case q.Project != "" && (q.Whole || !moved || q.Dir == "" || q.Dir == dir):
		return project.Canonical(r.store, q.Project)
	case dir != "":
		if key := project.RemoteKey(r.store, s.Remote); key != "" {
			id := project.Identify(r.store, dir)
			if _, err := os.Stat(dir); (err != nil || project.IsForeign(dir)) && id.Place(r.store) == nil && id.Source != "remote" {
				return key
			}
		}
		return r.here(dir)
	case q.Dir != "":
		return r.here(q.Dir)
	}
	return project.Unknown
}

// projectOf returns the key of a folder to which a session moved. A folder below the one in which it began
// is another project only if something says so: a repository, a marker, or the user.
func (r *Recorder) projectOf(q Request, s *agent.Session, dir, began string) string {
	if dir == q.Dir && q.Project != "" {
		return project.Canonical(r.store, q.Project)
	}
	if id := project.Identify(r.store, dir); staysWith(s.Dir, dir, id) {
		return began
	}
	return r.here(dir)
}

// staysWith reports whether a folder is part of the one in which a session began.
func staysWith(began, dir string, id project.Identity) bool {
	plain := id.Source == "folder" || id.Source == "foreign" || id.Source == "known" && project.Top(dir) == ""
	return plain && below(dir, began)
}

// elsewhere reports whether some of the end of a session that was peeked at was said in another project.
func (r *Recorder) elsewhere(g *agent.PeekResult, key string) bool {
	return slices.ContainsFunc(append(g.Moved, g.Dir), func(dir string) bool {
		if dir == "" {
			return false
		}
		id := project.Identify(r.store, dir)
		return id.Key != key && !staysWith(g.Dir, dir, id)
	})
}

// below reports whether a folder is inside another one. Both may be of another system.
func below(dir, top string) bool {
	slashed := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, `\`, "/"), "/") + "/" }
	return top != "" && strings.HasPrefix(slashed(dir), slashed(top))
}

// here returns the project of a folder. It ignores an error of the table of this machine: the project is valid.
func (r *Recorder) here(dir string) string {
	id, _ := ingest.Here(context.Background(), r.ingester, dir)
	return id.Key
}
