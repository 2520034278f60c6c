package app

import (
	"testing"

	"anamnesis/internal/replica"
)

// A settlement whose first round committed does not end with "nothing to commit".
func TestTakeCommitted(t *testing.T) {
	var s SyncResult
	s.take(replica.Outcome{Committed: true, Detail: "committed locally; no remote configured"})
	s.take(replica.Outcome{Detail: "nothing to commit; no remote configured"})
	if want := "committed locally; no remote configured"; s.Detail != want || !s.Committed {
		t.Errorf("%q, want %q", s.Detail, want)
	}
}
