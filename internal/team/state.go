package team

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"anamnesis/internal/index"
)

// A State is how far the mirror is. It stands in the local index, so it is lost
// together with what it speaks of.
type State struct {
	Workspace string    `json:"workspace"` // whose notes these are; "" when there is no mirror
	Since     int64     `json:"since"`     // the generation up to which all was taken
	Known     int64     `json:"known"`     // the newest generation that the server named
	Part      Part      `json:"part"`      // of the generations after Since, what was taken before the exchange was cut off
	At        time.Time `json:"at"`        // when the server was last asked
	Failed    time.Time `json:"failed"`    // when an exchange did not come to its end; zero when one did since
	Origins   []Origin  `json:"origins"`
}

// A Part is the last change that was taken of a list of changes; its zero value is none.
type Part struct {
	Generation int64  `json:"generation"`
	Origin     string `json:"origin"`
	Path       string `json:"path"`
}

// after returns the changes that follow the part, all of them when it is not among them.
func (p Part) after(changes []index.Change) []index.Change {
	return changes[slices.IndexFunc(changes, func(c index.Change) bool { return partOf(c) == p })+1:]
}

func partOf(c index.Change) Part { return Part{c.Generation, c.Origin, c.Path} }

// Behind reports whether the server named changes that are not taken.
func (s *State) Behind() bool { return s.Since < s.Known }

// An Origin is a machine whose notes are mirrored, and who works on it.
type Origin struct {
	Name   string `json:"name"`
	Member string `json:"member"`
}

// Age is how old the mirror is: how long ago the server was last asked.
func (s *State) Age(now time.Time) time.Duration {
	if s.At.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.At))
}

// Fail writes down that an exchange could not begin.
func (s State) Fail(ctx context.Context, own index.Memos, now time.Time) error {
	s.Failed = now.UTC()
	return s.write(ctx, own)
}

func (s *State) add(origin, member string) {
	at := slices.IndexFunc(s.Origins, func(o Origin) bool { return o.Name == origin })
	if at < 0 {
		s.Origins = append(s.Origins, Origin{origin, member})
		return
	}
	s.Origins[at].Member = member
}

// The state is a memo of this kind and key.
const (
	memoKind = "team"
	memoKey  = "mirror"
)

// ReadState returns the state of the mirror, its zero value when there is none.
func ReadState(ctx context.Context, own index.Memos) (s State, err error) {
	m, ok, err := own.Memo(ctx, memoKind, memoKey)
	if err != nil || !ok {
		return s, err
	}
	if uerr := json.Unmarshal(m.Value, &s); uerr != nil {
		s = State{} // as if nothing had been taken: Pull takes all again
	}
	return s, nil
}

func (s State) write(ctx context.Context, own index.Memos) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return own.SetMemo(ctx, memoKind, memoKey, index.Memo{Value: data, At: s.At}, 1)
}

// withdrawnKind is the kind of the memo that holds which notes owners of the team took
// away, as the server said the last time.
const withdrawnKind = "team-withdrawn"

// keepWithdrawn remembers it. It is shown by Preview alone, so that a memo that cannot be
// written now is left to the next time.
func keepWithdrawn(ctx context.Context, memos index.Memos, withdrawn map[string]string, now time.Time) {
	if maps.Equal(readWithdrawn(ctx, memos), withdrawn) {
		return
	}
	if data, err := json.Marshal(withdrawn); err == nil {
		_ = memos.SetMemo(ctx, withdrawnKind, memoKey, index.Memo{Value: data, At: now}, 1)
	}
}

func readWithdrawn(ctx context.Context, memos index.Memos) map[string]string {
	m, ok, err := memos.Memo(ctx, withdrawnKind, memoKey)
	var withdrawn map[string]string
	if err != nil || !ok || json.Unmarshal(m.Value, &withdrawn) != nil {
		return nil
	}
	return withdrawn
}
