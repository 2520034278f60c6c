// Package cli is the memory as commands: each parses its flags, calls one use
// case of package app and renders what comes back.
//
// Standard output is data, standard error is for people. Exit codes: 0 done,
// 1 failed, 2 wrong usage, 3 nothing found, 4 a conflict waits for you, 5 doctor
// found something wrong, 75 locked by another process.
// Hooks always exit 0; their failures are records in the event log.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/cli/hook"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A program is one run: its streams and the flags that every command has.
type program struct {
	screen
	stdin   io.Reader
	environ func(flags []string) config.Environment
	disk    store.Disk                                                    // nil means the operating system's
	now     func() time.Time                                              // nil means the operating system's clock
	backend func(ctx context.Context, root string) (index.Backend, error) // of tests that run the whole program on another index

	sets []string // --set KEY=VALUE
	cfg  *config.Config

	event *agent.Event // what a hook command that runs by hand found on standard input

	lasting bool // many questions will be asked of the index
	brief   bool // a few will, and nothing is written
	running bool // the command line was understood and the command began
	misuse  error
}

// otherIndex is nil, except in tests that run the whole program on another index.
var otherIndex func(ctx context.Context, root string) (index.Backend, error)

// Main runs the program and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	deepen(stdin == nil) // which it never is
	p := &program{
		screen: screen{
			stdout: stdout, stderr: stderr, plain: wantsPlain(config.Process(nil)), width: columns(stdout),
			diag: wrapper{width: columns(stderr)},
		},
		stdin:   stdin,
		environ: config.Process,
		backend: otherIndex,
	}
	return p.run(args)
}

// stackBytes is what SQLite and JSON need of a stack, and a bit.
const stackBytes = 48 << 10

// deepen makes the stack of a goroutine large at once, while little is on it. It grows by
// doubling else, and each time all frames are looked up in tables of the binary, whose
// pages are not in memory yet: up to a tenth of what a hook costs. Nothing is written: room has
// its place in the frame, and the frame alone counts.
//
//go:noinline
func deepen(never bool) (b byte) {
	if never {
		var room [stackBytes]byte
		for i := range room {
			b += room[(i+int(b))%stackBytes]
		}
	}
	return b
}

func (p *program) run(args []string) int {
	if len(args) > 0 && !terminal(p.stdin) {
		h := hook.Process{Stdin: p.stdin, Stdout: p.stdout, Environ: p.environ, Disk: p.disk, Now: p.now, Backend: p.backend}
		if h.Run(args[0], args[1:]) {
			return 0 // whatever became of it
		}
		p.event = h.Event
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := p.root(needed(args)...)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, p.misuse)
	p.json = p.json || !p.running && asksJSON(args) // a mistake in a flag before it
	var kinded *app.Error
	if err != nil && !p.running && !errors.As(err, &kinded) {
		err = usage("%w", err)
	}
	return p.report(err, cmd.CommandPath())
}

// asksJSON reports whether a command line that was not understood asks for JSON.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// usage makes an error of wrong usage.
func usage(format string, args ...any) error { return app.Errorf(app.Usage, format, args...) }

// root builds the command tree with some commands.
func (p *program) root(some ...namedCommand) *cobra.Command {
	root := &cobra.Command{
		Use:           "anamnesis",
		Short:         "Long-term memory for coding agents",
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			p.load()
			if len(p.cfg.Mistaken) > 0 {
				return usage("%s", strings.Join(p.cfg.Mistaken, "; "))
			}
			return p.permitted(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.bare(cmd) },
		Args: cobra.NoArgs,
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.PersistentFlags().StringArrayVar(&p.sets, "set", nil, "use a setting's value for this run (`KEY=VALUE`, may be repeated)")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print one JSON object instead of text")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) {
			if takes := valueOf(bad.GetFlag().Value.Type()); takes != "" { // else the flag says it
				err = fmt.Errorf("%q is no value of --%s, which takes %s", bad.GetValue(), bad.GetFlag().Name, takes)
			}
		}
		return usage("%w; `%s --help` lists the flags", err, cmd.CommandPath())
	})
	root.SetHelpCommand(newHelp(p))
	root.SetVersionTemplate("{{.Version}}")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		switch p.misuse = p.bareGroup(cmd); {
		case p.misuse != nil:
		case cmd == root:
			p.listCommands(root)
		default:
			help(cmd, args)
		}
	})
	root.AddGroup(groups...)
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, c := range some {
		root.AddCommand(c.command(p))
	}
	p.strict(root)
	p.completes(root)
	return root
}

// strict makes every mistake that is found before a command runs (a wrong
// argument, flags that exclude each other) one of wrong usage, for cmd and all
// commands below it.
func (p *program) strict(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.strict(sub)
	}
	if inner := cmd.Args; inner != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := inner(cmd, args); err != nil {
				if cmd.HasSubCommands() && len(args) > 0 && inner(cmd, nil) == nil {
					return unknownCommand(cmd, args[0])
				}
				var ours *app.Error
				switch {
				case len(args) > 0 && inner(cmd, nil) == nil && inner(cmd, args[:1]) != nil:
					err = fmt.Errorf("it takes no arguments, and %q is one", args[0])
				case errors.As(err, &ours):
				case inner(cmd, append(slices.Clone(args), "x")) == nil, inner(cmd, append(slices.Clone(args), "x", "x")) == nil:
					err = errors.New("an argument is missing")
				case len(args) > 0 && inner(cmd, args[:len(args)-1]) == nil:
					err = fmt.Errorf("%q is one argument too many", args[len(args)-1])
				}
				return usage("%s: %w; usage: %s", cmd.Name(), err, strings.TrimSpace(cmd.UseLine()))
			}
			return nil
		}
	}
	if inner := cmd.RunE; inner != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			p.running = true
			return inner(cmd, args)
		}
	}
}

// valueOf says in words what a flag of a type of the library takes, "" for another type.
func valueOf(kind string) string {
	switch kind {
	case "int", "int64", "uint", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 90s or 5m"
	}
	return ""
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		hint = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return usage("there is no command %q%s; `%s --help` lists them", name, hint, cmd.CommandPath())
}

// bareGroup is the mistake of a command line that names a group of commands and none
// of them. People get the help of the group.
func (p *program) bareGroup(cmd *cobra.Command) error {
	if asked, _ := cmd.Flags().GetBool("help"); asked || cmd.Runnable() || !cmd.Flags().Parsed() {
		return nil
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		return unknownCommand(cmd, rest[0])
	}
	if p.json {
		return usage("%s: give one of its commands; `%s --help` lists them", cmd.Name(), cmd.CommandPath())
	}
	return nil
}

// load works out the settings.
func (p *program) load() {
	p.cfg = config.Load(p.environ(p.sets))
	for _, w := range p.cfg.Warnings {
		p.note("%s", w)
	}
}
