package connect

import (
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
)

// HookTool is the tool of our server that answers events. It is in no list of tools: agents call it
// as they would start a hook, and no model sees it.
const HookTool = "memory_hook"

// hookKeyFile has the key of this machine's store that init writes into the hooks which ask the server. It never
// travels.
const hookKeyFile = "hook.key"

// hookKeyMember is the member of an event that has the key.
const hookKeyMember = "anamnesis_key"

// HookKey returns the key that an event must have to be answered by the server, "" for a store that has none.
func HookKey(root string) string {
	path := filepath.Join(root, hookKeyFile)
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 256 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// KeepHookKey writes the key of hooks that are about to be installed into the store, "" for hooks without one.
func KeepHookKey(s *store.Store, key string) error {
	if key == "" || key == HookKey(s.Root()) {
		return nil
	}
	return s.Replace(hookKeyFile, []byte(key+"\n"))
}

// ServerHooks are those of an agent that can send events to a server instead of starting a process
// for each.
type ServerHooks struct {
	// Over returns hooks with those sent to a server, with a key, that a server can answer. The others have no
	// server at hand yet, or any more.
	Over func(hooks []Hook, server, key string) []Hook
	// Has reports whether a version of the agent, as it prints it, knows such hooks.
	Has func(version string) bool
	// Version is the command that prints the version of the agent.
	Version []string
}

// claudeOverServer: at the start and the end of a session Claude Code has no connection to its
// servers, and what the user is asked about must not depend on one.
func claudeOverServer(hooks []Hook, server, key string) []Hook {
	out := make([]Hook, len(hooks))
	for i, h := range hooks {
		switch h.Event {
		case "UserPromptSubmit", "PreToolUse", "PostToolUseFailure":
			h.Command, h.Server, h.Key = "", server, key
		}
		out[i] = h
	}
	return out
}

// claudeServed: 2.1.197 is the oldest version that was tried.
func claudeServed(version string) bool {
	_, ok := numbers(version)
	return ok && !Newer("2.1.197", version)
}

// hookArguments returns the members of an event that a server is sent. The client fills in what is
// in braces; of a call of a tool these members are enough for triggers and tasks.
func hookArguments(key string) string {
	return `{"` + hookKeyMember + `": ` + agent.QuoteJSON(key) + `, "anamnesis_agent": "claude", "hook_event_name": "${hook_event_name}", ` +
		`"session_id": "${session_id}", "transcript_path": "${transcript_path}", "cwd": "${cwd}", "agent_id": "${agent_id}", ` +
		`"prompt_id": "${prompt_id}", "prompt": "${prompt}", "tool_name": "${tool_name}", "error": "${error}", ` +
		`"tool_input": {"command": "${tool_input.command}", "file_path": "${tool_input.file_path}", ` +
		`"notebook_path": "${tool_input.notebook_path}", "prompt": "${tool_input.prompt}", "subagent_type": "${tool_input.subagent_type}"}}`
}
