package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A Observed is an event of a session that its agent's records do not keep: it was asked for
// a permission, a tool failed. It holds no text of anybody.
type Observed struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Tool string    `json:"tool,omitempty"`
}

// maxNotedName is how long a name of a tool may be, in bytes.
const maxNotedName = 200

// Note keeps an event. Hooks call it: it is one line that is appended.
func (t *ShownLog) Note(n Observed) error {
	n.At, n.Tool = t.s.now().UTC(), clip(n.Tool, maxNotedName)
	return t.append(lineOf(shownLine{Observed: &n}))
}

// Observed returns the events of a session in the order of time.
func (t *ShownLog) Observed() (all []Observed, err error) {
	data, err := t.read()
	if err != nil {
		return nil, fmt.Errorf("read what happened in the session: %w", err)
	}
	for line := range bytes.Lines(data) {
		var l shownLine
		if bytes.Contains(line, []byte(`"noted"`)) && json.Unmarshal(line, &l) == nil && l.Observed != nil {
			all = append(all, *l.Observed)
		}
	}
	return all, nil
}
