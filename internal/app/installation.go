package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// installationFile names this installation, so that two machines of one name are told
// apart. It never travels; what does is the name, in the messages of commits.
const installationFile = "installation.json"

type installation struct {
	V  int     `json:"v"`
	ID note.ID `json:"id"`
}

// installation returns the name of this installation; with create it gives it one when it
// has none, as with the first sync. It is "" when there is none.
func (r *Rooms) installation(create bool) string {
	var i installation
	data, err := r.Store.ReadFile(installationFile, 4096)
	if err == nil {
		if json.Unmarshal(data, &i) == nil {
			if _, err := ulid.ParseStrict(string(i.ID)); err == nil {
				return string(i.ID)
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if !create {
		return ""
	}
	i = installation{1, note.NewID(r.Store.Now())}
	if data, err = json.Marshal(i); err == nil {
		err = r.Store.Replace(installationFile, append(data, '\n'))
	}
	if err != nil {
		return ""
	}
	return string(i.ID)
}

// shortInstallation is what people are shown of the name of an installation.
func shortInstallation(id string) string { return id[max(0, len(id)-4):] }

// namesakes returns the installations that commit under the name of this machine.
func (r *Rooms) namesakes(ctx context.Context) (others []string, err error) {
	h, err := Historian(r)
	if err != nil || h == nil {
		return nil, err
	}
	all, err := h.Machines(ctx)
	if err != nil {
		return nil, err
	}
	here := ""
	for _, m := range all {
		if m.Here {
			here = m.Name
		}
	}
	for _, m := range all {
		if !m.Here && m.Name == here && here != "" && m.Installation != "" {
			others = append(others, fmt.Sprintf("%s (%s), with %s", m.Name, shortInstallation(m.Installation), Plural(m.Commits, "commit")))
		}
	}
	return others, nil
}
