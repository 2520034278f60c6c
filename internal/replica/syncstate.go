package replica

import "time"

// A SyncState tells how things stand between this machine and the remote.
type SyncState struct {
	Off         bool           `json:"-"` // sync is switched off
	Initialized bool           `json:"initialized"`
	Remote      string         `json:"remote"`
	Head        string         `json:"head"`
	Dirty       bool           `json:"dirty"`
	Detail      string         `json:"detail"`
	Ahead       int            `json:"ahead"`  // commits that the remote lacks
	Behind      int            `json:"behind"` // commits of the remote that are not here, when it was last asked
	Offline     bool           `json:"offline"`
	LastSync    string         `json:"last_sync"` // when the remote was last reached, empty when never
	LastTry     string         `json:"last_try"`
	LastDetail  string         `json:"last_detail"`
	Failures    int            `json:"failures"`     // attempts in a row that did not reach the remote
	NextTry     string         `json:"next_attempt"` // before that, background runs leave the remote alone
	Held        []WithheldFile `json:"held"`
	Conflicts   int            `json:"conflicts"`
	// State is how the last exchange ended: synced, offline, held, foreign,
	// refused, blocked or failed; empty when there was none with this remote.
	State     SyncResult `json:"state,omitempty"`
	Sealed    bool       `json:"sealed,omitempty"`     // what goes to the remote, it cannot read
	Repelled  []Repelled `json:"repelled,omitempty"`   // machines that wrote to it after they were revoked
	StateText string     `json:"state_text,omitempty"` // one line, when it is not synced
}

// Reached is when the remote was last reached, zero when never.
func (s *SyncState) Reached() time.Time { return parseTime(s.LastSync) }

// Next is when a background run asks the remote again, zero when at once.
func (s *SyncState) Next() time.Time { return parseTime(s.NextTry) }

// parseTime reads a time as it stands in JSON; what is none is zero.
func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
