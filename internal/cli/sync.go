package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type syncOptions struct {
	allow       []string
	allowDelete bool
	status      bool
}

func newSync(p *program) *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Commit the notes and exchange them with the other machines",
		Long: `Commit every change of the portable notes to their git repository, take in what
the other machines did, merge it note by note, and send the result. Without a
remote the commit is all; add one with ` + "`anamnesis config set remote ADDRESS`" + `.
A remote that cannot be reached is no failure: the notes go with a later sync.

A note in which something looks like a secret stays here until you let it go.
What a merge could not decide waits in ` + "`anamnesis conflicts`" + `.

Exit codes: 0 synced, or offline (the line says so); 4 something waits for you;
75 another sync is at work.`,
		Example: `  anamnesis sync
  anamnesis sync --status
  anamnesis sync --allow-secret 01M7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.sync(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.allow, "allow-secret", nil, "let the note `ID` go although it holds what looks like a secret (may be repeated)")
	f.BoolVar(&o.allowDelete, "allow-delete", false, "let the remote delete more than a fifth of the notes here")
	f.BoolVar(&o.status, "status", false, "tell how things stand, and sync nothing")
	cmd.MarkFlagsMutuallyExclusive("status", "allow-secret")
	cmd.MarkFlagsMutuallyExclusive("status", "allow-delete")
	return cmd
}

func (p *program) sync(ctx context.Context, o syncOptions) error {
	m, err := p.openFor(ctx, len(o.allow) > 0)
	if err != nil {
		return err
	}
	defer m.close()
	if o.status {
		return p.syncStatus(ctx, m)
	}
	for _, name := range o.allow {
		if err := p.allowSecret(ctx, m, name); err != nil {
			return err
		}
	}
	s, err := p.settle(ctx, m, exchange{remote: true, allowDelete: o.allowDelete})
	if err != nil {
		return err
	}
	var pending error
	switch {
	case s.busy:
		pending = &codedError{code: exitLocked}
		p.note("%s", s.Detail)
	case s.Conflicted:
		pending = &codedError{code: exitConflict}
	}
	if p.json {
		return errors.Join(p.emit(struct {
			header
			settled
		}{head("sync"), s}), pending)
	}
	p.printf("sync: pushed=%s pulled=%d conflicted=%s head=%s (%s)\n", pyBool(s.Pushed), s.Pulled, pyBool(s.Conflicted), s.Head, s.Detail)
	return pending
}

// openFor opens everything; with names of notes to look up, the index is
// brought into step first.
func (p *program) openFor(ctx context.Context, names bool) (*memory, error) {
	if names {
		return p.openWalked(ctx)
	}
	return p.open(ctx, 0)
}

func newDrain(p *program) *cobra.Command {
	var sync bool
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Finish the work that hooks left behind",
		Long: `Capture the sessions that hooks left in the spool, bring the index into step
with the files, commit. Hooks start it in the background; it is safe to run at
any time, to run twice at once (the second leaves), and to kill.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.drain(cmd.Context(), sync) },
	}
	cmd.Flags().BoolVar(&sync, "sync", false, "sync with the remote when done")
	return cmd
}

// drained is the JSON answer of drain.
type drained struct {
	header
	Busy     bool     `json:"busy"` // another drain is at work
	Captured int      `json:"captured"`
	Trivial  int      `json:"trivial"`
	Failed   []string `json:"failed"`
	Left     int      `json:"left"`
	Indexed  int      `json:"indexed"`
	Sync     *settled `json:"sync,omitempty"`

	Reflected  int `json:"reflected"`  // notes distilled
	Summarised int `json:"summarised"` // notes of earlier runs that a model summarised at a later try

	reflect []string // projects of which a session has ended
}

func (p *program) drain(ctx context.Context, sync bool) (err error) {
	p.lasting = true // to calibrate is to ask hundreds
	m, err := p.open(ctx, 0)
	if err != nil {
		return err
	}
	defer m.close()
	defer func() { // a background run has nobody to tell
		if err != nil {
			_ = m.store.Log(store.Record{Kind: store.Drained, Error: err.Error()})
		}
	}()
	if err := m.mayRedact(); err != nil {
		return err
	}
	m.summarize()
	d := drained{header: head("drain"), Failed: []string{}}
	for {
		unlock, ok, err := m.store.TryLock("drain")
		if err != nil {
			return err
		}
		if !ok {
			d.Busy = true
			break
		}
		left, err := p.drainOnce(ctx, m, &d, &sync)
		unlock()
		if err != nil {
			return err
		}
		// A hook may have spooled between the last look and the unlocking, and
		// the drain it started has left because of our lock.
		if jobs, err := m.store.Jobs(); err != nil || len(jobs) <= left || ctx.Err() != nil {
			break
		}
	}
	// Without the lock of the drain: a model or a remote that hangs must not hold
	// up captures. What was captured is committed by now.
	wrote, failed := m.autoReflect(ctx, d.reflect)
	d.Reflected, d.Failed = wrote, append(d.Failed, failed...)
	if sync {
		s, err := p.settle(ctx, m, exchange{remote: true, automatic: true})
		if err != nil {
			d.Failed = append(d.Failed, err.Error())
		}
		d.Sync = &s
	}
	if p.json {
		return p.emit(d)
	}
	if d.Busy {
		p.printf("drain: another drain is at work\n")
		return nil
	}
	p.printf("drain: captured=%d trivial=%d failed=%d left=%d indexed=%d\n", d.Captured, d.Trivial, len(d.Failed), d.Left, d.Indexed)
	if d.Summarised > 0 {
		p.printf("drain: summarised %s of earlier sessions\n", plural(d.Summarised, "note"))
	}
	if d.Reflected > 0 {
		p.printf("drain: auto-reflected %d note(s)\n", d.Reflected)
	}
	for _, f := range d.Failed {
		p.note("%s", f)
	}
	return nil
}

// drainOnce does everything that waits, up to the commit. It returns the number
// of jobs that could not be done, and sets sync if one of them asked for that.
func (p *program) drainOnce(ctx context.Context, m *memory, d *drained, sync *bool) (left int, err error) {
	began := time.Now()
	bar := p.progress("capturing sessions")
	done, err := m.recorder.Drain(ctx, func(n, left int) { bar.step(n, n+left) })
	bar.done()
	if err != nil {
		return done.Left, err
	}
	for _, c := range done.Captured {
		d.Captured++
		if c.Trivial {
			d.Trivial++
		}
		if c.Source != "precompact" && !slices.Contains(d.reflect, c.Project) {
			d.reflect = append(d.reflect, c.Project)
		}
	}
	d.Failed, d.Left = append(d.Failed, done.Failed...), done.Left
	d.Summarised += done.Summarised
	m.store.Sweep()
	rep, err := m.index.Sync(ctx, index.SyncOptions{})
	if err != nil {
		return done.Left, err
	}
	d.Indexed += rep.Indexed
	if err := m.index.Fold(ctx); err != nil {
		return done.Left, err
	}
	m.understand(ctx, d)
	if _, err := m.store.Compact(); err != nil {
		d.Failed = append(d.Failed, err.Error())
	}
	*sync = *sync || done.Sync
	s, err := p.settle(ctx, m, exchange{})
	if err != nil {
		d.Failed = append(d.Failed, err.Error())
	}
	d.Sync = &s
	r := store.Record{Kind: store.Drained, Count: len(done.Captured), MS: float64(time.Since(began).Milliseconds())}
	if len(d.Failed) > 0 {
		r.Error = d.Failed[0]
	}
	return done.Left, m.store.Log(r)
}
