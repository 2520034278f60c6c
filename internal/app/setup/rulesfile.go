package setup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"anamnesis/internal/app"
	"anamnesis/internal/connect"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// ShowRules brings the page of what holds in all projects into the rules files of the agents that
// are connected by one: they have no hook at a session's start. Such a file is the user's, not a
// project's, so no project's notes stand there.
func ShowRules(ctx context.Context, r *app.Rooms) error {
	var page *string
	var failed error
	for _, h := range connect.All() {
		if h.Rules == nil {
			continue
		}
		o := connect.Options{Home: r.Config.AgentHomes()[h.Name], UserHome: r.Config.UserHome}
		if _, err := os.Stat(h.Rules(o.UserHome, o.Home)); o.UserHome == "" || err != nil {
			continue
		}
		if page == nil {
			b, err := r.Injector.Page(ctx, inject.Place{Project: note.Global, Projects: []string{note.Global}, Bare: true},
				recall.Query{Projects: []string{note.Global}})
			if err != nil {
				return fmt.Errorf("make the page of all projects for the rules files of agents: %w", err)
			}
			page = &b.Text
		}
		if err := Installer(r.Host, r.Store).Show(h, o, *page); err != nil {
			failed = errors.Join(failed, fmt.Errorf("show %s the page of all projects: %w", h.Title, err))
		}
	}
	return failed
}

// PageLine is the line that a note which its owner writes will have on the page of its project.
func PageLine(id note.ID, title, body string) string {
	return inject.LineOf(&note.Note{
		ID: id, Title: title, Body: body, Provenance: note.Provenance{Source: note.Human, Confidence: 1}, Trusted: true,
	})
}
