package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

// host is what this program lends to the use cases.
func (p *program) host() app.Host {
	return app.Host{
		By:   p.author(),
		Face: "cli", Version: buildVersion(),
		Config: p.cfg, Environ: p.environ, Disk: p.disk, Now: p.now, Flags: p.sets,
		Brief:    p.brief && !p.lasting,
		Backend:  p.backend,
		Notify:   func(line string) { p.note("%s", line) },
		Progress: p.progress,
	}
}

// An opener opens the rooms as far as a command needs them: app.OpenWalked,
// app.OpenWhole or now.
type opener func(context.Context, app.Host) (*app.Rooms, error)

// now opens the rooms and looks at no file of a note.
func now(ctx context.Context, h app.Host) (*app.Rooms, error) { return app.Open(ctx, h, 0) }

// filesOnly opens the rooms without the index.
func filesOnly(_ context.Context, h app.Host) (*app.Rooms, error) { return app.OpenFiles(h) }

// run opens the rooms, calls a use case and renders its answer.
func run[T any](p *program, cmd *cobra.Command, command string, open opener, use func(context.Context, *app.Rooms) (T, error),
	text func(T),
) error {
	r, err := open(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	p.ids = app.ShortIDs(cmd.Context(), r)
	v, err := use(cmd.Context(), r)
	return render(p, command, v, err, text)
}

// ask is run for a use case that only reads: it may be called twice (app.Again).
func ask[T any](p *program, cmd *cobra.Command, command string, use func(context.Context, *app.Rooms) (T, error), text func(T)) error {
	p.brief = true
	return run(p, cmd, command, app.OpenWalked, func(ctx context.Context, r *app.Rooms) (T, error) {
		return app.Again(ctx, r, use)
	}, text)
}

// openStore opens the files alone.
func (p *program) openStore() (*store.Store, error) { return app.OpenStore(p.host()) }

// attendedBy is set by the linker alone, in a program that a test builds to play a person at a terminal.
var attendedBy string

// attended reports whether a person looks at the program or types into it.
var attended = func(p *program) bool {
	return attendedBy != "" || terminal(p.stdin) || terminal(p.stdout) || terminal(p.stderr)
}

// author says who runs the command. The shell of an agent is known by a variable that its client
// sets; a command without a terminal is a program's. What the person types as "!command" in a
// client carries the same variables, and counts as the agent's.
func (p *program) author() ingest.Author {
	switch {
	case p.environ(nil).AgentShell() != "":
		return ingest.Agent
	case attended(p):
		return ingest.Person
	}
	return ingest.Program
}
