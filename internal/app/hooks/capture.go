package hooks

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/capture"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// SessionEnd is the source of a capture that nobody named otherwise.
const SessionEnd = note.SessionEnd

// CaptureOptions say which session is captured.
type CaptureOptions struct {
	Transcript string // the file; "" for the one the event names
	Project    string // its key; "" for the one of the session's folder
	Source     string // a tag that says what triggered the capture
	NoSync     bool   // commit here, do not sync
}

// EnqueueCapture leaves a capture to a background run, and starts that. It opens
// no index and takes no lock.
func EnqueueCapture(host app.Host, h *agent.Harness, e agent.Event, o CaptureOptions) error {
	if o.Transcript != "" {
		e.TranscriptPath = o.Transcript
	}
	if e.TranscriptPath == "" {
		return errors.New("the event names no transcript")
	}
	s, err := app.OpenStore(host)
	if err != nil {
		return err
	}
	key := o.Project
	if key != "" {
		key = project.Canonical(s, key)
	}
	if err := capture.New(s, nil, nil, host.Config.Capture).Enqueue(h, e, o.Source, key, !o.NoSync); err != nil {
		return err
	}
	return app.Detach(host, "drain")
}

// MissedCapture records that the end of a session could not be left to a background run, so
// that a later one finds it.
func MissedCapture(host app.Host, h *agent.Harness, e agent.Event) error {
	s, err := app.OpenStore(host)
	if err != nil {
		return err
	}
	return capture.New(s, nil, nil, host.Config.Capture).Started(h, e, "")
}

// SwitchedOff records that the hooks of a session are switched off, so that no background
// run takes it for one whose hooks failed. Where there is no store there is nothing to record.
func SwitchedOff(host app.Host, e agent.Event) error {
	_, none := os.Stat(host.Config.Home)
	if none != nil || e.SessionID == "" || llm.Ours(e.Dir) {
		return nil //nolint:nilerr // where there is no store there is nothing to record
	}
	s, err := app.OpenStore(host)
	if err != nil {
		return err
	}
	return s.Events().Log(store.Record{Kind: store.SwitchedOff, Session: e.SessionID})
}

// Captured is what became of a session that was captured in the foreground.
type Captured struct {
	capture.Capture
	File      string
	Path      string // of the note; "" when there is none
	Reflected int    // notes distilled afterwards
	Failures  []string
	Sync      app.SyncResult
}

// captureMemory is from how many bytes on the memory of a capture is collected without a
// break. A session of 70 MB needs less; on a busy machine the collector came late, and the
// process took twice of what it needed.
const captureMemory = 80 << 20

// CaptureNow captures a session while somebody waits, distils if that is
// switched on, and commits or syncs.
func CaptureNow(ctx context.Context, r *app.Rooms, e agent.Event, o CaptureOptions) (Captured, error) {
	if err := r.MayRedact(); err != nil {
		return Captured{}, err
	}
	app.SummarizeQueued(r)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(captureMemory))
	file, err := filepath.Abs(o.Transcript)
	if err != nil {
		return Captured{}, err
	}
	dir := e.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	c, err := r.Recorder.Capture(ctx, capture.Request{
		Harness: cmp.Or(agent.ByName(e.Harness), agent.Default()), Transcript: file, Session: e.SessionID,
		Dir: dir, Project: o.Project, Whole: o.Project != "", Source: o.Source,
	})
	done := Captured{Capture: c, File: file}
	if err != nil {
		return done, err
	}
	if err := errors.Join(c.Kept, r.Kept.Sync(ctx, nil)); err != nil {
		r.Notify("the session is not kept word for word: %v", err)
	}
	if !o.NoSync {
		done.Reflected, done.Failures = app.AutoReflect(ctx, r, c.Projects())
	}
	if c.Outcome.Ref.Path != "" {
		done.Path = r.Store.Path(c.Outcome.Ref.Path)
	}
	done.Sync, err = app.Sync(ctx, r, app.SyncOptions{Remote: !o.NoSync})
	return done, err
}
