package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/doctor"
	"anamnesis/internal/index"

	"github.com/spf13/cobra"
)

type doctorOptions struct {
	only     []string
	fix, yes bool
	all      bool
}

func newDoctor(p *program) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is as it should be",
		Long: `Check the installation, the hooks and whether they fire, the MCP server, the store, the
index, sync, recall and the settings. It only looks. Each finding comes with its
evidence and a next step; --fix shows what it would do about them and asks.

Exit code 5 says that something is wrong. docs/troubleshooting.md goes by symptom.`,
		Example: `  anamnesis doctor
  anamnesis doctor --only hooks,firing
  anamnesis doctor --fix`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, id := range o.only {
				if !slices.Contains(doctor.IDs(), id) {
					return usage("doctor: --only %q: there are %s", id, strings.Join(doctor.IDs(), ", "))
				}
			}
			return p.doctor(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "these checks alone: their `ID`s, separated by commas")
	f.BoolVar(&o.all, "all", false, "show what is right, too")
	f.BoolVar(&o.fix, "fix", false, "show what would mend it, and ask")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --fix: do it without asking, except what deletes")
	return cmd
}

func (p *program) doctor(ctx context.Context, o doctorOptions) error {
	if _, err := os.Stat(p.cfg.Home); errors.Is(err, fs.ErrNotExist) {
		return &app.Error{Kind: app.Degraded, Err: fmt.Errorf("doctor: there is no store in %s yet; `anamnesis init` makes one", p.cfg.Home)}
	}
	m, broken := p.open(ctx, 0)
	if broken != nil { // the index, most likely: the rest can be looked at all the same
		var err error
		if m, err = p.openFiles(); err != nil {
			return fmt.Errorf("doctor: the store cannot be opened, so nothing of it was checked: %w", err)
		}
	} else {
		defer m.close()
	}
	pt := p.patient(m)
	if pt.IndexErr = broken; broken != nil {
		pt.Reindex = nil
	}
	results := doctor.Examine(ctx, pt, o.only)
	count := map[doctor.State]int{}
	for _, r := range results {
		count[r.State]++
	}
	plan := doctor.Plan(ctx, pt, results)
	var failed error
	if count[doctor.Bad] > 0 {
		failed = &app.Error{Kind: app.Degraded}
	}
	if p.json {
		fixes := []string{}
		for _, f := range plan {
			fixes = append(fixes, f.What)
		}
		return errors.Join(p.emit(struct {
			header
			OK     bool                 `json:"ok"`
			Counts map[doctor.State]int `json:"counts"`
			Checks []doctor.Result      `json:"checks"`
			Fixes  []string             `json:"fixes"`
		}{head("doctor"), failed == nil, count, results, fixes}), failed)
	}
	p.printResults(results, o.all)
	p.printf("%d ok, %d worth knowing, %d to look at, %d wrong, %d not checked\n",
		count[doctor.OK], count[doctor.Info], count[doctor.Warn], count[doctor.Bad], count[doctor.Skipped])
	if !o.fix {
		if len(plan) > 0 {
			p.printf("`anamnesis doctor --fix` would mend %s\n", plural(len(plan), "thing"))
		}
		return failed
	}
	return p.mend(ctx, plan, o.yes)
}

// printResults prints what is not right, and with all the rest as well.
func (p *program) printResults(results []doctor.Result, all bool) {
	styles := map[doctor.State]style{doctor.OK: green, doctor.Info: dim, doctor.Warn: yellow, doctor.Bad: red, doctor.Skipped: dim}
	for _, r := range results {
		if !all && (r.State == doctor.OK || r.State == doctor.Skipped || r.State == doctor.Info && r.Next == "") {
			continue
		}
		p.printf("%s  %s (%s)\n", p.in(styles[r.State], fmt.Sprintf("%-7s", r.State)), r.Title, r.ID)
		for _, e := range r.Evidence {
			p.printf("         %s\n", e)
		}
		if r.Next != "" {
			p.printf("         → %s\n", r.Next)
		}
	}
}

// mend shows the plan, asks, and carries it out.
func (p *program) mend(ctx context.Context, plan []doctor.Fix, yes bool) error {
	if len(plan) == 0 {
		p.printf("there is nothing that --fix could mend\n")
		return nil
	}
	for _, f := range plan {
		p.printf("fix %s: %s\n", f.Check, f.What)
	}
	if !yes && !terminal(p.stdin) {
		p.printf("nothing was changed yet; --yes does it\n")
		return nil
	}
	in := bufio.NewReader(p.stdin)
	if !yes && !p.confirm(in, "do all of it?") {
		p.printf("nothing was changed\n")
		return nil
	}
	var failed error
	for _, f := range plan {
		if f.Asks && (!terminal(p.stdin) || !p.confirm(in, f.What+": it cannot be made again; do it?")) {
			p.printf("left alone: %s\n", f.What)
			continue
		}
		if err := f.Do(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("fix %s: %w", f.Check, err))
			continue
		}
		p.printf("done: %s\n", f.What)
	}
	return failed
}

// confirm asks a person.
func (p *program) confirm(in *bufio.Reader, question string) bool {
	fmt.Fprintf(p.stderr, "%s [y/N] ", question)
	line, _ := in.ReadString('\n')
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
}

// patient wires what the doctor looks at.
func (p *program) patient(m *memory) *doctor.Patient {
	self, _ := os.Executable()
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	env := p.environ(nil)
	path, _ := env.Lookup("PATH")
	pt := &doctor.Patient{
		Store: m.Store, Index: m.Index, Engine: m.Engine, Redactor: m.Redactor, RulesErr: m.Rules,
		Self: self, Version: buildVersion(), Path: path, TempDirs: []string{os.TempDir(), "/tmp", "/var/tmp"},
		Patience: p.cfg.Patience,
		Disabled: p.cfg.Disabled, VersionOf: versionOf, Warnings: p.cfg.Warnings, Foreign: config.Unheard(env),
		Allowed:    app.MayTravel(m.Rooms),
		Sync:       func(ctx context.Context) (doctor.SyncState, error) { return p.doctorSync(ctx, m) },
		GitVersion: gitVersion,
		Handshake:  func(ctx context.Context) error { return p.handshake(ctx, self) },
		Reindex: func(ctx context.Context) error {
			_, err := m.Index.Sync(ctx, index.SyncOptions{All: true})
			return err
		},
		Drain:     func(context.Context) error { return app.Detach(p.host(), "drain") },
		Harnesses: []doctor.Harness{p.claudeHarness(m)},
	}
	for _, v := range p.cfg.Values() {
		if v.Source != config.FromDefault {
			pt.Settings = append(pt.Settings, doctor.Setting{Name: v.Key, Source: string(v.Source), HasEffect: true})
		}
	}
	for _, v := range p.cfg.Unknown() {
		pt.Settings = append(pt.Settings, doctor.Setting{Name: v.Key, Source: string(v.Source), Why: "nothing in this version reads it"})
	}
	return pt
}

// claudeHarness is Claude Code on this machine.
func (p *program) claudeHarness(m *memory) doctor.Harness {
	h := doctor.Harness{Harness: agent.Claude{}, Home: p.cfg.ClaudeHome, Memories: filepath.Join(p.cfg.ClaudeHome, "projects", "*", "memory", "*.md")}
	if dir, err := os.Getwd(); err == nil {
		h.Also = []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
	}
	if p.cfg.UserHome != "" {
		h.ServersPath = filepath.Join(p.cfg.UserHome, ".claude.json")
	}
	self, err := p.commandForm(initOptions{}, &prompter{p: p, quiet: true})
	if err != nil { // it stands where it will be deleted: it registers nothing
		return h
	}
	pl := plan{Home: p.cfg.Home, MachineID: p.cfg.MachineID, Remote: p.cfg.Sync.Remote, Command: self}
	env := p.carried(pl)
	h.Register = shellLine(agent.Claude{}.AddServer("anamnesis", env, self))
	h.Install = func(context.Context) error {
		if err := p.planHooks(&pl, env); err != nil {
			return err
		}
		return p.install(m.Store, pl)
	}
	return h
}

func (p *program) doctorSync(ctx context.Context, m *memory) (doctor.SyncState, error) {
	s, err := app.SyncStatus(ctx, m.Rooms)
	d := doctor.SyncState{
		On: p.cfg.Sync.On, Initialized: s.Initialized, Remote: s.Remote, Dirty: s.Dirty, Ahead: s.Ahead, Behind: s.Behind,
		Failures: s.Failures, Detail: s.Detail, State: string(s.State), Text: s.StateText,
	}
	d.NextTry, _ = time.Parse(time.RFC3339, s.NextTry)
	d.LastReached, _ = time.Parse(time.RFC3339, s.LastSync)
	for _, h := range s.Held {
		d.Held = append(d.Held, doctor.HeldFile{Path: h.Path, Why: h.Why})
	}
	return d, err
}

// versionOf asks another program of our name for its version.
func versionOf(ctx context.Context, program string) (string, error) {
	cmd := exec.CommandContext(ctx, program, "version")
	cmd.Env = append(config.Environ(), "ANAMNESIS_DISABLED=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out))
	if len(words) < 2 || words[0] != "anamnesis" {
		return "", errors.New("it does not answer like this program")
	}
	return words[1], nil
}

func gitVersion(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// hello is how a client of MCP begins.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"doctor","version":"1"}}}` + "\n"

// handshake starts our MCP server as an agent does, and says hello.
func (p *program) handshake(ctx context.Context, self string) error {
	cmd := exec.CommandContext(ctx, self, "serve", "--set", "home="+p.cfg.Home)
	cmd.Stdin = strings.NewReader(hello)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case strings.Contains(string(out), `"serverInfo"`):
		return nil
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return fmt.Errorf("%w: %s", err, firstLine(string(exit.Stderr), 200))
		}
		return err
	}
	return fmt.Errorf("it answered %q", firstLine(string(out), 80))
}
