package capture

import (
	"context"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
	"anamnesis/internal/text"
)

// An Undoing is a commit that was taken back.
type Undoing = ingest.Undoing

// Reverts returns the commits that were taken back in the repository of a folder, since a
// time. It runs nothing of the repository.
type Reverts func(ctx context.Context, dir string, since time.Time) []Undoing

// WithReverts returns a Recorder that asks the repository of a session what was taken back.
func (r *Recorder) WithReverts(reverts Reverts) *Recorder {
	with := *r
	with.reverts = reverts
	return &with
}

// The bounds of what is said of commits: how many stand in a note, and how far back a
// repository is asked what was taken back.
const (
	maxCommits  = 20
	revertsBack = 30 * 24 * time.Hour
)

// undo lowers the notes whose commits a session took back, or somebody in its repository
// did since.
func (r *Recorder) undo(ctx context.Context, q Request, s *agent.Session, f *facts, key string) error {
	var undone []Undoing
	for _, c := range session.Commits(s) {
		for _, id := range c.Undoes {
			undone = append(undone, Undoing{Commit: id, By: c.ID})
		}
	}
	if dir := f.folder(q); r.reverts != nil && dir != "" && project.Top(dir) != "" {
		since := f.started
		if since.IsZero() {
			since = r.store.Now()
		}
		for _, u := range r.reverts(ctx, dir, since.Add(-revertsBack)) {
			if !slices.ContainsFunc(undone, func(had Undoing) bool { return strings.HasPrefix(u.Commit, had.Commit) }) {
				undone = append(undone, u)
			}
		}
	}
	if len(undone) == 0 {
		return nil
	}
	_, err := ingest.Disprove(ctx, r.ingester, project.Names(r.store, project.Identity{Key: key}), undone)
	return err
}

// commitLines tell the commits of a session for its note, the last ones.
func commitLines(commits []session.Commit) (lines []string) {
	for i := range commits {
		c := &commits[i]
		line := c.ID + " " + text.Cut(c.Subject, maxTitle)
		switch {
		case c.Undone:
			line += " (taken back)"
		case len(c.Undoes) > 0:
			line += " (takes back " + strings.Join(c.Undoes, ", ") + ")"
		case c.Mends != "":
			line += " (mends " + text.Cut(c.Mends, maxTitle) + ")"
		}
		lines = append(lines, line)
	}
	return lines[max(0, len(lines)-maxCommits):]
}
