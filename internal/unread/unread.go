// Package unread keeps what a user typed until a reader has decided on it: the next agent, a model or a person.
//
// A turn is unread from its capture on. It becomes read when a reader answers for it, also with nothing to keep, and
// never by silence. What is handed out is leased: until the lease ends, no other reader is given the same turns, and an answer
// closes exactly the turns that its lease names, as far as they were shown.
//
// The turns are files of the spool (layout.Unread), one a session, in a folder for its project. They are redacted,
// stay on this machine, and are in no index. A session of which everything is read keeps the hashes of its turns and no
// word of them, so that a copy of it (a fork, a second file) is not read again.
package unread

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// A Session is what a user typed in one session, and how far it was read.
type Session struct {
	V          int          `json:"v"`
	Origin     learn.Origin `json:"origin"`
	Ended      time.Time    `json:"ended"`
	Open       bool         `json:"open,omitempty"`       // its client has not said that it ended
	Transcript string       `json:"transcript,omitempty"` // of an open one: the file that grows
	Turns      []Turn       `json:"turns"`

	Lease   *Lease    `json:"lease,omitempty"`   // who was given what is unread, and has not answered
	Offered time.Time `json:"offered,omitzero"`  // when it was handed out first
	Missed  int       `json:"missed,omitempty"`  // sessions that were shown it, worked, and did not answer
	Waits   bool      `json:"waits,omitempty"`   // it is handed out at no start any more: the user decides
	Empty   time.Time `json:"empty,omitzero"`    // when an answer without an item closed it
	Again   bool      `json:"again,omitempty"`   // it was read a second time after such an answer
	Cleared bool      `json:"cleared,omitempty"` // nothing of it is unread, and its words are gone

	name string // of its file
}

// A Turn is what the user typed at one time.
type Turn struct {
	learn.Said
	Read int    `json:"read,omitempty"` // characters of its text on which a reader has decided
	By   Reader `json:"by,omitempty"`   // who decided on all of it; "" for a turn that is unread
}

// A Reader says who decided on a turn.
type Reader string

// The readers.
const (
	Agent     Reader = "agent"
	Model     Reader = "model"
	Person    Reader = "person"
	Kept      Reader = "kept"      // the agent of the same session kept a note of it, or the user ordered that
	Elsewhere Reader = "elsewhere" // it is in another session too, and is read there
)

// A Lease says to whom unread turns were given.
type Lease struct {
	ID     string         `json:"id"`     // by which the answer names it
	Client string         `json:"client"` // the session of an agent, "" when it has no name
	Dir    string         `json:"dir"`    // where it works
	At     time.Time      `json:"at"`
	Over   bool           `json:"over,omitempty"` // its session ended: others may be given the same
	Shown  map[string]int `json:"shown"`          // by hash of a turn: the characters of its text up to the end of what was shown
}

// leased is how long a lease keeps turns from other readers.
const leased = time.Hour

// Bounds of what is kept.
const (
	maxFile = 4 << 20 // bytes of a session's file
	version = 1
)

// A Queue is what is unread in a store. It is safe for concurrent use, by several processes too.
type Queue struct{ store *store.Store }

// Of returns what is unread in a store.
func Of(s *store.Store) Queue { return Queue{s} }

// lockName is the lock under which the files change.
const lockName = "unread"

// locked runs f with the lock. With wait 0 it does not wait for another process; ok is false then.
func (q Queue) locked(wait time.Duration, f func() error) (ok bool, err error) {
	if q.store.ReadOnly() {
		return false, store.ErrReadOnly
	}
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		unlock, ok, err := q.store.TryLock(lockName)
		switch {
		case err != nil:
			return false, fmt.Errorf("lock the unread turns: %w", err)
		case ok:
			defer unlock()
			return true, f()
		case !time.Now().Before(end):
			return false, nil
		}
	}
}

// lockWait is how long a change waits for another process.
const lockWait = 10 * time.Second

// change is locked for those who have to wait.
func (q Queue) change(f func() error) error {
	ok, err := q.locked(lockWait, f)
	if err == nil && !ok {
		err = fmt.Errorf("change the unread turns: %w", store.ErrLocked)
	}
	return err
}

// folder returns the folder of a project.
func folder(project string) string {
	sum := sha256.Sum256([]byte(project))
	return layout.Unread + "/" + hex.EncodeToString(sum[:8])
}

// nameOf returns the name of a session's file: when it ended, so that the newest is found without a look into the
// others, and a hash of its id, which is a client's and no name for a file.
func nameOf(s *Session) string {
	sum := sha256.Sum256([]byte(s.Origin.Harness + "\x00" + s.Origin.Session))
	suffix := layout.JobSuffix
	if s.Cleared {
		suffix = clearedSuffix
	}
	return s.Ended.UTC().Format(nameTime) + "-" + hex.EncodeToString(sum[:8]) + suffix
}

// ID names a session to people: the hash in the name of its file.
func (s *Session) ID() string {
	_, id, _ := strings.Cut(nameOf(s), "-")
	id, _, _ = strings.Cut(id, ".")
	return id
}

const (
	nameTime      = "20060102T150405"
	clearedSuffix = ".read" + layout.JobSuffix
)

// endedIn returns when the session of a file ended.
func endedIn(name string) time.Time {
	at, _, _ := strings.Cut(name, "-")
	ended, err := time.Parse(nameTime, at)
	if err != nil {
		return time.Time{}
	}
	return ended
}

// names lists the files of a project, the newest session first, those that are cleared too if all is set.
func (q Queue) names(dir string, all bool) (names []string, err error) {
	entries, err := q.store.Spool().Entries(dir)
	if err != nil {
		return nil, fmt.Errorf("list unread sessions in %s: %w", q.store.Path(dir), err)
	}
	for _, e := range entries {
		if n := e.Name(); e.Type().IsRegular() && strings.HasSuffix(n, layout.JobSuffix) && (all || !strings.HasSuffix(n, clearedSuffix)) {
			names = append(names, n)
		}
	}
	slices.Reverse(names)
	return names, nil
}

// read reads one file. A file that cannot be read is an error of that session alone.
func (q Queue) read(dir, name string) (*Session, error) {
	file := dir + "/" + name
	data, err := q.store.ReadFile(file, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the unread session %s: %w", q.store.Path(file), err)
	}
	var s Session
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read the unread session %s: %w", q.store.Path(file), err)
	}
	if s.V != version {
		return nil, fmt.Errorf("read the unread session %s: another version of this program wrote it (%d)", q.store.Path(file), s.V)
	}
	s.name = file
	return &s, nil
}

// write replaces the file of a session. The caller has the lock.
func (q Queue) write(s *Session) error { return q.put(s, true) }

// put is write; what is not durable may be as it was before when the machine stops.
func (q Queue) put(s *Session, durable bool) error {
	s.V = version
	s.clear()
	dir := folder(s.Origin.Project)
	name := dir + "/" + nameOf(s)
	data, err := json.Marshal(s)
	if err == nil {
		err = q.store.Spool().Write(name, append(data, '\n'), durable)
	}
	if err != nil {
		return fmt.Errorf("write the unread session %s: %w", q.store.Path(name), err)
	}
	if s.name != "" && s.name != name {
		if err := q.store.Spool().Remove(s.name); err != nil {
			return fmt.Errorf("remove the unread session %s, which has a new name: %w", q.store.Path(s.name), err)
		}
	}
	s.name = name
	return nil
}

// again is how long after an answer without an item another reader may be asked.
const again = 7 * 24 * time.Hour

// clear deletes the words of a session that no reader will be given again.
func (s *Session) clear() {
	s.Cleared = !s.Unread() && (s.Empty.IsZero() || s.Again)
	if !s.Cleared {
		return
	}
	for i := range s.Turns {
		s.Turns[i].blank()
	}
	s.Lease, s.Transcript, s.Origin.Edited = nil, "", nil
}

// blank deletes the words of a turn, and of what the agent did and asked before it.
func (t *Turn) blank() {
	t.Said, t.Read = learn.Said{Turn: t.Turn, At: t.At, Hash: t.Hash}, 0
}

// Unread reports whether a session has a turn on which no reader has decided.
func (s *Session) Unread() bool {
	return slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.By == "" })
}

// A Captured session is what a capture found in the records of one.
type Captured struct {
	Origin     learn.Origin
	Ended      time.Time
	Open       bool
	Transcript string
	Said       []learn.Said // in force, in the order of the session
	Kept       []int        // turns of which something was kept during the session
	Gone       []string     // hashes of turns that the user took back
}

// Put takes in what was captured of a session. What it knows of the session stays: a turn that was read is not
// unread again, and one that another session of the project has is read there.
func (q Queue) Put(c Captured) error {
	err := q.change(func() error {
		s, err := q.find(c.Origin)
		if err != nil {
			return err
		}
		if s == nil {
			s = &Session{Origin: c.Origin}
		}
		s.Origin, s.Ended, s.Open, s.Transcript = c.Origin, c.Ended, c.Open, c.Transcript
		s.Turns = slices.DeleteFunc(s.Turns, func(t Turn) bool { return t.By == "" && slices.Contains(c.Gone, t.Hash) })
		for i := range c.Said {
			s.take(&c.Said[i], slices.Contains(c.Kept, c.Said[i].Turn))
		}
		if len(s.Turns) == 0 {
			return q.remove(s)
		}
		if err := q.leaveToOthers(s); err != nil {
			return err
		}
		return q.write(s)
	})
	if err != nil {
		return fmt.Errorf("keep the unread turns of session %s: %w", c.Origin.Session, err)
	}
	return nil
}

// take adds a turn, or notes that something of it was kept.
func (s *Session) take(said *learn.Said, kept bool) {
	at := slices.IndexFunc(s.Turns, func(t Turn) bool { return t.Hash == said.Hash })
	if at < 0 {
		if idle(said) || s.repeats(said) {
			return
		}
		s.Turns = append(s.Turns, Turn{Said: *said})
		at = len(s.Turns) - 1
	}
	if t := &s.Turns[at]; kept && t.By == "" {
		t.By = Kept
	}
}

// idle reports whether a turn says nothing that a reader could keep: thanks, "go on", "stop".
func idle(said *learn.Said) bool {
	kind := smalltalk.Of(said.Text)
	return kind != smalltalk.None && (kind != smalltalk.GoAhead || said.Asked == "")
}

// repeats reports whether a turn says what another one of the session says.
func (s *Session) repeats(said *learn.Said) bool {
	folded := text.Folded(said.Text)
	return said.Asked == "" && slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.Asked == "" && text.Folded(t.Text) == folded })
}

// find returns what is kept of a session, nil for nothing. It may be kept under another project: a folder gets a remote, or
// a name.
func (q Queue) find(o learn.Origin) (*Session, error) {
	dirs, err := q.folders(nil)
	if err != nil {
		return nil, err
	}
	_, want, _ := strings.Cut(strings.TrimSuffix(nameOf(&Session{Origin: o}), layout.JobSuffix), "-")
	for _, dir := range dirs {
		names, err := q.names(dir, true)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if _, key, _ := strings.Cut(n, "-"); !strings.HasPrefix(key, want+".") {
				continue
			}
			if s, err := q.read(dir, n); err == nil {
				return s, nil
			} else if err := q.drop(dir, n, err); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// drop sets a file aside that cannot be read, so that its session is taken in again.
func (q Queue) drop(dir, name string, why error) error {
	if errors.Is(why, fs.ErrNotExist) {
		return nil
	}
	from := dir + "/" + name
	if err := q.store.Spool().Rename(from, layout.Poisoned+"/unread-"+name); err != nil {
		return errors.Join(why, err)
	}
	return nil
}

// leaveToOthers marks the turns of a session that others of its project have: those that were open when it was.
func (q Queue) leaveToOthers(s *Session) error {
	dir := folder(s.Origin.Project)
	names, err := q.names(dir, true)
	if err != nil {
		return err
	}
	for _, n := range names {
		if file := dir + "/" + n; file == s.name || endedIn(n).Before(s.Origin.Started.Truncate(time.Second)) {
			continue
		}
		other, err := q.read(dir, n)
		if err != nil || other.Origin.Session == s.Origin.Session || other.Origin.Started.After(s.Ended) {
			continue // what cannot be read has no turn that anybody will read
		}
		for i := range s.Turns {
			t := &s.Turns[i]
			if t.By == "" && slices.ContainsFunc(other.Turns, func(o Turn) bool { return o.Hash == t.Hash && o.By != Elsewhere }) {
				t.By = Elsewhere
			}
		}
	}
	return nil
}

// remove deletes the file of a session.
func (q Queue) remove(s *Session) error {
	if s.name == "" {
		return nil
	}
	return q.store.Spool().Remove(s.name)
}

// Any reports whether anything may be unread in projects, from the names of files alone.
func (q Queue) Any(projects []string) bool {
	dirs, err := q.folders(projects)
	for _, dir := range dirs {
		if names, nerr := q.names(dir, false); err == nil && nerr == nil && len(names) > 0 {
			return true
		}
	}
	return false
}

// Sessions returns what is kept of the sessions of projects, every project for none, the newest first: those with unread turns, and
// those that may be read once more. Those whose note is forgotten and not erased yet are left out.
func (q Queue) Sessions(projects ...string) ([]*Session, error) {
	all, err := q.all(projects...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	forgetting, err := tombstone.Forgetting(q.store)
	return slices.DeleteFunc(all, func(s *Session) bool {
		o := &s.Origin
		return forgetting(note.EpisodicID(o.Started, o.Harness, o.Session))
	}), err
}

func (q Queue) all(projects ...string) (all []*Session, err error) {
	dirs, err := q.folders(projects)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		names, err := q.names(dir, false)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if s, err := q.read(dir, n); err == nil {
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Session) int { return b.Ended.Compare(a.Ended) })
	return all, nil
}

// folders returns the folders of projects, those of all projects for none.
func (q Queue) folders(projects []string) (dirs []string, err error) {
	if len(projects) == 0 {
		entries, err := q.store.Spool().Entries(layout.Unread)
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, path.Join(layout.Unread, e.Name()))
			}
		}
		return dirs, err
	}
	for _, p := range projects {
		if dir := folder(p); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// growing reports whether the client of a session may still write to its file: it has not said that the session ended, and
// wrote within rest.
func (s *Session) growing(now time.Time, rest time.Duration) bool {
	if !s.Open {
		return false
	}
	fi, err := os.Stat(s.Transcript)
	return err == nil && now.Sub(fi.ModTime()) < rest
}

// Erase erases the words of turns for which match reports true. A later capture of their session does not bring them
// back. What the agent did and asked before the turn that follows goes with them, and so does each of these lines, and each name of
// a file, for which holds reports true; nil reports it for none. It returns how many turns there were.
func (q Queue) Erase(match func(*Session, *Turn) bool, holds func(string) bool) (erased int, err error) {
	err = q.change(func() error {
		all, err := q.all()
		for _, s := range all {
			changed, before := holds != nil && s.scrub(holds), false
			for i := range s.Turns {
				t := &s.Turns[i]
				if before {
					t.Did, t.Asked, t.Options = "", "", ""
				}
				if before = t.Text != "" && match(s, t); before {
					t.blank()
					t.By, changed = Person, true
					erased++
				}
			}
			if changed {
				err = errors.Join(err, q.write(s))
			}
		}
		return err
	})
	if err != nil {
		return erased, fmt.Errorf("erase unread turns: %w", err)
	}
	return erased, nil
}

// scrub erases what the agent did and asked, and the files that it edited, for which holds reports true. It reports whether there was any.
func (s *Session) scrub(holds func(string) bool) (changed bool) {
	for i := range s.Turns {
		t := &s.Turns[i]
		for _, line := range []*string{&t.Did, &t.Asked, &t.Options} {
			if *line != "" && holds(*line) {
				*line, changed = "", true
			}
		}
	}
	n := len(s.Origin.Edited)
	s.Origin.Edited = slices.DeleteFunc(s.Origin.Edited, holds)
	return changed || len(s.Origin.Edited) < n
}

// Sweep deletes what is kept of sessions that ended before a time, of those with unread turns too.
func (q Queue) Sweep(before time.Time) error {
	return q.change(func() error {
		dirs, err := q.folders(nil)
		for _, dir := range dirs {
			names, nerr := q.names(dir, true)
			err = errors.Join(err, nerr)
			for _, n := range names {
				if ended := endedIn(n); !ended.IsZero() && ended.Before(before) {
					err = errors.Join(err, q.store.Spool().Remove(dir+"/"+n))
				}
			}
		}
		return err
	})
}
