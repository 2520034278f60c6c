package web

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/doctor"
)

// A healthPage is what a look over the whole installation found last.
type healthPage struct {
	Job    *job           `json:"job"` // the last look; nil before the first
	OK     bool           `json:"ok"`
	Counts map[string]int `json:"counts"`
	Checks []checkRow     `json:"checks"`
	Fixes  []string       `json:"fixes"`
}

// A checkRow is a check of the doctor.
type checkRow struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	Evidence []string `json:"evidence"`
	Next     string   `json:"next"`
	MS       float64  `json:"ms"`
}

const healthJob = "doctor"

func health(r *request) (any, error) {
	p := healthPage{Counts: map[string]int{}, Job: r.s.jobs.last(healthJob)}
	if p.Job == nil {
		return p, nil
	}
	d, ok := p.Job.Result.(diagnose.Diagnosis)
	p.Job.Result = nil
	if !ok {
		return p, nil
	}
	p.OK, p.Fixes = d.OK, d.Fixes
	for state, n := range d.Counts {
		p.Counts[string(state)] = n
	}
	for _, want := range []doctor.State{doctor.Bad, doctor.Warn, doctor.Info, doctor.Skipped, doctor.OK} {
		for _, c := range d.Checks {
			if c.State == want {
				p.Checks = append(p.Checks, checkRow{c.ID, c.Title, string(c.State), c.Evidence, c.Next, float64(c.Took.Microseconds()) / 1000})
			}
		}
	}
	return p, nil
}

// examine looks over the installation, behind the page.
func examine(r *request) (done, error) {
	version := r.s.opts.Version
	r.s.mu.Lock()
	h := r.s.host
	r.s.mu.Unlock()
	_, err := r.s.run(healthJob, func(ctx context.Context, _ *app.Rooms) (any, error) {
		d, closeRooms, err := diagnose.Diagnose(ctx, h, nil, version)
		closeRooms()
		d.Plan = nil // it holds the closed rooms
		return d, err
	})
	return done{Text: "The checks run", To: "/health"}, err
}

// syncNow commits and exchanges the notes with the remote, behind the page.
func syncNow(r *request) (done, error) {
	_, err := r.s.run("sync", func(ctx context.Context, rooms *app.Rooms) (any, error) {
		return app.Sync(ctx, rooms, app.SyncOptions{Remote: true})
	})
	return done{Text: "The sync runs", To: "/machines"}, err
}

// reindex rebuilds the index, behind the page.
func reindex(r *request) (done, error) {
	_, err := r.s.run("reindex", func(ctx context.Context, rooms *app.Rooms) (any, error) {
		return app.ReindexAll(ctx, rooms)
	})
	return done{Text: "The index is rebuilt", To: "/machines"}, err
}

// stopJob stops what runs behind the pages.
func stopJob(r *request) (done, error) {
	if !r.s.jobs.end(r.id()) {
		return done{}, app.Errorf(app.NotFound, "there is no job %s", r.id())
	}
	return done{Text: "It is being stopped", To: "/machines"}, nil
}
