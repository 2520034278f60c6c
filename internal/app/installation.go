package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// installationFile names this installation, so that two machines of one name are shown
// apart. It never travels; what does is the name, in the messages of commits.
const installationFile = "installation.json"

type installation struct {
	V     int                 `json:"v"`
	ID    note.ID             `json:"id"`
	Marks map[string][]string `json:"team_marks,omitempty"` // that it left in a team's database, by workspace, the newest first
}

// maxMarks is how many marks of a workspace are remembered: a database that is set back to
// an older state has one of these.
const maxMarks = 64

// installationID returns the name of this installation; with create it gives it one when it
// has none, as with the first sync. It is "" when there is none.
func installationID(r *Rooms, create bool) string {
	i, err := readInstallation(r)
	switch {
	case err == nil:
		return string(i.ID)
	case !create || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoInstallation):
		return ""
	}
	i = installation{V: 1, ID: note.NewID(r.Store.Now())}
	if writeInstallation(r, i) != nil {
		return ""
	}
	return string(i.ID)
}

// errNoInstallation says that the file of the installation names none.
var errNoInstallation = errors.New("the file " + installationFile + " holds no name of this installation")

func readInstallation(r *Rooms) (i installation, err error) {
	data, err := r.Store.ReadFile(installationFile, 64<<10)
	if err != nil {
		return i, err
	}
	if json.Unmarshal(data, &i) != nil {
		return i, errNoInstallation
	}
	if _, err := ulid.ParseStrict(string(i.ID)); err != nil {
		return i, errNoInstallation
	}
	return i, nil
}

func writeInstallation(r *Rooms, i installation) error {
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return r.Store.Replace(installationFile, append(data, '\n'))
}

// shortInstallation is what people are shown of the name of an installation.
func shortInstallation(id string) string { return id[max(0, len(id)-4):] }

// Namesakes returns the installations that commit under the name of this machine.
func Namesakes(ctx context.Context, r *Rooms) (others []string, err error) {
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

// VersionOf asks another program of our name for its version.
func VersionOf(ctx context.Context, program string) (string, error) {
	cmd := exec.CommandContext(ctx, program, "version")
	cmd.Env = append(config.Environ(), "ANAMNESIS_DISABLED=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out))
	if len(words) < 2 || words[0] != "anamnesis" {
		return "", errors.New("it does not answer like this program")
	}
	return words[1], nil
}
