package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"anamnesis/internal/store/layout"
)

// A Teammate is somebody whose notes keep their triggers on this machine, because the user said so.
type Teammate struct {
	ID    string `json:"id"`   // note.Proof.ID: a login or a key, never a name in a note
	Name  string `json:"name"` // for people
	Since string `json:"since"`
}

// teammates is the file of those whom the user trusts, a line each. It never travels: no other
// machine, and nothing that a team sends, adds to it.
const teammates = layout.Authors + "/teammates"

// Teammates lists whom the user trusts. A line that is none is passed over.
func Teammates(s *Store) (all []Teammate, err error) {
	data, _, err := s.readRegular(teammates, maxShard)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trusted teammates %s: %w", s.Path(teammates), err)
	}
	for line := range bytes.Lines(data) {
		var t Teammate
		if json.Unmarshal(line, &t) == nil && t.ID != "" {
			all = append(all, t)
		}
	}
	return all, nil
}

// SetTeammate adds a teammate to those whom the user trusts, or takes them out.
func SetTeammate(w *Writer, t Teammate, on bool) error {
	all, err := Teammates(w.s)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(o Teammate) bool { return o.ID == t.ID })
	if on == (at >= 0) {
		return nil
	}
	c := Change{Kind: TrustChange, Name: t.Name, To: t.ID}
	if on {
		t.Since, c.Now = w.s.Now().UTC().Format(time.RFC3339), t.ID
		all = append(all, t)
	} else {
		c.Former = t.ID
		all = slices.Delete(all, at, at+1)
	}
	if err := w.decision.add(&c); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, o := range all {
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	if err := w.Replace(teammates, out.Bytes()); err != nil {
		return fmt.Errorf("write the trusted teammates %s: %w", w.s.Path(teammates), err)
	}
	return nil
}
