package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/mcp"
	"anamnesis/internal/replica"

	"github.com/spf13/cobra"
)

type initOptions struct {
	setup.InstallOptions
	home                           string
	localOnly, noSync, yes, dryRun bool
	ask                            bool // agents go on asking before a call of one of our tools
	seal                           bool
}

func newInit(p *program) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Connect the agents on this machine",
		Long: `Connect the agents that are found on this machine, or those named with --agent: hooks where
an agent has them, our MCP server, a block of rules where it has neither. It says what memory
does with each and asks once which to connect; then it offers a git repository that your
machines share, a model that reads ended sessions, and rules by which Claude Code and Codex
call the tools that read or propose without asking you. --print shows which files change and
what is left to you to do. What cannot be done is refused before the first question.

Of Claude Code it does this: write config.json, register the MCP server with Claude Code (` + "`claude mcp add`" + `), and
put its hooks into settings.json: a session start is shown the memory and syncs
it, a prompt is shown the notes it is about, a tool the rules with a trigger that fits,
a sub-agent what its task is about, a session end and a compaction are captured. The
settings file is patched in place, its layout and everything that is not ours stays;
the store keeps its first version for uninstall. Running init again changes
only what has to change. ` + "`anamnesis uninstall`" + ` takes it back. A program that npx
downloaded, or that stands in a temporary folder, is copied to ~/.anamnesis/bin first.

At the end it offers to read the sessions that the agents had before, and says how many
there are, how large they are and how long that takes (` + "`anamnesis import transcripts`" + `).`,
		Example: `  anamnesis init --print
  anamnesis init --agent claude --agent codex --remote git@example.com:me/memory.git`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.init(cmd, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Agents, "agent", nil, "connect only these agents, by `NAME` (default: those that are found)")
	f.StringVar(&o.home, "home", "", "`FOLDER` of the store (default ~/.anamnesis)")
	f.StringVar(&o.MachineID, "machine-id", "", "`NAME` of this machine (default: the host name)")
	f.StringVar(&o.Remote, "remote", "", "git `ADDRESS` to sync with")
	f.BoolVar(&o.seal, "seal", false, "send the remote nothing that it can read (see anamnesis sync --help)")
	f.BoolVar(&o.localOnly, "local-only", false, "keep the notes on this machine; forgets a remote that was set")
	f.StringVar(&o.Command, "command", "", "`COMMAND` the hooks run (default: this program)")
	f.StringVar(&o.Name, "name", connect.DefaultServer, "`NAME` of the MCP server")
	f.BoolVar(&o.NoMCP, "no-mcp", false, "register no MCP server")
	f.BoolVar(&o.NoHooks, "no-hooks", false, "leave Claude Code's settings alone")
	f.BoolVar(&o.ask, "no-permissions", false, "let the agents ask before the first call of each of our tools")
	f.BoolVar(&o.noSync, "no-sync", false, "do not make a first commit")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing, take the defaults")
	f.BoolVar(&o.dryRun, "print", false, "show what would be done, and do nothing")
	cmd.MarkFlagsMutuallyExclusive("remote", "local-only")
	cmd.MarkFlagsMutuallyExclusive("seal", "local-only")
	cmd.MarkFlagsMutuallyExclusive("seal", "no-sync")
	return cmd
}

// initAnswer is what init prints.
type initAnswer struct {
	DryRun bool              `json:"dry_run,omitempty"`
	Plan   setup.InstallPlan `json:"plan"`
	Seal   *app.SealAnswer   `json:"seal,omitempty"`
}

func (p *program) init(cmd *cobra.Command, o initOptions) error {
	ask := &prompter{p: p, quiet: o.yes || o.dryRun || p.json}
	pl, err := p.planInstall(o, ask)
	if err != nil {
		return err
	}
	shown := pl
	shown.Remote = replica.HidePassword(pl.Remote)
	if o.dryRun {
		return render(p, "init", initAnswer{DryRun: true, Plan: shown}, nil, p.printPlan)
	}
	done, err := setup.Install(cmd.Context(), p.host(), pl)
	if done.Copy != "" {
		p.say("program: copied to %s; with that folder on your PATH you can call it by name\n", done.Copy)
	}
	if done.MCP != "" {
		p.say("%s\n", done.MCP)
	}
	if pl.Plugin != "" {
		p.say("hooks: the plugin %s brings them, and the server\n", pl.Plugin)
	}
	if done.Hooks != "" {
		p.say("hooks: installed SessionStart/UserPromptSubmit/PreToolUse/PermissionRequest/PostToolUseFailure/"+
			"Notification/SubagentStart/SubagentStop/SessionEnd -> %s\n", done.Hooks)
	}
	p.sayAgents(done.Agents)
	if err == nil && len(pl.Allow) > 0 {
		p.say("tools: called without a question: %s\n", strings.Join(pl.Allow, ", "))
	}
	if err != nil {
		return err
	}
	p.offerApproval(cmd.Context(), ask, done.Agents)
	p.say("config: wrote %s\n", done.Config)
	if pl.Reader != "" {
		p.say("reader: %s reads ended sessions; `anamnesis config unset reflection.provider` ends that\n", pl.Reader)
	}
	p.sayUnread(pl, ask)
	p.sets = append(p.sets, "machine_id="+pl.MachineID, "remote="+pl.Remote)
	p.cfg = config.Load(p.environ(p.sets)) // what was answered holds from here on
	var sealed *app.SealAnswer
	if !o.noSync {
		st, err := setup.FirstSync(cmd.Context(), p.host(), o.seal)
		if sealed = st.Seal; sealed != nil && !p.json {
			p.printSealed(*sealed)
		}
		switch {
		case err == nil:
			p.say("sync: %s\n", syncSentence(st))
		case sealed != nil && sealed.Request != "":
		case o.seal: // else a later sync would send notes as they are
			return fmt.Errorf("init: nothing was sent: %w; mend that and run `anamnesis sync --seal`", err)
		default: // a warning: the notes are safe without it
			p.say("sync: skipped (%v); fix the remote and run `anamnesis sync`\n", err)
		}
	}
	if err := p.offerProject(cmd.Context(), ask); err != nil {
		return err
	}
	if err := p.offerPast(cmd.Context(), ask, o.noSync); err != nil {
		return err
	}
	p.offerReading(pl)
	p.sayOwnMemory()
	off, runs := idleAgents(p.host())
	for _, s := range off {
		p.say("%s: does not run our hooks yet: %s\n", s.Agent, s.Off)
	}
	return render(p, "init", initAnswer{Plan: shown, Seal: sealed}, nil, func(initAnswer) {
		if !runs && len(off) > 0 {
			p.printf("init: done, but no agent runs our hooks yet; `anamnesis agents` says why.\n")
			return
		}
		p.printf("init: done. Start a new session of your agent and say \"remember: …\"; the next one knows it.\n")
	})
}

// say prints progress, unless the answer is JSON.
func (s *screen) say(format string, args ...any) {
	if !s.json {
		s.printf(format, args...)
	}
}

// planInstall plans with the flags and the defaults, so that what cannot be done is refused before
// the first question, and again with the answers.
func (p *program) planInstall(o initOptions, ask *prompter) (setup.InstallPlan, error) {
	if p.event == nil { // what a pipe brings are answers, one a line
		ask.in = bufio.NewReader(p.stdin)
	}
	p.sets = append(p.sets, "home="+cmp.Or(o.home, p.cfg.Home))
	p.load()
	self, err := setup.Self()
	if err != nil {
		return setup.InstallPlan{}, fmt.Errorf("init: %w", err)
	}
	stay := setup.StayPath(p.host())
	copies := stay != "" && o.Command == ""
	o.MachineID, o.Command = cmp.Or(o.MachineID, p.cfg.MachineID), cmp.Or(o.Command, connect.Quote(cmp.Or(stay, self)))
	o.Remote = cmp.Or(o.Remote, p.cfg.Sync.Remote)
	if o.localOnly {
		o.Remote = ""
	}
	o.Preview = o.dryRun
	if !o.ask {
		o.Allow = mcp.Unasked()
	}
	pl, err := setup.PlanInstall(p.host(), o.InstallOptions)
	if err != nil || ask.quiet {
		return pl, err
	}
	if copies && !ask.yes("This program is in "+filepath.Dir(self)+", which gets emptied. Hooks need one that stays.",
		"copy it to "+stay+", yes or no", "yes") {
		o.Command = connect.Quote(self) // which is refused
		return setup.PlanInstall(p.host(), o.InstallOptions)
	}
	if o.Agents == nil {
		o.Agents = p.chooseAgents(ask)
	}
	if o.Remote == "" && !o.localOnly {
		o.Remote = ask.answer("Do your machines share their notes? An empty git repository is enough, such as you@desktop:memory.git.",
			"its address, blank for this machine alone", "")
	}
	o.Reader = p.chooseReader(ask, o.Agents)
	if !p.mayAllow(ask, o.InstallOptions) {
		o.Allow = nil
	}
	o.OneAgent = p.toOneAgent(ask, pl, o.Agents)
	return setup.PlanInstall(p.host(), o.InstallOptions)
}

// unreadConsent says what happens to what a user types.
const unreadConsent = "Your typed words of the last session are shown to the next agent that starts in the project, " +
	"which may be of another vendor.\n" +
	"  It keeps what holds beyond its task: some 900 tokens a session. Secrets are redacted first, and the words are not synced.\n" +
	"  `anamnesis config set unread.for same` shows them only to the agent to which you typed them, `off` to none; " +
	"unread.projects sets it per project."

// toOneAgent asks once whether what the user types stays with the agent to which it was typed, unless that was set before.
func (p *program) toOneAgent(ask *prompter, pl setup.InstallPlan, agents []string) bool {
	if pl.Unread == "" || pl.Kept || agents != nil && len(agents) == 0 {
		return false
	}
	return !ask.yes(unreadConsent, "to any agent (no: only to the one to which you typed them), yes or no", "yes")
}

// printUnreadPlan says who is going to be shown what the user types.
func (p *program) printUnreadPlan(pl setup.InstallPlan) {
	if pl.Unread == "" {
		return
	}
	p.printf("  %-11s %s (%s)\n", "unread", pl.Unread, config.UnreadKey)
	if !pl.Kept {
		p.printf("  %s\n", unreadConsent)
	}
}

// sayUnread says once who is shown what the user types: on stderr where the answer is for a program.
func (p *program) sayUnread(pl setup.InstallPlan, ask *prompter) {
	switch {
	case pl.Unread == "":
	case pl.Kept:
		p.say("unread: %s, as it was set before (%s)\n", pl.Unread, config.UnreadKey)
	case p.json:
		p.errorf("unread: %s\n", unreadConsent)
	case ask.quiet || ask.in == nil:
		p.say("unread: %s\n", unreadConsent)
	default:
		p.say("unread: %s; `anamnesis config set %s` changes it\n", pl.Unread, config.UnreadKey)
	}
}

// chooseAgents says what memory does with each agent that is found, and asks which to connect; nil
// means all of them.
func (p *program) chooseAgents(ask *prompter) []string {
	found := setup.FoundAgents(p.host())
	if len(found) == 0 {
		return nil
	}
	var about strings.Builder
	about.WriteString("Found on this machine, and what memory does with it:")
	for _, a := range found {
		fmt.Fprintf(&about, "\n  %s (%s): %s", a.Title, a.Name, connect.Summary(a.Abilities()))
	}
	switch answer := ask.answer(about.String(), "connect all, none, or the names", "all"); answer {
	case "all", "yes", "y":
		return nil
	case "none", "no", "n":
		return []string{}
	default:
		return strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' })
	}
}

// chooseReader asks whether a model may read ended sessions, unless a provider was chosen
// before; "" means that nothing changes.
func (p *program) chooseReader(ask *prompter, agents []string) string {
	a := setup.ReaderFor(p.host(), agents)
	if a == nil {
		return ""
	}
	if ask.yes("May a model read each ended session, to learn from it? It would be asked through "+a.Title+" ("+a.Name+"): "+
		"about 3,500 tokens a session, without secrets.", "yes or no", "no") {
		return a.Name
	}
	return ""
}

// mayAllow asks once whether agents may call our reading and proposing tools without asking each time, unless they have
// the rules already.
func (p *program) mayAllow(ask *prompter, o setup.InstallOptions) bool {
	var titles []string
	for _, a := range setup.AsksForTools(p.host(), o) {
		titles = append(titles, a.Title)
	}
	if len(titles) == 0 {
		return true
	}
	verb := "asks"
	if len(titles) > 1 {
		verb = "ask"
	}
	return ask.yes(strings.Join(titles, " and ")+" "+verb+" you before the first call of each memory tool. May those that read or propose be "+
		"called without a question ("+strings.Join(o.Allow, ", ")+")? You are still asked before one that forgets or decides.",
		"allow them, yes or no", "yes")
}

func (p *program) printPlan(a initAnswer) {
	pl := a.Plan
	remote := pl.Remote
	if remote == "" {
		remote = "(local-only)"
	}
	p.printf("init plan (dry-run; nothing written):\n")
	if pl.Warning != "" {
		p.note("%s", pl.Warning)
	}
	for _, row := range [][2]string{
		{"store home", pl.Home}, {"machine id", pl.MachineID}, {"remote", remote}, {"command", strings.Join(pl.Command, " ")}, {
			"config",
			pl.Config,
		},
	} {
		p.printf("  %-11s %s\n", row[0], row[1])
	}
	if pl.Copy != "" {
		p.printf("  %-11s to %s, because this program will be deleted where it is\n", "copy", pl.Copy)
	}
	if pl.Reader != "" {
		p.printf("  %-11s %s\n", "reader", pl.Reader)
	}
	p.printUnreadPlan(pl)
	if len(pl.MCP) > 0 {
		p.verbatim(fmt.Sprintf("  %-11s %s\n", "mcp add", connect.CommandLine(pl.MCP)))
	}
	if pl.Plugin != "" {
		p.printf("  %-11s %s brings the hooks and the server\n", "plugin", pl.Plugin)
	}
	if len(pl.Allow) > 0 {
		p.printf("  %-11s called without a question: %s\n", "tools", strings.Join(pl.Allow, ", "))
	}
	if pl.Settings != "" {
		change := "change"
		switch {
		case !pl.Changes():
			change = "no change"
		case pl.Creates():
			change = "create"
		}
		p.printf("  %-11s %s (%s)\n", "hooks", pl.Settings, change)
		for _, h := range pl.Hooks {
			p.verbatim("    " + h + "\n")
		}
	}
	for _, one := range pl.Agents {
		p.printf("  %s\n", one.Title)
		if one.Plugin != "" {
			p.printf("    %-15s %s brings the hooks\n", "plugin", one.Plugin)
		}
		for _, f := range one.Files {
			p.printf("    %-15s %s (%s)\n", strings.Join(f.What, ", "), f.Path, f.Result)
		}
		if one.Why != "" {
			p.printf("    cannot be connected: %s\n", one.Why)
		} else if one.ToDo != "" {
			p.printf("    to do: %s\n", one.ToDo)
		}
	}
}

// sayAgents tells what became of the other agents, and what their user has to do.
func (s *screen) sayAgents(all []setup.AgentDone) {
	for _, a := range all {
		if a.Plugin != "" {
			s.say("%s: the plugin %s brings the hooks\n", a.Agent, a.Plugin)
		}
		for _, f := range a.Files {
			s.say("%s: %s %s (%s)\n", a.Agent, f.Result, f.Path, strings.Join(f.What, ", "))
		}
		switch {
		case a.Failed != "":
			s.say("%s: not connected: %s\n", a.Agent, a.Failed)
		case a.ToDo != "":
			s.say("%s: to do: %s\n", a.Agent, a.ToDo)
		}
	}
}

// offerApproval offers to approve our hooks where an agent passes over them until its user does.
// Only a yes that is typed approves them.
func (p *program) offerApproval(ctx context.Context, ask *prompter, done []setup.AgentDone) {
	if ask.quiet || ask.in == nil {
		return
	}
	for _, u := range setup.UnapprovedHooks(ctx, p.host(), done) {
		if !ask.yes(u.Client.Title+" says that it passes over "+plural(len(u.Hooks), "hook")+" of anamnesis until you approve them.",
			"approve them now, yes or no", "no") {
			continue
		}
		path, err := setup.ApproveHooks(p.host(), u)
		if err != nil { // a warning: the user can do it in the agent
			p.say("%s: not approved: %v\n", u.Client.Name, err)
			continue
		}
		p.say("%s: approved %s in %s\n", u.Client.Name, plural(len(u.Hooks), "hook"), path)
	}
}

// A prompter asks on a terminal, reads the answers of a pipe, and takes defaults when
// there is none.
type prompter struct {
	p     *program
	in    *bufio.Reader // nil when nobody is there to ask
	quiet bool
}

// yes reports whether the user answers yes.
func (a *prompter) yes(about, label, def string) bool {
	switch strings.ToLower(a.answer(about, label, def)) {
	case "y", "yes":
		return true
	}
	return false
}

// answer returns what the user answers, else def.
func (a *prompter) answer(about, label, def string) string {
	if a.quiet || a.in == nil {
		return def
	}
	a.p.errorf("%s\n  %s [%s]: ", about, label, def)
	line, err := a.in.ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err != nil {
			a.in = nil
			a.p.errorf("\n")
		}
		return def
	}
	return line
}

// sayOwnMemory says of the agents that keep memories of their own where they are, if their user has moved or switched them off.
func (p *program) sayOwnMemory() {
	for _, s := range setup.Agents(p.host()) {
		i := slices.IndexFunc(s.Abilities, func(a connect.Ability) bool { return a.Name == connect.Remembered })
		if i >= 0 && s.Found && len(s.Connected) > 0 && s.Abilities[i].Why != "" {
			p.say("%s: own memory: %s\n", s.Agent, s.Abilities[i].Why)
		}
	}
}

// idleAgents returns the agents that are connected and run no hook of ours. runs reports whether another one does.
func idleAgents(h app.Host) (idle []connect.State, runs bool) {
	for _, s := range setup.Agents(h) {
		switch {
		case s.Off != "":
			idle = append(idle, s)
		case s.Plugin != "" || slices.Contains(s.Connected, "hooks"):
			runs = true
		}
	}
	return idle, runs
}
