package ingest

import (
	"context"
	"slices"

	"anamnesis/internal/store"
)

// TrustTeammate says that the user trusts a teammate, whose notes then keep their triggers, or does not any more.
func TrustTeammate(ctx context.Context, s *store.Store, t store.Teammate, on bool) error {
	return locked(ctx, s, func(w *store.Writer) error { return store.SetTeammate(w, t, on) })
}

// trust takes a decision about a teammate back.
func (t *takeBack) trust(p piece, st *step) error {
	c := p[0]
	all, err := store.Teammates(t.s)
	if err != nil {
		return err
	}
	now := ""
	if slices.ContainsFunc(all, func(m store.Teammate) bool { return m.ID == c.To }) {
		now = c.To
	}
	st.Title = c.Name + " (" + c.To + ")"
	st.settle(p.stateAt(now), c.Former, func() error {
		return store.SetTeammate(t.w, store.Teammate{ID: c.To, Name: c.Name}, c.Former != "")
	})
	return nil
}
