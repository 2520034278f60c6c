package connect

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Registered is our server as an agent has it.
type Registered struct {
	Server
	Where string // in which projects, in words
}

const everyProject = "every project"

// ours reports whether a server is this program: by its name, or by its program's.
func (s Server) ours() bool {
	base := strings.TrimSuffix(filepath.Base(filepath.ToSlash(s.Command)), ".exe")
	return s.Command != "" && (s.Name == DefaultServer || base == DefaultServer)
}

// OurServers finds our servers in the file in which an agent has its servers. What is shaped otherwise is passed over.
func (c *Client) OurServers(data []byte) (found []Registered, err error) {
	if c.Servers != nil {
		all, err := c.Servers.Servers(data)
		for _, s := range all {
			if s.ours() {
				found = append(found, Registered{s, everyProject})
			}
		}
		return found, err
	}
	type list map[string]json.RawMessage
	var file struct {
		Servers  json.RawMessage `json:"mcpServers"`
		Projects json.RawMessage `json:"projects"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	add := func(raw json.RawMessage, where string) {
		var all list
		if json.Unmarshal(raw, &all) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			s := Server{Name: name}
			if json.Unmarshal(all[name], &s) == nil && s.ours() {
				s.Name = name
				found = append(found, Registered{s, where})
			}
		}
	}
	add(file.Servers, everyProject)
	var projects list
	if json.Unmarshal(file.Projects, &projects) == nil {
		for _, dir := range slices.Sorted(maps.Keys(projects)) {
			var in struct {
				Servers json.RawMessage `json:"mcpServers"`
			}
			if json.Unmarshal(projects[dir], &in) == nil {
				add(in.Servers, dir)
			}
		}
	}
	return found, nil
}

// ServersPath returns the file in which the agent has its servers, "" when that is not known.
func (c *Client) ServersPath(user, home string) (path string) {
	if c.Servers != nil {
		return c.Servers.ServersPath(user, home)
	}
	if c.Registers == nil {
		return ""
	}
	for _, path = range c.Registers.Paths(user, home) { // the first that is there, else the last
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return path
}

// registered reports whether the agent has our server for every project, and whether our plugin brings it.
func (c *Client) registered(user, home string) (served, brought bool) {
	if host, ok := c.Settings.(pluginHost); ok && host.PluginServes() && Plugin(c, home) != "" {
		return true, true
	}
	edit, err := readSettings(c.ServersPath(user, home))
	if err != nil || edit.Old == nil {
		return false, false
	}
	all, err := c.OurServers(edit.Old)
	return err == nil && slices.ContainsFunc(all, func(r Registered) bool { return r.Where == everyProject }), false
}

// Serves reports whether the agent starts our MCP server in every project, by its settings or a plugin. user is the user's home
// folder, home the agent's.
func (c *Client) Serves(user, home string) bool {
	served, _ := c.registered(user, home)
	return served
}

// ToolName returns the name by which the agent knows a tool of our server, and the bare name where that is not known.
// user is the user's home folder, home the agent's.
func (c *Client) ToolName(user, home, tool string) string {
	if c.Call == nil {
		return tool
	}
	if host, ok := c.Settings.(pluginHost); ok && host.PluginServes() && Plugin(c, home) != "" {
		return c.Call("plugin_"+DefaultServer+"_"+DefaultServer, tool)
	}
	edit, err := readSettings(c.ServersPath(user, home))
	if err != nil || edit.Old == nil {
		return tool
	}
	all, err := c.OurServers(edit.Old)
	if err != nil || len(all) == 0 {
		return tool
	}
	return c.Call(all[0].Name, tool)
}

// joined returns how a name for a tool of a server is put together.
func joined(before, between string) func(server, tool string) string {
	return func(server, tool string) string { return before + server + between + tool }
}
