package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type initOptions struct {
	home, machine, remote, command, name           string
	localOnly, noHooks, noMCP, noSync, yes, dryRun bool
}

func newInit(p *program) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Connect Claude Code on this machine",
		Long: `Write config.json, register the MCP server with Claude Code (` + "`claude mcp add`" + `), and
put four hooks into its settings.json: a session start is told the memory and syncs
it, a session end and a compaction are captured. The settings file is patched in
place, its layout and everything that is not ours stays; the first version is kept
as settings.json.bak. Running init again changes only what has to change. ` + "`anamnesis uninstall`" + ` takes it back.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.init(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.home, "home", "", "`FOLDER` of the store (default ~/.anamnesis)")
	f.StringVar(&o.machine, "machine-id", "", "`NAME` of this machine (default: the host name)")
	f.StringVar(&o.remote, "remote", "", "git `ADDRESS` to sync with")
	f.BoolVar(&o.localOnly, "local-only", false, "keep the notes on this machine; forgets a remote that was set")
	f.StringVar(&o.command, "command", "", "`COMMAND` the hooks run (default: this program)")
	f.StringVar(&o.name, "name", defaultServer, "`NAME` of the MCP server")
	f.BoolVar(&o.noMCP, "no-mcp", false, "register no MCP server")
	f.BoolVar(&o.noHooks, "no-hooks", false, "leave Claude Code's settings alone")
	f.BoolVar(&o.noSync, "no-sync", false, "do not make a first commit")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing, take the defaults")
	f.BoolVar(&o.dryRun, "print", false, "show what would be done, and do nothing")
	cmd.MarkFlagsMutuallyExclusive("remote", "local-only")
	return cmd
}

// A plan is what init is going to do.
type plan struct {
	Home      string   `json:"home"`
	MachineID string   `json:"machine_id"`
	Remote    string   `json:"remote"`
	Command   []string `json:"command"`
	Config    string   `json:"config"`
	Settings  string   `json:"settings"`
	Hooks     []string `json:"hooks"`
	MCP       []string `json:"mcp"` // the command that registers the server

	name   string // of the MCP server
	config []byte
	edit   agent.Edit
}

func (p *program) init(cmd *cobra.Command, o initOptions) error {
	pl, err := p.plan(o)
	if err != nil {
		return err
	}
	if o.dryRun {
		return p.printPlan(pl)
	}
	s, err := p.openStore()
	if err != nil {
		return err
	}
	if s.ReadOnly() {
		return fmt.Errorf("init: %s: %w", s.Root(), store.ErrReadOnly)
	}
	if len(pl.MCP) > 0 {
		p.say("%s\n", p.register(cmd.Context(), s, pl))
	}
	if pl.Settings != "" {
		if err := p.install(s, pl); err != nil {
			return err
		}
		p.say("hooks: installed SessionStart/SessionEnd/PreCompact -> %s\n", pl.Settings)
	}
	if err := p.backup(s, config.FileName); err != nil {
		return err
	}
	if err := s.Replace(config.FileName, pl.config); err != nil {
		return err
	}
	p.say("config: wrote %s\n", pl.Config)
	if !o.noSync {
		p.sets = append(p.sets, "machine_id="+pl.MachineID, "remote="+pl.Remote)
		p.cfg = config.Load(p.environ(p.sets)) // what was answered holds from here on
		p.firstSync(cmd.Context())
	}
	if p.json {
		pl.Remote = replica.HidePassword(pl.Remote)
		return p.emit(struct {
			header
			Plan plan `json:"plan"`
		}{head("init"), pl})
	}
	p.say("init: done. Start a new Claude Code session for the MCP server and hooks to take effect.\n")
	return nil
}

// say prints progress, unless the answer is JSON.
func (p *program) say(format string, args ...any) {
	if !p.json {
		p.printf(format, args...)
	}
}

// firstSync commits what is there and indexes it. A failure is a warning: the
// notes are safe without it.
func (p *program) firstSync(ctx context.Context) {
	m, err := p.open(ctx, 0)
	if err == nil {
		defer m.close()
		var st app.SyncResult
		if st, err = app.Sync(ctx, m.Rooms, app.SyncOptions{Remote: true}); err == nil {
			_, err = m.Index.Sync(ctx, index.SyncOptions{})
			p.say("sync: pushed=%s pulled=%d (%s)\n", pyBool(st.Pushed), st.Pulled, st.Detail)
		}
	}
	if err != nil {
		p.say("sync: skipped (%v); fix the remote and run `anamnesis sync`\n", err)
	}
}

// plan settles every answer and reads everything that is going to be changed,
// so that nothing is touched when something is wrong.
func (p *program) plan(o initOptions) (plan, error) {
	var pl plan
	var err error
	ask := &prompter{p: p, quiet: o.yes || o.dryRun || p.json}
	if terminal(p.stdin) {
		ask.in = bufio.NewReader(p.stdin)
	}
	home := ask.answer(o.home, "store home", p.cfg.Home)
	p.sets = append(p.sets, "home="+home)
	p.load()
	pl.Home = p.cfg.Home
	pl.MachineID = ask.answer(o.machine, "machine id", p.cfg.MachineID)
	if !o.localOnly {
		pl.Remote = ask.answer(o.remote, "sync remote (blank = local-only)", p.cfg.Sync.Remote)
		if pl.Remote == p.cfg.Sync.Remote { // a path in it means what it meant
			err = replica.CheckRemote(pl.Remote)
		} else {
			pl.Remote, err = remoteOf(pl.Remote)
		}
		if err != nil {
			return pl, usage("init: %w", err)
		}
	}
	pl.Command, err = p.commandForm(o, ask)
	if err != nil {
		return pl, err
	}
	pl.Config = filepath.Join(pl.Home, config.FileName)
	changes := []config.Change{{Key: "machine_id", Value: &pl.MachineID}, {Key: "remote", Value: &pl.Remote}}
	if pl.Remote == "" {
		changes[1].Value = nil
	}
	if pl.config, err = p.cfg.Edit(changes); err != nil {
		return pl, fmt.Errorf("init: %w", err)
	}
	env := p.carried(pl)
	if !o.noMCP {
		if err := checkServerName(o.name); err != nil {
			return pl, err
		}
		pl.name, pl.MCP = o.name, agent.Claude{}.AddServer(o.name, env, pl.Command)
	}
	if o.noHooks {
		return pl, nil
	}
	return pl, p.planHooks(&pl, env)
}

// remoteOf checks the address of a remote. A path means one in this folder now,
// wherever git runs later.
func remoteOf(address string) (string, error) {
	address = strings.TrimSpace(address)
	if err := replica.CheckRemote(address); err != nil {
		return "", err
	}
	if path, ok := replica.LocalPath(address); ok && !strings.HasPrefix(path, "~") {
		return filepath.Abs(path)
	}
	return address, nil
}

// carried is the environment that hooks and servers are given. An address with
// a password in it is for config.json alone, which nobody else can read.
func (p *program) carried(pl plan) agent.Env {
	env := agent.Env{MachineID: pl.MachineID, Remote: pl.Remote}
	if replica.HidePassword(pl.Remote) != pl.Remote {
		env.Remote = ""
	}
	if pl.Home != filepath.Join(p.cfg.UserHome, ".anamnesis") {
		env.Home = pl.Home
	}
	return env
}

// commandForm returns the program and arguments that hooks run.
func (p *program) commandForm(o initOptions, ask *prompter) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("init: find this program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	typed := ask.answer(o.command, "command form", agent.Quote(self))
	words := agent.Split(typed)
	if len(words) == 0 {
		return nil, usage("init: --command %q: not a command line", typed)
	}
	if typed == agent.Quote(self) && app.Temporary(self) {
		return nil, &app.Error{Kind: app.Failed, Err: fmt.Errorf("init: this program stands in %s, which goes away; install it first "+
			"(`go install .` in the checkout) and run `anamnesis init`, or name it with --command", filepath.Dir(self))}
	}
	return words, nil
}

// planHooks reads the settings file and works out what it becomes.
func (p *program) planHooks(pl *plan, env agent.Env) error {
	if !filepath.IsAbs(p.cfg.ClaudeHome) {
		return fmt.Errorf("init: where Claude Code keeps its settings is not known without a home folder; set CLAUDE_CONFIG_DIR")
	}
	h := agent.Claude{}
	pl.Settings = h.SettingsPath(p.cfg.ClaudeHome)
	hooks := h.Hooks(agent.CommandPrefix(env, pl.Command...))
	for _, hook := range hooks {
		pl.Hooks = append(pl.Hooks, strings.TrimSpace(hook.Event+" "+hook.Matcher)+": "+hook.Command)
	}
	edit, err := readSettings(pl.Settings)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if edit.New, err = h.Install(edit.Old, hooks, agent.Own); err != nil {
		return &app.Error{Kind: app.Failed, Err: fmt.Errorf("init: refusing to run; %s is not valid JSON (%w); fix it and re-run", pl.Settings, err)}
	}
	pl.edit = edit
	return nil
}

// readSettings reads a settings file; a missing one has no bytes. A symbolic
// link is followed, so that the file it leads to is the one that is changed.
func readSettings(path string) (agent.Edit, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if to, err := os.Readlink(path); err == nil { // it leads to a file that is to be made
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return agent.Edit{}, fmt.Errorf("read settings: %w", err)
	}
	return agent.Edit{Path: path, Old: data}, nil
}

func (p *program) printPlan(pl plan) error {
	pl.Remote = replica.HidePassword(pl.Remote)
	if p.json {
		return p.emit(struct {
			header
			DryRun bool `json:"dry_run"`
			Plan   plan `json:"plan"`
		}{head("init"), true, pl})
	}
	remote := pl.Remote
	if remote == "" {
		remote = "(local-only)"
	}
	p.printf("init plan (dry-run; nothing written):\n")
	for _, row := range [][2]string{
		{"store home", pl.Home}, {"machine id", pl.MachineID}, {"remote", remote}, {"command", strings.Join(pl.Command, " ")}, {"config", pl.Config},
	} {
		p.printf("  %-11s %s\n", row[0], row[1])
	}
	if len(pl.MCP) > 0 {
		p.printf("  %-11s %s\n", "mcp add", shellLine(pl.MCP))
	}
	if pl.Settings != "" {
		change := "change"
		if !pl.edit.Changed() {
			change = "no change"
		}
		p.printf("  %-11s %s (%s)\n", "hooks", pl.Settings, change)
		for _, h := range pl.Hooks {
			p.printf("    %s\n", h)
		}
	}
	return nil
}

// A prompter asks on a terminal and takes defaults elsewhere.
type prompter struct {
	p     *program
	in    *bufio.Reader // nil when nobody is there to ask
	quiet bool
}

// answer returns the flag, else what the user types, else def.
func (a *prompter) answer(flag, label, def string) string {
	if flag != "" || a.quiet || a.in == nil {
		if flag == "" {
			return def
		}
		return flag
	}
	fmt.Fprintf(a.p.stderr, "%s [%s]: ", label, def)
	line, err := a.in.ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err != nil {
			a.in = nil
			fmt.Fprintln(a.p.stderr)
		}
		return def
	}
	return line
}
