package setup

import (
	"context"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/session"
)

// FoundAgents lists the agents that can be connected and were at work on this machine.
func FoundAgents(h app.Host) (found []*connect.Client) {
	homes := h.Config.AgentHomes()
	for _, a := range connect.All() {
		if a.Connects() && connect.Found(homes[a.Name]) {
			found = append(found, a)
		}
	}
	return found
}

// chooseAgents returns the agents of these names; nil means those that are found, and the
// usual one when none is.
func chooseAgents(h app.Host, names []string) (all []*connect.Client, err error) {
	if names == nil {
		if all = FoundAgents(h); len(all) == 0 {
			all = []*connect.Client{connect.Default()}
		}
		return all, nil
	}
	for _, name := range names {
		a := connect.ByName(name)
		if a == nil || !a.Connects() {
			return nil, app.Usagef("init: --agent %q: no agent of that name can be connected; there are %s",
				name, strings.Join(connectNames(), ", "))
		}
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all, nil
}

// ReaderFor returns the agent whose command line could read ended sessions, nil when there
// is none or a provider was chosen. names is as in InstallOptions.Agents.
func ReaderFor(h app.Host, names []string) *connect.Client {
	if h.Config.SourceOf("reflection.provider") != config.FromDefault {
		return nil
	}
	chosen, err := chooseAgents(h, names)
	if err != nil {
		return nil
	}
	if i := slices.IndexFunc(chosen, func(a *connect.Client) bool { return a.Generates }); i >= 0 {
		return chosen[i]
	}
	return nil
}

// connectNames lists the names of the agents that can be connected.
func connectNames() (names []string) {
	for _, a := range connect.All() {
		if a.Connects() {
			names = append(names, a.Name)
		}
	}
	return names
}

// AgentState is how an agent stands on this machine.
type AgentState = connect.State

// Agents says of every agent how it stands on this machine.
func Agents(h app.Host) (all []connect.State) {
	homes, sessions := h.Config.AgentHomes(), h.Config.SessionHomes()
	for _, a := range connect.All() {
		if a.Connects() {
			all = append(all, connect.Look(a, homes[a.Name], h.Config.UserHome, sessions[a.Name]))
		}
	}
	return all
}

// UninstallAnswer says what became of our hooks and our server.
type UninstallAnswer struct {
	Settings string `json:"settings"`
	Result   string `json:"result"`
	MCP      string `json:"mcp"`
	Store    string `json:"store"`

	Agents []AgentDone `json:"agents,omitempty"` // the others

	// What is kept of sessions word for word: erased with Purge, else as it stands.
	Sessions session.Usage `json:"sessions"`
	Purged   bool          `json:"purged"`

	Program string `json:"program,omitempty"` // the copy of the program that init made, which stays
}

// UninstallOptions choose what is taken out.
type UninstallOptions struct {
	Agents []string // by name; nil means all that are connected
	Name   string   // of the server; "" means every one that Install registered
	NoMCP  bool
	Purge  bool     // erases what is kept of sessions word for word
	Allow  []string // as in InstallOptions
}

// Uninstall takes our hooks and our servers out of agents.
func Uninstall(ctx context.Context, h app.Host, o UninstallOptions) (a UninstallAnswer, err error) {
	s, err := app.OpenStore(h)
	if err != nil {
		return a, err
	}
	names := o.Agents
	if names == nil {
		names = append([]string{connect.Default().Name}, connect.Connected(s)...)
	}
	chosen, err := chooseAgents(h, names)
	if err != nil {
		return a, err
	}
	in := Installer(h, s)
	a.Store = s.Root()
	if at := copyPath(h); at != "" && o.Agents == nil {
		if _, err := os.Lstat(at); err == nil {
			a.Program = at
		}
	}
	for _, one := range chosen {
		place := connect.Options{
			Home: h.Config.AgentHomes()[one.Name], UserHome: h.Config.UserHome, Server: o.Name, NoMCP: o.NoMCP, Allow: o.Allow,
		}
		done, err := in.Disconnect(one, append(connect.Approvals(one, place.Home, nil), connect.Parts(one, place)...))
		if err != nil {
			return a, err
		}
		if one != connect.Default() {
			a.Agents = append(a.Agents, AgentDone{Agent: one.Name, Title: one.Title, Files: done})
			continue
		}
		a.Settings, a.Result = done[0].Path, done[0].Result
		if one.Registers != nil && !o.NoMCP {
			if a.MCP, err = in.Unregister(ctx, one.Registers, o.Name, settingsOf(h, one)); err != nil {
				return a, err
			}
		}
	}
	kept := session.New(s, h.Config.Sessions)
	if !o.Purge {
		a.Sessions, err = kept.Usage()
		return a, err
	}
	if a.Sessions, err = kept.Purge(ctx); err == nil {
		a.Purged = true
	}
	return a, err
}
