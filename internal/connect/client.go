package connect

import (
	"path/filepath"
	"sync"

	"anamnesis/internal/agent"
)

// A Client is a coding agent as it stands on a machine: where its settings, its MCP servers and
// its standing instructions are. A nil field is a place that it lacks, or that this program
// does not use. The implementations are stateless values, safe for concurrent use.
type Client struct {
	*agent.Harness

	Settings SettingsEditor
	Servers  ServerFile

	Registers   *ServerCommand // in place of Servers
	ServerHooks *ServerHooks
	Tools       *ToolRules                        // nil for an agent whose rules for single tools are not known
	Memories    func(user, home string) OwnMemory // nil for an agent without settings of them
	Approvals   *TrustReporter                    // nil for an agent that runs hooks unasked
	Call        func(server, tool string) string  // the name by which its model calls a tool of a server; nil where that is not known
	Release     Release                           // the newest that the tests of this program drive; zero for none

	// Rules returns the file of standing instructions for all projects, nil for an agent
	// that is shown everything by its hooks. user is the user's home folder, home the agent's.
	Rules func(user, home string) string
}

// All lists the clients, one for each of agent.All, in its order.
var All = sync.OnceValue(clients)

// Of returns the client of an agent. One that cannot be connected has no places.
func Of(h *agent.Harness) *Client {
	for _, c := range All() {
		if c.Harness == h {
			return c
		}
	}
	return &Client{Harness: h}
}

// ByName returns the client of the agent with the given short name, or nil.
func ByName(name string) *Client {
	if h := agent.ByName(name); h != nil {
		return Of(h)
	}
	return nil
}

// Default returns the client of agent.Default.
func Default() *Client { return All()[0] }

// Connects reports whether the agent can be connected: it has files for something of ours.
func (c *Client) Connects() bool { return c.Settings != nil || c.Servers != nil || c.Rules != nil }

// The short names of agents whose places have a shape of their own.
const (
	claudeName   = "claude"
	codexName    = "codex"
	copilotName  = "copilot"
	geminiName   = "gemini"
	opencodeName = "opencode"
	cursorName   = "cursor"
	qwenName     = "qwen"
	hermesName   = "hermes"
)

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

// likeOpenCode is the map of servers of OpenCode and what came from it.
var likeOpenCode = serverMap{key: "mcp", words: true, env: "environment", kind: "local", extra: []value{named("enabled", text("true"))}}

// places are those of each agent, with the releases that tests drive. Agents that no hook shows anything get our server and our
// rules: they ask.
func places() map[string]Client {
	return map[string]Client{
		claudeName: {
			Settings:    claudeSettings{},
			Registers:   &ServerCommand{claudeAdd, claudeRemove, claudeNone, claudeServersPaths},
			ServerHooks: &ServerHooks{claudeOverServer, claudeServed, []string{"claude", "--version"}},
			Memories:    claudeMemory,
			Tools:       &ToolRules{inHome("settings.json"), claudeAllowTools, claudeDisallowTools},
			Call:        ClaudeTool,
			Release:     Release{"claude", "@anthropic-ai/claude-code", "2.1.332"},
		},
		codexName: {
			Settings: codexSettings{}, Servers: codexSettings{},
			Memories:  codexMemory,
			Call:      ClaudeTool,
			Tools:     &ToolRules{inHome("config.toml"), codexAllowTools, codexDisallowTools},
			Approvals: &TrustReporter{codexQuestion, codexTrust, codexAny, codexTrustPath, codexApprove, codexDisapprove},
			Release:   Release{"codex", "@openai/codex", "0.171.0"},
		},
		copilotName: {
			Settings: copilotSettings{hooksFile{flat: true, seconds: "timeoutSec", fresh: `{"version": 1}`}},
			Servers: serversAt{
				serverMap: serverMap{kind: "local", extra: []value{named("tools", list(text(`"*"`)))}},
				path:      inHome("mcp-config.json"),
			},
			Call:    joined("", "-"),
			Release: Release{"copilot", "@github/copilot", "1.0.102"},
		},
		geminiName: {
			Settings: geminiSettings{hooksFile{millis: true, named: true, off: "hooksConfig.enabled", offIs: "false"}},
			Servers:  serversAt{path: inHome("settings.json")},
			Call:     joined("mcp_", "_"),
			Release:  Release{"gemini", "@google/gemini-cli", "0.61.0"},
		},
		opencodeName: {
			Settings: opencodeSettings{}, Servers: serversAt{serverMap: likeOpenCode, path: inHome("opencode.json")},
			Call:    joined("", "_"),
			Release: Release{"opencode", "opencode-ai", "1.18.33"},
		},
		cursorName: {
			Settings: cursorSettings{hooksFile{flat: true, untyped: true, fresh: `{"version": 1}`}},
			Servers:  serversAt{path: inHome("mcp.json")},
		},
		qwenName: {Settings: qwenSettings{hooksFile{millis: true, named: true}}, Servers: serversAt{path: inHome("settings.json")}},
		hermesName: {
			Settings: hermesSettings{},
			Servers:  yamlServers{path: inHome("config.yaml"), key: "mcp_servers", command: "command", env: "env", extra: []string{"enabled: true"}},
		},

		"windsurf": {Servers: serversAt{path: inHome("mcp_config.json")}, Rules: inHome("memories", "global_rules.md")},
		"cline":    {Servers: serversAt{path: inHome("data", "settings", "cline_mcp_settings.json")}},
		"roo":      {Rules: inHome("rules", "anamnesis.md")},
		"zed":      {Servers: serversAt{serverMap: serverMap{key: "context_servers"}, path: inHome("settings.json")}},
		"amp": {
			Servers: serversAt{serverMap: serverMap{key: "amp.mcpServers"}, path: inHome("settings.json")},
			Rules:   inHome("AGENTS.md"),
		},
		"goose": {
			Servers: yamlServers{
				path: inHome("config.yaml"), key: "extensions", command: "cmd", env: "envs",
				extra: []string{"name: anamnesis", "type: stdio", "enabled: true", "timeout: 300"},
			},
			Rules: inHome(".goosehints"),
		},
		"kiro":        {Servers: serversAt{path: inHome("settings", "mcp.json")}, Rules: inHome("steering", "anamnesis.md")},
		"vscode":      {Servers: serversAt{serverMap: serverMap{key: "servers", kind: "stdio"}, path: inHome("mcp.json")}},
		"kilo":        {Servers: serversAt{serverMap: likeOpenCode, path: inHome("kilo.jsonc")}, Rules: inHome("AGENTS.md")},
		"kimi":        {Servers: serversAt{path: inHome("mcp.json")}},
		"antigravity": {Servers: serversAt{path: inHome("mcp_config.json")}},
		"pi":          {Rules: inHome("AGENTS.md")},
	}
}

func clients() (all []*Client) {
	places := places()
	for _, h := range agent.All {
		c := places[h.Name]
		c.Harness = h
		all = append(all, &c)
	}
	return all
}
