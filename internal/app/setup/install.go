// Package setup holds the use cases that connect agents and take that back, import what other
// memories hold, add models of this machine, and upgrade the program. Each plans before it writes.
//
// Failure policy: that of package app; a plan that cannot be carried out whole is refused.
package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/index"
	"anamnesis/internal/policy"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/unread"
)

// InstallOptions say how an agent is connected.
type InstallOptions struct {
	MachineID string
	Remote    string // "" for this machine alone
	Command   string // as typed: what hooks and the server run
	Name      string // of the MCP server
	NoHooks   bool
	NoMCP     bool
	Preview   bool     // the plan is for looking at only
	Agents    []string // that are connected, by name; nil means those that are found
	Reader    string   // provider of the model that reads ended sessions; "" changes nothing
	Allow     []string // tools of the server that agents call without asking the user
	OneAgent  bool     // what the user types is shown to the agent to which it was typed alone
}

// An InstallPlan is what connecting an agent is going to do.
type InstallPlan struct {
	Home      string   `json:"home"`
	MachineID string   `json:"machine_id"`
	Remote    string   `json:"remote"`
	Command   []string `json:"command"`
	Copy      string   `json:"copy,omitempty"` // where this program is copied to, because it will be deleted where it is
	Config    string   `json:"config"`
	Settings  string   `json:"settings"`
	Hooks     []string `json:"hooks"`
	MCP       []string `json:"mcp"`               // the command that registers the server
	Warning   string   `json:"warning,omitempty"` // why the plan cannot be carried out as it is
	Reader    string   `json:"reader,omitempty"`  // provider that is set, of the model that reads ended sessions
	Plugin    string   `json:"plugin,omitempty"`  // brings hooks and server along, so neither is installed

	Unread string `json:"unread,omitempty"`      // the agents that are shown what the user typed before; "" where none could answer
	Kept   bool   `json:"unread_kept,omitempty"` // that was set before, and stays

	Allow []string `json:"allow,omitempty"` // tools that agents call without asking, where they have rules for single tools

	Agents []connect.AgentPlan `json:"agents,omitempty"` // the other agents that are connected

	Harness   *connect.Client `json:"-"`
	Name      string          `json:"-"` // of the MCP server
	config    []byte
	hookKey   string            // of the hooks that ask the server; "" for none
	AgentPlan connect.AgentPlan `json:"-"` // what becomes of the files of Harness
}

// Changes reports whether the agent's settings file is going to change.
func (pl *InstallPlan) Changes() bool {
	return len(pl.AgentPlan.Files) > 0 && pl.AgentPlan.Files[0].Result != "no change"
}

// Creates reports whether the agent has no settings file yet.
func (pl *InstallPlan) Creates() bool {
	return len(pl.AgentPlan.Files) > 0 && pl.AgentPlan.Files[0].Result == "create"
}

// PastSessions counts the session files of the agents on this machine; files of
// sub-agents may be among them.
func PastSessions(h app.Host) (n int) {
	homes := h.Config.SessionHomes()
	for _, a := range agent.All {
		if a.Sessions == nil || homes[a.Name] == "" {
			continue
		}
		for _, pattern := range a.Sessions.SessionFiles() {
			files, _ := filepath.Glob(filepath.Join(homes[a.Name], filepath.FromSlash(pattern)))
			n += len(files)
		}
	}
	return n
}

// Self returns the path of this program, without symbolic links.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return self, nil
}

// PlanInstall reads everything that is going to be changed, so that nothing is
// touched when something is wrong.
func PlanInstall(h app.Host, o InstallOptions) (pl InstallPlan, err error) {
	c := h.Config
	pl = InstallPlan{Home: c.Home, MachineID: o.MachineID, Harness: connect.Default()}
	chosen, err := chooseAgents(h, o.Agents)
	if err != nil {
		return pl, err
	}
	if _, err := os.Lstat(c.Home); err == nil && !o.Preview {
		if _, err := writableStore(h); err != nil {
			return pl, err
		}
	}
	switch o.Remote {
	case "":
	case c.Sync.Remote: // a path in it means what it meant
		pl.Remote, err = o.Remote, replica.CheckRemote(o.Remote)
	default:
		pl.Remote, err = app.RemoteOf(o.Remote)
	}
	if err != nil {
		return pl, app.Usagef("init: %w", err)
	}
	if pl.Command, err = commandWords(o.Command); err != nil {
		if pl.Command == nil || !o.Preview {
			return pl, err
		}
		pl.Warning = err.Error()
	}
	if stay := StayPath(h); stay != "" && o.Command == connect.Quote(stay) {
		pl.Copy = stay
	}
	pl.Config = filepath.Join(pl.Home, config.FileName)
	changes := []config.Change{{Key: "machine_id", Value: &pl.MachineID}, {Key: "remote", Value: &pl.Remote}}
	if pl.Remote == "" {
		changes[1].Value = nil
	}
	if pl.Reader = o.Reader; pl.Reader != "" { // what was agreed to is learning, not whole transcripts
		on, off := "true", "false"
		changes = append(changes, config.Change{Key: "reflection.provider", Value: &pl.Reader},
			config.Change{Key: "reflection.learnings", Value: &on}, config.Change{Key: "reflection.summary", Value: &off})
	}
	changes = append(changes, pl.handOut(c, chosen, o)...)
	if pl.config, err = c.Edit(changes); err != nil {
		return pl, fmt.Errorf("init: %w", err)
	}
	env := pl.Env(c)
	if pl.Allow = allowed(c, chosen, o); !o.NoMCP {
		if err := CheckServerName(o.Name); err != nil {
			return pl, err
		}
	}
	for _, a := range chosen {
		if a != pl.Harness {
			if err := pl.planAgent(c, a, env, o); err != nil {
				return pl, err
			}
		}
	}
	if !slices.Contains(chosen, pl.Harness) {
		return pl, nil
	}
	if pl.Plugin = connect.BesidePlugin(pl.Harness, c.AgentHomes()[pl.Harness.Name]); pl.Plugin != "" {
		return pl, nil
	}
	if !o.NoMCP {
		if servers := pl.Harness.Registers; servers != nil {
			pl.Name, pl.MCP = o.Name, servers.Add(o.Name, env, pl.Command)
		}
	}
	if o.NoHooks {
		return pl, nil
	}
	over := pl.MCP != nil && !Policed(c.Home) && connect.CanAskServer(context.Background(), pl.Harness, config.Environ())
	return pl, pl.PlanHooks(c, env, over)
}

// handOut works out who is shown what the user types, and what that changes: nothing where the user chose before, or where no
// agent could answer for it.
func (pl *InstallPlan) handOut(c *config.Config, chosen []*connect.Client, o InstallOptions) []config.Change {
	if o.NoMCP || len(chosen) == 0 || !c.Capture.Learn {
		return nil
	}
	if pl.Unread, pl.Kept = c.Unread.For, c.SourceOf(config.UnreadKey) != config.FromDefault; pl.Kept {
		return nil
	}
	if pl.Unread = string(config.UnreadAny); o.OneAgent {
		pl.Unread = string(config.UnreadSame)
	}
	return []config.Change{{Key: config.UnreadKey, Value: &pl.Unread}}
}

// allowed returns the tools that become callable without a question, none where no chosen agent has rules for single tools.
func allowed(c *config.Config, chosen []*connect.Client, o InstallOptions) []string {
	if o.NoMCP || !slices.ContainsFunc(chosen, func(a *connect.Client) bool {
		return !(o.NoHooks && a == connect.Default()) && connect.TakesRules(a, c.AgentHomes()[a.Name])
	}) {
		return nil
	}
	return o.Allow
}

// AsksForTools lists the agents that would ask their user before the first call of a tool of o.Allow.
func AsksForTools(h app.Host, o InstallOptions) (all []*connect.Client) {
	chosen, err := chooseAgents(h, o.Agents)
	if err != nil {
		return nil
	}
	homes := h.Config.AgentHomes()
	for _, a := range chosen {
		place := connect.Options{
			Home: homes[a.Name], UserHome: h.Config.UserHome, Server: o.Name, NoMCP: o.NoMCP || a == connect.Default() && o.NoHooks, Allow: o.Allow,
		}
		if connect.AsksForTools(a, place) {
			all = append(all, a)
		}
	}
	return all
}

// Policed reports whether the user has a policy for tools: then each call is checked by its
// own process, whether or not a server is connected.
func Policed(home string) bool {
	_, err := os.Lstat(filepath.Join(home, filepath.FromSlash(policy.File)))
	return err == nil
}

// commandWords returns the program and arguments that hooks run. This program
// itself is refused where it will be deleted.
func commandWords(typed string) ([]string, error) {
	words := connect.Split(typed)
	if len(words) == 0 {
		return nil, app.Usagef("init: --command %q: not a command line", typed)
	}
	self, err := Self()
	if err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	if typed == connect.Quote(self) && app.IsTemporary(self) {
		return words, app.Errorf(app.Failed, "init: this program is in a folder that gets emptied, %s; install it first "+
			"(`anamnesis init` copies it to ~/.anamnesis/bin) and run `anamnesis init`, or name it with --command", filepath.Dir(self))
	}
	return words, nil
}

// Env is the environment that hooks and servers are given. An address with a
// password in it is for config.json alone, which nobody else can read.
func (pl *InstallPlan) Env(c *config.Config) connect.Env {
	env := connect.Env{MachineID: pl.MachineID, Remote: pl.Remote}
	if replica.HidePassword(pl.Remote) != pl.Remote {
		env.Remote = ""
	}
	if pl.Home != filepath.Join(c.UserHome, ".anamnesis") {
		env.Home = pl.Home
	}
	return env
}

// PlanHooks reads the settings file and works out what it becomes.
// With over, events that a server can answer are sent to it.
func (pl *InstallPlan) PlanHooks(c *config.Config, env connect.Env, over bool) error {
	h := pl.Harness
	home := c.AgentHomes()[h.Name]
	if !filepath.IsAbs(home) {
		return fmt.Errorf("init: where %s keeps its settings is not known without a home folder; set %s", h.Title, config.AgentHomeName(h.Name))
	}
	pl.Settings = h.Settings.SettingsPath(home)
	if over {
		pl.hookKey = cmp.Or(connect.HookKey(c.Home), rand.Text())
	}
	o := connect.Options{
		Home: home, UserHome: c.UserHome, Env: env, Command: pl.Command,
		Server: pl.Name, NoMCP: pl.MCP == nil, HookKey: pl.hookKey, Allow: pl.Allow,
	}
	for _, hook := range connect.Hooks(h, o) {
		what := hook.Command
		if hook.Server != "" {
			what = "asks the server " + hook.Server
		}
		pl.Hooks = append(pl.Hooks, strings.TrimSpace(hook.Event+" "+hook.Matcher)+": "+what)
	}
	var err error
	pl.AgentPlan, err = connect.PlanAgent(h, o)
	return refusal(err)
}

// ConnectHooks carries out what PlanHooks worked out. The key comes first: a hook whose key the store lacks is refused.
func (pl *InstallPlan) ConnectHooks(in *connect.Installer) error {
	if err := connect.KeepHookKey(in.Store, pl.hookKey); err != nil {
		return err
	}
	_, err := in.Connect(pl.Harness, pl.AgentPlan.Parts)
	return err
}

// refusal says why nothing is touched.
func refusal(err error) error {
	var wrong *connect.FormatError
	if errors.As(err, &wrong) {
		return app.Errorf(app.Failed, "init: refusing to run; %w", err)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// planAgent plans for one of the other agents. One that cannot be connected stops nothing,
// unless it was named.
func (pl *InstallPlan) planAgent(c *config.Config, h *connect.Client, env connect.Env, o InstallOptions) error {
	one, err := connect.PlanAgent(h, connect.Options{
		Home: c.AgentHomes()[h.Name], UserHome: c.UserHome, Env: env, Command: pl.Command, Server: o.Name,
		NoHooks: o.NoHooks, NoMCP: o.NoMCP, Allow: pl.Allow,
	})
	pl.Agents = append(pl.Agents, one)
	if o.Agents != nil {
		return refusal(err)
	}
	return nil
}

// Installed says what connecting an agent did, up to its error.
type Installed struct {
	MCP    string // what became of the server, in words; "" when it was not asked for
	Hooks  string // the settings file that has our hooks
	Config string // the file that was written
	Copy   string // of this program, which hooks run; "" when it stays where it is

	Agents []AgentDone // what became of the other agents
}

// AgentDone is what became of the files of an agent.
type AgentDone struct {
	Agent  string           `json:"agent"`
	Title  string           `json:"title"`
	Files  []connect.Change `json:"files"`
	Failed string           `json:"failed,omitempty"`
	ToDo   string           `json:"to_do,omitempty"`
	Plugin string           `json:"plugin,omitempty"` // ours, which brings the hooks
}

// Install carries a plan out: the server, the hooks, config.json.
func Install(ctx context.Context, h app.Host, pl InstallPlan) (done Installed, err error) {
	s, err := writableStore(h)
	if err != nil {
		return done, err
	}
	if pl.Copy != "" {
		if err := copyProgram(pl.Copy); err != nil {
			return done, fmt.Errorf("init: %w", err)
		}
		done.Copy = pl.Copy
	}
	in := Installer(h, s)
	if servers := pl.Harness.Registers; servers != nil && len(pl.MCP) > 0 {
		done.MCP = in.Register(ctx, servers, pl.Name, pl.MCP, settingsOf(h, pl.Harness))
	}
	if pl.Settings != "" {
		if err := pl.ConnectHooks(in); err != nil {
			return done, fmt.Errorf("init: %w", err)
		}
		done.Hooks = pl.Settings
	}
	for _, a := range pl.Agents {
		one := AgentDone{Agent: a.Agent, Title: a.Title, ToDo: a.ToDo, Failed: a.Why, Plugin: a.Plugin}
		if a.Why == "" {
			var err error
			if one.Files, err = in.Connect(a.Client, a.Parts); err != nil {
				one.Failed = err.Error()
			}
		}
		done.Agents = append(done.Agents, one)
	}
	if err := app.WriteConfig(s, pl.config); err != nil {
		return done, err
	}
	done.Config = pl.Config
	if pl.Unread != "" && !pl.Kept { // the user has just chosen who is shown what
		err = unread.Of(s).Resume()
	}
	return done, err
}

// writableStore opens the store in which the settings are kept.
func writableStore(h app.Host) (*store.Store, error) {
	s, err := app.OpenStore(h)
	if err == nil && s.ReadOnly() {
		err = fmt.Errorf("init: %s: %w", s.Root(), store.Unwritable(s))
	}
	return s, err
}

// settingsOf returns the settings file of an agent, "" where its home folder is not known.
func settingsOf(h app.Host, a *connect.Client) string {
	if home := h.Config.AgentHomes()[a.Name]; filepath.IsAbs(home) {
		return a.Settings.SettingsPath(home)
	}
	return ""
}

// Installer changes the files of agents for a host.
func Installer(h app.Host, s *store.Store) *connect.Installer {
	return &connect.Installer{Store: s, Environ: config.Environ(), Notify: h.Notifyf}
}

// CheckServerName refuses what could be taken for an option of an agent's command.
func CheckServerName(name string) error {
	if !agent.ValidID(name) || strings.HasPrefix(name, "-") {
		return app.Usagef("init: --name %q: use letters, digits, hyphens and underscores", name)
	}
	return nil
}

// FirstSync commits what is there, syncs and indexes it. With sealed nothing of it goes to
// the remote as it is.
func FirstSync(ctx context.Context, h app.Host, sealed bool) (s app.SyncResult, err error) {
	r, err := app.Open(ctx, h, 0)
	if err != nil {
		return app.SyncResult{}, err
	}
	defer r.Close()
	if sealed {
		a, err := app.Seal(ctx, r, app.SealOptions{})
		if s.Seal = &a; err != nil {
			return s, err
		}
	}
	a := s.Seal
	s, err = app.Sync(ctx, r, app.SyncOptions{Remote: true})
	s.Seal = a
	if err == nil {
		_, err = r.Index.Sync(ctx, index.SyncOptions{})
	}
	return s, err
}
