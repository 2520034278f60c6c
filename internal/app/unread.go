package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/tombstone"
	"anamnesis/internal/unread"
)

// TendUnread leaves to the user what was handed out for long, and deletes what is older than the sessions that are kept.
func TendUnread(r *Rooms) error {
	q := unread.Of(r.Store)
	err := errors.Join(setAsideBefore(r), q.Wait())
	err = errors.Join(err, eraseForgotten(r, q))
	before, aerr := endOfAge(r)
	if aerr == nil && !before.IsZero() {
		aerr = q.Sweep(before)
	}
	return errors.Join(err, aerr)
}

// eraseForgotten erases what was typed in sessions whose notes were forgotten, on this machine or on another one.
func eraseForgotten(r *Rooms, q unread.Queue) error {
	stones, err := tombstone.For(r.Store, note.Local)
	if err != nil || len(stones) == 0 {
		return err
	}
	forgotten := make(map[note.ID]bool, len(stones))
	for i := range stones {
		forgotten[stones[i].ID] = true
	}
	of := func(s *unread.Session) bool {
		return forgotten[note.EpisodicID(s.Origin.Started, s.Origin.Harness, s.Origin.Session)]
	}
	all, err := q.Sessions()
	if err != nil || !slices.ContainsFunc(all, of) {
		return err
	}
	_, err = q.Erase(func(s *unread.Session, _ *unread.Turn) bool { return of(s) }, nil)
	return err
}

// setAsideBefore makes sessions unread that an earlier program set aside, because no answer of its model could be used.
func setAsideBefore(r *Rooms) (err error) {
	for _, f := range queue.Of(r.Store).Poisoned() {
		var job struct {
			Kind    string        `json:"kind"`
			Payload learn.Reading `json:"payload"`
		}
		data, rerr := r.Store.ReadFile(f.Path, maxReading)
		if rerr != nil || json.Unmarshal(data, &job) != nil || job.Kind != queue.Read.String() || len(job.Payload.Said) == 0 {
			continue
		}
		p := &job.Payload
		perr := unread.Of(r.Store).Put(unread.Captured{Origin: p.Origin, Ended: p.Said[len(p.Said)-1].At, Said: p.Said})
		if perr == nil {
			perr = r.Store.Spool().Remove(f.Path)
		}
		err = errors.Join(err, perr)
	}
	return err
}

// maxReading is the largest file of a session that waited for a model, in bytes.
const maxReading = 512 << 10

// eraseUnread erases what was typed in the session of a note, and is unread.
func eraseUnread(r *Rooms, n *note.Note) error {
	_, err := unread.Of(r.Store).Erase(func(s *unread.Session, _ *unread.Turn) bool {
		o := &s.Origin
		return o.Session == n.Provenance.Session && note.EpisodicID(o.Started, o.Harness, o.Session) == n.ID
	}, nil)
	return err
}

// EraseUnreadOf erases what was typed in a session of that id, in any project, and is unread.
func EraseUnreadOf(r *Rooms, session string) error {
	_, err := unread.Of(r.Store).Erase(func(s *unread.Session, _ *unread.Turn) bool { return agent.PartOf(s.Origin.Session, session) }, nil)
	return err
}

// unreadLike returns what says whether an unread turn is one that options name: by what it says, by its project and its time,
// or because it is in one of some exchanges.
func unreadLike(
	r *Rooms, o ForgetSessionsOptions, exchanges map[string][]session.Exchange,
) (func(*unread.Session, *unread.Turn) bool, error) {
	within, err := timesOf(r, o)
	if err != nil {
		return nil, err
	}
	key := ""
	if o.Project != "" {
		key = project.Canonical(r.Store, o.Project)
	}
	return func(s *unread.Session, t *unread.Turn) bool {
		all := exchanges[s.Origin.Harness+"/"+s.Origin.Session]
		for i := range all {
			if all[i].Holds(t.Text) {
				return true
			}
		}
		if len(o.IDs) > 0 || key != "" && project.Canonical(r.Store, s.Origin.Project) != key {
			return false
		}
		says := session.Exchange{Ask: t.Text}
		return (o.Text == "" || says.Holds(o.Text)) && within(&session.Exchange{At: t.At}, &session.Session{Head: session.Head{Ended: s.Ended}})
	}, nil
}

// countUnread counts the turns of all projects for which match reports true.
func countUnread(r *Rooms, match func(*unread.Session, *unread.Turn) bool) (n int, err error) {
	all, err := unread.Of(r.Store).Sessions()
	for _, s := range all {
		for i := range s.Turns {
			if t := &s.Turns[i]; t.Text != "" && match(s, t) {
				n++
			}
		}
	}
	return n, err
}

// An UnreadSession is a session with turns on which no reader has decided, as people see it.
type UnreadSession struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"`
	Project string    `json:"project"`
	Ended   time.Time `json:"ended"`
	Waits   bool      `json:"waits"` // it is handed out at no start any more
	Turns   []string  `json:"turns"` // what is unread
}

// UnreadSessions lists what is unread in a project, in all for "", the newest session first.
func UnreadSessions(r *Rooms, key string) ([]UnreadSession, error) {
	var names []string
	if key != "" {
		names = project.Names(r.Store, PlaceProject(r.Store, key))
	}
	all, err := unread.Of(r.Store).Sessions(names...)
	views := []UnreadSession{}
	for _, s := range all {
		v := UnreadSession{
			ID: s.ID(), Agent: s.Origin.Harness, Project: s.Origin.Project, Ended: s.Ended, Waits: s.Waits, Turns: []string{},
		}
		for i := range s.Turns {
			if t := &s.Turns[i]; t.By == "" {
				v.Turns = append(v.Turns, t.Text)
			}
		}
		if len(v.Turns) > 0 {
			views = append(views, v)
		}
	}
	return views, err
}

// DropUnread records that the user has read sessions, by the beginnings of their ids, and keeps nothing of them; all
// that wait for the user for none. Without apply it only lists them.
func DropUnread(r *Rooms, ids []string, apply bool) (dropped []UnreadSession, err error) {
	all, err := UnreadSessions(r, "")
	if err != nil {
		return nil, err
	}
	dropped = []UnreadSession{}
	named := func(s *UnreadSession) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return id != "" && strings.HasPrefix(s.ID, id) })
	}
	for i := range all {
		if s := &all[i]; len(ids) == 0 && s.Waits || named(s) {
			dropped = append(dropped, *s)
		}
	}
	if len(dropped) == 0 {
		return nil, Errorf(NotFound, "no unread session is like that; `anamnesis sessions unread` lists them")
	}
	if !apply {
		return dropped, nil
	}
	return dropped, unread.Of(r.Store).Dismiss(func(s *unread.Session) bool {
		return slices.ContainsFunc(dropped, func(d UnreadSession) bool { return d.ID == s.ID() })
	})
}

// OpenFor is how long after the last write a session counts as open whose client has not said that it ended.
func OpenFor(r *Rooms) time.Duration {
	return cmp.Or(time.Duration(r.Config.Capture.Idle)*time.Second, 10*time.Minute)
}

// WithModel returns what reports whether a session waits for the model that reads sessions: no agent is handed it.
func WithModel(r *Rooms) func(*unread.Session) bool {
	jobs, err := queue.Jobs[learn.Reading](queue.Of(r.Store), queue.Read)
	if err != nil || !r.Config.Capture.Read || len(jobs) == 0 {
		return nil
	}
	return func(s *unread.Session) bool {
		return slices.ContainsFunc(jobs, func(j queue.With[learn.Reading]) bool {
			o := &j.Payload.Origin
			return o.Session == s.Origin.Session && o.Harness == s.Origin.Harness
		})
	}
}
