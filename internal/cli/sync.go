package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

// settled is what became of the repository after a write.
type settled struct {
	Pushed     bool   `json:"pushed"`
	Pulled     int    `json:"pulled"`
	Conflicted bool   `json:"conflicted"`
	Committed  bool   `json:"committed"`
	Head       string `json:"head"`
	Detail     string `json:"detail"`
}

// pyBool writes a boolean as scripts of the program before this one expect it.
func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// line is the last line that capture prints.
func (s settled) line(noSync bool) string {
	switch {
	case !noSync:
		return fmt.Sprintf("synced (pushed=%s pulled=%d)", pyBool(s.Pushed), s.Pulled)
	case s.Committed:
		return "committed locally (no sync)"
	}
	return "nothing to commit (no sync)"
}

// settle commits what was written, and syncs if asked. Without git the notes
// are as safe as files are; that is told, and is no failure.
func (p *program) settle(ctx context.Context, m *memory, sync bool) (settled, error) {
	var s settled
	backend, err := p.replica(m.store)
	if err == nil {
		unlock, ok, lerr := m.store.TryLock("sync")
		switch {
		case lerr != nil:
			return s, lerr
		case !ok:
			s.Detail = "another sync is at work; it takes these changes along"
			return s, nil
		}
		defer unlock()
		if sync {
			var out replica.Outcome
			out, err = backend.Sync(ctx)
			s = settled{out.Pushed, out.Pulled, out.Conflicted, out.Committed, out.Head, out.Detail}
		} else if s.Committed, err = backend.Commit(ctx, nil); err == nil {
			s.Detail = s.line(true)
		}
	}
	switch {
	case errors.Is(err, replica.ErrNoGit):
		p.note("%v", err)
		s.Detail = "git is missing; notes are kept as files only"
	case errors.Is(err, replica.ErrHeld): // the other notes went
		p.note("%v", err)
	case errors.Is(err, replica.ErrBlocked):
		p.note("%v", err)
		s.Conflicted, s.Detail = true, "not committed: "+err.Error()
	default:
		return s, err
	}
	return s, nil
}

func newSync(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Commit the notes and sync them with the remote",
		Long: `Commit every change of the portable notes to their git repository. Without a
remote that is all; add one with ` + "`anamnesis config set remote ADDRESS`" + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := p.open(cmd.Context(), 0)
			if err != nil {
				return err
			}
			defer m.close()
			s, err := p.settle(cmd.Context(), m, true)
			if err != nil {
				return err
			}
			if _, err := m.index.Sync(cmd.Context(), index.SyncOptions{}); err != nil {
				return err
			}
			var pending error
			if s.Conflicted {
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
		},
	}
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
}

func (p *program) drain(ctx context.Context, sync bool) (err error) {
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
	d := drained{header: head("drain")}
	for {
		unlock, ok, err := m.store.TryLock("drain")
		if err != nil {
			return err
		}
		if !ok {
			d.Busy = true
			break
		}
		left, err := p.drainOnce(ctx, m, sync, &d)
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
	if p.json {
		return p.emit(d)
	}
	if d.Busy {
		p.printf("drain: another drain is at work\n")
		return nil
	}
	p.printf("drain: captured=%d trivial=%d failed=%d left=%d indexed=%d\n", d.Captured, d.Trivial, len(d.Failed), d.Left, d.Indexed)
	for _, f := range d.Failed {
		p.note("%s", f)
	}
	return nil
}

// drainOnce does everything that waits. It returns the number of jobs that could not be done.
func (p *program) drainOnce(ctx context.Context, m *memory, sync bool, d *drained) (left int, err error) {
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
	}
	d.Failed, d.Left = append(d.Failed, done.Failed...), done.Left
	m.store.Sweep()
	rep, err := m.index.Sync(ctx, index.SyncOptions{})
	if err != nil {
		return done.Left, err
	}
	d.Indexed += rep.Indexed
	if err := m.index.Fold(ctx); err != nil {
		return done.Left, err
	}
	if _, err := m.store.Compact(); err != nil {
		d.Failed = append(d.Failed, err.Error())
	}
	s, err := p.settle(ctx, m, sync || done.Sync)
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
