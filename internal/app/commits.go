package app

import (
	"context"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/config"
	"anamnesis/internal/ingest"
	"anamnesis/internal/replica"
)

// GitTime is how long a session's repository is asked for at most.
const GitTime = 2 * time.Second

// askRepositories lets what is written be compared with the repositories that it is about.
func askRepositories(r *Rooms) {
	ingest.CheckCommits(r.Ingester, func(ctx context.Context, dir string, ids []string) map[string]bool {
		ctx, cancel := context.WithTimeout(ctx, GitTime)
		defer cancel()
		return replica.Commits(ctx, dir, config.Environ(), ids)
	})
	r.Recorder = r.Recorder.WithReverts(func(ctx context.Context, dir string, since time.Time) (all []capture.Undoing) {
		ctx, cancel := context.WithTimeout(ctx, GitTime)
		defer cancel()
		for _, u := range replica.Reverts(ctx, dir, config.Environ(), since) {
			all = append(all, capture.Undoing{Commit: u.Commit, By: u.By})
		}
		return all
	})
}
