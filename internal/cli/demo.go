package cli

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
	"anamnesis/internal/inject"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

// The sample sessions are written by us in the shape of real ones.
//
//go:embed demo/*.jsonl
var samples embed.FS

func newDemo(p *program) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work on sample sessions, in a throw-away store",
		Long: `Capture three sample sessions, index and search them, and print what the next
session would be told. Nothing of yours is read or written: the store is a
temporary folder that is deleted at the end (--keep leaves it).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the store for a look around")
	return cmd
}

// A demoStep is one line of the demo's JSON answer.
type demoStep struct {
	Step string  `json:"step"`
	What string  `json:"what"`
	Path string  `json:"path,omitempty"`
	MS   float64 `json:"ms"`
}

// A demonstration runs the steps and tells them.
type demonstration struct {
	p     *program
	m     *memory
	dir   string
	steps []demoStep
	first *capture.Capture
}

func (p *program) demo(ctx context.Context, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "anamnesis-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	env := config.Process(nil)
	p.cfg = config.Load(config.Environment{ // nothing of the user's own settings
		Lookup:   func(string) (string, bool) { return "", false },
		UserHome: dir, Hostname: env.Hostname, Flags: []string{"home=" + filepath.Join(dir, "store"), "machine_id=demo-laptop"},
	})
	d := &demonstration{p: p, dir: dir}
	if d.m, err = p.open(ctx, 0); err != nil {
		return err
	}
	defer func() { d.m.close() }() // it is opened again on the way
	p.say("A throw-away store in %s\n", d.m.Store.Root())
	for _, step := range []func(context.Context) error{d.capture, d.note, d.index, d.search, d.inject, d.commit} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	if p.json {
		return p.emit(struct {
			header
			Store string     `json:"store"`
			Steps []demoStep `json:"steps"`
		}{head("demo"), d.m.Store.Root(), d.steps})
	}
	if keep {
		p.say("\nThe store stays in %s; look around with\n  ANAMNESIS_HOME=%s anamnesis list\n", d.m.Store.Root(), d.m.Store.Root())
	} else {
		p.say("\nThe store is deleted now (--keep leaves it). `anamnesis init` connects Claude Code for real.\n")
	}
	return nil
}

// did records and prints what a step did and how long it took.
func (d *demonstration) did(step, path string, began time.Time, format string, args ...any) {
	t := time.Since(began)
	what := fmt.Sprintf(format, args...)
	d.steps = append(d.steps, demoStep{step, what, path, float64(t.Microseconds()) / 1000})
	d.p.say("   %-64s %8s\n", what, took(t))
	if path != "" {
		d.p.say("     %s\n", path)
	}
}

func (d *demonstration) title(s string) { d.p.say("\n%s\n", s) }

// quote prints text as it stands in a file, indented.
func (d *demonstration) quote(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		d.p.say("   │ %s\n", strings.TrimRight(line, "\n"))
	}
}

func (d *demonstration) capture(ctx context.Context) error {
	d.title("1. Capture: three finished sessions become notes, each its own markdown file")
	names, err := samples.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, e := range names {
		data, err := samples.ReadFile("demo/" + e.Name())
		if err != nil {
			return err
		}
		file := filepath.Join(d.dir, e.Name())
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
		began := time.Now()
		c, err := d.m.Recorder.Capture(ctx, capture.Request{
			Harness: agent.Claude{}, Transcript: file, Project: "storefront", Source: "session-end",
		})
		if err != nil {
			return err
		}
		if c.Trivial {
			d.did("capture", "", began, "%s: nothing worth keeping, no note", e.Name())
			continue
		}
		masked := ""
		if c.Outcome.Redacted || strings.Contains(c.Outcome.Note.Body, "[REDACTED]") {
			masked = " (a key was masked)"
		}
		d.did("capture", d.m.Store.Path(c.Outcome.Ref.Path), began, "%s: wrote one note%s", e.Name(), masked)
		if d.first == nil {
			d.first = &c
		}
	}
	if d.first == nil {
		return fmt.Errorf("no sample session was captured")
	}
	data, err := os.ReadFile(d.m.Store.Path(d.first.Outcome.Ref.Path))
	if err != nil {
		return err
	}
	d.p.say("\n   The first of them:\n")
	d.quote(string(data))
	return nil
}

func (d *demonstration) note(ctx context.Context) error {
	d.title("2. A note by hand: what you correct once")
	began := time.Now()
	out, err := d.m.Ingester.Add(ctx, demoDraft())
	if err != nil {
		return err
	}
	d.did("add", d.m.Store.Path(out.Ref.Path), began, "wrote %q", out.Note.Title)
	return nil
}

func (d *demonstration) index(ctx context.Context) error {
	d.title("3. Index: derived from the files; here it is thrown away and made again")
	began := time.Now()
	d.m.close()
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(d.m.Store.Path("index.db" + ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	m, err := d.p.open(ctx, 0)
	if err != nil {
		return err
	}
	d.m = m
	rep, err := d.m.Index.Sync(ctx, index.SyncOptions{})
	if err != nil {
		return err
	}
	d.did("index", d.m.Store.Path("index.db"), began, "indexed %s", plural(rep.Indexed, "note"))
	return nil
}

func (d *demonstration) search(ctx context.Context) error {
	d.title("4. Search")
	for _, q := range []string{"why did staging break after the proto change", "recalcTax rounding"} {
		began := time.Now()
		res, err := d.m.Engine.Recall(ctx, recall.Query{Text: q, K: 2})
		if err != nil {
			return err
		}
		d.did("search", "", began, "%q: %s", q, plural(len(res.Hits), "note"))
		for i, h := range res.Hits {
			d.p.say("     %d. [%s] %s  (score %.2f)\n", i+1, h.Row.Type, h.Row.Title, h.Score())
		}
	}
	return nil
}

func (d *demonstration) inject(ctx context.Context) error {
	d.title("5. Inject: what the next session on this project is told at its start")
	began := time.Now()
	b, err := d.m.Injector.Block(ctx, inject.Place{
		Project: "storefront", Projects: []string{"storefront"}, Limit: agent.Claude{}.ContextLimit(), Start: agent.InjectStart, End: agent.InjectEnd,
	})
	if err != nil {
		return err
	}
	d.did("inject", "", began, "%s, %d characters", plural(len(b.Shown), "note"), len([]rune(b.Text)))
	d.quote(b.Text)
	return nil
}

func (d *demonstration) commit(ctx context.Context) error {
	d.title("6. Commit: the notes are a git repository")
	began := time.Now()
	s, err := app.Sync(ctx, d.m.Rooms, app.SyncOptions{Remote: true})
	if err != nil {
		return err
	}
	d.did("sync", d.m.Store.Path("memory"), began, "%s", s.Detail)
	return nil
}
