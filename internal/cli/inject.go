package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type injectOptions struct {
	project string
	k       int
}

func (o *injectOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.project, "project", "", "project `KEY` (default: the one of the session's or the current folder)")
	fs.IntVar(&o.k, "k", -1, "project notes at most (default: the setting inject.k)")
}

func newInject(p *program) *cobra.Command {
	var o injectOptions
	cmd := &cobra.Command{
		Use:   "inject",
		Short: "Print what the next session is told",
		Long: `Print the block that a session of this folder's project is told at its start:
all global notes, then up to k notes of the project, two recent sessions among them.

As a SessionStart hook it reads the event from standard input, stays under the
agent's limit and prints nothing but the block.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("k") && o.k < 0 {
				return usage("inject: --k %d: give 0 for global notes only, or a number", o.k)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			e := agent.Event{}
			if p.event != nil {
				e = *p.event
			}
			b, place, err := m.block(cmd.Context(), e, o, 0)
			if err != nil {
				return err
			}
			for _, missing := range b.Missing {
				p.note("left out: %s", missing)
			}
			if p.json {
				return p.emit(struct {
					header
					Project string    `json:"project"`
					Text    string    `json:"text"`
					Shown   []note.ID `json:"shown"`
					Cut     []note.ID `json:"cut"`
					Left    []note.ID `json:"left_out"`
					Missing []string  `json:"missing"`
				}{
					head("inject"), place.Project, b.Text, append([]note.ID{}, b.Shown...), append([]note.ID{}, b.Cut...),
					append([]note.ID{}, b.Left...), append([]string{}, b.Missing...),
				})
			}
			p.printf("%s", b.Text)
			return nil
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// previewTime is what a session start may spend on sessions that wait in the spool.
const previewTime = 5 * time.Millisecond

// injectPatience is how long a session start waits for a process that has the
// index for itself: the last one that closes it folds the journal and waits for
// the disk. Without such a process it waits for nothing.
const injectPatience = time.Second

// block makes the block for an event.
func (m *memory) block(ctx context.Context, e agent.Event, o injectOptions, limit int) (inject.Block, inject.Place, error) {
	id := m.p.project(m.store, o.project)
	dir, _ := os.Getwd()
	if o.project == "" && e.Dir != "" {
		id, dir = m.store.Identify(e.Dir), e.Dir
	}
	branches, err := m.branches(ctx, id, dir)
	if err != nil {
		return inject.Block{}, inject.Place{}, err
	}
	place := inject.Place{Project: id.Key, Projects: m.store.Names(id), Branches: branches, Session: e.SessionID, Limit: limit, Start: agent.InjectStart, End: agent.InjectEnd}
	place.Notice = strings.TrimSpace(m.conflictNotice() + " " + m.syncNotice())
	place.Pending = m.recorder.Preview(place.Projects, time.Now().Add(m.p.cfg.Wait(previewTime)))
	injector := m.injector
	if o.k >= 0 {
		opts := m.p.cfg.Inject
		opts.K = o.k
		injector = inject.New(m.engine, m.store, opts)
	}
	b, err := injector.Block(ctx, place)
	return b, place, err
}

// branches lists the branches whose notes a session in dir is told besides the
// trunk's, as a search there would find them.
func (m *memory) branches(ctx context.Context, id store.Identity, dir string) ([]string, error) {
	opts := m.p.cfg.Recall
	branch := ""
	if id.Source == "flag" { // of another project's branches nothing is known here
		dir = ""
	} else {
		branch = store.Side(dir, id.Branch)
	}
	if opts.Branch != "" {
		branch = strings.TrimPrefix(opts.Branch, "-")
	}
	place, err := m.engine.Place(ctx, id, branch, func(some []string) []string { return m.mergedBranches(ctx, dir, some) })
	return recall.ScopeOf(place, recall.Reach{AllBranches: opts.AllBranches}).Branches(), err
}

// conflictNotice is what a session is told about conflicts, empty when there is none.
func (m *memory) conflictNotice() string {
	n := m.store.CountConflicts()
	if n == 0 {
		return ""
	}
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s between machines %s for the user: `anamnesis conflicts` lists what to decide.", plural(n, "conflict"), verb)
}

// injectHook answers a session start. It does not walk the tree: the notes it
// prints are read from their files, and the rest is left to a background run.
func (p *program) injectHook(ctx context.Context, h agent.Harness, e agent.Event, o injectOptions) error {
	began := time.Now()
	m, err := p.open(ctx, injectPatience)
	if err != nil {
		return err
	}
	// The index is not closed: the last connection that closes writes what others
	// left in the journal into the database and waits for the disk. The process
	// is about to end anyway.
	fresh, err := m.firstLook(ctx)
	if err != nil {
		return err
	}
	b, place, err := m.block(ctx, e, o, h.ContextLimit())
	if err != nil {
		return err
	}
	if b.Text != "" {
		if _, err := p.stdout.Write(h.Reply(e, b.Text)); err != nil {
			return err
		}
	}
	if !m.store.ReadOnly() && (!fresh || m.waiting()) {
		_ = p.detach("drain")
	}
	if len(b.Shown) == 0 {
		return nil
	}
	return m.injector.Log(place, b, time.Since(began))
}

// waiting reports whether a job has been in the spool for longer than the
// background run of its own hook can have needed.
func (m *memory) waiting() bool {
	jobs, err := m.store.Jobs()
	return err == nil && len(jobs) > 0 && time.Since(jobs[0].When()) > time.Minute
}

// firstLook reports whether the index can be trusted without a walk: no folder
// of notes changed since the last one. An index that was never filled is filled
// first, the newest notes before the others, for as long as a hook may take.
func (m *memory) firstLook(ctx context.Context) (fresh bool, err error) {
	_, _, walked, err := m.index.State(ctx)
	if err != nil && !m.index.Damaged(err) {
		return false, err
	}
	if err != nil || walked.IsZero() {
		rep, err := m.index.Sync(ctx, index.SyncOptions{Budget: m.p.cfg.Wait(fillTime)})
		if sqlite.Busy(err) { // somebody else fills it: what is there is told
			return false, nil
		}
		return rep.Stale == 0, err
	}
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			fi, err := os.Stat(m.store.Path(folder(scope, t)))
			if err == nil && fi.ModTime().After(walked) {
				return false, nil
			}
		}
	}
	return true, nil
}

// folder is where new notes of a type stand.
func folder(scope note.Scope, t note.Type) string {
	path := store.NotePath(scope, t, "x")
	return path[:len(path)-len("/x.md")]
}
