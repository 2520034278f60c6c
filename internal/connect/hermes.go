package connect

import (
	"path/filepath"
	"slices"
)

// hermesSettings is config.yaml of Hermes, which holds hooks and servers.
type hermesSettings struct{}

// SettingsPath implements SettingsEditor.
func (hermesSettings) SettingsPath(home string) string { return filepath.Join(home, "config.yaml") }

// ProjectSettings implements SettingsEditor.
func (hermesSettings) ProjectSettings(string) []string { return nil }

// PlainHooks implements SettingsEditor. A command is split into words and run without a
// shell, so what stands before it is given to the program env.
func (hermesSettings) PlainHooks(base string) (all []Hook) {
	for _, h := range []Hook{
		{Event: "pre_llm_call"}, {Event: "pre_tool_call", Matcher: "terminal|patch|write_file"}, {Event: "on_session_finalize"},
	} {
		h.Command, h.Timeout = "env "+base+" hook hermes "+h.Event, 10
		all = append(all, h)
	}
	return all
}

// hermesHooksKey is the member of config.yaml that holds hooks.
const hermesHooksKey = "hooks"

// Install implements SettingsEditor.
func (hermesSettings) Install(old []byte, hooks []Hook, own func(string) bool) ([]byte, error) {
	if there, err := yamlHooks(old, own); err == nil && slices.Equal(there, hooks) {
		return old, nil
	}
	data, err := removeYAMLHooks(old, own)
	if err != nil {
		return nil, err
	}
	for i := len(hooks) - 1; i >= 0; i-- { // each goes in before those that are there
		if data, err = addYAMLHook(data, hooks[i]); err != nil {
			return nil, err
		}
	}
	return data, checkYAML(data)
}

// Uninstall implements SettingsEditor.
func (hermesSettings) Uninstall(old []byte, own func(string) bool) ([]byte, error) {
	return removeYAMLHooks(old, own)
}

// Installed implements SettingsEditor.
func (hermesSettings) Installed(data []byte, own func(string) bool) (hooks []Hook, off bool, err error) {
	hooks, err = yamlHooks(data, own)
	return hooks, false, err
}

// ToDo implements Advisor.
func (hermesSettings) ToDo() string {
	return "Hermes asks for your consent to each hook when it starts in a terminal: say yes once. A gateway skips hooks without it."
}
