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

// A TeamServer is the database behind the contract of team.
type TeamServer struct{ *postgres.DB }

// Standing returns what the database says to one who writes the own origin.
func (s TeamServer) Standing(ctx context.Context) (team.Standing, error) {
	got, err := s.DB.Standing(ctx)
	standing := team.Standing{Mark: got.Mark, Holder: got.Holder, Withdrawn: make(map[string]string, len(got.Withdrawn))}
	for _, w := range got.Withdrawn {
		standing.Withdrawn[strings.ToLower(string(w.ID))] = team.Withdrawal(w.Member, w.Reason)
	}
	return standing, err
}

// teamOrigin names the tree of this machine in the team's database: two stores of one
// machine, and a machine that was set up again, are two.
func teamOrigin(r *Rooms) (string, error) {
	id := installationID(r, true)
	if id == "" {
		return "", errors.New("share notes: this store has no installation id, and installation.json cannot be created; is its disk full?")
	}
	return note.Printable(r.Config.MachineID) + "/" + strings.ToLower(id), nil
}

// OriginMarks lists the marks that this machine left in the team's workspace, the newest first.
func OriginMarks(r *Rooms) []string {
	i, err := readInstallation(r)
	if err != nil {
		return nil
	}
	return i.Marks[strings.ToLower(r.Config.Team.Workspace)]
}

// mark makes another one, and writes it down.
func mark(r *Rooms) (string, error) {
	m := NewWorkspace() // random, and none can be guessed
	return m, addMark(r, m)
}

func addMark(r *Rooms, mark string) error {
	i, err := readInstallation(r)
	if err == nil {
		if i.Marks == nil {
			i.Marks = make(map[string][]string)
		}
		workspace := strings.ToLower(r.Config.Team.Workspace)
		all := append([]string{mark}, i.Marks[workspace]...)
		i.Marks[workspace] = all[:min(len(all), maxMarks)]
		err = writeInstallation(r, i)
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
func settleOrigin(ctx context.Context, r *Rooms, how string) error {
	if how != newOrigin && how != keepOrigin {
		return Usagef("share --origin %s: use new or keep", note.Printable(how))
	}
	if !r.Config.Team.On() {
		return NoTeamError("share --origin")
	}
	unlock, ok, err := teamLock(ctx, r, ForegroundWait)
	if err != nil {
		return err
	}
	if !ok {
		return Errorf(Locked, "share --origin: another process exchanges notes with the team; try again")
	}
	defer unlock()
	standing, err := TeamStanding(ctx, r)
	if err != nil {
		return err
	}
	if !standing.Copied(OriginMarks(r)) && (standing.Holder == "" || how == keepOrigin) {
		return Usagef("share --origin: no other machine shares under the name of this one, so there is nothing to settle")
	}
	if how == keepOrigin {
		return addMark(r, standing.Mark)
	}
	// The notes under the old name are another machine's now, and are taken in as such.
	if err := leaveTeam(ctx, r); err != nil {
		return err
	}
	return writeInstallation(r, installation{V: 1, ID: note.NewID(r.Store.Now())})
}

// TeamStanding asks the team's database.
func TeamStanding(ctx context.Context, r *Rooms) (s team.Standing, err error) {
	server, err := OpenTeamServer(ctx, r, 0)
	if err != nil {
		return s, err
	}
	defer func() { _ = server.Close() }()
	return server.Standing(ctx)
}

// NewWorkspace makes a random UUID (version 4, RFC 9562).
func NewWorkspace() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// NoTeamError says what a command needs that is about a team.
func NoTeamError(command string) error {
	return Usagef("%s: set both, the database (team.dsn) and the workspace (team.workspace)", command)
}
