package connect

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// codexSettings is hooks.json of Codex. A hook runs only when its user has approved
// its exact command and time limit, so both stay as they are from version to version.
type codexSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (codexSettings) SettingsPath(home string) string { return filepath.Join(home, "hooks.json") }

// ProjectSettings implements SettingsEditor.
func (codexSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".codex", "hooks.json")}
}

// PlainHooks implements SettingsEditor. A session end may take three seconds, and gets
// no answer; whatever is longer is left to a background run.
func (codexSettings) PlainHooks(base string) []Hook {
	at := func(event, matcher string, timeout int) Hook {
		return Hook{Event: event, Matcher: matcher, Command: base + " hook codex " + event, Timeout: timeout}
	}
	const tools = "Bash|apply_patch|spawn_agent"
	return []Hook{
		at("SessionStart", "startup|resume|clear|compact|fork", 15),
		at("UserPromptSubmit", "", 10),
		at("PreToolUse", tools, 10),
		at("PermissionRequest", tools, 10),
		at("SubagentStart", "", 10),
		at("SubagentStop", "", 10),
		at("PostCompact", "", 10),
		at("PreCompact", "", 10),
		at("SessionEnd", "", 3),
	}
}

// ServersPath implements ServerFile.
func (codexSettings) ServersPath(_, home string) string { return filepath.Join(home, "config.toml") }

// AddServer implements ServerFile.
func (codexSettings) AddServer(old []byte, name string, env Env, program []string) ([]byte, error) {
	var b strings.Builder
	b.WriteString("[mcp_servers." + name + "]\ncommand = " + tomlString(program[0]) + "\nargs = [")
	for _, word := range append(program[1:len(program):len(program)], "serve") {
		b.WriteString(tomlString(word) + ", ")
	}
	text := strings.TrimSuffix(b.String(), ", ") + "]\n"
	if set := env.assignments(); len(set) > 0 {
		text += "\n[mcp_servers." + name + ".env]\n"
		for _, v := range set {
			text += v[0] + " = " + tomlString(v[1]) + "\n"
		}
	}
	tools, err := tables(old, []string{"mcp_servers", name, "tools"}) // what the user or init has decided for single tools
	if err != nil {
		return nil, err
	}
	for _, span := range tools {
		text += "\n" + strings.ReplaceAll(string(old[span[0]:span[1]]), "\r\n", "\n")
	}
	return setTable(old, []string{"mcp_servers", name}, text)
}

// RemoveServer implements ServerFile.
func (codexSettings) RemoveServer(old []byte, name string) ([]byte, error) {
	return setTable(old, []string{"mcp_servers", name}, "")
}

// Servers implements ServerFile.
func (codexSettings) Servers(data []byte) (all []Server, err error) {
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `toml:"mcp_servers"`
	}
	if err := readTOML(data, &file); err != nil {
		return nil, err
	}
	for name, s := range file.Servers {
		all = append(all, Server{Name: name, Command: s.Command, Args: s.Args})
	}
	return sortServers(all), nil
}

// ToDo implements Advisor: a hook of Codex runs when it was approved, and in a headless
// run no error says that it did not.
func (codexSettings) ToDo() string {
	return "Codex runs a hook only after you approve it: answer yes when `anamnesis init` offers that, or start `codex`, type " +
		"/hooks, and trust the hooks of anamnesis. They are skipped without a word until then."
}

// PluginFile implements pluginHost.
func (codexSettings) PluginFile(home string) string { return filepath.Join(home, "config.toml") }

// PluginServes implements pluginHost: Codex does not expand what our plugin's file of
// servers names, so the server is registered beside it.
func (codexSettings) PluginServes() bool { return false }

// Plugin implements pluginHost: a table [plugins."plugin@marketplace"] for each.
func (codexSettings) Plugin(settings []byte) string {
	var file struct {
		Plugins map[string]struct{ Enabled *bool }
	}
	if readTOML(settings, &file) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(file.Plugins)) {
		enabled := file.Plugins[name].Enabled
		if plugin, _, _ := strings.Cut(name, "@"); plugin == pluginName && (enabled == nil || *enabled) {
			return name
		}
	}
	return ""
}
