package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

func checkFiring(ctx context.Context, p *Target) Result {
	if p.Disabled {
		return warn("unset ANAMNESIS_DISABLED (and REFLECT_DISABLED) where your agent is started", "ANAMNESIS_DISABLED is set: hooks do nothing")
	}
	if p.Store == nil {
		return skip("there is no store")
	}
	l, err := p.shared.log()
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	var lines []string
	for _, k := range []struct{ kind, said string }{
		{store.Injected, "a session was shown notes"},
		{store.Captured, "a session was captured"},
		{store.Drained, "the background run worked"},
	} {
		if at := l.last[k.kind]; at.IsZero() {
			lines = append(lines, k.said+": never, as far as the log goes")
		} else {
			lines = append(lines, fmt.Sprintf("%s: %s", k.said, ago(p.now().Sub(at))))
		}
	}
	shown, captured := l.last[store.Injected], l.last[store.Captured]
	// The background run is no sign of a hook: commands start it too.
	last := slices.MaxFunc([]time.Time{shown, captured, p.queued()}, time.Time.Compare)
	seen := !last.IsZero()
	if !seen {
		last = p.installed()
	}
	if last.IsZero() {
		return info("run `anamnesis init`, then start a session of your agent", append(lines, "no hook is installed")...)
	}
	missed := p.sessionsSince(ctx, last.Add(time.Minute))
	switch {
	case missed >= 2 && !(shown.IsZero() && len(p.shared.walk()) == 0): // they may be running, and there was nothing to tell
		return warn("start a new session of your agent and run this again; if it stays so, look at the checks hooks, hook-program and "+
			"hook-errors",
			append(lines, plural(missed, "session")+" began since, and no hook was seen")...)
	case !seen:
		return info("start a new session of your agent: running ones do not read the settings again", append(lines,
			"the hooks were not seen yet")...)
	case l.count[store.Injected] >= 10 && l.count[store.Captured] == 0:
		return warn("end a session properly (not by killing it) and run `anamnesis doctor drain`; if none is captured, look at the checks hooks "+
			"and spool",
			append(lines, fmt.Sprintf("%d sessions were shown notes in seven days and none was captured", l.count[store.Injected]))...)
	}
	return ok(lines...)
}

// queued returns when a hook last left a session in the queue.
func (p *Target) queued() (at time.Time) {
	jobs, _, _ := queue.Of(p.Store).Look(queue.Capture) // the check of the spool names the error
	if len(jobs) > 0 {
		at = jobs[len(jobs)-1].Created
	}
	return at
}

// installed returns when the settings with our hooks were last written.
func (p *Target) installed() (at time.Time) {
	for _, h := range p.Harnesses {
		r, err := readHooks(h.settings(), h.Client)
		if err != nil || len(r.entries) == 0 {
			continue
		}
		if fi, err := os.Stat(h.settings()); err == nil && fi.ModTime().After(at) {
			at = fi.ModTime()
		}
	}
	return at
}

// maxTranscripts bounds how many transcripts are listed, maxPeeks how many
// are opened.
const (
	maxTranscripts = 5000
	maxPeeks       = 20
)

// sessionsSince counts the sessions that began after a time: at most
// maxPeeks. A transcript that was only written to since does not count.
func (p *Target) sessionsSince(ctx context.Context, since time.Time) (count int) {
	for _, h := range p.Harnesses {
		count += p.sessionsOf(ctx, h, since)
	}
	return count
}

// sessionsOf is sessionsSince for one agent.
func (p *Target) sessionsOf(ctx context.Context, h Harness, since time.Time) (count int) {
	if h.Home == "" || h.Sessions == nil {
		return 0
	}
	paths := h.files(h.Sessions.SessionFiles())
	type file struct {
		path string
		at   time.Time
	}
	var young []file
	for _, path := range paths[:min(len(paths), maxTranscripts)] {
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.ModTime().After(since) {
			young = append(young, file{path, fi.ModTime()})
		}
	}
	slices.SortFunc(young, func(a, b file) int { return b.at.Compare(a.at) })
	for _, y := range young[:min(len(young), maxPeeks)] {
		if ctx.Err() == nil && p.began(h, y.path).After(since) {
			count++
		}
	}
	return count
}

// began returns when the session in a file began, the zero time when it cannot be shown.
func (p *Target) began(h Harness, path string) time.Time {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	records, err := h.Sessions.Open(f, "")
	if err != nil {
		return time.Time{}
	}
	seen, err := h.Sessions.Peek(records, records.Size(), 16<<10, 1<<10, time.Now().Add(p.wait(20*time.Millisecond)))
	if err != nil {
		return time.Time{}
	}
	return seen.Started
}

// maxDamaged is how many damaged files are named.
const maxDamaged = 10

func checkDamaged(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	l, err := p.shared.log()
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	var lines []string
	for _, file := range slices.Sorted(maps.Keys(l.damaged)) {
		if _, err := os.Lstat(file); err != nil {
			continue // its agent deleted it
		}
		if d := l.damaged[file]; d.err != "" {
			lines = append(lines, clean(file, maxLine)+": "+d.err)
		} else {
			lines = append(lines, fmt.Sprintf("%s: %s cannot be read", clean(file, maxLine), plural(d.lines, "line")))
		}
	}
	if len(lines) == 0 {
		return ok("none in the last seven days")
	}
	if more := len(lines) - maxDamaged; more > 0 {
		lines = append(lines[:maxDamaged], "and "+plural(more, "file")+" more")
	}
	return warn("check the disk if the agent did not crash; the other lines of these sessions are read", lines...)
}

func checkHookErrors(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	l, err := p.shared.log()
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	total := 0
	for _, n := range l.failures {
		total += n
	}
	if total == 0 {
		return ok("none in the last seven days")
	}
	texts := slices.SortedFunc(maps.Keys(l.failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.failures[b], l.failures[a]), cmp.Compare(a, b))
	})
	lines := []string{fmt.Sprintf("%s in the last seven days, the last %s", plural(total, "failure"),
		ago(p.now().Sub(l.last[store.HookFailure])))}
	for _, t := range texts[:min(3, len(texts))] {
		lines = append(lines, fmt.Sprintf("%d times: %s", l.failures[t], t))
	}
	return warn("mend what the lines name; `anamnesis log tail` shows when it happened", lines...)
}
