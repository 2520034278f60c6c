package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"anamnesis/internal/store/layout"
)

// QuietFile says until when, and in which sessions, an agent is shown nothing. It has a
// separate folder: in the spool itself a run takes it for a job that nobody can do.
const QuietFile = layout.Quiet + "/quiet.json"

// maxQuiet is how many sessions are remembered: the newest.
const maxQuiet = 200

// A Quiet is what its owner asked not to be shown.
type Quiet struct {
	Until    time.Time `json:"until,omitzero"`     // prompts of all sessions are shown nothing until then
	Sessions []string  `json:"sessions,omitempty"` // that are shown nothing at all
	Private  []string  `json:"private,omitempty"`  // likewise, and nothing of them is captured
}

// Session reports whether a session is shown nothing.
func (q *Quiet) Session(id string) bool {
	return id != "" && (slices.Contains(q.Sessions, id) || slices.Contains(q.Private, id))
}

// Quiet reads what is to be quiet. A file that cannot be read is an error, which callers
// take for silence: who wrote it wanted that.
func (q *Spool) Quiet() (Quiet, error) {
	var a Quiet
	data, err := os.ReadFile(q.s.Path(QuietFile))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read %s: %w; `anamnesis quiet off` removes it", q.s.Path(QuietFile), err)
	}
	if !a.Until.After(q.s.now()) {
		a.Until = time.Time{}
	}
	return a, nil
}

// SetQuiet writes what is to be quiet; nothing to write removes the file.
func (q *Spool) SetQuiet(a Quiet) error {
	if q.s.unwritable != nil {
		return q.s.unwritable
	}
	a.Sessions = a.Sessions[max(0, len(a.Sessions)-maxQuiet):]
	a.Private = a.Private[max(0, len(a.Private)-maxQuiet):]
	if a.Until.IsZero() && len(a.Sessions)+len(a.Private) == 0 {
		return q.Remove(QuietFile)
	}
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write %s: %w", QuietFile, err)
	}
	return q.Write(QuietFile, append(data, '\n'), true)
}
