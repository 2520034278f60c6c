// Package workspace holds the use cases about a team's workspace on PostgreSQL: its tables, its
// members, its health, and taking a note out of it. Exchanging notes is in package app.
//
// Failure policy: that of package app.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
	"anamnesis/internal/team"
)

// PGMigrated is what a migration of the team's database did, or would do.
type PGMigrated struct {
	DryRun bool     `json:"dry_run"`
	From   int      `json:"from"`
	To     int      `json:"to"`
	Steps  []string `json:"steps"`
}

// errNoDSN says that no database is set.
func errNoDSN(command string) error {
	return app.Usagef("%s: no database is set: `anamnesis config set team.dsn ADDRESS`, or REFLECT_PG_DSN for this command alone", command)
}

// PGMigrate brings the schema of the team's database to a version, 0 for the latest, and
// then lets the server compare vectors where it can. The address is that of the database's
// owner; the workspace, which may be empty, is the one whose vectors are indexed when they
// are many.
func PGMigrate(ctx context.Context, o team.Options, dryRun bool, to int) (a PGMigrated, err error) {
	if o.DSN == "" {
		return a, errNoDSN("pg migrate")
	}
	rep, err := schema.Migrate(ctx, o.DSN, schema.MigrateOptions{DryRun: dryRun, To: to})
	a = PGMigrated{dryRun, rep.From, rep.To, append([]string{}, rep.Steps...)}
	if err != nil || to != 0 {
		return a, err
	}
	steps, err := schema.UseVector(ctx, o.DSN, schema.VectorOptions{Workspace: o.Workspace, DryRun: dryRun})
	a.Steps = append(a.Steps, steps...)
	return a, err
}

// PGSetupAnswer is a workspace that was made.
type PGSetupAnswer struct {
	Migrated  PGMigrated `json:"migrated"`
	Workspace string     `json:"workspace"`
	Name      string     `json:"name"`
	Owner     string     `json:"owner"`
	Grant     string     `json:"grant"` // what an administrator of the server has to run; "" for nothing
}

// PGSetupOptions say which workspace to make.
type PGSetupOptions struct {
	Name  string
	Owner string // "" is the login of the address
	ID    string // "" is a new one
	New   bool   // also when there is one of that name
}

// PGSetup prepares a database for a team: its schema, and a workspace with an owner. Of a
// name that a workspace has another one is made only when that is asked for.
func PGSetup(ctx context.Context, dsn string, o PGSetupOptions) (a PGSetupAnswer, err error) {
	if o.Name = strings.TrimSpace(o.Name); o.Name == "" || len(o.Name) > 200 {
		return a, app.Usagef("pg setup: give the team a name of at most 200 bytes")
	}
	if a.Migrated, err = PGMigrate(ctx, team.Options{DSN: dsn}, false, 0); err != nil {
		return a, err
	}
	if o.ID == "" && !o.New {
		there, err := schema.Workspaces(ctx, dsn, o.Name)
		if err != nil {
			return a, err
		}
		if len(there) > 0 {
			return a, app.Errorf(app.Conflict, "pg setup: there is a workspace of the name %q already, %s; "+
				"--id %s brings that one up to date, --new makes another", o.Name, strings.Join(there, " and "), there[0])
		}
	}
	if o.Owner == "" {
		s, err := schema.Inspect(ctx, dsn, "")
		if err != nil {
			return a, err
		}
		o.Owner = s.Login
	}
	o.ID = cmp.Or(o.ID, app.NewWorkspace())
	a.Workspace, a.Name, a.Owner = o.ID, o.Name, o.Owner
	a.Grant, err = schema.CreateWorkspace(ctx, dsn, o.ID, o.Name, o.Owner)
	return a, err
}

// PGStatus is how the team's database stands for this machine.
type PGStatus struct {
	Server     string   `json:"server"`
	Vector     string   `json:"pgvector"` // its version, "" when it is not installed
	Compares   bool     `json:"pgvector_used"`
	Version    int      `json:"schema"`
	Latest     int      `json:"schema_known"`
	Login      string   `json:"login"`
	Principal  string   `json:"principal"`
	Role       string   `json:"role"`
	Groups     []string `json:"groups"`
	Bypasses   bool     `json:"bypasses_rules"`
	Unguarded  []string `json:"unguarded_tables"`
	Workspace  string   `json:"workspace"`
	Members    int      `json:"members"`
	Notes      int64    `json:"notes"`
	Passages   int64    `json:"passages"`
	Bytes      int64    `json:"bytes"` // of all workspaces, with indexes
	Generation int64    `json:"generation"`
	Mirrored   int64    `json:"mirrored_generation"` // up to which this machine has taken changes
	MirrorAge  float64  `json:"mirror_age_s"`        // since the database was last asked
	MirrorCut  bool     `json:"mirror_cut_off"`      // the last exchange did not come to its end
	TookMS     float64  `json:"took_ms"`             // to connect and ask
	Findings   []Repair `json:"findings"`            // of PGDoctor; none of PGStatusOf
}

// A Repair is a check that failed, and what to do.
type Repair struct {
	What string `json:"what"`
	Next string `json:"next"`
}

// PGStatusOf asks the team's database how it stands.
func PGStatusOf(ctx context.Context, r *app.Rooms) (a PGStatus, err error) {
	a.Groups, a.Unguarded, a.Findings = []string{}, []string{}, []Repair{}
	o := r.Config.Team
	if o.DSN == "" {
		return a, errNoDSN("pg status")
	}
	began := time.Now()
	s, err := schema.Inspect(ctx, o.DSN, o.Workspace)
	if err != nil {
		return a, err
	}
	a.TookMS = app.Milliseconds(time.Since(began))
	a.Server, a.Vector, a.Compares, a.Version, a.Latest = s.Server, s.Vector, s.Compares, s.Version, s.Latest
	a.Login, a.Principal = s.Login, s.Principal
	a.Role, a.Bypasses, a.Workspace, a.Members, a.Notes, a.Passages = string(s.Role), s.Bypasses, o.Workspace, s.Members, s.Notes, s.Passages
	a.Generation, a.Unguarded = s.Generation, append(a.Unguarded, s.Unguarded...)
	for _, g := range s.Groups {
		a.Groups = append(a.Groups, string(g))
	}
	for _, t := range s.Tables {
		a.Bytes += t.Bytes
	}
	state, err := team.ReadState(ctx, r.All)
	if state.Workspace == o.Workspace {
		a.MirrorCut = !state.Failed.IsZero()
		a.Mirrored, a.MirrorAge = state.Since, state.Age(r.Store.Now()).Seconds()
	}
	return a, err
}

// oldestPostgres is the oldest server that the schema works on.
const oldestPostgres = 14

// PGDoctor looks for what keeps the team's database from being used, or makes it unsafe.
func PGDoctor(ctx context.Context, r *app.Rooms) (a PGStatus, err error) {
	a, err = PGStatusOf(ctx, r)
	if err != nil {
		return a, err
	}
	bad := func(next, format string, args ...any) {
		a.Findings = append(a.Findings, Repair{fmt.Sprintf(format, args...), next})
	}
	var major int
	if _, err := fmt.Sscanf(a.Server, "%d", &major); err == nil && major < oldestPostgres {
		bad("use PostgreSQL 14 or newer", "the server is PostgreSQL %d", major)
	}
	switch {
	case a.Version == 0 && len(a.Groups) == 0:
		bad("its owner runs `anamnesis team pg setup NAME`, or makes you a member: `anamnesis team pg add-member LOGIN writer`",
			"there is no schema, or this login may not see it")
	case a.Version != 0 && a.Version < a.Latest:
		bad("its owner runs `anamnesis team pg migrate`", "the schema has version %d, this program works with %d", a.Version, a.Latest)
	case a.Version > a.Latest:
		bad("update anamnesis", "the schema has version %d, this program knows %d", a.Version, a.Latest)
	case a.Workspace == "":
		bad("`anamnesis config set team.workspace ID`; who made the team has the id", "no workspace is set")
	case a.Role == "":
		bad("an owner runs `anamnesis team pg add-member LOGIN writer`, with the login or the name of the claim",
			"%q is no member of the workspace, or there is none of that id", cmp.Or(a.Principal, a.Login))
	}
	if a.Role != "" && !a.Bypasses && !slices.Contains(a.Groups, a.Role) {
		bad("an administrator of the server runs GRANT anamnesis_"+a.Role+" TO the login", "the login is not in the group anamnesis_%s", a.Role)
	}
	if a.Role != "" && a.Role != string(schema.Reader) && a.Version == a.Latest {
		standing, err := app.TeamStanding(ctx, r)
		if err == nil {
			err = standing.Refusal(app.OriginMarks(r))
		}
		if errors.Is(err, team.ErrCopied) || errors.Is(err, team.ErrHeld) {
			bad("`anamnesis team share --origin new`, which gives this machine a separate name",
				"nothing of this machine is shared: %s", err.Error())
		}
	}
	if len(a.Unguarded) > 0 && a.Version >= a.Latest {
		bad("its owner runs `anamnesis team pg migrate --to 1` and `anamnesis team pg migrate`, or finds who took the rules away",
			"tables without enforced rules of rows: %s", strings.Join(a.Unguarded, ", "))
	}
	if r.Config.Team.Mirror && a.Role != "" && a.Mirrored < a.Generation && a.MirrorCut {
		bad("`anamnesis doctor drain` goes on from there, and says what is in its way",
			"the mirror here has change %d of %d, as of %s ago; the last exchange did not come to its end", a.Mirrored, a.Generation,
			app.AgeOf(time.Duration(a.MirrorAge)*time.Second))
	}
	if len(a.Findings) > 0 {
		err = &app.Error{Kind: app.Degraded}
	}
	return a, err
}

// PGMember is a member of a team.
type PGMember struct {
	Name    string `json:"member"`
	Role    string `json:"role"`
	Since   string `json:"since"`
	Login   bool   `json:"login"`   // there is a login of that name
	Granted bool   `json:"granted"` // it is in the group of its role
}

// PGMembersAnswer lists the members of a team.
type PGMembersAnswer struct {
	Members []PGMember `json:"members"`
	Removed int        `json:"removed_notes"`   // that were taken away with a member
	Grant   string     `json:"grant,omitempty"` // what an administrator of the server has to run
}

// PGMembers lists the members of the workspace.
func PGMembers(ctx context.Context, o team.Options) (a PGMembersAnswer, err error) {
	a.Members = []PGMember{}
	if !o.On() {
		return a, app.NoTeamError("pg members")
	}
	all, err := schema.Members(ctx, o.DSN, o.Workspace)
	for _, m := range all {
		a.Members = append(a.Members, PGMember{m.Principal, string(m.Role), string(note.At(m.Added)), m.Login, m.Granted})
	}
	return a, err
}

// PGAddMember makes somebody a member, or gives a member another role.
func PGAddMember(ctx context.Context, o team.Options, name, role string) (a PGMembersAnswer, err error) {
	if !o.On() {
		return a, app.NoTeamError("pg add-member")
	}
	if !slices.Contains(schema.Roles, schema.Role(role)) {
		return a, app.Usagef("pg add-member: %q is no role; use reader, writer or owner", role)
	}
	grant, err := schema.AddMember(ctx, o.DSN, o.Workspace, name, schema.Role(role))
	if err != nil {
		return a, err
	}
	a, err = PGMembers(ctx, o)
	a.Grant = grant
	return a, err
}

// PGRemoveMember takes somebody out of the team. What they shared stays, unless notes
// says otherwise.
func PGRemoveMember(ctx context.Context, o team.Options, name string, notes bool) (a PGMembersAnswer, err error) {
	if !o.On() {
		return a, app.NoTeamError("pg remove-member")
	}
	removed := 0
	err = schema.RemoveMember(ctx, o.DSN, o.Workspace, name)
	if notes && (err == nil || errors.Is(err, schema.ErrNotMember)) { // of one who left before, too
		done, nerr := postgres.RemoveNotes(ctx, postgres.Options{DSN: o.DSN, Workspace: o.Workspace}, name)
		if nerr != nil || done.Origins > 0 {
			err = nerr
		}
		removed = done.Notes
	}
	if err != nil {
		return a, err
	}
	a, err = PGMembers(ctx, o)
	a.Removed = removed
	return a, err
}

// PGTrusted is a login that speaks for others, or does not any more.
type PGTrusted struct {
	Login   string `json:"login"`
	Trusted bool   `json:"trusted"`
}

// PGTrust says whether a login of the server checks signed claims and speaks for whom
// they name, as PostgREST's and Supabase's does. dsn is that of the database's owner.
func PGTrust(ctx context.Context, dsn, login string, on bool) (PGTrusted, error) {
	if dsn == "" {
		return PGTrusted{}, errNoDSN("pg trust")
	}
	return PGTrusted{login, on}, schema.Trust(ctx, dsn, login, on)
}

// PGConflictsAnswer lists notes that several machines share with different words.
type PGConflictsAnswer struct {
	Conflicts []PGConflict `json:"conflicts"`
}

// A PGConflict is a note of which several machines hold different forms.
type PGConflict struct {
	ID    note.ID  `json:"id"`
	Forms []PGForm `json:"forms"`
}

// A PGForm is what one machine holds.
type PGForm struct {
	Origin  string `json:"origin"`
	Member  string `json:"member"`
	Updated string `json:"updated_at"`
}

// PGConflicts lists them. Each machine's form is kept, and a question sees one's own.
func PGConflicts(ctx context.Context, r *app.Rooms) (a PGConflictsAnswer, err error) {
	a.Conflicts = []PGConflict{}
	if !r.Config.Team.On() {
		return a, app.NoTeamError("pg conflicts")
	}
	server, err := app.OpenTeamServer(ctx, r, 0)
	if err != nil {
		return a, err
	}
	defer func() { _ = server.Close() }()
	all, err := server.Conflicts(ctx)
	for _, c := range all {
		view := PGConflict{ID: c.ID}
		for _, f := range c.Copies {
			view.Forms = append(view.Forms, PGForm{f.Origin, f.Member, string(note.At(f.Updated))})
		}
		a.Conflicts = append(a.Conflicts, view)
	}
	return a, err
}
