// Package tombstone knows what was forgotten, and how it is recognised when
// somebody says it again. A tombstone does not hold the statement.
//
// Forget erases a note and everything that this machine keeps of it; the
// tombstone is on the disk before anything goes, so that Apply finishes what a
// crash interrupts. Apply does the same for tombstones of other machines. Revoke
// takes a tombstone back when its owner writes the statement again.
//
// A file that is no tombstone is skipped: one that cannot be read protects
// nothing, and the doctor says so.
package tombstone

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// MaxSize is the largest file that is read as a tombstone, in bytes.
const MaxSize = 4096

// A Tombstone remembers that a statement was forgotten, without holding it:
// whoever reads it cannot tell what was said, and whoever says it again, word
// for word or nearly, is recognised, also under another title where the body is
// self-contained.
//
// A revoked tombstone, of version 2, takes the place of one whose note was
// brought back. It recognises nothing. When it stands under the id of a note that
// came back it has the fingerprint of the statement (Revoke).
type Tombstone struct {
	V       int     `json:"v"`
	ID      note.ID `json:"id"`
	At      string  `json:"at"`
	Salt    string  `json:"salt"`    // 16 bytes, hex, of this tombstone alone
	HMAC    string  `json:"hmac"`    // SHA-256 of the normalised statement, hex
	Simhash string  `json:"simhash"` // 64 bits over keyed words, hex
	Tokens  int     `json:"tokens"`  // number of words

	// The same of the body, when that is self-contained (note.SelfContained).
	BodyHMAC    string `json:"body_hmac,omitempty"`
	BodySimhash string `json:"body_simhash,omitempty"`
	BodyTokens  int    `json:"body_tokens,omitempty"`

	// What tells the statement from one that differs in a symbol only. Older versions
	// wrote none, and read the members above alone.
	Exact Exact `json:"exact,omitzero"`

	revoked *revocations // statements that it does not mind any more; nil when there are none
}

// Exact are keyed hashes of the forms that note.Fingerprint compares, in hex. Those
// of the body and the title are there when the body is self-contained.
type Exact struct {
	HMAC      string `json:"hmac"`                 // of the canonical statement
	Marks     string `json:"marks"`                // of its marks
	Body      string `json:"body,omitempty"`       // of the canonical body
	BodyMarks string `json:"body_marks,omitempty"` // of its marks
	Title     string `json:"title,omitempty"`      // of the words of the title
	TitleBase string `json:"title_base,omitempty"` // of those that are no marks
}

// Read reads the tombstones of a tree of the store, the revoked ones too.
func Read(s *store.Store, scope note.Scope) (all []Tombstone, err error) {
	err = s.ReadFolder(store.TreeOf(scope)+"/"+layout.Tombstones, ".json", MaxSize, func(_ string, data []byte) {
		if t, ok := Parse(data); ok {
			all = append(all, t)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	return all, nil
}

// ReadBoth reads the tombstones of both trees of the store, the revoked ones too.
func ReadBoth(s *store.Store) (portable, local []Tombstone, err error) {
	if portable, err = Read(s, note.Portable); err == nil {
		local, err = Read(s, note.Local)
	}
	return portable, local, err
}

// A Tree is a tree of the store that is elsewhere, such as in git.
type Tree interface {
	List() ([]string, error) // the paths of all files, with slashes, in any order
	Read(path string) ([]byte, error)
}

// ReadTree reads the tombstones of a tree that is elsewhere, the revoked ones too.
func ReadTree(tree Tree) (all []Tombstone, err error) {
	paths, err := tree.List()
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if path.Dir(p) != layout.Tombstones || path.Ext(p) != ".json" {
			continue
		}
		data, err := tree.Read(p)
		if t, ok := Parse(data); err == nil && len(data) <= MaxSize && ok {
			all = append(all, t)
		}
	}
	return all, nil
}

// Parse reads the file of a tombstone.
func Parse(data []byte) (t Tombstone, ok bool) {
	if json.Unmarshal(data, &t) != nil || t.V != 1 && t.V != 2 {
		return t, false
	}
	_, err := note.ParseID(string(t.ID))
	return t, err == nil
}

// Write writes a tombstone into the tree of the note that was forgotten.
func Write(w *store.Writer, scope note.Scope, t Tombstone) error {
	data, err := json.Marshal(t)
	if err == nil {
		err = w.Replace(Path(scope, t.ID), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write tombstone %s: %w", t.ID, err)
	}
	return nil
}

// Path returns where the tombstone of a note stands, relative to the root.
func Path(scope note.Scope, id note.ID) string {
	return store.TreeOf(scope) + "/" + layout.TombstoneOf(id)
}

// time returns when t was written, the zero time when nobody can tell.
func (t Tombstone) time() time.Time {
	at, _ := time.Parse(time.RFC3339, t.At)
	return at
}

func (t Tombstone) laterThan(other Tombstone) bool { return t.time().After(other.time()) }

// supersedes reports whether t is the later decision about its note.
func (t Tombstone) supersedes(old Tombstone) bool {
	if a, b := t.time(), old.time(); !a.Equal(b) {
		return a.After(b)
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

// Latest returns the later decision about each note.
func Latest(all []Tombstone) map[note.ID]Tombstone {
	byID := make(map[note.ID]Tombstone, len(all))
	for _, t := range all {
		if old, ok := byID[t.ID]; !ok || t.supersedes(old) {
			byID[t.ID] = t
		}
	}
	return byID
}

// Merge merges two forms of a tombstone's file: it keeps the later decision, and
// a deletion counts nothing. nil stands for a file that is not there.
func Merge(base, ours, theirs []byte) []byte {
	switch {
	case ours == nil && theirs == nil:
		return base
	case ours == nil:
		return theirs
	case theirs == nil:
		return ours
	}
	a, okA := Parse(ours)
	b, okB := Parse(theirs)
	switch {
	case okA && (!okB || a.supersedes(b)):
		return ours
	case okB && (!okA || b.supersedes(a)):
		return theirs
	case bytes.Compare(ours, theirs) < 0:
		return ours
	}
	return theirs
}
