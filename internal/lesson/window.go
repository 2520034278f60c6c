package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"anamnesis/internal/agent"
)

// window cuts the stretch around a signal: from the last thing that the user said
// before it.
func window(turns []agent.Turn, sig Signal, quote string) Window {
	w := Window{From: before(turns, sig.Turn), To: sig.Turn, Quote: quote}
	if sig.fix != nil {
		w.From = sig.fix.began
	}
	t := &turns[sig.Turn]
	w.At, w.Record = t.At, t.UUID
	what := t.Text
	switch {
	case sig.fix != nil:
		what = sig.fix.raw
	case sig.permit != nil:
		what = sig.permit.raw
	}
	w.Hash = hash(t.At, what)
	return w
}

// before returns the turn from which on the agent worked on what was said last before
// the turn at; 0 when nothing was.
func before(turns []agent.Turn, at int) int {
	for i := at - 1; i >= 0; i-- {
		if turns[i].Human() {
			return i
		}
	}
	return 0
}

// hash is the fingerprint of a window. The time of the record is part of it and the id
// of the session is not: a session that is resumed or forked repeats its records under
// another id, and two sessions that say the same prove more than one. What is hashed
// is what stands in the record, whatever is masked of it.
func hash(at time.Time, what string) string {
	sum := sha256.Sum256([]byte(at.UTC().Format(time.RFC3339Nano) + "\x00" + strings.Join(strings.Fields(strings.ToLower(what)), " ")))
	return hex.EncodeToString(sum[:10])
}
