// Package agent knows coding agents: the sessions they write, the hook events
// they send, the answers they read, and the memories they write down by
// themselves. What stands in their settings is for package connect.
//
// A Harness is one coding agent. What it can do is up to three small interfaces
// (SessionSource, HookDialect and MemoryReader) and a few functions. Each harness lives in its own
// files and is named in All; nothing registers itself, and nothing outside this
// package and connect knows one of them by name.
//
// The package turns foreign bytes into plain values and back: it starts no
// process, reads no environment variable and opens no file, so every
// function here can be tested with a string.
//
// What comes from a harness is untrusted. Readers are tolerant: a damaged
// record is skipped and counted, never fatal, and memory is bounded whatever
// the input. Ids and paths are checked before anyone sees them, invalid UTF-8
// is decoded lossily, what is for a terminal is taken out (see text.Plain), and the blocks that we injected ourselves are cut out of
// every text (see StripInjected), so that memory never echoes itself.
package agent

import (
	"slices"
	"strings"
)

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
	Memory   MemoryReader

	// Announce is Hooks.Reply to the start of a session or a prompt, with a line that the agent shows its user;
	// nil where it shows none.
	Announce func(e Event, text, line string) []byte

	// InTask says that no event tells a sub-agent anything when it starts: a reply before the call of
	// the tool that starts it reaches the sub-agent.
	InTask bool

	// Instructed says that its model reads the instructions of MCP servers: what they say is not
	// said again at the start of a session.
	Instructed bool

	// Beginning reads the first bytes of the records of a session, which may begin with copies of those
	// of the session that it was forked from, and does not say of whom; nil where none does.
	Beginning func(head []byte) Beginning

	// Transcript returns a pattern of package path/filepath of the transcript of a session, for
	// events that do not name it; the file is the last that matches. home is the agent's, session is
	// valid in a pattern. It is nil where every event names it.
	Transcript func(home, session string) string

	// Parts returns the folders of the other files of a session, given one of them, as a pattern of package
	// path/filepath, and which thread it is of; a rewind begins a new file of some agents. Names sort by
	// time. It is nil where a session is one file.
	Parts func(file string) (folders, thread string, ok bool)

	// Subagents are the files of a session's sub-agents; nil where the agent writes none, or this program does not
	// read them.
	Subagents *Subagents

	// OtherName returns the name under which the file of a session is compressed, and for a compressed file the
	// name of the plain one; "" for a file that has none. Both are one session, and a plain file counts where there
	// is one. It is nil where no session is compressed.
	OtherName func(file string) string

	// Transient says that its past sessions go away, or that some end without an event: a
	// background run takes them in time.
	Transient bool

	// Resume is the client's command that goes on with a session, whose id is its last argument; nil
	// where there is none.
	Resume []string

	Generates bool // package llm can ask it for a text, without tools
}

// All lists the harnesses, in the order in which help and init show them. Those behind Hermes
// have files for our server or our rules, and nothing that this package reads.
var All = []*Harness{
	{
		Name: claudeName, Title: "Claude Code", Folder: ".claude", Resume: []string{"claude", "--resume"},
		Sessions: claude{}, Hooks: claude{}, Memory: claude{}, Announce: claudeAnnounce, Beginning: claudeBeginning, Instructed: true,
		Subagents: claudeSubagents, Generates: true,
	},
	{
		Name: codexName, Title: "Codex", Folder: ".codex", Resume: []string{"codex", "resume"},
		Sessions: &codexSessions, Hooks: &codexHooks, Memory: codexMemories{}, Transcript: codexTranscript, Parts: codexParts,
		OtherName: codexOther, Subagents: codexSubagents, Instructed: true, Generates: true,
	},
	{
		Name: copilotName, Title: "GitHub Copilot", Folder: ".copilot", Resume: []string{"copilot", "--resume"},
		Sessions: &copilotSessions, Hooks: &copilotHooks, Transcript: copilotTranscript, Generates: true,
	},
	{
		Name: geminiName, Title: "Gemini CLI", Folder: ".gemini", Resume: []string{"gemini", "--resume"},
		Sessions: &geminiSessions, Hooks: &geminiHooks, Memory: geminiMemories{}, Transcript: geminiTranscript,
		InTask: true, Instructed: true, Generates: true, Transient: true,
	},
	{
		Name: opencodeName, Title: "OpenCode", Folder: ".config/opencode", Resume: []string{"opencode", "--session"},
		Sessions: &opencodeSessions, Hooks: &opencodeHooks, InTask: true, Instructed: true, Generates: true,
	},
	{
		Name: cursorName, Title: "Cursor", Folder: ".cursor", Resume: []string{"cursor-agent", "--resume"},
		Sessions: &cursorSessions, Hooks: &cursorHooks, Transcript: cursorTranscript, Transient: true,
	},
	{
		Name: qwenName, Title: "Qwen Code", Folder: ".qwen", Resume: []string{"qwen", "--resume"},
		Sessions: &qwenSessions, Hooks: &qwenHooks, Transcript: qwenTranscript, Transient: true,
	},
	{
		Name: hermesName, Title: "Hermes", Folder: ".hermes", Resume: []string{"hermes", "--resume"},
		Sessions: &hermesSessions, Hooks: &hermesHooks, Transcript: hermesTranscript,
	},
	{Name: "windsurf", Title: "Windsurf", Folder: ".codeium/windsurf"},
	{Name: "cline", Title: "Cline", Folder: ".cline"},
	{Name: "roo", Title: "Roo Code", Folder: ".roo"},
	{Name: "zed", Title: "Zed", Folder: ".config/zed"},
	{Name: "amp", Title: "Amp", Folder: ".config/amp"},
	{Name: "goose", Title: "Goose", Folder: ".config/goose"},
	{Name: "kiro", Title: "Kiro", Folder: ".kiro"},
	{Name: "vscode", Title: "VS Code", Folder: ".config/Code/User"},
	{Name: "kilo", Title: "Kilo Code", Folder: ".config/kilo"},
	{Name: "kimi", Title: "Kimi CLI", Folder: ".kimi"},
	{Name: "antigravity", Title: "Antigravity", Folder: ".gemini/antigravity"},
	{Name: "pi", Title: "pi", Folder: ".pi/agent"},
}

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

// OfClient returns the agent whose client gives its MCP servers that name, nil for one that is not known: "claude-code",
// "codex-mcp-client", "gemini-cli-mcp-client-anamnesis". The agent's short name is a word of it.
func OfClient(name string) *Harness {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for _, h := range All {
		if h.Sessions != nil && slices.Contains(words, h.Name) {
			return h
		}
	}
	return nil
}
