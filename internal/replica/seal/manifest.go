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

// An Opened is a manifest that a machine of the group signed. Its Group is the list that
// counts from now on, which can be newer than the one in the manifest.
type Opened struct {
	Manifest
	// Stale means that the manifest has another list, so that everything has to be sealed again.
	Stale bool
	// Out are the machines for which it was sealed and that the Group does not have.
	Out []string
}

// A RevokedError means that a machine wrote what is there that is in the group no more, or that such a
// machine let in. Everything else about it is right, so a hub was put back, or the machine may still write there.
type RevokedError struct{ Machine string }

func (e *RevokedError) Error() string {
	return fmt.Sprintf("%q wrote it, which may not read any more", e.Machine)
}

// Open reads a manifest of a hub. Known is the group as this machine knows it, nil when
// it knows none yet: then the list counts that it can read. Else a revocation in Known
// counts, whatever the list of the manifest says, unless that list goes on from Known.
// Two lists that parted are joined at a time.
func Open(data []byte, i *Identity, known Group, at time.Time) (o Opened, err error) {
	if len(data) > MaxManifest {
		return o, fmt.Errorf("%w: its list is larger than %d MiB", ErrForged, MaxManifest>>20)
	}
	r, err := i.Decrypt(bytes.NewReader(data))
	if err != nil {
		return o, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrForged, err)
	}
	return ParseManifest(text, i, known, at)
}

// ParseManifest reads what is inside a manifest.
func ParseManifest(text []byte, i *Identity, known Group, at time.Time) (o Opened, err error) {
	m := &o.Manifest
	var s signed
	if err := parse(text, &s); err != nil {
		return o, err
	}
	if err := s.open(forManifest, m); err != nil {
		return o, err
	}
	if m.V != 1 {
		return o, fmt.Errorf("%w: it has form %d", ErrNewer, m.V)
	}
	if err := o.judge(s.By, i, known, at); err != nil {
		return o, err
	}
	if m.N < 1 || m.N > maxNumber || len(m.Segments) > MaxSegments {
		return o, fmt.Errorf("%w: it names %d files", ErrForged, len(m.Segments))
	}
	for _, g := range m.Segments {
		if !isHash(g.Name, 64) || !isHash(g.Head, 40) && !isHash(g.Head, 64) || g.Size < 0 || g.Size > MaxSegment {
			return o, fmt.Errorf("%w: it names a file that cannot be one", ErrForged)
		}
	}
	return o, nil
}

// judge decides which list counts, and whether the one who signed is in it.
func (o *Opened) judge(by string, i *Identity, known Group, at time.Time) error {
	theirs := o.Group
	in := func(list []Member) bool {
		return slices.ContainsFunc(list, func(m Member) bool { return m.Sign == by })
	}
	former, was := known.had(by)
	mine, _ := known.members()
	readers, err := theirs.Members()
	switch {
	case err == nil && theirs.Goes(known):
	case was && !in(mine): // whatever list it shows
		return &RevokedError{former.Name}
	case err != nil:
		return err
	case known.Goes(theirs):
		o.Group = known
	case theirs[0] != known[0]:
		return fmt.Errorf("%w: its list of machines (%s) is not that of this machine (%s)", ErrOthers, theirs.Name(), known.Name())
	default:
		if o.Group, err = known.Join(theirs, i, at); err != nil {
			return err
		}
	}
	counts, err := o.Group.Members()
	if err != nil {
		return err
	}
	if !in(readers) || !in(counts) {
		if m, ok := theirs.had(by); ok {
			return &RevokedError{m.Name}
		}
		return fmt.Errorf("%w: a machine signed it that may not", ErrForged)
	}
	o.Stale = !slices.Equal(o.Group, theirs)
	for _, m := range readers {
		if !slices.ContainsFunc(counts, m.same) {
			o.Out = append(o.Out, m.Name)
		}
	}
	return nil
}

func isHash(text string, size int) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == size && strings.ToLower(text) == text
}
