// Package queue keeps the work that waits for a background run, one file a job.
//
// A job has a kind. Each kind has a folder below spool/, so that a run lists the
// jobs of one kind without reading the others; its payload belongs to the room that
// does the work. The name of a job's file is <id>.<attempts>.json: claiming a job
// renames it to its next attempt, so a run that is killed has counted. Jobs that
// nobody can do, and files that hold no job, are set aside in spool/poisoned.
//
// Enqueue takes no lock and, unless the kind says otherwise, waits for no disk:
// hooks use it. A run may be killed at any step: a job is gone only after Finish or
// Poison, and until then it is done at least once. Who does the work makes it
// idempotent, and sees to it that one run works on a kind at a time.
package queue

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// MaxAttempts is how often a job may be claimed.
const MaxAttempts = 3

// A Kind is a sort of work.
type Kind struct {
	name    string // stands in the files
	folder  string // below the root of the store
	limit   int    // bytes of a payload
	most    int    // jobs that wait at a time; 0 means any number
	durable bool   // a job is on the disk when Enqueue returns
}

// The kinds. A later one stands in spool/<name>; versions that do not know it
// leave it alone.
var (
	Capture = Kind{name: "capture", folder: layout.Spool, limit: 8 << 10}                 // sessions that ended
	Summary = Kind{name: "summary", folder: layout.Summaries, limit: 8 << 10, most: 200}  // notes that a model is to summarise
	Read    = Kind{name: "read", folder: layout.Readings, limit: 256 << 10, most: 500}    // sessions that a model is to read
	Batch   = Kind{name: "batch", folder: layout.Batches, limit: 16 << 20, durable: true} // accepted answers of a model
)

// String is the name of the kind in the files.
func (k Kind) String() string { return k.name }

var kinds = []Kind{Capture, Summary, Read, Batch}

// others are the folders of the spool that hold no jobs.
var others = []string{layout.Drafts, layout.Poisoned, layout.Shown, layout.Quiet, layout.Unread}

// A Job is one piece of work, as its file holds it.
type Job struct {
	V         int             `json:"v"`
	ID        note.ID         `json:"id"` // sorts by time, or is the key under which the work was enqueued
	Kind      string          `json:"kind"`
	Created   time.Time       `json:"at"`
	NotBefore time.Time       `json:"not_before,omitzero"`
	Reason    string          `json:"reason,omitempty"` // why the last attempt failed, or the job was set aside
	Payload   json.RawMessage `json:"payload"`
	Attempts  int             `json:"-"` // runs that claimed it and did not release it
	Path      string          `json:"-"` // where it stands, relative to the root

	kind Kind
}

// Due returns the time from which the job may be done.
func (j Job) Due() time.Time {
	if j.NotBefore.IsZero() {
		return j.Created
	}
	return j.NotBefore
}

// With is a job with its payload.
type With[P any] struct {
	Job
	Payload P
}

// A Problem is a file of the queue that is no job which waits.
type Problem struct {
	Path string // relative to the root
	Why  string // may be empty
	Left bool   // it stays: a job of a newer version, or what is no plain file
}

// String names the file and the reason.
func (p Problem) String() string {
	if p.Why == "" {
		return p.Path
	}
	return p.Path + ": " + p.Why
}

// A Queue is the work that waits in a store. It is safe for concurrent use.
type Queue struct{ s *store.Store }

// Of returns the queue of a store.
func Of(s *store.Store) Queue { return Queue{s} }

// ErrFull says that as many jobs of a kind wait as may.
var ErrFull = errors.New("too many jobs of this kind wait")

// Enqueue leaves a job that may be done from notBefore on, the zero time for at
// once. A key, if there is one, becomes its id: it takes the place of the job that
// waits under that key.
func (q Queue) Enqueue(k Kind, key note.ID, payload any, notBefore time.Time) (Job, error) {
	now := q.s.Now().UTC().Truncate(time.Millisecond)
	id := cmp.Or(key, note.NewID(now))
	j := Job{V: version, ID: id, Kind: k.name, Created: now, NotBefore: notBefore, kind: k}
	_, err := note.ParseID(string(id))
	if err == nil {
		j.Payload, err = json.Marshal(payload)
	}
	if err == nil && len(j.Payload) > k.limit {
		err = fmt.Errorf("%w: %d bytes, at most %d", store.ErrTooLarge, len(j.Payload), k.limit)
	}
	if err == nil && k.most > 0 {
		err = q.room(k, id)
	}
	if err == nil {
		j.Path = j.name()
		err = q.write(j)
	}
	if err == nil && key != "" {
		err = q.s.Spool().RemoveJobs(k.folder, key, j.Path)
	}
	if err != nil {
		err = fmt.Errorf("enqueue a %s job: %w", k.name, err)
	}
	return j, err
}

// room reports whether a job of an id may wait with the others of its kind.
func (q Queue) room(k Kind, id note.ID) error {
	entries, err := q.s.Spool().Entries(k.folder)
	waits := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), string(id)+".") })
	if err == nil && len(entries) >= k.most && !waits {
		err = ErrFull
	}
	return err
}

// name is where a job belongs.
func (j Job) name() string {
	return fmt.Sprintf("%s/%s.%d%s", j.kind.folder, j.ID, j.Attempts, layout.JobSuffix)
}

// write writes a job to its path, in the present format.
func (q Queue) write(j Job) error {
	j.V, j.Kind = version, j.kind.name
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return q.s.Spool().Write(j.Path, append(data, '\n'), j.kind.durable)
}

// Look lists the jobs of a kind, the first due first, and the files in its folder
// that are none. It changes nothing.
func (q Queue) Look(k Kind) (jobs []Job, bad []Problem, err error) {
	entries, err := q.s.Spool().Entries(k.folder)
	if err != nil {
		return nil, nil, fmt.Errorf("list the %s jobs: %w", k.name, err)
	}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), layout.JobSuffix)
		if !ok || e.Name()[0] == '.' {
			continue
		}
		name := k.folder + "/" + e.Name()
		data, err := q.s.ReadFile(name, int64(k.limit+headLimit))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run has finished it
		}
		if err != nil {
			bad = append(bad, Problem{name, err.Error(), !errors.Is(err, store.ErrTooLarge)})
			continue
		}
		j, err := parse(k, stem, data)
		if err != nil {
			bad = append(bad, Problem{name, err.Error(), errors.Is(err, errNewer)})
			continue
		}
		j.Path = name
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Or(a.Due().Compare(b.Due()), cmp.Compare(a.ID, b.ID)) })
	return jobs, bad, nil
}

// Jobs lists the jobs of a kind with their payloads, the first due first. Files
// that hold no job are set aside.
func Jobs[P any](q Queue, k Kind) (all []With[P], err error) {
	jobs, bad, err := q.Look(k)
	for _, j := range jobs {
		w := With[P]{Job: j}
		if err := json.Unmarshal(j.Payload, &w.Payload); err != nil {
			bad = append(bad, Problem{Path: j.Path})
			continue
		}
		all = append(all, w)
	}
	for _, b := range bad {
		if !b.Left { // one that cannot be moved is found by the next run
			_ = q.s.Spool().Rename(b.Path, aside(b.Path))
		}
	}
	return all, err
}

// aside is where a file is set aside.
func aside(file string) string { return layout.Poisoned + "/" + path.Base(file) }

// Claim notes in the name of a job that a run begins to work on it. It reports
// false when MaxAttempts runs have done so before: the job is then poisoned.
func (q Queue) Claim(j Job) (claimed Job, ok bool, err error) {
	if j.Attempts >= MaxAttempts {
		return j, false, q.Poison(j, fmt.Sprintf("it stopped %d background runs", j.Attempts))
	}
	err = q.count(&j, 1)
	return j, err == nil, err
}

// count renames a job to an attempt that many later.
func (q Queue) count(j *Job, more int) error {
	from := j.Path
	j.Attempts += more
	j.Path = j.name()
	if err := q.s.Spool().Rename(from, j.Path); err != nil {
		return fmt.Errorf("%s job %s: %w", j.kind.name, j.ID, err)
	}
	return nil
}

// Release lets a claimed job wait until notBefore and takes back the attempt: that
// the work could not be done was not the job's fault.
func (q Queue) Release(j Job, notBefore time.Time, reason string) error {
	if err := q.count(&j, -1); err != nil {
		return err
	}
	return q.Retry(j, notBefore, reason)
}

// Retry lets a job wait until notBefore for its next attempt. One that is gone
// at the same time stays so.
func (q Queue) Retry(j Job, notBefore time.Time, reason string) error {
	if !q.s.Has(j.Path) {
		return nil
	}
	j.NotBefore = notBefore
	return q.explain(j, reason)
}

// explain writes a job with a reason.
func (q Queue) explain(j Job, reason string) error {
	j.Reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	if err := q.write(j); err != nil {
		return fmt.Errorf("write %s job %s: %w", j.kind.name, j.ID, err)
	}
	return nil
}

// Finish removes a job whose work is on the disk. One that is gone is no error.
func (q Queue) Finish(j Job) error {
	if err := q.s.Spool().Remove(j.Path); err != nil {
		return fmt.Errorf("finish %s job %s: %w", j.kind.name, j.ID, err)
	}
	return nil
}

// Poison sets a job aside for its owner to look at, and writes the reason into it.
func (q Queue) Poison(j Job, reason string) error {
	poisoned := j
	poisoned.Path = aside(j.Path)
	if err := q.explain(poisoned, reason); err != nil {
		return err
	}
	return q.Finish(j)
}

// Poisoned lists what was set aside, with the reasons that are known.
func (q Queue) Poisoned() (all []Problem) {
	entries, _ := q.s.Spool().Entries(layout.Poisoned) // one that cannot be read has none to tell
	for _, e := range entries {
		if e.Name()[0] == '.' {
			continue
		}
		p, j := Problem{Path: layout.Poisoned + "/" + e.Name()}, Job{}
		data, err := q.s.ReadFile(p.Path, int64(Batch.limit+headLimit))
		if err == nil && json.Unmarshal(data, &j) != nil {
			j.Reason = errNoJob.Error()
		}
		p.Why = j.Reason
		all = append(all, p)
	}
	return all
}

// Problems lists the files of all kinds that hold no job, and the folders of kinds
// that this version does not know.
func (q Queue) Problems() (all []Problem) {
	for _, k := range kinds {
		_, bad, _ := q.Look(k) // whoever works on a kind whose folder cannot be read says so
		all = append(all, bad...)
	}
	entries, _ := q.s.Spool().Entries(layout.Spool)
	for _, e := range entries {
		dir := layout.Spool + "/" + e.Name()
		known := slices.Contains(others, dir) || slices.ContainsFunc(kinds, func(k Kind) bool { return k.folder == dir })
		if e.IsDir() && !known && e.Name()[0] != '.' {
			all = append(all, Problem{dir, "a kind of work of a newer version", true})
		}
	}
	return all
}
