package unread

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"anamnesis/internal/store/layout"
)

// stateFile says how agents answer for what they are handed at starts, and what the user has heard of it. Before the first
// hand-out there is no such file.
const stateFile = layout.Unread + "/state.json"

type state struct {
	V      int       `json:"v"`
	Missed int       `json:"missed,omitempty"` // sessions in a row that were shown a record, worked, and did not answer
	Paused time.Time `json:"paused,omitzero"`  // since when nothing is handed out at starts
	Said   []Saying  `json:"said,omitempty"`   // what the user has heard
}

// A Saying is what a user hears once.
type Saying string

// The sayings.
const (
	SayingShown  Saying = "shown"  // that what the user types is shown to the agent to which it was typed
	SayingPaused Saying = "paused" // that nothing is handed out at starts
)

// patient is how many sessions in a row may be shown a record and not answer before nothing is handed out at starts.
const patient = 10

func (q Queue) state() (st state, err error) {
	data, err := q.store.ReadFile(stateFile, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &st)
	}
	if err != nil {
		return state{}, fmt.Errorf("read %s: %w", q.store.Path(stateFile), err)
	}
	return st, nil
}

// count changes the state. The caller has the lock. A state that cannot be read is replaced.
func (q Queue) count(f func(*state)) error {
	st, _ := q.state()
	f(&st)
	st.V = version
	data, err := json.Marshal(st)
	if err == nil {
		err = q.store.Spool().Write(stateFile, append(data, '\n'), false)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", q.store.Path(stateFile), err)
	}
	return nil
}

// missed records that a session was shown a record and did not answer.
func (q Queue) missed() error {
	return q.count(func(st *state) {
		if st.Missed++; st.Missed >= patient && st.Paused.IsZero() {
			st.Paused = q.store.Now()
		}
	})
}

// answered records that an agent answers.
func (q Queue) answered() error {
	st, err := q.state()
	if err == nil && st.Missed == 0 && st.Paused.IsZero() {
		return nil
	}
	return q.count(func(st *state) {
		st.Missed, st.Paused = 0, time.Time{}
		st.Said = slices.DeleteFunc(st.Said, func(s Saying) bool { return s == SayingPaused })
	})
}

// Paused reports whether nothing is handed out at starts, because no agent answered for long.
func (q Queue) Paused() (bool, error) {
	st, err := q.state()
	return !st.Paused.IsZero(), err
}

// Resume ends a pause: an agent answers again, or the user has chosen again who is shown what.
func (q Queue) Resume() error { return q.change(q.answered) }

// Heard reports whether the user has heard something.
func (q Queue) Heard(what Saying) bool {
	st, err := q.state()
	return err == nil && slices.Contains(st.Said, what)
}

// Say reports whether the user has yet to hear something, and records that they have. Of two sessions at once one says it.
func (q Queue) Say(what Saying) (say bool, err error) {
	if q.Heard(what) {
		return false, nil
	}
	_, err = q.locked(0, func() error {
		return q.count(func(st *state) {
			if say = !slices.Contains(st.Said, what); say {
				st.Said = append(st.Said, what)
			}
		})
	})
	return say && err == nil, err
}
