package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/config"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// DefaultServer is the name of our MCP server unless init is told another.
const DefaultServer = "anamnesis"

// registerTime is how long an agent may take to change its settings.
const registerTime = 30 * time.Second

// CheckServerName refuses what could be taken for an option of an agent's command.
func CheckServerName(name string) error {
	if !agent.ValidID(name) || strings.HasPrefix(name, "-") {
		return usage("init: --name %q: use letters, digits, hyphens and underscores", name)
	}
	return nil
}

// register adds the MCP server to the agent by its own command. That it fails
// is told and stops nothing: hooks do their work without it.
func register(ctx context.Context, h Host, s *store.Store, pl InstallPlan) string {
	if _, err := exec.LookPath(pl.MCP[0]); err != nil {
		return "mcp: " + pl.MCP[0] + " was not found on the PATH; to register the server, run: " + agent.CommandLine(pl.MCP)
	}
	if servers, ok := pl.harness.Settings.(agent.ServerCommand); ok {
		_, _ = runAgent(ctx, servers.RemoveServer(pl.name)) // there may be none
	}
	if out, err := runAgent(ctx, pl.MCP); err != nil {
		return "mcp: add failed: " + note.Line(out+" "+err.Error(), 300)
	}
	if rec := readInstalled(s); !slices.Contains(rec.Servers, pl.name) {
		rec.V, rec.Servers = 1, append(rec.Servers, pl.name)
		if err := rememberInstalled(s, rec); err != nil { // uninstall will have to be told
			h.notify("the name %s could not be kept for uninstall: %v", pl.name, err)
		}
	}
	return "mcp: registered " + pl.name + " (user scope)"
}

// unregisterAll takes out the server of that name, or without a name under
// every name that init gave it, and forgets the names of those that are gone.
func unregisterAll(ctx context.Context, s *store.Store, servers agent.ServerCommand, name string) (string, error) {
	rec := readInstalled(s)
	names := slices.Clone(rec.Servers)
	switch {
	case name != "":
		names = []string{name}
	case len(names) == 0:
		names = []string{DefaultServer}
	}
	var lines []string
	for _, n := range names {
		line, gone := unregister(ctx, servers, n)
		lines = append(lines, line)
		if gone {
			rec.Servers = slices.DeleteFunc(rec.Servers, func(r string) bool { return r == n })
		}
	}
	if err := rememberInstalled(s, rec); err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	return strings.Join(lines, "\n"), nil
}

// unregister takes the server out of the agent. gone says that there is none
// of that name any more.
func unregister(ctx context.Context, servers agent.ServerCommand, name string) (line string, gone bool) {
	remove := servers.RemoveServer(name)
	if _, err := exec.LookPath(remove[0]); err != nil {
		return "mcp: " + remove[0] + " was not found on the PATH; to remove the server, run: " + agent.CommandLine(remove), false
	}
	if out, err := runAgent(ctx, remove); err != nil {
		return "mcp: nothing removed (" + note.Line(out+" "+err.Error(), 200) + ")", servers.NoServer(out)
	}
	return "mcp: removed " + name, true
}

// runAgent runs an agent's own command. It is a child of ours, so our hooks in it
// are off.
func runAgent(ctx context.Context, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, registerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(config.Environ(), "ANAMNESIS_DISABLED=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		err = errors.New("it took too long")
	}
	return strings.TrimSpace(string(out)), err
}
