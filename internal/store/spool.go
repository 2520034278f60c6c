package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// Spool is the work that waits for a background run, and the drafts that wait for
// a decision. Nothing of it is knowledge before it is done, so it needs no Writer.
// It is safe for concurrent use.
type Spool struct{ s *Store }

// A Job is capture work that a hook left for the next drain.
type Job struct {
	V          int     `json:"v"`
	ID         note.ID `json:"id"`
	At         string  `json:"at"`
	Kind       string  `json:"kind"` // "capture"
	Harness    string  `json:"harness"`
	Event      string  `json:"event"`
	Source     string  `json:"source"` // the tag of the note: session-end, precompact …
	Session    string  `json:"session,omitempty"`
	Transcript string  `json:"transcript,omitempty"`
	Offset     int64   `json:"offset,omitempty"` // the transcript's size when the hook ran
	Dir        string  `json:"dir,omitempty"`
	Project    string  `json:"project,omitempty"`
	Sync       bool    `json:"sync,omitempty"` // sync when the drain is done

	attempt int
}

// maxJob is the largest spool file in bytes, maxAttempts how often a drain
// begins a job before it is set aside as poisoned.
const (
	maxJob      = 8 << 10
	maxAttempts = 3
)

func (j Job) name() string { return fmt.Sprintf("spool/%s.%d.json", j.ID, j.attempt) }

// Enqueue leaves a job in the spool. It takes no lock and waits for no disk:
// the transcript is the truth, and a lost job can be made again from it.
func (q *Spool) Enqueue(j Job) (Job, error) {
	now := q.s.now().UTC()
	j.V, j.ID, j.At, j.attempt = 1, note.NewID(now), now.Format("2006-01-02T15:04:05.000Z"), 0
	err := q.save(j.name(), j, maxJob, false)
	if err != nil {
		return j, fmt.Errorf("spool a %s job: %w", j.Kind, err)
	}
	return j, nil
}

// Jobs lists the waiting jobs, oldest first. Files that hold no job are set
// aside in spool/poisoned.
func (q *Spool) Jobs() ([]Job, error) {
	jobs, err := list(q, "spool", maxJob, func(stem string, data []byte) (j Job, err error) {
		if err = json.Unmarshal(data, &j); err != nil {
			return j, err
		}
		id, attempt, _ := strings.Cut(stem, ".")
		if j.attempt, err = strconv.Atoi(attempt); err != nil || string(j.ID) != id || j.V < 1 {
			err = fmt.Errorf("spool file %s.json is not a job", stem)
		}
		return j, err
	}, func(path string, _ error) { q.poison(path) })
	if err != nil {
		return nil, fmt.Errorf("read the spool: %w", err)
	}
	slices.SortFunc(jobs, func(a, b Job) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return jobs, nil
}

// save writes a file of the spool as one line of JSON.
func (q *Spool) save(path string, v any, limit int, durable bool) error {
	data, err := json.Marshal(v)
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), limit)
	}
	if err != nil {
		return err
	}
	return q.s.replace(path, append(data, '\n'), durable)
}

// list reads the JSON files of a folder of the spool. One that cannot be read or
// parsed is told to bad, unless another run has finished it meanwhile.
func list[T any](
	q *Spool, dir string, limit int64, parse func(stem string, data []byte) (T, error), bad func(path string, err error),
) (all []T, err error) {
	var entries []os.DirEntry
	if err = q.s.folders(dir + "/"); err == nil {
		entries, err = os.ReadDir(q.s.Path(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() || e.Name()[0] == '.' {
			continue
		}
		path := dir + "/" + e.Name()
		data, _, err := q.s.readRegular(path, limit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var v T
		if err == nil {
			v, err = parse(stem, data)
		}
		if err != nil {
			bad(path, err)
			continue
		}
		all = append(all, v)
	}
	return all, err
}

// Begin notes that work on j begins, so that a job which kills its drain is
// known by it. It reports false when that was tried often enough: the job then
// stands in spool/poisoned.
func (q *Spool) Begin(j Job) (Job, bool, error) {
	if j.attempt >= maxAttempts {
		q.poison(j.name())
		return j, false, nil
	}
	next := j
	next.attempt++
	if err := q.s.disk.Rename(q.s.Path(j.name()), q.s.Path(next.name())); err != nil {
		return j, false, fmt.Errorf("begin spool job %s: %w", j.ID, err)
	}
	return next, true, nil
}

// Defer takes back what Begin noted: the work failed, but the drain lives, so
// it was not the job that stopped it. The next run tries again; a job that
// fails for maxWait is set aside.
func (q *Spool) Defer(j Job) error {
	if q.s.now().Sub(j.When()) > maxWait {
		q.poison(j.name())
		return nil
	}
	prev := j
	prev.attempt--
	if err := q.s.disk.Rename(q.s.Path(j.name()), q.s.Path(prev.name())); err != nil {
		return fmt.Errorf("defer spool job %s: %w", j.ID, err)
	}
	return nil
}

// maxWait is how long a job that cannot be done is kept in the queue.
const maxWait = 7 * 24 * time.Hour

// Finish removes a job whose work is on the disk.
func (q *Spool) Finish(j Job) error {
	if err := q.s.disk.Remove(q.s.Path(j.name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("finish spool job %s: %w", j.ID, err)
	}
	return nil
}

func (q *Spool) poison(name string) {
	if err := q.s.disk.MkdirAll(q.s.Path("spool/poisoned")); err == nil {
		_ = q.s.disk.Rename(q.s.Path(name), q.s.Path("spool/poisoned/"+name[strings.LastIndexByte(name, '/')+1:]))
	}
}

// Poisoned lists the jobs that were set aside.
func (q *Spool) Poisoned() []string {
	entries, _ := os.ReadDir(q.s.Path("spool/poisoned"))
	var names []string
	for _, e := range entries {
		names = append(names, "spool/poisoned/"+e.Name())
	}
	return names
}

// When returns the time at which the job was spooled.
func (j Job) When() time.Time {
	t, _ := time.Parse(time.RFC3339, j.At)
	return t
}
