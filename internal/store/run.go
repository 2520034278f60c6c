package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// runsFolder holds a file for each run: what it wrote, line by line.
const runsFolder = "runs"

// A Run is one command, or one background job, that writes many notes and can be taken
// back as a whole. What the Writers write that are begun with its context is written
// down before it is written, so that a crash leaves no change without a line. It is safe
// for concurrent use.
type Run struct {
	ID   note.ID
	What string // "reflect", "merge", "import"

	s     *Store
	mu    sync.Mutex
	begun bool
}

// A RunLine is one change of a note by a run.
type RunLine struct {
	Note   note.ID `json:"note"`
	From   string  `json:"from,omitempty"`   // where it stood, relative to the root; "" when the run made it
	Former string  `json:"former,omitempty"` // the SHA-256 of what it was
	To     string  `json:"to"`               // where it stands
	Now    string  `json:"now"`              // the SHA-256 of what the run wrote
}

// A RunHead is the first line of a run.
type RunHead struct {
	V    int     `json:"v"`
	ID   note.ID `json:"id"`
	At   string  `json:"at"`
	What string  `json:"what"`
}

// A RunLog is what a run wrote.
type RunLog struct {
	RunHead
	Lines []RunLine
}

// Notes returns the notes that a run wrote, each once, in the order of their ids.
func (l *RunLog) Notes() []note.ID {
	var ids []note.ID
	for _, line := range l.Lines {
		ids = append(ids, line.Note)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// NewRun begins a run. It leaves no file until something is written.
func NewRun(s *Store, what string) *Run { return &Run{ID: note.NewID(s.now()), What: what, s: s} }

type runKey struct{}

// WithRun returns a context whose Writers write down for a run what they write.
func WithRun(ctx context.Context, r *Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunID returns the id of the run of a context for a store, "" when it has none.
func RunID(ctx context.Context, s *Store) note.ID {
	if r := runOf(ctx, s); r != nil {
		return r.ID
	}
	return ""
}

// runOf returns the run of a context, nil when it has none or one of another store.
func runOf(ctx context.Context, s *Store) *Run {
	if r, ok := ctx.Value(runKey{}).(*Run); ok && r.s == s {
		return r
	}
	return nil
}

// Wrote reports whether the run has written anything.
func (r *Run) Wrote() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// note writes down a change that is about to be made; former is nil for a new note.
func (r *Run) note(id note.ID, from string, former []byte, to string, now []byte) error {
	if r == nil {
		return nil
	}
	line := RunLine{Note: id, From: from, To: to, Now: Digest(now)}
	if former != nil {
		line.Former = Digest(former)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	if !r.begun {
		head := RunHead{V: 1, ID: r.ID, At: r.s.now().UTC().Format(time.RFC3339), What: r.What}
		if err := enc.Encode(head); err != nil {
			return err
		}
	}
	if err := enc.Encode(line); err != nil {
		return err
	}
	name := r.s.Path(runsFolder + "/" + string(r.ID) + ".jsonl")
	err := r.s.disk.Append(name, out.Bytes())
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.s.disk.MkdirAll(r.s.Path(runsFolder)); err == nil {
			err = r.s.disk.Append(name, out.Bytes())
		}
	}
	if err != nil {
		return fmt.Errorf("write down what the run %s does: %w", r.ID, err)
	}
	r.begun = true
	return nil
}

// maxRun is the largest file of a run that is read, in bytes.
const maxRun = 256 << 20

// ReadRun reads what a run wrote. Lines that cannot be read are passed over.
func ReadRun(s *Store, id note.ID) (l RunLog, err error) {
	if _, err := ulid.ParseStrict(string(id)); err != nil {
		return l, fs.ErrNotExist
	}
	data, err := s.ReadFile(runsFolder+"/"+string(id)+".jsonl", maxRun)
	if err != nil {
		return l, err
	}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var line RunLine
		switch {
		case l.ID == "":
			if json.Unmarshal(scan.Bytes(), &l.RunHead) != nil || l.ID != id {
				return RunLog{}, fmt.Errorf("read the run %s: its file is damaged", id)
			}
		case json.Unmarshal(scan.Bytes(), &line) == nil && layout.IsNotePath(line.To):
			if _, err := note.ParseID(string(line.Note)); err == nil && (line.From == "" || layout.IsNotePath(line.From)) {
				l.Lines = append(l.Lines, line)
			}
		}
	}
	return l, scan.Err()
}

// Runs lists the runs, newest first; at most limit, 0 for all. One that cannot be read is left out.
func Runs(s *Store, limit int) (all []RunLog, err error) {
	entries, err := os.ReadDir(s.Path(runsFolder))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	for _, e := range slices.Backward(entries) {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || !e.Type().IsRegular() || limit > 0 && len(all) == limit {
			continue
		}
		if l, err := ReadRun(s, note.ID(id)); err == nil {
			all = append(all, l)
		}
	}
	return all, nil
}
