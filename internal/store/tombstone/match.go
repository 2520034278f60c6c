package tombstone

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"anamnesis/internal/note"
)

// nearWords is how many words a near-copy has at least (see note.NearBits).
const nearWords = 8

// New makes the tombstone of a statement: a title, a line feed and a body.
func New(id note.ID, statement string, at time.Time) Tombstone {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	k := keyedBy(salt)
	hexed := func(text string) string { return hex.EncodeToString(k.of(text)) }
	s := note.FingerprintOf(statement)
	ofBody, ofAll := k.simhashes(&s)
	t := Tombstone{
		V: 1, ID: id, At: at.UTC().Format(time.RFC3339),
		Salt: hex.EncodeToString(salt), HMAC: hexed(s.Folded),
		Simhash: fmt.Sprintf("%016x", ofAll), Tokens: len(s.Words),
		Exact: Exact{HMAC: hexed(s.Statement), Marks: hexed(s.Marks)},
	}
	if s.Body != "" {
		t.BodyHMAC, t.BodySimhash, t.BodyTokens = hexed(s.BodyFold), fmt.Sprintf("%016x", ofBody), len(s.BodyWords)
		t.Exact.Body, t.Exact.BodyMarks = hexed(s.Body), hexed(s.BodyMarks)
		t.Exact.Title, t.Exact.TitleBase = hexed(s.Title), hexed(s.TitleBase)
	}
	return t
}

// spare makes a tombstone such that machines of an older version, which read the
// words alone, do not take a note along that stays: one that has the words of what
// was forgotten, and other symbols.
func (t *Tombstone) spare(s *note.Fingerprint) {
	old := *t
	old.Exact = Exact{}
	if k, ok := t.key(); ok && old.fitsAsMeant(s) {
		if k.makes(t.HMAC, s.Folded) {
			t.HMAC = t.Exact.HMAC
		}
		if t.BodyHMAC != "" && k.makes(t.BodyHMAC, s.BodyFold) {
			t.BodyHMAC = t.Exact.Body
		}
	}
}

// Match returns the first of some tombstones that matches a note: it is the one of the note's id, or recognises what the note says.
func Match(stones []Tombstone, n *note.Note) (t Tombstone, ok bool) {
	if len(stones) == 0 {
		return t, false
	}
	s := n.Fingerprint()
	for _, t := range stones {
		if t.ID == n.ID || t.Recognises(s) {
			return t, true
		}
	}
	return t, false
}

// Says reports whether one of some tombstones is that of a note, or of exactly
// what it says.
func Says(stones []Tombstone, n *note.Note) bool {
	s := n.Fingerprint()
	return slices.ContainsFunc(stones, func(t Tombstone) bool { return t.ID == n.ID || t.exactly(&s) })
}

// Recognises reports whether what a note says is what was forgotten or a
// near-copy, and was not written again by its owner since. A
// self-contained body is enough. Those of sessions resemble each other by chance, so it has to
// be the very body there.
func (t Tombstone) Recognises(s note.Fingerprint) bool {
	return t.V == 1 && (t.fitsAsMeant(&s) || t.resembles(&s)) && !t.revokedFor(&s)
}

// exactly reports whether what a note says is what was forgotten, not a
// near-copy, and was not written again by its owner since.
func (t Tombstone) exactly(s *note.Fingerprint) bool {
	return t.V == 1 && t.fits(s) && !t.revokedFor(s)
}

// itself reports whether a note of t's id says what was forgotten, and was not
// written again by its owner since.
func (t Tombstone) itself(id note.ID, s *note.Fingerprint) bool {
	return t.V == 1 && t.ID == id && t.fitsAsMeant(s) && !t.revokedFor(s)
}

// revokedFor reports whether what a note says was written again after it was forgotten.
func (t Tombstone) revokedFor(s *note.Fingerprint) bool {
	return t.revoked != nil && t.revoked.cover(t, s)
}

// fits reports whether what a note says is what was forgotten (note.Fingerprint.Same).
//
// A tombstone of an older version knows the words alone, and not whether they were
// said with other symbols between them. It fits what has those words and no symbol.
func (t *Tombstone) fits(s *note.Fingerprint) bool {
	statement := t.HMAC != "" && t.Tokens == len(s.Words)
	body := t.BodyHMAC != "" && s.Body != "" && t.BodyTokens == len(s.BodyWords)
	if !statement && !body {
		return false // of another length, and not worth the hashing
	}
	k, ok := t.key()
	switch e := t.Exact; {
	case !ok:
		return false
	case e == (Exact{}):
		return plain(s.Marks) && t.folded(k, s, statement, body)
	case statement && k.makes(e.HMAC, s.Statement):
		return true
	default:
		return body && k.makes(e.Body, s.Body) && (!k.makes(e.TitleBase, s.TitleBase) || k.makes(e.Title, s.Title))
	}
}

// folded reports whether what a note says has the very words of what was forgotten.
func (t *Tombstone) folded(k *keyed, s *note.Fingerprint, statement, body bool) bool {
	return statement && k.makes(t.HMAC, s.Folded) || body && k.makes(t.BodyHMAC, s.BodyFold)
}

// plain reports whether marks have no symbols, which older versions passed over.
func plain(marks string) bool {
	return !strings.ContainsFunc(marks, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '\n'
	})
}

// fitsAsMeant is fits for the note that was forgotten itself, or for what its owner
// writes again: there is no doubt which of those with the words of an older
// tombstone was meant.
func (t *Tombstone) fitsAsMeant(s *note.Fingerprint) bool {
	if t.Exact != (Exact{}) {
		return t.fits(s)
	}
	k, ok := t.key()
	return ok && t.folded(k, s, t.HMAC != "", t.BodyHMAC != "" && s.Body != "")
}

// resembles reports whether what a note says is nearly what was forgotten.
func (t *Tombstone) resembles(s *note.Fingerprint) bool {
	statement := alikeLong(t.Tokens, len(s.Words))
	body := s.Body != "" && !s.Session && alikeLong(t.BodyTokens, len(s.BodyWords))
	if !statement && !body {
		return false
	}
	k, ok := t.key()
	if !ok {
		return false
	}
	// A correction is no repetition.
	if e := t.Exact; e != (Exact{}) {
		statement, body = statement && k.makes(e.Marks, s.Marks), body && k.makes(e.BodyMarks, s.BodyMarks)
		if !statement && !body {
			return false
		}
	}
	ofBody, ofAll := k.simhashes(s)
	return statement && near(t.Simhash, ofAll) || body && near(t.BodySimhash, ofBody)
}

// alikeLong reports whether a number of words is not too far from that of a
// tombstone, and both are enough, to tell chance from a near-copy.
func alikeLong(words, other int) bool {
	return min(words, other) >= nearWords && max(words-other, other-words) <= words/4
}

func near(simhash string, other uint64) bool {
	sim, err := strconv.ParseUint(simhash, 16, 64)
	return err == nil && bits.OnesCount64(sim^other) <= note.NearBits
}

// saltSize is the number of bytes of a salt. Other machines may write longer
// ones, up to maxSalt.
const (
	saltSize = 16
	maxSalt  = 64
)

// A keyed hash is HMAC-SHA-256 with the salt of one tombstone.
type keyed struct {
	mac hash.Hash
	buf []byte
	sum [sha256.Size]byte
}

func keyedBy(salt []byte) *keyed { return &keyed{mac: hmac.New(sha256.New, salt)} }

func (t *Tombstone) key() (*keyed, bool) {
	var salt [maxSalt]byte
	if len(t.Salt) > 2*maxSalt {
		return nil, false
	}
	n, err := hex.Decode(salt[:], []byte(t.Salt))
	if err != nil {
		return nil, false
	}
	return keyedBy(salt[:n]), true
}

// of returns the hash of a text, which stands until the next call.
func (k *keyed) of(text string) []byte {
	k.mac.Reset()
	k.buf = append(k.buf[:0], text...)
	k.mac.Write(k.buf)
	return k.mac.Sum(k.sum[:0])
}

// makes reports whether the hash of a text is sum, in hex.
func (k *keyed) makes(sum, text string) bool {
	var hexed [2 * sha256.Size]byte
	hex.Encode(hexed[:], k.of(text))
	return sum == string(hexed[:])
}

// simhashes returns those of the body, where it is self-contained, and of the statement.
func (k *keyed) simhashes(s *note.Fingerprint) (ofBody, ofAll uint64) {
	return note.Simhashes(s.Words, len(s.Words)-len(s.BodyWords), func(w string) uint64 {
		return binary.BigEndian.Uint64(k.of(w))
	})
}
