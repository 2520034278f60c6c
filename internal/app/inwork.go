package app

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anamnesis/internal/agent"
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
func (r *Rooms) inWork(ctx context.Context, e agent.Event) []string {
	files := r.touched(e)
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

// touched returns the files that stand at the end of a transcript as changed.
func (r *Rooms) touched(e agent.Event) []string {
	h := agent.ByName(e.Harness)
	if e.TranscriptPath == "" || h == nil || h.Sessions == nil {
		return nil
	}
	if fi, err := os.Stat(e.TranscriptPath); err != nil || fi.Mode()&fs.ModeType != 0 { // nothing that would wait
		return nil
	}
	f, err := os.Open(e.TranscriptPath)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	seen, err := h.Sessions.Peek(f, fi.Size(), 1, workTail, time.Now().Add(r.Config.Wait(workTime)))
	if err != nil || seen == nil {
		return nil
	}
	return seen.FilesTouched
}
