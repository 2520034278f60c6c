package web

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/app"
)

// A job is work that takes longer than a request: it goes on behind the pages, says how
// far it came, and can be stopped.
type job struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"` // of the command that does the same
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	What    string    `json:"what"` // is being done
	Done    int       `json:"done"`
	Total   int       `json:"total"`
	Lines   []string  `json:"lines"` // shown beside the answer
	Error   string    `json:"error,omitempty"`
	Stopped bool      `json:"stopped,omitempty"`
	Result  any       `json:"result,omitempty"`

	cancel context.CancelFunc
}

// Running reports whether the job goes on.
func (j *job) Running() bool { return j.Ended.IsZero() }

// jobs are those of one server. They are safe for concurrent use.
type jobs struct {
	mu   sync.Mutex
	next int
	all  []*job // oldest first
	done sync.WaitGroup
}

// keptJobs is how many jobs that ended are remembered.
const keptJobs = 20

// start begins a job; one of a name runs at a time.
func (js *jobs) start(name string, tell func(job), work func(context.Context, *job) (any, error)) (job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.Name == name && j.Running() {
			return *j, app.Errorf(app.Locked, "%s is running already", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	js.next++
	j := &job{ID: fmt.Sprint(js.next), Name: name, Began: time.Now(), cancel: cancel}
	js.all = append(js.all, j)
	if len(js.all) > keptJobs {
		js.all = slices.DeleteFunc(js.all, func(old *job) bool { return !old.Running() && old == js.all[0] })
	}
	js.done.Go(func() {
		defer cancel()
		v, err := work(ctx, j)
		js.change(j, tell, func() {
			j.Ended, j.Result = time.Now(), v
			if j.Stopped = ctx.Err() != nil; err != nil && !j.Stopped && !app.Answers(err) {
				j.Error = app.Explain(err).Message
			}
		})
	})
	return *j, nil
}

// change changes a job and tells its new state.
func (js *jobs) change(j *job, tell func(job), what func()) {
	js.mu.Lock()
	what()
	now := *j
	now.Lines = slices.Clone(j.Lines)
	js.mu.Unlock()
	tell(now)
}

// list returns the jobs, the latest first.
func (js *jobs) list() (all []job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range slices.Backward(js.all) {
		one := *j
		one.Lines = slices.Clone(j.Lines)
		all = append(all, one)
	}
	return all
}

// last returns the latest job of a name, nil when there was none.
func (js *jobs) last(name string) *job {
	for _, j := range js.list() {
		if j.Name == name {
			return &j
		}
	}
	return nil
}

// end stops a job; false when there is none of that id.
func (js *jobs) end(id string) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.ID == id {
			j.cancel()
			return true
		}
	}
	return false
}

func (js *jobs) running() bool {
	return slices.ContainsFunc(js.list(), func(j job) bool { return j.Running() })
}

// stop stops all jobs and waits for them.
func (js *jobs) stop() {
	js.mu.Lock()
	for _, j := range js.all {
		j.cancel()
	}
	js.mu.Unlock()
	js.done.Wait()
}

// A progress tells how far a job came, ten times a second at most.
type progress struct {
	js   *jobs
	j    *job
	tell func(job)
	last time.Time
}

func (p *progress) Step(done, total int) {
	if time.Since(p.last) < 100*time.Millisecond && done < total {
		return
	}
	p.last = time.Now()
	p.js.change(p.j, p.tell, func() { p.j.Done, p.j.Total = done, total })
}

func (p *progress) Done() {}

// run starts a job with the rooms, which tell it what stands beside the answer.
func (s *Server) run(name string, work func(context.Context, *app.Rooms) (any, error)) (job, error) {
	tell := func(j job) {
		s.feed.send("job", j)
		if !j.Running() {
			s.changed()
		}
	}
	return s.jobs.start(name, tell, func(ctx context.Context, j *job) (any, error) {
		l, back := s.lend()
		defer back()
		if l == nil {
			return nil, errClosed
		}
		r := l.rooms.Notifying(func(line string) {
			s.jobs.change(j, tell, func() { j.Lines = append(j.Lines, line) })
		}, func(what string) app.Progress {
			s.jobs.change(j, tell, func() { j.What = what })
			return &progress{js: &s.jobs, j: j, tell: tell}
		})
		return work(ctx, r)
	})
}
