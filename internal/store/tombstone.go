package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// A Tombstone remembers that a statement was forgotten, without holding it:
// whoever reads it cannot tell what was said, and whoever says it again, word
// for word or nearly, is recognised.
//
// A lifted tombstone, of version 2, takes the place of one whose note was
// brought back. It recognises nothing. When it stands under the id of a note that
// came back it has the fingerprint of the statement (Lift).
type Tombstone struct {
	V       int     `json:"v"`
	ID      note.ID `json:"id"`
	At      string  `json:"at"`
	Salt    string  `json:"salt"`    // 16 bytes, hex, of this tombstone alone
	HMAC    string  `json:"hmac"`    // SHA-256 of the normalised statement, hex
	Simhash string  `json:"simhash"` // 64 bits over keyed words, hex
	Tokens  int     `json:"tokens"`  // number of words

	lifts *lifts // statements that it does not mind any more; nil when there are none
}

// Near-copies: at least this many words, and this many differing bits at most.
// Three bits of 64 is the usual bound for near-duplicate documents (Manku,
// Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007).
const (
	nearWords = 8
	NearBits  = 3
)

// NewTombstone makes the tombstone of a statement.
func NewTombstone(id note.ID, statement string, at time.Time) Tombstone {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	sum, sim, words := fingerprint(salt, note.Normalize(statement))
	return Tombstone{
		V: 1, ID: id, At: at.UTC().Format(time.RFC3339),
		Salt: hex.EncodeToString(salt), HMAC: hex.EncodeToString(sum),
		Simhash: fmt.Sprintf("%016x", sim), Tokens: words,
	}
}

// Recognises reports whether a normalised statement is the forgotten one or a
// near-copy, and was not written again by its owner since.
func (t Tombstone) Recognises(normalized string) bool {
	return t.V == 1 && t.resembles(normalized) && !t.spares(normalized)
}

// spares reports whether a statement was written again after it was forgotten.
func (t Tombstone) spares(normalized string) bool {
	return t.lifts != nil && t.lifts.spare(t, normalized, len(strings.Fields(normalized)))
}

func (t Tombstone) resembles(normalized string) bool {
	salt, err := hex.DecodeString(t.Salt)
	if err != nil {
		return false
	}
	words := len(strings.Fields(normalized))
	if t.Tokens != words && (words < nearWords || t.Tokens < nearWords || 4*abs(t.Tokens-words) > t.Tokens) {
		return false // too different in length to be worth the hashing
	}
	sum, sim, words := fingerprint(salt, normalized)
	if hex.EncodeToString(sum) == t.HMAC {
		return true
	}
	var want uint64
	if _, err := fmt.Sscanf(t.Simhash, "%x", &want); err != nil {
		return false
	}
	return words >= nearWords && t.Tokens >= nearWords && bits.OnesCount64(sim^want) <= NearBits
}

func abs(n int) int { return max(n, -n) }

func fingerprint(salt []byte, normalized string) (sum []byte, sim uint64, words int) {
	mac := hmac.New(sha256.New, salt)
	keyed := func(s string) []byte {
		mac.Reset()
		mac.Write([]byte(s))
		return mac.Sum(nil)
	}
	all := strings.Fields(normalized)
	sim = note.Simhash(all, func(w string) uint64 { return binary.BigEndian.Uint64(keyed(w)) })
	return keyed(normalized), sim, len(all)
}

// tombstonesOf reads the tombstones of a tree of the store, the lifted ones too.
func (s *Store) tombstonesOf(scope note.Scope) ([]Tombstone, error) {
	if err := s.folders(treeName(scope) + "/tombstones/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	return tombstonesIn(os.DirFS(s.Tree(scope)))
}

func tombstonesIn(tree fs.FS) ([]Tombstone, error) {
	entries, err := fs.ReadDir(tree, "tombstones")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	var all []Tombstone
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err != nil || fi.Size() > maxRecord {
			continue
		}
		data, err := fs.ReadFile(tree, "tombstones/"+e.Name())
		if t, ok := readTombstone(data); err == nil && ok {
			all = append(all, t)
		}
	}
	return all, nil
}

func readTombstone(data []byte) (t Tombstone, ok bool) {
	if json.Unmarshal(data, &t) != nil || t.V != 1 && t.V != 2 {
		return t, false
	}
	_, err := note.ParseID(string(t.ID))
	return t, err == nil
}

// exactly reports whether a normalised statement is the forgotten one, not a
// near-copy, and was not written again by its owner since.
func (t Tombstone) exactly(normalized string) bool {
	return t.V == 1 && t.fits(normalized) && !t.spares(normalized)
}

// fits reports whether a normalised statement is the one of the fingerprint.
func (t Tombstone) fits(normalized string) bool {
	salt, err := hex.DecodeString(t.Salt)
	if err != nil || t.HMAC == "" {
		return false
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(normalized))
	return hex.EncodeToString(mac.Sum(nil)) == t.HMAC
}

// supersedes reports whether t is the later decision about its note.
func (t Tombstone) supersedes(old Tombstone) bool {
	if t.laterThan(old) || old.laterThan(t) {
		return t.laterThan(old)
	}
	return t.V > old.V
}

// after returns the time now, or a second after at if that is later: a decision
// supersedes the one it answers, whatever the clocks say.
func after(at string, now time.Time) string {
	if t, err := time.Parse(time.RFC3339, at); err == nil && !now.After(t.Add(time.Second)) {
		now = t.Add(time.Second)
	}
	return now.UTC().Format(time.RFC3339)
}

// mergeTombstones keeps the later decision; a deletion counts nothing.
func mergeTombstones(base, ours, theirs []byte) []byte {
	switch {
	case ours == nil && theirs == nil:
		return base
	case ours == nil:
		return theirs
	case theirs == nil:
		return ours
	}
	a, okA := readTombstone(ours)
	b, okB := readTombstone(theirs)
	switch {
	case okA != okB:
		if okA {
			return ours
		}
		return theirs
	case okA && a.supersedes(b):
		return ours
	case okA && b.supersedes(a):
		return theirs
	}
	if bytes.Compare(ours, theirs) < 0 {
		return ours
	}
	return theirs
}
