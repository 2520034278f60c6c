package note

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// An ID names a note. It is opaque: 1 to 128 letters, digits, hyphens and
// underscores. The ones that NewID and EpisodicID make are ULIDs.
type ID string

// errBadID reports that a text cannot be the id of a note.
var errBadID = errors.New("an id is 1 to 128 letters, digits, '-' and '_', and not a Windows device name")

var newIDs struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
}

// NewID returns a new ULID for time t. Ids made one after the other within a
// millisecond are in ascending order. It is safe for concurrent use.
func NewID(t time.Time) ID {
	newIDs.Lock()
	defer newIDs.Unlock()
	if newIDs.entropy == nil {
		newIDs.entropy = ulid.Monotonic(rand.Reader, 0)
	}
	ms := millis(t)
	id, err := ulid.New(ms, newIDs.entropy)
	if err != nil {
		// 2^79 ids in one millisecond: unreachable, but a fresh start is right.
		newIDs.entropy = ulid.Monotonic(rand.Reader, 0)
		id = ulid.MustNew(ms, newIDs.entropy)
	}
	return ID(id.String())
}

// EpisodicID returns the id of the episodic note of a session: the same on
// every machine, so that capturing a session again finds the file it made.
// Start is the first time stamp in the session, or the zero time.
func EpisodicID(start time.Time, harness, session string) ID {
	sum := sha256.Sum256([]byte(harness + "\x00" + session))
	var id ulid.ULID
	_ = id.SetTime(millis(start)) // unreachable error: millis stays within range
	copy(id[6:], sum[:10])
	return ID(id.String())
}

// LearningID returns the id of the note of what one stretch of a session taught: the
// same on every machine and for every copy of the session. At is when it was said.
func LearningID(at time.Time, chunk string) ID { return EpisodicID(at, "learning", chunk) }

// ParseID returns s as an ID, or an error that wraps errBadID.
func ParseID(s string) (ID, error) {
	ok := len(s) > 0 && len(s) <= 128 && !DeviceName(s)
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	if !ok {
		shown := s
		if len(shown) > 140 {
			shown = shown[:140] + "…"
		}
		return "", fmt.Errorf("%q: %w", shown, errBadID)
	}
	return ID(s), nil
}

// DeviceName reports whether Windows opens a device for a file of that name, whatever its extension.
func DeviceName(s string) bool {
	switch len(s) {
	case 3:
		s = strings.ToLower(s)
		return s == "con" || s == "prn" || s == "aux" || s == "nul"
	case 4:
		stem := strings.ToLower(s[:3])
		return (stem == "com" || stem == "lpt") && '0' <= s[3] && s[3] <= '9'
	}
	return false
}

// millis returns t in the range of a ULID: 48 bits of milliseconds since 1970.
func millis(t time.Time) uint64 {
	ms := t.UnixMilli()
	if t.IsZero() || ms < 0 {
		return 0
	}
	return min(uint64(ms), ulid.MaxTime())
}
