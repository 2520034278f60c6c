package seal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Manifest says what a hub holds. It is the only thing there that is signed: it names
// each file by its hash.
type Manifest struct {
	V        int       `json:"v"`
	N        int64     `json:"n"` // one more with each push, so that an older one is noticed
	At       time.Time `json:"at"`
	Group    Group     `json:"group"`
	Segments []Segment `json:"segments"` // in the order in which they are opened
}

// A Segment is a file of the hub: a git bundle from the head of the segment before to its own.
type Segment struct {
	Name string `json:"name"` // the SHA-256 of the encrypted file
	Size int64  `json:"size"` // of it
	Head string `json:"head"` // the commit
}

// Head is the newest commit, empty when nothing was sent yet.
func (m Manifest) Head() string {
	if len(m.Segments) == 0 {
		return ""
	}
	return m.Segments[len(m.Segments)-1].Head
}

// Seal signs the manifest and encrypts it for the machines of its group.
func (m Manifest) Seal(by *Identity) ([]byte, error) {
	members, err := m.Group.Members()
	if err != nil {
		return nil, err
	}
	s, err := by.seal(forManifest, m)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := Encrypt(&out, members)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(w).Encode(s); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// Open reads a manifest of a hub. Known is the group as this machine knows it, nil when
// it knows none yet: then the list counts that it can read. A manifest with
// an older list than Known is judged by Known, and gets it.
func Open(data []byte, i *Identity, known Group) (m Manifest, err error) {
	if len(data) > MaxManifest {
		return m, fmt.Errorf("%w: its list is larger than %d MiB", ErrForged, MaxManifest>>20)
	}
	r, err := i.Decrypt(bytes.NewReader(data))
	if err != nil {
		return m, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrForged, err)
	}
	return ParseManifest(text, known)
}

// ParseManifest reads what is inside a manifest.
func ParseManifest(text []byte, known Group) (m Manifest, err error) {
	var s signed
	if err := parse(text, &s); err != nil {
		return m, err
	}
	if err := s.open(forManifest, &m); err != nil {
		return m, err
	}
	if m.V != 1 {
		return m, fmt.Errorf("it has form %d, which this version does not know; update the program", m.V)
	}
	switch {
	case m.Group.Goes(known):
	case known.Goes(m.Group):
		m.Group = known
	default:
		return m, fmt.Errorf("%w: its list of machines (%s) is not that of this machine (%s)", ErrOthers, m.Group.Name(), known.Name())
	}
	members, err := m.Group.Members()
	if err != nil {
		return m, err
	}
	if !slices.ContainsFunc(members, func(b Member) bool { return b.Sign == s.By }) {
		return m, fmt.Errorf("%w: a machine signed it that may not, or may no more", ErrForged)
	}
	if m.N < 1 || len(m.Segments) > MaxSegments {
		return m, fmt.Errorf("%w: it names %d files", ErrForged, len(m.Segments))
	}
	for _, g := range m.Segments {
		if !isHash(g.Name, 64) || !isHash(g.Head, 40) && !isHash(g.Head, 64) || g.Size < 0 || g.Size > MaxSegment {
			return m, fmt.Errorf("%w: it names a file that cannot be one", ErrForged)
		}
	}
	return m, nil
}

func isHash(text string, size int) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == size && strings.ToLower(text) == text
}
