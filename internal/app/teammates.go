package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// What proves who a teammate is.
const (
	ProvenLogin = "login" // of the team's database, which writes it down itself
	ProvenKey   = "key"   // of a signed commit in the team's repository
)

// A TeammateView is somebody who shares notes, or whom the user trusts.
type TeammateView struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`     // what is trusted: a login or a key; "" when nothing proves who they are
	Proven  string   `json:"proven"` // login, key or ""
	Notes   int      `json:"notes"`  // by the teammate, known here
	Calls   []string `json:"called"` // what notes and commits call them, which proves nothing
	Trusted bool     `json:"trusted"`
	Since   string   `json:"since,omitempty"` // RFC 3339, of the trust
}

// TeammatesAnswer lists teammates, those first whom the user trusts.
type TeammatesAnswer struct {
	Teammates []TeammateView `json:"teammates"`
	Changed   []TeammateView `json:"changed"` // by this command
}

// Teammates lists who shares notes that are known here, and how it is proven who they are.
func Teammates(ctx context.Context, r *Rooms) (a TeammatesAnswer, err error) {
	a.Teammates, a.Changed = []TeammateView{}, []TeammateView{}
	trusted, err := store.Teammates(r.Store)
	if err != nil {
		return a, err
	}
	at := make(map[string]int)
	of := func(key string, v TeammateView) *TeammateView {
		if _, ok := at[key]; !ok {
			at[key], a.Teammates = len(a.Teammates), append(a.Teammates, v)
		}
		return &a.Teammates[at[key]]
	}
	for _, t := range trusted {
		of(t.ID, TeammateView{Name: t.Name, ID: t.ID, Proven: provenBy(t.ID), Calls: []string{}, Trusted: true, Since: t.Since})
	}
	if hasTeam(r) {
		rows, err := r.All.Select(ctx, index.Filter{Dead: true}, 0)
		if err != nil {
			return a, err
		}
		for i := range rows {
			who := author(r, &rows[i])
			if who == "" {
				continue
			}
			id := rows[i].Proof.ID()
			v := of(cmp.Or(id, "\n"+who), TeammateView{Name: cmp.Or(rows[i].Proof.Name(), who), ID: id, Proven: provenBy(id), Calls: []string{}})
			if v.Notes++; who != v.Name && !slices.Contains(v.Calls, who) {
				v.Calls = append(v.Calls, who)
			}
		}
	}
	for i := range a.Teammates {
		slices.Sort(a.Teammates[i].Calls)
	}
	rank := func(v TeammateView) int {
		switch {
		case v.Trusted:
			return 0
		case v.ID != "":
			return 1
		}
		return 2
	}
	slices.SortFunc(a.Teammates, func(x, y TeammateView) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), strings.Compare(x.Name, y.Name), strings.Compare(x.ID, y.ID))
	})
	return a, nil
}

func provenBy(id string) string {
	by, _, _ := strings.Cut(id, ":")
	return by
}

// TrustTeammate says that the user trusts the teammate of a name or an id, or does not any more. A
// name that notes or commits say is none: it is that of the login, or of whom the user's own list of
// keys has the key.
func TrustTeammate(ctx context.Context, r *Rooms, name string, on bool) (a TeammatesAnswer, err error) {
	if err := ingest.May(r.Host.By, ingest.Trust); err != nil {
		return a, Errorf(Failed, "team trust: %w", err)
	}
	if a, err = Teammates(ctx, r); err != nil {
		return a, err
	}
	found, err := a.named(name, on)
	if err != nil {
		return a, err
	}
	ctx = store.Deciding(ctx, r.Store, r.Host.Face, map[bool]string{true: "trust", false: "distrust"}[on])
	for _, v := range found {
		if v.Trusted == on {
			continue
		}
		if err := ingest.TrustTeammate(ctx, r.Store, store.Teammate{ID: v.ID, Name: v.Name}, on); err != nil {
			return a, err
		}
		v.Trusted = on
		a.Changed = append(a.Changed, v)
	}
	changed := a.Changed
	if a, err = Teammates(ctx, r); err == nil {
		a.Changed = changed
	}
	return a, err
}

// named finds whom a name or an id means. A trust is taken back of all who have the name.
func (a *TeammatesAnswer) named(name string, on bool) (found []TeammateView, err error) {
	var ids []string
	for _, v := range a.Teammates {
		if v.ID != "" && (v.ID == name || v.Name == name) && (on || v.Trusted) {
			found, ids = append(found, v), append(ids, v.ID)
		}
	}
	switch {
	case len(found) == 0:
		return nil, noTeammate(a, name, on)
	case on && len(found) > 1:
		return nil, Errorf(Conflict, "team trust %s: several have that name; give one of %s", note.Printable(name), strings.Join(ids, ", "))
	}
	return found, nil
}

// noTeammate says why no teammate of a name can be trusted, or lose that.
func noTeammate(a *TeammatesAnswer, name string, on bool) error {
	shown := note.Printable(name)
	for _, v := range a.Teammates {
		switch {
		case !on && (v.ID == name || v.Name == name):
			return Errorf(NotFound, "team trust --off %s: you do not trust them", shown)
		case on && v.ID == "" && v.Name == name:
			return Errorf(NotFound, "team trust %s: nothing proves who wrote the notes of that name: their commits have no signature of a "+
				"key that your git holds to be good, or their rows are older than the database's list of logins", shown)
		case on && slices.Contains(v.Calls, name):
			return Errorf(NotFound, "team trust %s: that is a name in notes or commits, which anybody can write; trust %s (%s)", shown, v.ID, v.Name)
		}
	}
	return Errorf(NotFound, "team trust %s: no teammate of that name is known here; `anamnesis team trust` lists them", shown)
}

// trustedIDs returns the ids of the proofs that the user trusts.
func trustedIDs(s *store.Store) map[string]bool {
	ids := make(map[string]bool)
	for _, t := range TrustedTeammates(s) {
		ids[t.ID] = true
	}
	return ids
}

// TrustedTeammates lists whom the user trusts. With a list that cannot be read, no teammate is trusted.
func TrustedTeammates(s *store.Store) []store.Teammate {
	all, err := store.Teammates(s)
	if err != nil || all == nil {
		return []store.Teammate{}
	}
	return all
}
