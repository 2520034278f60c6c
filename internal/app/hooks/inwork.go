package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/replica"
)

// What a prompt may spend on finding out which files are in work.
const (
	workTail    = 256 << 10 // of the transcript, in bytes
	workTime    = 10 * time.Millisecond
	changedTime = 40 * time.Millisecond
)

// inWork returns the files that the session of an event works on, relative to its folder,
// the newest last: those that its agent changed last, or, before it changed any, those
// that differ from the last commit. It waits for nobody; what it does not see is left out.
func inWork(ctx context.Context, r *app.Rooms, e agent.Event) []string {
	files := touched(r, e)
	if len(files) == 0 && e.Dir != "" {
		if _, err := os.Stat(filepath.Join(e.Dir, ".git")); err == nil {
			ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(changedTime))
			defer cancel()
			return replica.Changed(ctx, e.Dir, config.Environ())
		}
	}
	for i, f := range files {
		if rel, err := filepath.Rel(e.Dir, f); e.Dir != "" && err == nil && !strings.HasPrefix(rel, "..") {
			files[i] = filepath.ToSlash(rel)
		}
	}
	return files
}

// workAtStart finds the files that a session which starts may go on with: those of the last commits,
// and, the newest last, those that differ from the last one. Two processes of git look for them when
// the page asks, which most pages do not. work is nil where there are none: in a folder
// without a repository.
func workAtStart(ctx context.Context, h app.Host, e agent.Event) (work func() []string) {
	dir := e.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		return nil
	}
	return sync.OnceValue(func() []string {
		ctx, cancel := context.WithTimeout(ctx, h.Config.Wait(changedTime))
		defer cancel()
		recent := make(chan []string, 1)
		go func() { recent <- replica.Recent(ctx, dir, config.Environ()) }()
		changed := replica.Changed(ctx, dir, config.Environ())
		return append(<-recent, changed...)
	})
}

// touched returns the files that stand at the end of a transcript as changed.
func touched(r *app.Rooms, e agent.Event) []string {
	if seen := peekSession(r, e); seen != nil {
		return seen.FilesTouched
	}
	return nil
}

// typed returns what the user typed lately, as the end of a transcript has it.
func typed(r *app.Rooms, e agent.Event) (prompts []string) {
	seen := peekSession(r, e)
	if seen == nil {
		return nil
	}
	for _, line := range seen.Dialogue {
		if line.Role == agent.User && !line.Command && line.Text != "" {
			prompts = append(prompts, line.Text)
		}
	}
	return prompts
}

// openTranscript opens the transcript of an event. The file is nil when there is none that can be read at once: a pipe
// would wait. The caller closes it.
func openTranscript(e agent.Event) (h *agent.Harness, f *os.File, size int64) {
	h = agent.ByName(e.Harness)
	if e.TranscriptPath == "" || h == nil || h.Sessions == nil {
		return h, nil, 0
	}
	if fi, err := os.Stat(e.TranscriptPath); err != nil || !fi.Mode().IsRegular() {
		return h, nil, 0
	}
	f, err := os.Open(e.TranscriptPath)
	if err != nil {
		return h, nil, 0
	}
	fi, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return h, nil, 0
	}
	return h, f, fi.Size()
}

// peekSession looks at the end of the transcript of an event, nil when there is none.
func peekSession(r *app.Rooms, e agent.Event) *agent.PeekResult {
	h, f, size := openTranscript(e)
	if f == nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	seen, err := h.Sessions.Peek(f, size, 1, workTail, time.Now().Add(r.Config.Wait(workTime)))
	if err != nil {
		return nil
	}
	return seen
}
