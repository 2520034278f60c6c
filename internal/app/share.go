package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
	"anamnesis/internal/team"
)

// ShareOptions say which projects are to be shared from now on, and which no longer.
type ShareOptions struct {
	Add    []string // keys, or "." for the project of the current folder
	Stop   []string
	DryRun bool   // change nothing, and say what would be shared
	Again  bool   // look at every note again, also at those that the server has
	Origin string // "new" or "keep", after another machine wrote under the name of this one; "" for nothing
}

// ShareAnswer is what this machine shares with a team, and what others share.
type ShareAnswer struct {
	Database  bool            `json:"database"` // a team's database and workspace are set
	Workspace string          `json:"workspace"`
	DryRun    bool            `json:"dry_run"`
	Projects  []SharedProject `json:"projects"`
	Held      []team.Held     `json:"held"` // notes of these projects that stay here, and why
	Exchange  *TeamResult     `json:"exchange"`
	Mirror    MirrorView      `json:"mirror"`
}

// A SharedProject is a project whose notes are shared.
type SharedProject struct {
	Key   string `json:"project"`
	Notes int    `json:"notes"` // of this machine, live or not
	Added bool   `json:"added"` // by this command
}

// A MirrorView is what others share, as it is known here.
type MirrorView struct {
	Notes   int            `json:"notes"`
	Members map[string]int `json:"members"` // notes of each
	At      string         `json:"at"`      // RFC 3339; when the database was last asked, "" for never
}

// TeamStatus is what is shared with a team, as far as is known without asking it.
type TeamStatus struct {
	Workspace string     `json:"workspace"`
	Projects  []string   `json:"projects"`
	Mirror    MirrorView `json:"mirror"`
}

// ReadTeamStatus returns it, nil without a team.
func ReadTeamStatus(ctx context.Context, r *Rooms) (*TeamStatus, error) {
	if !r.Config.Team.On() {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	m, err := viewMirror(ctx, r)
	return &TeamStatus{r.Config.Team.Workspace, append([]string{}, r.Config.Team.Shared()...), m}, err
}

// Share lists the shared projects, after it has added some and taken some out. When a
// team's database is set it then exchanges notes with it.
func Share(ctx context.Context, r *Rooms, o ShareOptions) (a ShareAnswer, err error) {
	if o.Origin != "" {
		if err := settleOrigin(ctx, r, o.Origin); err != nil {
			return a, err
		}
	}
	before := r.Config.Team.Shared()
	keys := slices.Clone(before)
	for _, name := range o.Add {
		key, err := shareable(ctx, r, name)
		if err != nil {
			return a, err
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, name := range o.Stop {
		key, err := keyOf(r, name)
		if err != nil {
			return a, err
		}
		if !slices.Contains(keys, key) {
			return a, Usagef("share --stop %s: it is not shared; `anamnesis team share` lists what is", note.Printable(name))
		}
		keys = slices.DeleteFunc(keys, func(k string) bool { return k == key })
	}
	changed := !slices.Equal(before, keys)
	r.Config.Team.Projects = strings.Join(keys, ",")
	if changed && !o.DryRun {
		value := r.Config.Team.Projects
		if err := SaveSettings(r, []config.Change{{Key: "team.projects", Value: &value}}); err != nil {
			return a, err
		}
	}
	a = ShareAnswer{
		Database: r.Config.Team.On(), Workspace: r.Config.Team.Workspace, DryRun: o.DryRun, Projects: []SharedProject{}, Held: []team.Held{},
	}
	if a.Database && !o.DryRun && (len(o.Add)+len(o.Stop) > 0 || o.Again || o.Origin != "") {
		t, err := Exchange(ctx, r, ExchangeOptions{Again: o.Again, Wait: ForegroundWait})
		if err = errors.Join(err, t.refused); err != nil {
			return a, Errorf(Failed, "the shared projects are written down; background runs try again what failed now: %w", err)
		}
		a.Exchange, a.Held = &t, t.Sent.Held
	} else if len(keys) > 0 {
		sent, err := team.Preview(ctx, sender(r, false))
		if err != nil {
			return a, err
		}
		a.Held = sent.Held
	}
	return a, fillShare(ctx, r, &a, keys, before)
}

func fillShare(ctx context.Context, r *Rooms, a *ShareAnswer, keys, before []string) error {
	counts, err := r.Index.PerProject(ctx, index.Filter{Scope: note.Portable, Dead: true})
	if err != nil {
		return err
	}
	for _, key := range keys {
		a.Projects = append(a.Projects, SharedProject{key, counts[key], !slices.Contains(before, key)})
	}
	a.Mirror, err = viewMirror(ctx, r)
	return err
}

// viewMirror counts what others share.
func viewMirror(ctx context.Context, r *Rooms) (m MirrorView, err error) {
	m.Members = make(map[string]int)
	state, err := team.ReadState(ctx, r.All)
	if err != nil || state.Workspace == "" {
		return m, err
	}
	rows, err := r.All.Select(ctx, index.Filter{Dead: true}, 0)
	for i := range rows {
		if who := author(r, &rows[i]); who != "" && rows[i].Origin != repoOrigin {
			m.Notes++
			m.Members[who]++
		}
	}
	if !state.At.IsZero() {
		m.At = string(note.At(state.At))
	}
	return m, err
}

// shareable returns the key of a project that may be shared.
func shareable(ctx context.Context, r *Rooms, name string) (string, error) {
	key, err := keyOf(r, name)
	if err != nil {
		return "", err
	}
	counts, err := r.Index.PerProject(ctx, index.Filter{Dead: true})
	if err != nil {
		return "", err
	}
	if name != "." && counts[key] == 0 {
		return "", Usagef("share %s: no note is of a project of that name; `anamnesis list --global` shows the projects", note.Printable(name))
	}
	return key, nil
}

// keyOf returns the key that a name of a project stands for.
func keyOf(r *Rooms, name string) (string, error) {
	name = strings.TrimSpace(name)
	key := project.Canonical(r.Store, name)
	if name == "." {
		key = PlaceProject(r.Store, "").Key
	}
	switch {
	case key == note.Global || strings.EqualFold(key, note.Global):
		return "", Usagef("share: what is shown to all projects is your own and is never shared; give a project")
	case key == "" || strings.ContainsAny(key, ",\n"):
		return "", Usagef("share %q: that is no project", name)
	}
	return key, nil
}
