package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// A Tombstone remembers that a statement was forgotten, without holding it:
// whoever reads it cannot tell what was said, and whoever says it again, word
// for word or nearly, is recognised, also under another title where the body
// speaks alone.
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

	// The same of the body, when that speaks alone (note.SpeaksAlone).
	BodyHMAC    string `json:"body_hmac,omitempty"`
	BodySimhash string `json:"body_simhash,omitempty"`
	BodyTokens  int    `json:"body_tokens,omitempty"`

	lifts *lifts // statements that it does not mind any more; nil when there are none
}

// tombstonesOf reads the tombstones of a tree of the store, the lifted ones too.
func (s *Store) tombstonesOf(scope note.Scope) ([]Tombstone, error) {
	if err := s.folders(treeName(scope) + "/tombstones/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	dir, err := os.Open(s.Path(treeName(scope) + "/tombstones"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	all := make([]Tombstone, 0, len(entries))
	var buf [maxRecord + 1]byte
	for _, e := range entries {
		if !isTombstoneFile(e) {
			continue
		}
		n, err := readFrom(dir, e.Name(), buf[:])
		if err != nil || n > maxRecord {
			continue
		}
		if t, ok := readTombstone(buf[:n]); ok {
			all = append(all, t)
		}
	}
	return all, nil
}

func isTombstoneFile(e fs.DirEntry) bool {
	return strings.HasSuffix(e.Name(), ".json") && e.Type().IsRegular()
}

// tombstonesIn reads the tombstones of a tree that may stand elsewhere, such as in git.

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
		if !isTombstoneFile(e) {
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
