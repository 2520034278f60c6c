package connect

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/agent"
)

// A State is how an agent stands on this machine.
type State struct {
	Agent     string    `json:"agent"`
	Title     string    `json:"title"`
	Found     bool      `json:"found"`
	Version   string    `json:"version,omitempty"` // of its last session
	Connected []string  `json:"connected"`         // what of ours stands in its files: hooks, server, rules
	Plugin    string    `json:"plugin,omitempty"`  // our plugin in it, which brings hooks along
	Tested    string    `json:"tested"`            // how this program is tested with it
	Abilities []Ability `json:"abilities"`
	ToDo      string    `json:"to_do,omitempty"` // what its user has to do once
	Off       string    `json:"off,omitempty"`   // why it runs no hook of ours, on this machine
	Home      string    `json:"home"`
}

// Look says how an agent stands. It changes nothing, and reads the settings and the end of
// the newest session. sessions is the folder of its sessions.
func Look(h *Client, home, userHome, sessions string) State {
	s := State{
		Agent: h.Name, Title: h.Title, Home: home, Found: Found(home), Connected: []string{}, Tested: "fixtures", Abilities: h.Abilities(),
	}
	if h.driven() {
		s.Tested = "released client"
	}
	if !s.Found {
		return s
	}
	served, brought := h.registered(userHome, home)
	for _, p := range Parts(h, Options{Home: home, UserHome: userHome, Command: []string{"x"}}) {
		if p.What == "server" { // init may have given it another name
			continue
		}
		edit, err := readSettings(p.Path)
		if err != nil || edit.Old == nil {
			continue
		}
		if without, err := p.Uninstall(edit.Old); err == nil && string(without) != string(edit.Old) {
			s.Connected = append(s.Connected, p.What)
		}
	}
	if served && !brought {
		s.Connected = slices.Insert(s.Connected, min(1, len(s.Connected)), "server")
	}
	if s.Plugin = Plugin(h, home); s.Plugin != "" {
		s.Connected = append(s.Connected, "plugin")
	}
	if a, ok := h.Settings.(Advisor); ok && (s.Plugin != "" || slices.Contains(s.Connected, "hooks")) {
		s.ToDo = a.ToDo()
	}
	if s.Plugin != "" || slices.Contains(s.Connected, "hooks") {
		s.Off = idle(h, home)
	}
	own := h.OwnMemory(userHome, home)
	for i := range s.Abilities {
		a := &s.Abilities[i]
		switch {
		case a.Name != Remembered:
		case own.Off != "":
			a.State, a.Why = SwitchedOff, own.Off+" switches it off"
		case own.Dir != "":
			a.Why = "in " + own.Dir
		}
		if s.Off != "" && a.State != NoChannel && slices.Contains(byHooks, a.Name) {
			a.State, a.Why = SwitchedOff, s.Off
		}
		if a.Name == Asks && a.State == Works && len(s.Connected) > 0 && !served {
			a.State, a.Why = SwitchedOff, "our MCP server is not registered"
		}
	}
	s.Version = LastVersion(h, sessions)
	return s
}

// LastVersion returns the version of the agent that wrote the newest session below its home, "" when none
// says it.
func LastVersion(h *Client, home string) string {
	if h.Sessions == nil {
		return ""
	}
	if w, ok := h.Sessions.(agent.LateWriter); ok && w.Late() && w.Ended(nil) {
		return "" // a database would be copied for it
	}
	type one struct {
		path string
		at   time.Time
	}
	var all []one
	for _, pattern := range h.Sessions.SessionFiles() {
		paths, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern)))
		for _, p := range paths {
			if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() {
				all = append(all, one{p, fi.ModTime()})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	f, err := os.Open(slices.MaxFunc(all, func(a, b one) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) }).path)
	if err != nil {
		return ""
	}
	defer f.Close()
	records, err := h.Sessions.Open(f, "")
	if err != nil {
		return ""
	}
	seen, err := h.Sessions.Peek(records, records.Size(), 0, 1<<10, time.Now().Add(time.Second))
	if err != nil {
		return ""
	}
	return seen.Version
}
