package app

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/risk"
	"anamnesis/internal/risk/tree"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
	"anamnesis/internal/text/shell"
)

// How long the files of a project are looked at: when a note is written, and in a hook.
const (
	lookToWrite = time.Second
	lookToShow  = 30 * time.Millisecond
)

// fewSessions is how many sessions say too little of the programs that their owner uses. Below it a program counts that is installed.
const fewSessions = 20

// enoughSessions is how many sessions say which programs run in most.
const enoughSessions = 10

// askProjects lets what is written and shown be compared with the projects that it is about.
func askProjects(r *Rooms) {
	ingest.Knowing(r.Ingester, func(ctx context.Context, dir, key string) risk.Known { return KnownIn(ctx, r, dir, key, lookToWrite) })
	r.Injector.Knowing(func(ctx context.Context, dir, key string) risk.Known { return KnownToShow(ctx, r, dir, key) })
}

// KnownToShow is KnownIn for a hook.
func KnownToShow(ctx context.Context, r *Rooms, dir, key string) risk.Known {
	return KnownIn(ctx, r, dir, key, lookToShow)
}

// KnownIn returns what is known in a project: its name, its files, what its scripts run, and the programs of its owner's
// sessions. Files are looked at when they are asked for, for at most within.
func KnownIn(ctx context.Context, r *Rooms, dir, key string, within time.Duration) risk.Known {
	root := rootOf(dir, r.Config.UserHome)
	ran := sync.OnceValue(func() session.Programs {
		if r.Kept == nil {
			return session.Programs{}
		}
		return r.Kept.Programs()
	})
	found := make(map[string]bool)
	return risk.Known{
		Runs: func(program string) bool {
			name := shell.Program(program)
			if strings.Contains(program, "/") { // a path is that program and no other
				return false
			}
			if ran().Ran[name] > 0 || name == path.Base(key) || tree.Runs(root, name) {
				return true
			}
			_, err := exec.LookPath(name)
			return err == nil && ran().Sessions < fewSessions
		},
		Often: func(program string) bool {
			p := ran()
			return p.Sessions >= enoughSessions && 2*p.Ran[shell.Program(program)] >= p.Sessions
		},
		Named: func(names []string) map[string]bool {
			var ask []string
			for _, n := range names {
				if _, ok := found[n]; !ok {
					found[n] = n == key || strings.HasPrefix(key, n+"/")
					ask = append(ask, n)
				}
			}
			for n := range tree.Named(ctx, root, ask, within) {
				found[n] = true
			}
			return found
		},
	}
}

// rootOf is the folder of a project: the top of its repository, or the folder itself. The home folder is none.
func rootOf(dir, home string) string {
	if dir == "" {
		return ""
	}
	if top := project.Top(dir); top != "" {
		dir = top
	}
	if rel, err := filepath.Rel(dir, home); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return ""
	}
	return dir
}
