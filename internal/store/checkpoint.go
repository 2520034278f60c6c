package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// How long the event log is kept in full, and how large it may grow before
// its oldest months go earlier. The month that is being written always stays.
const (
	keepEvents = 90 * 24 * time.Hour
	maxEvents  = 64 << 20
	keepMonths = 4 // with events in them, whatever the clock says
)

// monthOf names the log of a month.
func monthOf(t time.Time) string { return t.UTC().Format("2006-01") + ".jsonl" }

// A Tally counts what the event log says happened to one note.
type Tally struct {
	Injected int       `json:"injected,omitempty"`
	Recalled int       `json:"recalled,omitempty"`
	Used     int       `json:"used,omitempty"`    // sessions that were shown it and acted on it
	Unused   int       `json:"unused,omitempty"`  // sessions that were shown it and did not
	Opposed  int       `json:"opposed,omitempty"` // sessions whose user contradicted it
	Last     time.Time `json:"last"`              // shown
}

// Plus adds two tallies.
func (t Tally) Plus(o Tally) Tally {
	t.Injected += o.Injected
	t.Recalled += o.Recalled
	t.Used += o.Used
	t.Unused += o.Unused
	t.Opposed += o.Opposed
	if o.Last.After(t.Last) {
		t.Last = o.Last
	}
	return t
}

// Add counts r for every note it names. Records of other kinds count nothing.
func (r Record) Add(to map[note.ID]Tally) {
	var one Tally
	switch {
	case r.Kind == Recalled:
		one.Recalled = 1
	case r.Shows():
		one.Injected = 1
	case r.Kind == FollowedUp:
		one = Verdict(r.Text).tally()
	}
	if one == (Tally{}) {
		return
	}
	if r.Kind != FollowedUp {
		one.Last, _ = time.Parse(time.RFC3339, r.At)
	}
	for _, id := range r.Notes {
		to[id] = to[id].Plus(one)
	}
}

// A Checkpoint holds the counts of months whose log was dropped, month by
// month, so that an index that is rebuilt counts each exactly once.
type Checkpoint struct {
	V      int                          `json:"v"`
	Months map[string]map[note.ID]Tally `json:"months"` // by file name

	Damaged error `json:"-"` // why the file cannot be read; the counts in it are lost, no note is
}

// Checkpoint reads the counts of the dropped months. A damaged file has none: counts
// of before it are missing then, which holds up nothing.
func (e *Events) Checkpoint() (Checkpoint, error) {
	c := Checkpoint{V: 1, Months: make(map[string]map[note.ID]Tally)}
	data, _, err := e.s.readRegular(layout.CheckpointFile, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", e.s.Path(layout.CheckpointFile), err)
	}
	c.Months = nil
	if len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("it is empty")
	} else {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.Months == nil {
		c = Checkpoint{V: 1, Months: make(map[string]map[note.ID]Tally), Damaged: cmp.Or(err, errors.New("it holds no months"))}
	}
	return c, nil
}

// damagedCheckpoint is where the bytes of one that cannot be read go.
const damagedCheckpoint = "events/checkpoint.damaged.json"

// Compact folds the months of the event log that are old, or too large
// together, into the checkpoint, and drops them. A crash between the two is
// harmless: a month in the checkpoint is not read again, and is dropped by the
// next run. It returns the number of months dropped.
func (e *Events) Compact() (int, error) {
	files, err := e.Files()
	if err != nil || len(files) == 0 {
		return 0, err
	}
	size := e.Size()
	present, oldest := monthOf(e.s.now()), monthOf(e.s.now().Add(-keepEvents))
	var drop []string
	for i, f := range files[:len(files)-1] {
		// A clock that jumps ahead makes every month old, but not that many newer ones.
		old := f < oldest && i < len(files)-keepMonths
		if !old && size <= maxEvents {
			break
		}
		if f == present { // a later one is of a clock that was ahead
			break
		}
		if ref, err := e.s.lstat("events/" + f); err == nil {
			size -= ref.Size()
		}
		drop = append(drop, f)
	}
	if len(drop) == 0 {
		return 0, nil
	}
	c, err := e.Checkpoint()
	if err != nil {
		return 0, err
	}
	for _, f := range drop {
		if _, done := c.Months[f]; done {
			continue
		}
		month := make(map[note.ID]Tally)
		if _, err := e.Records(f, 0, func(r Record) { r.Add(month) }); err != nil {
			return 0, err
		}
		c.Months[f] = month
	}
	data, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	if c.Damaged != nil { // somebody may want to mend it
		if err := e.s.disk.Rename(e.s.Path(layout.CheckpointFile), e.s.Path(damagedCheckpoint)); err != nil {
			return 0, err
		}
	}
	if err := e.s.Replace(layout.CheckpointFile, append(data, '\n')); err != nil {
		return 0, err
	}
	for _, f := range drop {
		if err := e.s.disk.Remove(e.s.Path("events/" + f)); err != nil {
			return 0, fmt.Errorf("drop the event log of %s: %w", f, err)
		}
	}
	return len(drop), nil
}
