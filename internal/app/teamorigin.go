package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/index/postgres"
	"anamnesis/internal/note"
	"anamnesis/internal/team"
)

// A teamServer is the database behind the contract of team.
type teamServer struct{ *postgres.DB }

// Changes returns what other origins changed after a generation.
func (s teamServer) Changes(ctx context.Context, since int64, limit int) ([]team.Change, int64, error) {
	all, next, err := s.DB.Changes(ctx, since, limit)
	return changesOf(all), next, err
}

func changesOf(all []postgres.Change) []team.Change {
	changes := make([]team.Change, len(all))
	for i, c := range all {
		changes[i] = team.Change(c)
	}
	return changes
}

// Standing returns what the database says to one who writes the own origin.
func (s teamServer) Standing(ctx context.Context) (team.Standing, error) {
	got, err := s.DB.Standing(ctx)
	standing := team.Standing{Mark: got.Mark, Holder: got.Holder, Withdrawn: make(map[string]string, len(got.Withdrawn))}
	for _, w := range got.Withdrawn {
		standing.Withdrawn[strings.ToLower(string(w.ID))] = team.Withdrawal(w.Member, w.Reason)
	}
	return standing, err
}

// teamOrigin names the tree of this machine in the team's database: two stores of one
// machine, and a machine that was set up again, are two.
func (r *Rooms) teamOrigin() (string, error) {
	id := r.installation(true)
	if id == "" {
		return "", errors.New("share notes: this store has no installation id, and installation.json cannot be created; is its disk full?")
	}
	return note.Printable(r.Config.MachineID) + "/" + strings.ToLower(id), nil
}

// marks lists the marks that this machine left in the team's workspace, the newest first.
func (r *Rooms) marks() []string {
	i, err := r.readInstallation()
	if err != nil {
		return nil
	}
	return i.Marks[strings.ToLower(r.Config.Team.Workspace)]
}

// mark makes another one, and writes it down.
func (r *Rooms) mark() (string, error) {
	m := newWorkspace() // random, and none can be guessed
	return m, r.addMark(m)
}

func (r *Rooms) addMark(mark string) error {
	i, err := r.readInstallation()
	if err == nil {
		if i.Marks == nil {
			i.Marks = make(map[string][]string)
		}
		workspace := strings.ToLower(r.Config.Team.Workspace)
		all := append([]string{mark}, i.Marks[workspace]...)
		i.Marks[workspace] = all[:min(len(all), maxMarks)]
		err = r.writeInstallation(i)
	}
	if err != nil {
		return fmt.Errorf("share notes: write down that this machine writes: %w", err)
	}
	return nil
}

// What is done when another machine writes under the name of this one.
const (
	newOrigin  = "new"  // this machine gets a separate name
	keepOrigin = "keep" // it goes on under the old one
)

// settleOrigin does one of the two. It is refused when no other machine writes there: the
// notes of an origin that nobody writes any more would stay for ever.
func (r *Rooms) settleOrigin(ctx context.Context, how string) error {
	if how != newOrigin && how != keepOrigin {
		return usage("share --origin %s: use new or keep", note.Printable(how))
	}
	if !r.Config.Team.On() {
		return errNoTeam("share --origin")
	}
	unlock, ok, err := r.teamLock(ctx, foregroundWait)
	if err != nil {
		return err
	}
	if !ok {
		return Errorf(Locked, "share --origin: another process exchanges notes with the team; try again")
	}
	defer unlock()
	standing, err := r.standing(ctx)
	if err != nil {
		return err
	}
	if !standing.Copied(r.marks()) && (standing.Holder == "" || how == keepOrigin) {
		return usage("share --origin: no other machine shares under the name of this one, so there is nothing to settle")
	}
	if how == keepOrigin {
		return r.addMark(standing.Mark)
	}
	// The notes under the old name are another machine's now, and are taken in as such.
	if err := r.leaveTeam(ctx); err != nil {
		return err
	}
	return r.writeInstallation(installation{V: 1, ID: note.NewID(r.Store.Now())})
}

// standing asks the team's database.
func (r *Rooms) standing(ctx context.Context) (s team.Standing, err error) {
	server, err := r.teamServer(ctx, 0)
	if err != nil {
		return s, err
	}
	defer func() { _ = server.Close() }()
	return server.Standing(ctx)
}

// newWorkspace makes a random UUID (version 4, RFC 9562).
func newWorkspace() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func errNoTeam(command string) error {
	return usage("%s: set both, the database (team.dsn) and the workspace (team.workspace)", command)
}
