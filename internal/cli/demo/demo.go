// Package demo shows the product at work: it captures sample sessions into a
// throw-away store, and makes what the next session would be shown.
//
// Failure policy: the first step that fails ends it, with what the steps before did.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/capture"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// The sample sessions are written by us in the shape of real ones.
//
//go:embed sessions/*.jsonl
var samples embed.FS

// Answer is what the demonstration did, step by step.
type Answer struct {
	Store string `json:"store"`
	Steps []Step `json:"steps"`
}

// A Step is one thing that the demonstration did.
type Step struct {
	Step string  `json:"step"`
	What string  `json:"what"`
	Path string  `json:"path,omitempty"`
	MS   float64 `json:"ms"`

	Chapter string        `json:"-"` // the heading before it, "" when it goes on
	Took    time.Duration `json:"-"`
	Lines   []string      `json:"-"` // what was found
	Quoted  string        `json:"-"` // says what the quote is
	Quote   string        `json:"-"` // text as it stands in a file
}

// project is the project of the sample sessions.
const project = "storefront"

// A demonstration is a store in a throw-away folder.
type demonstration struct {
	host  app.Host
	r     *app.Rooms
	dir   string
	steps []Step
}

// Run captures the sample sessions into a new store below dir, indexes and
// searches them, and makes what the next session would be shown. Nothing of the
// user's is read or written.
func Run(ctx context.Context, h app.Host, dir string) (a Answer, err error) {
	h.Config = config.Load(config.Environment{ // nothing of the user's own settings
		Lookup:   func(string) (string, bool) { return "", false },
		UserHome: dir, Hostname: "demo-laptop", Flags: []string{"home=" + filepath.Join(dir, "store"), "machine_id=demo-laptop"},
	})
	d := &demonstration{host: h, dir: dir}
	if d.r, err = app.Open(ctx, h, 0); err != nil {
		return a, err
	}
	defer func() { d.r.Close() }() // it is opened again on the way
	for _, step := range []func(context.Context) error{d.capture, d.note, d.index, d.search, d.inject, d.commit} {
		if err := step(ctx); err != nil {
			return a, fmt.Errorf("demo: %w", err)
		}
	}
	return Answer{d.r.Store.Root(), d.steps}, nil
}

// did notes what a step did and how long it took.
func (d *demonstration) did(chapter, step, path string, began time.Time, format string, args ...any) *Step {
	t := time.Since(began)
	d.steps = append(d.steps, Step{
		Step: step, What: fmt.Sprintf(format, args...), Path: path, MS: float64(t.Microseconds()) / 1000,
		Chapter: chapter, Took: t,
	})
	return &d.steps[len(d.steps)-1]
}

func (d *demonstration) capture(ctx context.Context) error {
	chapter := "1. Capture: three finished sessions become notes, each its own markdown file"
	names, err := samples.ReadDir("sessions")
	if err != nil {
		return err
	}
	first := ""
	for _, e := range names {
		data, err := samples.ReadFile("sessions/" + e.Name())
		if err != nil {
			return err
		}
		file := filepath.Join(d.dir, e.Name())
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
		began := time.Now()
		c, err := d.r.Recorder.Capture(ctx, capture.Request{
			Harness: agent.Default(), Transcript: file, Project: project, Whole: true,
			Source: note.SessionEnd,
		})
		if err != nil {
			return err
		}
		if c.Trivial {
			d.did(chapter, "capture", "", began, "%s: nothing worth keeping, no note", e.Name())
		} else {
			masked := ""
			if c.Outcome.Redacted || strings.Contains(c.Outcome.Note.Body, "[REDACTED]") {
				masked = " (a key was masked)"
			}
			path := d.r.Store.Path(c.Outcome.Ref.Path)
			d.did(chapter, "capture", path, began, "%s: wrote one note%s", e.Name(), masked)
			if first == "" {
				first = path
			}
		}
		chapter = ""
	}
	if first == "" {
		return errors.New("no sample session was captured")
	}
	data, err := os.ReadFile(first)
	last := &d.steps[len(d.steps)-1]
	last.Quoted, last.Quote = "The first of them:", string(data)
	return err
}

func (d *demonstration) note(ctx context.Context) error {
	began := time.Now()
	out, err := d.r.Ingester.Admit(ctx, ingest.Draft{By: ingest.Person, Note: &note.Note{
		Type: note.Procedural, Project: project, Scope: note.Portable, Tags: []string{"grpc", "staging"},
		Title: "Regenerate the gRPC clients after editing payments.proto",
		Body: "Run `make proto-gen` and commit the result together with the change.\nWithout it staging breaks: the old clients " +
			"reject the new field.",
		Provenance: note.Provenance{Confidence: 1},
	}})
	if err == nil {
		d.did("2. A note by hand: what you correct once", "add", d.r.Store.Path(out.Ref.Path), began, "wrote %q", out.Note.Title)
	}
	return err
}

func (d *demonstration) index(ctx context.Context) error {
	began := time.Now()
	d.r.Close()
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(d.r.Store.Path("index.db" + ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	r, err := app.Open(ctx, d.host, 0)
	if err != nil {
		return err
	}
	d.r = r
	rep, err := r.Index.Sync(ctx, index.SyncOptions{})
	d.did("3. Index: derived from the files; here it is thrown away and made again", "index", r.Store.Path("index.db"), began,
		"indexed %s", app.Plural(rep.Indexed, "note"))
	return err
}

func (d *demonstration) search(ctx context.Context) error {
	chapter := "4. Search"
	for _, q := range []string{"why did staging break after the proto change", "recalcTax rounding"} {
		began := time.Now()
		res, err := d.r.Engine.Recall(ctx, recall.Query{Text: q, K: 2})
		if err != nil {
			return err
		}
		step := d.did(chapter, "search", "", began, "%q: %s", q, app.Plural(len(res.Hits), "note"))
		for i, h := range res.Hits {
			step.Lines = append(step.Lines, fmt.Sprintf("%d. [%s] %s  (score %.2f)", i+1, h.Row.Type, h.Row.Title, h.Score()))
		}
		chapter = ""
	}
	return nil
}

func (d *demonstration) inject(ctx context.Context) error {
	began := time.Now()
	limit := agent.Default().Hooks.ContextLimit()
	b, err := d.r.Injector.Page(ctx, inject.Place{
		Project: project, Projects: []string{project}, Start: agent.InjectStart, End: agent.InjectEnd,
		Limit: limit.Max, Size: limit.Size,
	}, recall.Query{Projects: []string{project, note.Global}})
	d.did("5. Inject: what the next session on this project is shown at its start", "inject", "", began,
		"%s, %d characters", app.Plural(len(b.Shown), "note"), len([]rune(b.Text))).Quote = b.Text
	return err
}

func (d *demonstration) commit(ctx context.Context) error {
	began := time.Now()
	s, err := app.Sync(ctx, d.r, app.SyncOptions{Remote: true})
	d.did("6. Commit: the notes are a git repository", "sync", d.r.Store.Path("memory"), began, "%s", s.Detail)
	return err
}
