package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/doctor"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
	"anamnesis/internal/team"
)

// A TeamResult says what an exchange with the team's database did.
type TeamResult struct {
	Sent  team.Sent  `json:"sent"`
	Taken team.Taken `json:"taken"`
	Busy  bool       `json:"busy"` // another process exchanges notes now

	Reviewed RepoTaken `json:"reviewed"` // from the team's repository

	refused error // why the database takes no note of this login, which may read; nil when it may write
}

const (
	teamBudget = 10 * time.Minute // how long an exchange may take
	mirrorRest = 30 * time.Second // from one exchange until a question starts the next
)

// ExchangeOptions say how notes are exchanged with a team.
type ExchangeOptions struct {
	Again bool          // look at every shared note again
	Brief bool          // send what was written last, and leave the rest to another run
	Wait  time.Duration // for another process that exchanges notes
}

// newest is how many notes a run looks at that sends what was written last.
const newest = 64

// ForegroundWait is how long a command waits for a background run that exchanges notes.
const ForegroundWait = 30 * time.Second

// teamLock takes the lock of exchanges, and waits for it for so long.
func teamLock(ctx context.Context, r *Rooms, wait time.Duration) (unlock func(), ok bool, err error) {
	until := time.Now().Add(wait)
	for {
		unlock, ok, err = r.Store.TryLock("team")
		if ok || err != nil || time.Now().After(until) || ctx.Err() != nil {
			return unlock, ok, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Exchange brings the team's database into step with what is shared here, and the
// mirror with what others share. Without a team it does nothing, except that it takes
// away what is left of a former one. That a member may only read is no error (refused). One
// process does it at a time.
func Exchange(ctx context.Context, r *Rooms, o ExchangeOptions) (t TeamResult, err error) {
	t.Sent.Held, t.Taken.Left, t.Taken.Members, t.Reviewed = []team.Held{}, []team.Held{}, []string{}, newRepoTaken()
	if r.Store.ReadOnly() || Away(r) {
		return t, nil
	}
	if !o.Brief {
		var rerr error
		t.Reviewed, rerr = readRepo(ctx, r)
		defer func() { err = errors.Join(err, rerr) }()
	}
	unlock, ok, err := teamLock(ctx, r, o.Wait)
	if err != nil || !ok {
		t.Busy = err == nil
		return t, err
	}
	defer unlock()
	if !r.Config.Team.On() {
		return t, leaveTeam(ctx, r)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(teamBudget))
	defer cancel()
	server, err := OpenTeamServer(ctx, r, 0)
	if err != nil {
		return t, errors.Join(err, missExchange(ctx, r))
	}
	defer func() { _ = server.Close() }()
	if o.Brief {
		t.Sent, err = team.PushNewest(ctx, server, sender(r, false), newest)
	} else {
		t.Sent, err = team.Push(ctx, server, sender(r, o.Again))
	}
	if err != nil {
		err = fmt.Errorf("share notes: %w", err)
	}
	var perr error // who may not write may read
	if mirrors(r) {
		t.Taken, perr = team.Pull(ctx, server, receiver(r))
	} else {
		perr = leaveTeam(ctx, r)
	}
	if perr == nil && postgres.Refused(err) {
		t.refused, err = err, nil
	}
	err = errors.Join(err, perr)
	rec := store.Record{Kind: store.Shared, Count: t.Sent.Put + t.Taken.Put}
	if err != nil {
		rec.Error = err.Error()
	}
	return t, errors.Join(err, r.Store.Events().Log(rec))
}

// missExchange writes down for the mirror that the database could not be opened.
func missExchange(ctx context.Context, r *Rooms) error {
	if !mirrors(r) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	state, err := team.ReadState(ctx, r.All)
	if err == nil {
		err = state.Fail(ctx, r.All, r.Store.Now())
	}
	if errors.Is(err, index.ErrBusy) { // the next one writes it
		return nil
	}
	return err
}

// mirrors reports whether the notes that others share are kept in the index of this machine.
func mirrors(r *Rooms) bool { return teamOn(r) && r.Config.Team.Mirror }

// teamWaits reports whether a background run has to be started, because this process has
// changed notes and a team may want to have them.
func teamWaits(r *Rooms) bool {
	return !r.Drains && r.Store != nil && teamOn(r) && len(r.Config.Team.Shared()) > 0 && r.Store.Events().Wrote()
}

// refreshMirror starts a background run that takes in what others have shared, unless one tried
// within mirrorRest. The question itself asks the mirror alone: it opens no connection.
func refreshMirror(ctx context.Context, r *Rooms) {
	if !mirrors(r) || r.Store.ReadOnly() {
		return
	}
	state, err := team.ReadState(ctx, r.All)
	if err != nil {
		return
	}
	now := r.Store.Now()
	if !state.Failed.IsZero() && !state.At.IsZero() {
		if state.Behind() {
			r.Notify("notes of others are known up to change %d of %d; the background run takes in the others", state.Since, state.Known)
		} else {
			r.Notify("the last exchange with the team's database failed; notes of others are shown as of %s ago", AgeOf(state.Age(now)))
		}
	}
	if now.Sub(state.Failed) < mirrorRest || state.Workspace == r.Config.Team.Workspace && state.Age(now) < mirrorRest && !state.At.IsZero() {
		return
	}
	if unlock, ok, err := r.Store.TryLock("team"); err == nil && ok { // else an exchange is running
		unlock()
		_ = r.Detach("drain", "--team")
	}
}

// staleMirror is from which age on a session is shown how old the notes of others are.
const staleMirror = 3 * 24 * time.Hour

// TeamNotice is what a session is shown when the mirror is old, empty when it is not.
func TeamNotice(ctx context.Context, r *Rooms) string {
	if !mirrors(r) {
		return ""
	}
	state, err := team.ReadState(ctx, r.All)
	if err != nil || state.Age(r.Store.Now()) < staleMirror {
		return ""
	}
	return fmt.Sprintf("Notes that others of the team share are as of %s ago: `anamnesis doctor` says why.", AgeOf(state.Age(r.Store.Now())))
}

// AgeOf tells a duration in the greatest unit that fits.
func AgeOf(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return Plural(int(d/(24*time.Hour)), "day")
	case d >= time.Hour:
		return Plural(int(d/time.Hour), "hour")
	case d >= time.Minute:
		return Plural(int(d/time.Minute), "minute")
	}
	return "less than a minute"
}

// OpenTeamServer opens the team's database for this machine. connect is how long to wait
// for it, 0 the usual.
func OpenTeamServer(ctx context.Context, r *Rooms, connect time.Duration) (s TeamServer, err error) {
	origin, err := teamOrigin(r)
	if err != nil {
		return s, err
	}
	db, err := postgres.Open(ctx, postgres.Options{
		DSN: r.Config.Team.DSN, Workspace: r.Config.Team.Workspace, Origin: origin, Busy: r.Config.Wait(busyTime),
		Connect: r.Config.Wait(cmp.Or(connect, 10*time.Second)), MaxConns: 2,
	})
	return TeamServer{db}, err
}

// openOrigin opens the local index for the tree of another machine.
func openOrigin(ctx context.Context, r *Rooms, origin string) (index.Backend, error) {
	return sqlite.Open(ctx, sqlite.Options{
		Path: r.Store.Path("index.db"), Origin: origin, Busy: r.Config.Wait(busyTime), Keep: true,
	})
}

// confidential says why a file must not reach a team. What its owner lets travel
// between their own machines is not let go to others by that.
func confidential(r *Rooms, path string, data []byte) string {
	if r.Rules != nil {
		return "your redaction rules cannot be read, so nobody can tell whether it holds a secret"
	}
	if rules := secrets(r, strings.TrimPrefix(path, "memory/"), data); len(rules) > 0 {
		return secretWhy + " (" + strings.Join(rules, ", ") + ")"
	}
	if text := string(data); r.Redactor.Redact(text).String() != text {
		return "a part of it is marked as private"
	}
	return ""
}

func sender(r *Rooms, again bool) team.Sender {
	return team.Sender{
		Local: r.Index, Entries: r.Index.Entries, Projects: r.Config.Team.Shared(), Again: again, Now: r.Store.Now,
		Memos: r.All, Marks: OriginMarks(r), Mark: func() (string, error) { return mark(r) },
		Withhold: func(path string, data []byte) string { return confidential(r, path, data) },
	}
}

func receiver(r *Rooms) team.Receiver {
	return team.Receiver{
		Open:     func(ctx context.Context, origin string) (index.Backend, error) { return openOrigin(ctx, r, origin) },
		Withhold: func(path string, data []byte) string { return confidential(r, path, data) },
		Foreign:  r.All.Foreign, Own: r.All, Workspace: r.Config.Team.Workspace,
		Now: r.Store.Now, Reserved: repoOrigin,
		Forgotten: func(n *note.Note) bool { _, forgotten := r.door.Forgotten(note.Portable, n); return forgotten },
		Canonical: func(key string) string { return project.Canonical(r.Store, key) },
		Proof:     func(c index.Change) note.Proof { return note.LoginProof(r.Config.Team.Workspace, c.Writer) },
	}
}

// forgetMirrored takes the copies of a note that others share out of the mirror.
func forgetMirrored(ctx context.Context, r *Rooms, id note.ID) error {
	if !hasTeam(r) {
		return nil
	}
	for range 100 { // one copy after another comes to light
		row, there, err := r.All.Lookup(ctx, id)
		if err != nil || !there || row.Origin == r.All.Origin() {
			return err
		}
		b, err := openOrigin(ctx, r, row.Origin)
		if err != nil {
			return err
		}
		if err := errors.Join(b.Apply(ctx, index.Batch{Drop: []string{row.Ref.Path}}), b.Close()); err != nil {
			return err
		}
	}
	return fmt.Errorf("forget %s: more copies of it are shared than can be", id)
}

// author names who of the team wrote the note of a row, "" for one of this machine.
func author(r *Rooms, row *index.Row) string {
	if !r.All.Theirs(row) {
		return ""
	}
	return cmp.Or(note.Line(row.UserID, 60), "somebody of the team")
}

// confirmedBy names those of the team who share a note that says the same.
func confirmedBy(ctx context.Context, r *Rooms, n *note.Note) ([]string, error) {
	names := []string{}
	if !hasTeam(r) {
		return names, nil
	}
	words := note.Normalize(n.Statement())
	twins, err := r.All.Twins(ctx, index.StatementHash(words), index.SimhashWords(strings.Fields(words)))
	for _, t := range twins {
		who := author(r, &t.Row)
		if t.Exact && who != "" && who != n.Author && !slices.Contains(names, who) {
			names = append(names, who)
		}
	}
	slices.Sort(names)
	return names, err
}

// sharedNote finds a note that another of the team shares, by its whole id or the end
// or beginning of it.
func sharedNote(ctx context.Context, r *Rooms, name string) (row index.Row, c index.Content, ok bool) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil || !hasTeam(r) && !Away(r) {
		return row, c, false
	}
	row, ok, err = r.All.Lookup(ctx, id)
	if err == nil && !ok && len(name) >= MinPrefix {
		found, ferr := r.All.Select(ctx, index.Filter{Dead: true, Part: string(id)}, 2)
		if ok = ferr == nil && len(found) == 1; ok {
			row = found[0]
		}
	}
	if !ok || row.Origin == r.All.Origin() {
		return row, c, false
	}
	return row, r.All.Content(ctx, row), true
}

// elsewhere says of a note that is not found here that another of the team shares it.
func elsewhere(ctx context.Context, r *Rooms, id note.ID, otherwise error) error {
	row, _, ok := sharedNote(ctx, r, string(id))
	if !ok {
		return otherwise
	}
	if Away(r) {
		return fmt.Errorf("the note %s stands in the store of another machine: only there it can be changed or forgotten; "+
			"write one that differs, and it goes there", row.ID)
	}
	if from := sharedFrom(r, &row); from != "" {
		return fmt.Errorf("the note %s is of %s and stands in the team's repository %s: change or delete it there, in a review; "+
			"write one of your own that differs, and yours comes first", row.ID, author(r, &row), from)
	}
	return fmt.Errorf("the note %s is of %s and stands on their machine: only they can change or forget it; "+
		"write one of your own that differs, and yours comes first", row.ID, author(r, &row))
}

// TeamHealth asks the team's database how it is.
func TeamHealth(ctx context.Context, r *Rooms) (t doctor.Team, err error) {
	if t.Half = !r.Config.Team.On(); t.Half {
		return t, nil
	}
	m, err := viewMirror(ctx, r)
	if err != nil {
		return t, err
	}
	state, err := team.ReadState(ctx, r.All)
	if err != nil {
		return t, err
	}
	t.Mirrored, t.Age = m.Notes, state.Age(r.Store.Now())
	server, err := OpenTeamServer(ctx, r, 5*time.Second)
	if err != nil {
		t.Err = err
		return t, nil
	}
	defer func() { _ = server.Close() }()
	held, err := server.Problems(ctx)
	standing, serr := server.Standing(ctx)
	if t.Err, t.Held = errors.Join(err, serr), len(held); t.Err == nil {
		t.Copied = standing.Refusal(OriginMarks(r))
	}
	t.Lines = []string{"the database answers; " + Plural(len(r.Config.Team.Shared()), "project") + " of this machine shared"}
	return t, nil
}

// leaveTeam removes what the index has of a team.
func leaveTeam(ctx context.Context, r *Rooms) error {
	return team.Leave(ctx, r.All, func(ctx context.Context, origin string) (index.Backend, error) { return openOrigin(ctx, r, origin) })
}
