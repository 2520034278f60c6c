package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/queue"
)

// needStore makes a check of one that needs the store.
func needStore(p *Target, run func(*store.Store) Result) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	return run(p.Store)
}

func checkPermissions(_ context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		if errors.Is(store.Unwritable(s), store.ErrOutdated) {
			return bad("`anamnesis upgrade`", store.Unwritable(s).Error())
		}
		if s.ReadOnly() {
			return bad("check who owns "+s.Root()+" and whether its disk can be written",
				"the store cannot be written: nothing is captured, and nothing new is found")
		}
		lines, serious := looseModes(s.Root())
		switch {
		case len(lines) == 0:
			return ok(s.Root() + " is private to you")
		case serious:
			return bad("`anamnesis doctor --fix`, or chmod 700 "+s.Root(), lines...)
		}
		return warn("`anamnesis doctor --fix`", lines...)
	})
}

// A disk with less room than little is nearly full, with less than none is full.
const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
)

func checkDisk(_ context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		var notes int64
		for _, r := range p.shared.walk() {
			notes += r.Size
		}
		var derived int64
		for _, pattern := range []string{"index*", "*.bin"} {
			paths, _ := filepath.Glob(filepath.Join(s.Root(), pattern))
			for _, path := range paths {
				if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
					derived += fi.Size()
				}
			}
		}
		lines := []string{fmt.Sprintf("notes %s, index %s, event log %s", bytes(notes), bytes(derived), bytes(s.Events().Size()))}
		ask := freeBytes
		if p.Room != nil {
			ask = p.Room
		}
		free, err := ask(s.Root())
		if err != nil {
			return Result{State: OK, Evidence: append(lines, fmt.Sprintf("the room on the disk is not known: %v", err))}
		}
		lines = append(lines, bytes(free)+" free")
		switch {
		case free < noRoom:
			return bad("free some room: notes cannot be written on a full disk", lines...)
		case free < littleRoom:
			return info("free some room soon", lines...)
		}
		return ok(lines...)
	})
}

func checkLinks(_ context.Context, p *Target) Result {
	return needStore(p, func(*store.Store) Result {
		if found := p.shared.look().links; len(found) > 0 {
			return warn("put the files themselves there; what stands behind a link is not read", found...)
		}
		return ok("none")
	})
}

func checkUnseen(_ context.Context, p *Target) Result {
	return needStore(p, func(*store.Store) Result {
		found := p.shared.look().unseen
		if len(found) == 0 {
			return ok("none")
		}
		var lines []string
		unread := false
		for _, u := range found {
			lines = append(lines, clean(u.Path, 200)+": "+u.Why)
			unread = unread || u.Folder
		}
		if unread {
			return bad("give the folders back to yourself; until then the notes in them are missing", lines...)
		}
		return warn("rename or move the files as it says", lines...)
	})
}

const leftoverAge = time.Hour // the same as of store.Sweep

func checkLeftovers(ctx context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		deadline := time.Now().Add(p.budget)
		var found []string
		looked, late := 0, false
		var look func(dir string)
		look = func(dir string) { // the entries are not sorted: there may be many
			f, err := os.Open(s.Path(dir))
			if err != nil {
				return // what cannot be read holds nothing that we could tell
			}
			defer f.Close()
			var below []string
			for err == nil && !late {
				var entries []fs.DirEntry
				entries, err = f.ReadDir(256)
				looked += len(entries)
				late = ctx.Err() != nil || time.Now().After(deadline)
				for _, e := range entries {
					if e.IsDir() && e.Name()[0] != '.' {
						below = append(below, dir+"/"+e.Name())
					}
					if !layout.IsTemp(e.Name()) || !e.Type().IsRegular() {
						continue
					}
					if fi, err := e.Info(); err == nil && p.now().Sub(fi.ModTime()) > leftoverAge {
						found = append(found, dir+"/"+e.Name())
					}
				}
			}
			for _, name := range below {
				look(name)
			}
		}
		for _, top := range []string{"spool", "events", "conflicts", "memory", "local", "history"} {
			look(top)
		}
		slices.Sort(found)
		switch {
		case len(found) > 0:
			return info("`anamnesis doctor drain` removes them", append([]string{plural(len(found), "file")}, found...)...)
		case late:
			return ok(fmt.Sprintf("none among the first %d entries; `anamnesis doctor --only leftovers` looks at all", looked))
		}
		return ok("none")
	})
}

// stuckAfter is how long a session may wait: a session's end starts the run
// that captures it.
const stuckAfter = time.Hour

func checkSpool(_ context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		jobs, _, err := queue.Of(s).Look(queue.Capture)
		if err != nil {
			return bad("check who owns the folder spool in the store", err.Error())
		}
		var lines, broken, left []string
		for _, pr := range queue.Of(s).Problems() {
			if line := clean(pr.String(), 200); pr.Left {
				left = append(left, "left alone: "+line)
			} else {
				broken = append(broken, line)
			}
		}
		var oldest time.Duration
		if len(jobs) > 0 {
			oldest = p.now().Sub(jobs[0].Created)
			lines = append(lines, plural(len(jobs), "session")+" waiting to be captured", "the oldest since "+ago(oldest))
		}
		if len(broken) > 0 {
			lines = append(lines, plural(len(broken), "file")+" that cannot be read; the next run sets such files aside")
			lines = append(lines, broken...)
		}
		switch lines = append(lines, left...); {
		case oldest > stuckAfter:
			return warn("`anamnesis doctor drain`; it says what stands in the way", lines...)
		case len(broken) > 0:
			return info("`anamnesis doctor drain`", lines...)
		case len(lines) == 0:
			return ok("nothing waits")
		}
		return ok(lines...)
	})
}

func checkPoisoned(_ context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		var lines []string
		for _, pr := range queue.Of(s).Poisoned() {
			lines = append(lines, clean(pr.String(), 200))
		}
		if len(lines) > 0 {
			return warn("look at the files; delete them, or move them back to spool/ and run `anamnesis doctor drain`", lines...)
		}
		return ok("none")
	})
}

func checkHeld(ctx context.Context, p *Target) Result {
	if p.Waiting == nil {
		return skip("the count of what waits is not available")
	}
	lines, err := p.Waiting(ctx)
	switch {
	case err != nil:
		return bad("`anamnesis review` says more", err.Error())
	case len(lines) == 0:
		return ok("nothing")
	}
	return info("`anamnesis review`", lines...)
}

// largeLog is a size that the log reaches only when no background run has
// compacted it (store.Compact).
const largeLog = 80 << 20

func checkEvents(_ context.Context, p *Target) Result {
	return needStore(p, func(s *store.Store) Result {
		files, err := s.Events().Files()
		if err != nil {
			return bad("check who owns the folder events in the store", err.Error())
		}
		for _, f := range files {
			r, err := os.Open(s.Path("events/" + f))
			if err != nil {
				return bad("check who owns the file", err.Error())
			}
			r.Close()
		}
		if c, err := s.Events().Checkpoint(); err == nil && c.Damaged != nil {
			return warn("nothing has to be done: how often notes of dropped months were shown and found is not known any more; "+
				"the next month that is dropped begins a new one", "events/checkpoint.json cannot be read: "+c.Damaged.Error())
		}
		line := fmt.Sprintf("%s in %s", bytes(s.Events().Size()), plural(len(files), "month"))
		if s.Events().Size() > largeLog {
			return warn("`anamnesis doctor drain` folds old months", line)
		}
		return ok(line)
	})
}
