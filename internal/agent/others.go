package agent

import "path/filepath"

// Agents that are shown by no hook get our server and our rules: they ask.

// A serversAt is a serverMap in a file.
type serversAt struct {
	serverMap
	path func(user, home string) string
}

// ServersPath implements ServerFile.
func (s serversAt) ServersPath(user, home string) string { return s.path(user, home) }

// inHome is a file below an agent's home folder.
func inHome(names ...string) func(user, home string) string {
	return func(_, home string) string { return filepath.Join(append([]string{home}, names...)...) }
}

// others are the agents that have a place for servers and rules and nothing more that
// this program uses.
func others() []*Harness {
	return []*Harness{
		{
			Name: "windsurf", Title: "Windsurf", Folder: ".codeium/windsurf",
			Servers: serversAt{path: inHome("mcp_config.json")}, Rules: inHome("memories", "global_rules.md"),
		},
		{
			Name: "cline", Title: "Cline", Folder: ".cline",
			Servers: serversAt{path: inHome("data", "settings", "cline_mcp_settings.json")},
		},
		{Name: "roo", Title: "Roo Code", Folder: ".roo", Rules: inHome("rules", "anamnesis.md")},
		{
			Name: "zed", Title: "Zed", Folder: ".config/zed",
			Servers: serversAt{serverMap: serverMap{key: "context_servers"}, path: inHome("settings.json")},
		},
		{
			Name: "amp", Title: "Amp", Folder: ".config/amp",
			Servers: serversAt{serverMap: serverMap{key: "amp.mcpServers"}, path: inHome("settings.json")},
			Rules:   inHome("AGENTS.md"),
		},
		{
			Name: "goose", Title: "Goose", Folder: ".config/goose",
			Servers: yamlServers{
				path: inHome("config.yaml"), key: "extensions", command: "cmd", env: "envs",
				extra: []string{"name: anamnesis", "type: stdio", "enabled: true", "timeout: 300"},
			},
			Rules: inHome(".goosehints"),
		},
		{
			Name: "kiro", Title: "Kiro", Folder: ".kiro",
			Servers: serversAt{path: inHome("settings", "mcp.json")}, Rules: inHome("steering", "anamnesis.md"),
		},
		{
			Name: "vscode", Title: "VS Code", Folder: ".config/Code/User",
			Servers: serversAt{serverMap: serverMap{key: "servers", kind: "stdio"}, path: inHome("mcp.json")},
		},
		{
			Name: "kilo", Title: "Kilo Code", Folder: ".config/kilo",
			Servers: serversAt{
				serverMap: serverMap{key: "mcp", words: true, env: "environment", kind: "local", extra: []value{named("enabled", text("true"))}},
				path:      inHome("kilo.jsonc"),
			},
			Rules: inHome("AGENTS.md"),
		},
		{Name: "kimi", Title: "Kimi CLI", Folder: ".kimi", Servers: serversAt{path: inHome("mcp.json")}},
		{
			Name: "antigravity", Title: "Antigravity", Folder: ".gemini/antigravity",
			Servers: serversAt{path: inHome("mcp_config.json")},
		},
		{Name: "pi", Title: "pi", Folder: ".pi/agent", Rules: inHome("AGENTS.md")},
	}
}
