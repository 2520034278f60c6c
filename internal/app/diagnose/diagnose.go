package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/doctor"
	"anamnesis/internal/embed/models"
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
func Diagnose(ctx context.Context, h app.Host, only []string, version string) (d Diagnosis, closeRooms func(), err error) {
	closeRooms = func() {}
	if _, err := os.Stat(h.Config.Home); errors.Is(err, fs.ErrNotExist) {
		return d, closeRooms, app.Errorf(app.Degraded, "doctor: there is no store in %s yet; `anamnesis init` makes one", h.Config.Home)
	}
	r, broken := app.Open(ctx, h, 0)
	if broken != nil { // the index, most likely: the rest can be looked at all the same
		if r, err = app.OpenFiles(h); err != nil {
			return d, closeRooms, fmt.Errorf("doctor: the store cannot be opened, so nothing of it was checked: %w", err)
		}
	}
	pt := target(r, version)
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
		err = &app.Error{Kind: app.Degraded}
	}
	return d, r.Close, err
}

// target wires what the doctor looks at.
func target(r *app.Rooms, version string) *doctor.Target {
	self, _ := setup.Self()
	env := config.Process(nil)
	path, _ := env.Lookup("PATH")
	waiting := func(ctx context.Context) (lines []string, err error) {
		w, err := app.CountWaiting(ctx, r)
		for _, k := range w.List() {
			lines = append(lines, k.What)
		}
		return lines, err
	}
	if r.Index == nil {
		waiting = nil
	}
	pt := &doctor.Target{
		Store: r.Store, Index: r.Index, Engine: r.Engine, Redactor: r.Redactor, RulesErr: r.Rules,
		Self: self, Version: version, Path: path, TempDirs: app.TempDirs(),
		Patience: r.Config.Patience,
		Disabled: r.Config.Disabled, VersionOf: app.VersionOf, Warnings: r.Config.Warnings, Foreign: config.UnknownVariables(env),
		Allowed:    app.MayTravel(r),
		Waiting:    waiting,
		Sync:       func(ctx context.Context) (app.SyncState, error) { return app.SyncStatus(ctx, r) },
		Namesakes:  func(ctx context.Context) ([]string, error) { return app.Namesakes(ctx, r) },
		GitVersion: gitVersion,
		Handshake:  func(ctx context.Context) error { return handshake(ctx, r.Config.Home, self) },
		Reindex: func(ctx context.Context) error {
			_, err := r.Index.Sync(ctx, index.SyncOptions{All: true})
			return err
		},
		Graph:     func(ctx context.Context) ([]index.SidecarState, int, error) { return ingest.LookAtGraph(ctx, r.Store) },
		MendGraph: func(ctx context.Context) error { return app.MendGraph(ctx, r) },
		Drain:     func(context.Context) error { return r.Detach("drain") },
		Harnesses: installedHarnesses(r),
		Models:    func(ctx context.Context) []doctor.LocalModel { return tryModels(ctx, r) },
		Reader:    func() (string, error) { return app.ReaderName(r) },
		Project: func(ctx context.Context) (string, error) {
			dir, err := os.Getwd()
			if err != nil {
				return "", nil //nolint:nilerr // a folder that is gone is no project
			}
			o, err := app.LookForOffer(ctx, r, dir)
			if o == nil {
				return "", err
			}
			return o.Line(), err
		},
	}
	if r.Config.Index.Server != "" {
		pt.Server = func(ctx context.Context) ([]string, error) { return app.ServerHealth(ctx, r) }
	}
	if o := r.Config.Team; !app.Away(r) && (o.DSN != "" || o.Workspace != "") {
		pt.Team = func(ctx context.Context) (doctor.Team, error) { return app.TeamHealth(ctx, r) }
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
func installedHarnesses(r *app.Rooms) (all []doctor.Harness) {
	connected, homes := connect.Connected(r.Store), r.Config.AgentHomes()
	for _, a := range connect.All() {
		if a.Settings == nil || a == connect.Default() {
			continue
		}
		if slices.Contains(connected, a.Name) || connect.Plugin(a, homes[a.Name]) != "" {
			all = append(all, otherHarness(r, a))
		}
	}
	if home := homes[connect.Default().Name]; len(all) == 0 || slices.Contains(connected, connect.Default().Name) ||
		connect.Found(home) {
		all = append([]doctor.Harness{installedHarness(r)}, all...)
	}
	return all
}

// otherHarness is one of the agents that have hooks besides the usual one.
func otherHarness(r *app.Rooms, a *connect.Client) doctor.Harness {
	h := doctor.Harness{Client: a, Home: r.Config.AgentHomes()[a.Name], SessionHome: r.Config.SessionHomes()[a.Name]}
	if dir, err := os.Getwd(); err == nil {
		h.Also = a.Settings.ProjectSettings(dir)
	}
	h.Plugin, h.Own = connect.Plugin(a, h.Home), a.OwnMemory(r.Config.UserHome, h.Home)
	if a.Approvals != nil {
		h.Trust = func(ctx context.Context) ([]connect.Approval, error) {
			all, err := setup.Approvals(ctx, r.Host, a)
			if errors.Is(err, connect.ErrNoProgram) {
				err = doctor.ErrNotAsked
			}
			return all, err
		}
	}
	if a.Servers != nil {
		h.ServersPath = a.ServersPath(r.Config.UserHome, h.Home)
		h.Register = "anamnesis init --agent " + a.Name
	}
	self, err := setup.Self()
	if err != nil || app.IsTemporary(self) {
		return h
	}
	h.Install = func(context.Context) error {
		pl := setup.InstallPlan{Home: r.Config.Home, MachineID: r.Config.MachineID, Remote: r.Config.Sync.Remote}
		parts := connect.Parts(a, connect.Options{
			Home: h.Home, UserHome: r.Config.UserHome, Env: pl.Env(r.Config), Command: []string{self}, NoMCP: true,
		})
		_, err := setup.Installer(r.Host, r.Store).Connect(a, parts)
		return err
	}
	return h
}

// installedHarness is the agent that init connects, on this machine.
func installedHarness(r *app.Rooms) doctor.Harness {
	a := connect.Default()
	h := doctor.Harness{Client: a, Home: r.Config.AgentHomes()[a.Name]}
	if dir, err := os.Getwd(); err == nil {
		h.Also = a.Settings.ProjectSettings(dir)
	}
	h.ServersPath = a.ServersPath(r.Config.UserHome, h.Home)
	h.Plugin, h.Own = connect.Plugin(a, h.Home, h.Also...), a.OwnMemory(r.Config.UserHome, h.Home)
	self, err := setup.Self()
	if err != nil || app.IsTemporary(self) { // it stands where it will be deleted: it registers nothing
		return h
	}
	pl := setup.InstallPlan{
		Home: r.Config.Home, MachineID: r.Config.MachineID, Remote: r.Config.Sync.Remote, Command: []string{self}, Harness: a,
	}
	env := pl.Env(r.Config)
	if a.Registers != nil {
		h.Register = connect.CommandLine(a.Registers.Add(connect.DefaultServer, env, pl.Command))
	}
	h.Install = func(context.Context) error {
		pl.Name = connect.HookServer(a, h.Home)
		if err := pl.PlanHooks(r.Config, env, pl.Name != "" && !setup.Policed(r.Config.Home)); err != nil {
			return err
		}
		return pl.ConnectHooks(setup.Installer(r.Host, r.Store))
	}
	return h
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

// tryModels opens the models that settings name and asks each for a short text, for the
// doctor.
func tryModels(ctx context.Context, r *app.Rooms) (all []doctor.LocalModel) {
	named := app.NamedModels(r)
	kinds := map[string]string{app.EmbedSetting: models.Encoder, app.RerankSetting: models.CrossEncoder}
	for _, setting := range slices.Sorted(maps.Keys(named)) {
		m := doctor.LocalModel{Name: named[setting], Setting: setting}
		m.Took, m.Err = app.ModelFolder(r).Try(ctx, m.Name, kinds[setting])
		all = append(all, m)
	}
	return all
}
