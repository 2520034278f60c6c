package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/doctor"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A Diagnosis is what a look over the whole installation found.
type Diagnosis struct {
	OK     bool                 `json:"ok"`
	Counts map[doctor.State]int `json:"counts"`
	Checks []doctor.Result      `json:"checks"`
	Fixes  []string             `json:"fixes"`

	Plan []doctor.Fix `json:"-"`
}

// Diagnose looks over the whole installation: all checks, or those with the ids
// only. When something is wrong the error is of kind Degraded and comes with the
// answer. version is the one of this program. The rooms stay open until close is
// called, so that the plan can be carried out.
func Diagnose(ctx context.Context, h Host, only []string, version string) (d Diagnosis, closeRooms func(), err error) {
	closeRooms = func() {}
	if _, err := os.Stat(h.Config.Home); errors.Is(err, fs.ErrNotExist) {
		return d, closeRooms, Errorf(Degraded, "doctor: there is no store in %s yet; `anamnesis init` makes one", h.Config.Home)
	}
	r, broken := Open(ctx, h, 0)
	if broken != nil { // the index, most likely: the rest can be looked at all the same
		if r, err = OpenFiles(h); err != nil {
			return d, closeRooms, fmt.Errorf("doctor: the store cannot be opened, so nothing of it was checked: %w", err)
		}
	}
	pt := r.target(version)
	if pt.IndexErr = broken; broken != nil {
		pt.Reindex = nil
	}
	d.Checks, d.Counts = doctor.Examine(ctx, pt, only), map[doctor.State]int{}
	for _, res := range d.Checks {
		d.Counts[res.State]++
	}
	d.Plan = doctor.Plan(ctx, pt, d.Checks)
	for _, f := range d.Plan {
		d.Fixes = append(d.Fixes, f.What)
	}
	if d.OK = d.Counts[doctor.Bad] == 0; !d.OK {
		err = &Error{Kind: Degraded}
	}
	return d, r.Close, err
}

// target wires what the doctor looks at.
func (r *Rooms) target(version string) *doctor.Target {
	self, _ := Self()
	env := config.Process(nil)
	path, _ := env.Lookup("PATH")
	pt := &doctor.Target{
		Store: r.Store, Index: r.Index, Engine: r.Engine, Redactor: r.Redactor, RulesErr: r.Rules,
		Self: self, Version: version, Path: path, TempDirs: tempDirs(),
		Patience: r.Config.Patience,
		Disabled: r.Config.Disabled, VersionOf: versionOf, Warnings: r.Config.Warnings, Foreign: config.Unheard(env),
		Allowed:    mayTravel(r),
		Sync:       func(ctx context.Context) (SyncState, error) { return SyncStatus(ctx, r) },
		Namesakes:  r.namesakes,
		GitVersion: gitVersion,
		Handshake:  func(ctx context.Context) error { return handshake(ctx, r.Config.Home, self) },
		Reindex: func(ctx context.Context) error {
			_, err := r.Index.Sync(ctx, index.SyncOptions{All: true})
			return err
		},
		Graph:     func(ctx context.Context) ([]index.SidecarState, int, error) { return ingest.LookAtGraph(ctx, r.Store) },
		MendGraph: r.mendGraph,
		Drain:     func(context.Context) error { return r.Detach("drain") },
		Harnesses: r.installedHarnesses(),
		Models:    r.tryModels,
		Reader:    r.ReaderName,
	}
	if r.Config.Index.Server != "" {
		pt.Server = r.serverHealth
	}
	if o := r.Config.Team; !r.away() && (o.DSN != "" || o.Workspace != "") {
		pt.Team = r.teamHealth
	}
	for _, v := range r.Config.Values() {
		if v.Source != config.FromDefault {
			pt.Settings = append(pt.Settings, doctor.Setting{Name: v.Key, Source: string(v.Source), HasEffect: true})
		}
	}
	for _, v := range r.Config.Unknown() {
		pt.Settings = append(pt.Settings, doctor.Setting{Name: v.Key, Source: string(v.Source), Why: "nothing in this version reads it"})
	}
	return pt
}

// installedHarnesses are the agents that init connected, on this machine; the usual one
// even if it did not, unless another is.
func (r *Rooms) installedHarnesses() (all []doctor.Harness) {
	connected, homes := connect.Connected(r.Store), r.Config.AgentHomes()
	for _, a := range connect.All {
		if a.Settings == nil || a == connect.Default() {
			continue
		}
		if slices.Contains(connected, a.Name) || connect.Plugin(a, homes[a.Name]) != "" {
			all = append(all, r.otherHarness(a))
		}
	}
	if home := homes[connect.Default().Name]; len(all) == 0 || slices.Contains(connected, connect.Default().Name) ||
		connect.Found(home) {
		all = append([]doctor.Harness{r.installedHarness()}, all...)
	}
	return all
}

// otherHarness is one of the agents that have hooks besides the usual one.
func (r *Rooms) otherHarness(a *connect.Client) doctor.Harness {
	h := doctor.Harness{Client: a, Home: r.Config.AgentHomes()[a.Name], SessionHome: r.Config.SessionHomes()[a.Name]}
	if dir, err := os.Getwd(); err == nil {
		h.Also = a.Settings.ProjectSettings(dir)
	}
	h.Plugin = connect.Plugin(a, h.Home)
	if a.Approvals != nil {
		h.Trust = func(ctx context.Context) ([]connect.Approval, error) {
			all, err := approvals(ctx, r.host, a)
			if errors.Is(err, connect.ErrNoProgram) {
				err = doctor.ErrNotAsked
			}
			return all, err
		}
	}
	if a.Servers != nil {
		h.ServersPath = a.Servers.ServersPath(r.Config.UserHome, h.Home)
		h.Register = "anamnesis init --agent " + a.Name
	}
	self, err := Self()
	if err != nil || temporary(self) {
		return h
	}
	h.Install = func(context.Context) error {
		pl := InstallPlan{Home: r.Config.Home, MachineID: r.Config.MachineID, Remote: r.Config.Sync.Remote}
		parts := connect.Parts(a, connect.Options{
			Home: h.Home, UserHome: r.Config.UserHome, Env: pl.env(r.Config), Command: []string{self}, NoMCP: true,
		})
		_, err := installer(r.host, r.Store).Connect(a, parts)
		return err
	}
	return h
}

// installedHarness is the agent that init connects, on this machine.
func (r *Rooms) installedHarness() doctor.Harness {
	a := connect.Default()
	h := doctor.Harness{Client: a, Home: r.Config.AgentHomes()[a.Name]}
	if dir, err := os.Getwd(); err == nil {
		h.Also = a.Settings.ProjectSettings(dir)
	}
	if a.Registers != nil {
		h.ServersPath = firstThere(a.Registers.Paths(r.Config.UserHome, h.Home))
	}
	h.Plugin = connect.Plugin(a, h.Home, h.Also...)
	self, err := Self()
	if err != nil || temporary(self) { // it stands where it will be deleted: it registers nothing
		return h
	}
	pl := InstallPlan{
		Home: r.Config.Home, MachineID: r.Config.MachineID, Remote: r.Config.Sync.Remote, Command: []string{self}, harness: a,
	}
	env := pl.env(r.Config)
	if a.Registers != nil {
		h.Register = connect.CommandLine(a.Registers.Add(connect.DefaultServer, env, pl.Command))
	}
	h.Install = func(context.Context) error {
		pl.name = connect.HookServer(a, h.Home)
		if err := pl.planHooks(r.Config, env, pl.name != "" && !policed(r.Config.Home)); err != nil {
			return err
		}
		_, err := installer(r.host, r.Store).Connect(a, pl.hooks.Parts)
		return err
	}
	return h
}

// firstThere returns the first file that exists, the last one when none does, and
// "" of none.
func firstThere(paths []string) (path string) {
	for _, path = range paths {
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return path
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
func handshake(ctx context.Context, home, self string) error {
	cmd := exec.CommandContext(ctx, self, "serve", "--set", "home="+home)
	cmd.Stdin = strings.NewReader(hello)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case strings.Contains(string(out), `"serverInfo"`):
		return nil
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return fmt.Errorf("%w: %s", err, note.Line(string(exit.Stderr), 200))
		}
		return err
	}
	return fmt.Errorf("it answered %q", note.Line(string(out), 80))
}
