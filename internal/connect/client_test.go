package connect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
	"anamnesis/internal/connect"
)

// TestPlaces checks the places of each agent. Their fixtures stand below testdata/NAME, in the exact
// shape of real ones: settings/ (files that hold none of our hooks) and servers/ (files that
// hold no server of ours).
func TestPlaces(t *testing.T) {
	for i, c := range connect.All() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Harness != agent.All[i] || connect.Of(c.Harness) != c || connect.ByName(c.Name) != c || !c.Connects() {
				t.Errorf("the client of %s is not found, or has no place", c.Name)
			}
			dir := filepath.Join("testdata", c.Name)
			if c.Settings != nil {
				for _, data := range fixtures(t, filepath.Join(dir, "settings")) {
					settingsSuite(t, c.Settings, data)
					settingsSuite(t, c.Settings, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
				}
				freshSuite(t, c.Settings)
				for _, hook := range c.Settings.PlainHooks("x") {
					if _, ok := c.Hooks.Kind(hook.Event); !ok {
						t.Errorf("a hook at %s, which the agent does not have", hook.Event)
					}
				}
			}
			if c.Servers != nil {
				for _, data := range fixtures(t, filepath.Join(dir, "servers")) {
					serversSuite(t, c.Servers, data)
					serversSuite(t, c.Servers, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
				}
				serversSuite(t, c.Servers, nil)
			}
		})
	}
	if c := connect.Of(&agent.Harness{Name: "nobody"}); c.Connects() {
		t.Error("an unknown agent is connected")
	}
}

// fixtures reads the files of a folder, of which there must be one.
func fixtures(t testing.TB, dir string) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestCommandsAreStable wants what is registered to be what the last release registered: an
// agent forgets the approval of a hook whose command, matcher or time limit changed. A line
// that changes here asks every user of that agent to approve it again.
func TestCommandsAreStable(t *testing.T) {
	var b strings.Builder
	for _, h := range connect.All() {
		if h.Settings == nil || h == connect.Default() { // the first asks for no approval
			continue
		}
		for _, hook := range h.Settings.PlainHooks(connect.CommandPrefix(connect.Env{MachineID: "desk"}, "/opt/anamnesis")) {
			fmt.Fprintf(&b, "%s | %s | %s | %d s | async %v | %s\n", h.Name, hook.Event, hook.Matcher, hook.Timeout, hook.Async, hook.Command)
		}
	}
	file := filepath.Join("testdata", "commands.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), b.String()); err != nil || diff != "" {
		t.Errorf("%v; what is registered changed (-before +now):\n%s", err, diff)
	}
}

func TestEditChanged(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     bool
	}{{"a", "a", false}, {"", "a", true}, {"a", "b", true}} {
		if got := (connect.Edit{Old: []byte(tt.old), New: []byte(tt.new)}).Changed(); got != tt.want {
			t.Errorf("%q to %q: Changed = %v", tt.old, tt.new, got)
		}
	}
}

func settingsSuite(t *testing.T, h connect.SettingsEditor, old []byte) {
	base := connect.CommandPrefix(connect.Env{MachineID: "ada's laptop"}, "/opt/my tools/anamnesis")
	hooks := h.PlainHooks(base)
	for _, hook := range hooks {
		if !connect.Own(hook.Command) {
			t.Errorf("Own does not know %q", hook.Command)
		}
	}
	once, err := h.Install(old, hooks, connect.Own)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	if bytes.Equal(once, old) {
		t.Error("Install changed nothing")
	}
	twice, err := h.Install(once, hooks, connect.Own)
	if diff := cmp.Diff(string(once), string(twice)); err != nil || diff != "" {
		t.Errorf("second Install: %v (-once +twice)\n%s", err, diff)
	}
	if got, off, err := h.Installed(once, connect.Own); err != nil || off || len(got) != len(hooks) {
		t.Errorf("Installed finds %d of %d hooks, off %v: %v", len(got), len(hooks), off, err)
	}
	if got, _, err := h.Installed(old, connect.Own); err != nil || len(got) != 0 {
		t.Errorf("Installed finds %v in a file without ours: %v", got, err)
	}
	// A moved program takes the place of the old one.
	moved, err := h.Install(once, h.PlainHooks(connect.CommandPrefix(connect.Env{}, "/new/anamnesis")), connect.Own)
	if err != nil || bytes.Contains(moved, []byte("my tools")) || bytes.Count(moved, []byte("/new/anamnesis")) != len(hooks) {
		t.Errorf("Install of a moved program: %v\n%s", err, moved)
	}
	for _, with := range [][]byte{once, moved} {
		back, err := h.Uninstall(with, connect.Own)
		if diff := cmp.Diff(string(old), string(back)); err != nil || diff != "" {
			t.Errorf("Uninstall: %v (-before +after)\n%s\ninstalled:\n%s", err, diff, with)
		}
	}
	same, err := h.Uninstall(old, connect.Own)
	if err != nil || !bytes.Equal(same, old) {
		t.Errorf("Uninstall of nothing: %v\n%s", err, same)
	}
}

func freshSuite(t *testing.T, h connect.SettingsEditor) {
	hooks := h.PlainHooks("ANAMNESIS_HOOK=1 anamnesis")
	missing, err := h.Install(nil, hooks, connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	blank, err := h.Install([]byte("\n"), hooks, connect.Own)
	if diff := cmp.Diff(string(missing), string(blank)); err != nil || diff != "" {
		t.Errorf("a blank file is not as a missing one: %v\n%s", err, diff)
	}
	if !bytes.HasSuffix(missing, []byte("\n")) {
		t.Error("a fresh file has no newline at its end")
	}
	if home := filepath.FromSlash("/home/x"); !strings.HasPrefix(h.SettingsPath(home), home) {
		t.Error("the settings are not below the harness's home")
	}
}

// serversSuite checks that our server gets into a file once and out again.
func serversSuite(t *testing.T, f connect.ServerFile, old []byte) {
	env := connect.Env{MachineID: "ada's \"laptop\"", Home: `/opt/my notes\x`}
	once, err := f.AddServer(old, "anamnesis", env, []string{"/opt/my tools/anamnesis"})
	if err != nil {
		t.Fatalf("AddServer: %v", err)
	}
	twice, err := f.AddServer(once, "anamnesis", env, []string{"/opt/my tools/anamnesis"})
	if diff := cmp.Diff(string(once), string(twice)); err != nil || diff != "" {
		t.Errorf("second AddServer: %v (-once +twice)\n%s", err, diff)
	}
	all, err := f.Servers(once)
	i := slices.IndexFunc(all, func(s connect.Server) bool { return s.Name == "anamnesis" })
	if err != nil || i < 0 || all[i].Command != "/opt/my tools/anamnesis" || !slices.Equal(all[i].Args, []string{"serve"}) {
		t.Errorf("Servers: %v, %+v\n%s", err, all, once)
	}
	moved, err := f.AddServer(once, "anamnesis", connect.Env{}, []string{"/new/anamnesis"})
	if err != nil || bytes.Contains(moved, []byte("my tools")) {
		t.Errorf("AddServer of a moved program: %v\n%s", err, moved)
	}
	if len(old) == 0 {
		return
	}
	for _, with := range [][]byte{once, moved} {
		back, err := f.RemoveServer(with, "anamnesis")
		if diff := cmp.Diff(string(old), string(back)); err != nil || diff != "" {
			t.Errorf("RemoveServer: %v (-before +after)\n%s\nwith:\n%s", err, diff, with)
		}
	}
	if same, err := f.RemoveServer(old, "anamnesis"); err != nil || !bytes.Equal(same, old) {
		t.Errorf("RemoveServer of nothing: %v\n%s", err, same)
	}
}

// Claude Code prints the command of each hook of PreCompact and PostCompact, an error at each start for a hook
// of SessionStart that is sent to a server, and lets hooks of WorktreeCreate replace git.
func TestNoHookIsSeen(t *testing.T) {
	h := connect.ByName("claude")
	for _, hook := range h.ServerHooks.Over(h.Settings.PlainHooks("x"), "anamnesis", "k") {
		switch hook.Event {
		case "PreCompact", "PostCompact", "WorktreeCreate", "Stop":
			t.Errorf("the user would see a hook of %s", hook.Event)
		case "SessionStart", "SessionEnd":
			if hook.Server != "" {
				t.Errorf("%s: %+v", hook.Event, hook)
			}
		}
	}
}

// Codex fails a hook whose input names a member that the event lacks, and Claude Code takes an empty text for it. All events share
// one list of members, so hooks are sent to a server in Claude Code alone; to others a command is given, which reads the event.
func TestServerHooksByAgent(t *testing.T) {
	for _, c := range connect.All() {
		if (c.ServerHooks != nil) != (c.Name == "claude") {
			t.Errorf("%s: hooks are sent to a server %v", c.Name, c.ServerHooks != nil)
		}
		if c.Settings == nil {
			continue
		}
		for _, hook := range c.Settings.PlainHooks("x") {
			if hook.Server != "" || hook.Command == "" {
				t.Errorf("%s: %+v", c.Name, hook)
			}
		}
	}
}

// A client ends the hooks of a session's end early: Codex after three seconds. Claude Code honours a time limit in the settings.
func TestSessionEndLimit(t *testing.T) {
	limits := make(map[string]int)
	for _, name := range []string{"claude", "codex"} {
		for _, hook := range connect.ByName(name).Settings.PlainHooks("x") {
			if hook.Event == "SessionEnd" {
				limits[name] = hook.Timeout
			}
		}
	}
	if limits["claude"] == 0 || limits["codex"] == 0 || limits["codex"] > 3 {
		t.Errorf("seconds: %v", limits)
	}
}
