package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// registerTime is how long an agent may take to change its settings.
const registerTime = 30 * time.Second

// Register adds the MCP server to the agent by its own command, add, and says in words
// what became of it. That it fails stops nothing: hooks do their work without it.
// settings is the agent's settings file, "" for none: see keepForm.
func (in *Installer) Register(ctx context.Context, servers *ServerCommand, name string, add []string, settings string) string {
	if _, err := exec.LookPath(add[0]); err != nil {
		return "mcp: " + add[0] + " was not found on the PATH; to register the server, run: " + CommandLine(add)
	}
	defer in.keepForm(settings)()
	_, _ = in.run(ctx, servers.Remove(name)) // there may be none
	if out, err := in.run(ctx, add); err != nil {
		return "mcp: add failed: " + note.Line(out+" "+err.Error(), 300)
	}
	if rec := readInstalled(in.Store); !slices.Contains(rec.Servers, name) {
		rec.V, rec.Servers = 1, append(rec.Servers, name)
		if err := rememberInstalled(in.Store, rec); err != nil && in.Notify != nil { // uninstall will have to be shown
			in.Notify("the name %s could not be kept for uninstall: %v", name, err)
		}
	}
	return "mcp: registered " + name + " (user scope)"
}

// Unregister takes out the server of that name, or without a name under
// every name that Register gave it, and forgets the names of those that are gone.
func (in *Installer) Unregister(ctx context.Context, servers *ServerCommand, name, settings string) (string, error) {
	defer in.keepForm(settings)()
	rec := readInstalled(in.Store)
	names := slices.Clone(rec.Servers)
	switch {
	case name != "":
		names = []string{name}
	case len(names) == 0:
		names = []string{DefaultServer}
	}
	var lines []string
	for _, n := range names {
		line, gone := in.unregister(ctx, servers, n)
		lines = append(lines, line)
		if gone {
			rec.Servers = slices.DeleteFunc(rec.Servers, func(r string) bool { return r == n })
		}
	}
	if err := rememberInstalled(in.Store, rec); err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	return strings.Join(lines, "\n"), nil
}

// unregister takes the server out of the agent. gone says that there is none
// of that name any more.
func (in *Installer) unregister(ctx context.Context, servers *ServerCommand, name string) (line string, gone bool) {
	remove := servers.Remove(name)
	if _, err := exec.LookPath(remove[0]); err != nil {
		return "mcp: " + remove[0] + " was not found on the PATH; to remove the server, run: " + CommandLine(remove), false
	}
	if out, err := in.run(ctx, remove); err != nil {
		return "mcp: nothing removed (" + note.Line(out+" "+err.Error(), 200) + ")", servers.None(out)
	}
	return "mcp: removed " + name, true
}

// keepForm reads the settings file of an agent, and returns what puts its bytes back if an
// agent's command has written the same settings in another form: without the comments,
// indented otherwise. Uninstall would restore that form, not the user's.
func (in *Installer) keepForm(settings string) (restore func()) {
	before, err := readSettings(settings)
	if settings == "" || err != nil || before.Old == nil {
		return func() {}
	}
	return func() {
		after, err := readSettings(settings)
		if err != nil || bytes.Equal(before.Old, after.Old) || !sameSettings(before.Old, after.Old) {
			return
		}
		if err := writeFile(after.Path, after.Old, before.Old); err != nil && in.Notify != nil {
			in.Notify("%s has another form than before, and the same settings: %v", settings, err)
		}
	}
}

// run runs an agent's own command. It is a child of ours, so our hooks in it
// are off.
func (in *Installer) run(ctx context.Context, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, registerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(slices.Clip(in.Environ), "ANAMNESIS_DISABLED=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		err = errors.New("it took too long")
	}
	return strings.TrimSpace(string(out)), err
}

// versionTime is how long an agent may take to say its version.
const versionTime = 5 * time.Second

// CanAskServer reports whether an agent of this machine sends events to servers: its version, which
// it is asked for, is one that does.
func CanAskServer(ctx context.Context, h *Client, environ []string) bool {
	over := h.ServerHooks
	if over == nil {
		return false
	}
	words := over.Version
	if _, err := exec.LookPath(words[0]); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	in := Installer{Environ: environ}
	out, err := in.run(ctx, words)
	return err == nil && over.Has(out)
}

// HookServer returns the name of the server that the installed hooks of an agent ask, "" for none.
func HookServer(h *Client, home string) string {
	edit, err := readSettings(h.Settings.SettingsPath(home))
	if err != nil {
		return ""
	}
	hooks, _, err := h.Settings.Installed(edit.Old, Own)
	if err != nil {
		return ""
	}
	for _, hook := range hooks {
		if hook.Server != "" {
			return hook.Server
		}
	}
	return ""
}
