package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
)

// sizeOf is the size of a file, 0 when it is not there.
func sizeOf(name string) int64 {
	fi, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// statusLine prints one short line for the status bar of an agent or a prompt.
// It is asked for every few seconds, so it walks nothing and writes nothing, and
// an agent that shows what it prints never sees an error of ours.
func (p *program) statusLine(ctx context.Context) error {
	if _, err := os.Stat(p.cfg.Home); errors.Is(err, fs.ErrNotExist) {
		p.printf("anamnesis: no notes yet\n")
		return nil
	}
	m, err := p.open(ctx, 0)
	if err != nil {
		p.printf("anamnesis: %s\n", firstLine(err.Error(), 60))
		return nil
	}
	defer m.close()
	st, err := m.Index.Statistics(ctx)
	if err != nil {
		p.printf("anamnesis: %s\n", firstLine(err.Error(), 60))
		return nil
	}
	parts := []string{plural(st.Notes, "note")}
	if n := m.projectNotes(ctx); n > 0 {
		parts[0] += fmt.Sprintf(" (%d here)", n)
	}
	if p.cfg.Sync.Remote != "" {
		parts = append(parts, m.syncedAgo())
	}
	if n := m.Store.CountConflicts(); n > 0 {
		parts = append(parts, plural(n, "conflict"))
	}
	if n := len(m.Store.Held()); n > 0 {
		parts = append(parts, plainInt(n)+" held")
	}
	if jobs, err := m.Store.Jobs(); err == nil && len(jobs) > 0 {
		parts = append(parts, plainInt(len(jobs))+" to capture")
	}
	if m.Rules != nil {
		parts = append(parts, "redact.toml cannot be read")
	}
	p.printf("anamnesis: %s\n", strings.Join(parts, " · "))
	return nil
}

// projectNotes counts the live notes of this folder's project.
func (m *memory) projectNotes(ctx context.Context) int {
	id := m.p.project(m.Store, "")
	counts, err := m.Index.PerProject(ctx, index.Filter{Projects: m.Store.Names(id), Now: m.Store.Now()})
	if err != nil {
		return 0
	}
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func (m *memory) syncedAgo() string {
	last := app.LastSync(m.Rooms)
	at, err := time.Parse(time.RFC3339, last.OK)
	switch {
	case app.StandsStill(last.State):
		return "sync " + string(last.State)
	case err != nil:
		return "never synced"
	case last.Offline:
		return "offline, synced " + ago(at, m.Store.Now())
	}
	return "synced " + ago(at, m.Store.Now())
}
