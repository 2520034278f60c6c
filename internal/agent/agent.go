// Package agent knows coding agents: the sessions they write, the hook events
// they send, the answers they read, the settings they keep and the memories they
// write down by themselves.
//
// A Harness is one coding agent. What it can do is up to five small interfaces:
// SessionSource, HookDialect, SettingsEditor, ServerFile and MemoryReader. Each harness lives
// in its own files and is named in All; nothing registers itself, and nothing
// outside this package knows one of them by name.
//
// The package turns foreign bytes into plain values and back: it starts no
// process, reads no environment variable and opens no file, so every
// function here can be tested with a string.
//
// What comes from a harness is untrusted. Readers are tolerant: a damaged
// record is skipped and counted, never fatal, and memory is bounded whatever
// the input. Ids and paths are checked before anyone sees them, invalid UTF-8
// is decoded lossily, and the blocks that we injected ourselves are cut out of
// every text (see StripInjected), so that memory never echoes itself.
//
// Writers are strict: a settings file that cannot be read without doubt is
// refused with the place and the reason, and nothing but our own entries moves.
package agent

import "strings"

// A Harness is one coding agent and those of its abilities that are known. A nil
// field is an ability that it lacks, or that this program does not use yet; a
// caller passes over such a harness. The implementations are stateless values,
// safe for concurrent use, and pass agenttest.Run.
type Harness struct {
	Name   string // used in commands, notes, jobs and ids: "claude"; it never changes
	Title  string // as its makers write it: "Claude Code"
	Folder string // usual name of its home folder, below the user's: ".claude"

	Sessions SessionSource
	Hooks    HookDialect
	Settings SettingsEditor
	Servers  ServerFile // nil for an agent whose Settings are a ServerCommand, too
	Memory   MemoryReader

	// Fleeting says that its past sessions go away, or that some end without an event: a
	// background run takes them in time.
	Fleeting bool

	// Resume is the client's command that goes on with a session, whose id is its last argument; nil
	// where there is none.
	Resume []string

	Generates bool // package llm can ask it for a text, without tools

	// Rules returns the file of standing instructions for all projects, nil for an agent
	// that is shown everything by its hooks. user is the user's home folder, home the agent's.
	Rules func(user, home string) string
}

// All lists the harnesses, in the order in which help and init show them.
var All = append(hooked(), others()...)

// hooked lists those that run our hooks.
func hooked() []*Harness {
	return []*Harness{
		{
			Name: claudeName, Title: "Claude Code", Folder: ".claude", Resume: []string{"claude", "--resume"},
			Sessions: claude{}, Hooks: claude{}, Settings: claudeSettings{}, Memory: claude{},
			Generates: true,
		},
		{
			Name: codexName, Title: "Codex", Folder: ".codex", Resume: []string{"codex", "resume"},
			Sessions: &codexSessions, Hooks: &codexHooks, Settings: codexSettings{}, Servers: codexSettings{},
			Memory: codexMemories{}, Generates: true,
		},
		{
			Name: copilotName, Title: "GitHub Copilot", Folder: ".copilot", Resume: []string{"copilot", "--resume"},
			Sessions: &copilotSessions, Hooks: &copilotHooks, Generates: true,
			Settings: copilotSettings{hooksFile{flat: true, seconds: "timeoutSec", fresh: `{"version": 1}`}},
			Servers: serversAt{
				serverMap: serverMap{kind: "local", extra: []value{named("tools", list(text(`"*"`)))}},
				path:      inHome("mcp-config.json"),
			},
		},
		{
			Name: geminiName, Title: "Gemini CLI", Folder: ".gemini", Resume: []string{"gemini", "--resume"},
			Sessions: &geminiSessions, Hooks: &geminiHooks, Generates: true, Fleeting: true,
			Settings: geminiSettings{hooksFile{millis: true, named: true, off: "hooksConfig.enabled", offIs: "false"}},
			Servers:  serversAt{path: inHome("settings.json")},
		},
		{
			Name: opencodeName, Title: "OpenCode", Folder: ".config/opencode", Resume: []string{"opencode", "--session"},
			Sessions: &opencodeSessions, Hooks: &opencodeHooks, Generates: true, Settings: opencodeSettings{},
			Servers: serversAt{
				serverMap: serverMap{key: "mcp", words: true, env: "environment", kind: "local", extra: []value{named("enabled", text("true"))}},
				path:      inHome("opencode.json"),
			},
		},
		{
			Name: cursorName, Title: "Cursor", Folder: ".cursor", Resume: []string{"cursor-agent", "--resume"},
			Sessions: &cursorSessions, Hooks: &cursorHooks, Fleeting: true,
			Settings: cursorSettings{hooksFile{flat: true, untyped: true, fresh: `{"version": 1}`}},
			Servers:  serversAt{path: inHome("mcp.json")},
		},
		{
			Name: qwenName, Title: "Qwen Code", Folder: ".qwen", Resume: []string{"qwen", "--resume"},
			Sessions: &qwenSessions, Hooks: &qwenHooks, Fleeting: true,
			Settings: qwenSettings{hooksFile{millis: true, named: true}},
			Servers:  serversAt{path: inHome("settings.json")},
		},
		{
			Name: hermesName, Title: "Hermes", Folder: ".hermes", Resume: []string{"hermes", "--resume"},
			Sessions: &hermesSessions, Hooks: &hermesHooks, Settings: hermesSettings{},
			Servers: yamlServers{path: inHome("config.yaml"), key: "mcp_servers", command: "command", env: "env", extra: []string{"enabled: true"}},
		},
	}
}

// Connects reports whether the agent can be connected: it has files for something of ours.
func (h *Harness) Connects() bool { return h.Settings != nil || h.Servers != nil || h.Rules != nil }

// ByName returns the harness with the given short name, or nil.
func ByName(name string) *Harness {
	for _, all := range [][]*Harness{All, InProjects} {
		for _, h := range all {
			if h.Name == name {
				return h
			}
		}
	}
	return nil
}

// Default returns the harness of commands that name none: the first in All,
// which has every ability.
func Default() *Harness { return All[0] }

// ByPath returns the harness in whose usual home folder a file lies, and the
// file's path below it with slashes; nil when it lies in none. The path may come
// from another machine, with slashes or backslashes.
func ByPath(file string) (h *Harness, below string) {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, one := range All { // the innermost: a folder may stand in that of another
		if _, rest, ok := strings.Cut(file, one.Folder+"/"); ok && (h == nil || len(one.Folder) > len(h.Folder)) {
			h, below = one, rest
		}
	}
	return h, below
}
