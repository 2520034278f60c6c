package connect

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// claudeAdd puts the name before the environment: the option -e takes every word that
// follows it.
func claudeAdd(name string, env Env, program []string) []string {
	words := []string{"claude", "mcp", "add", "--scope", "user", "--transport", "stdio", name}
	for _, v := range env.assignments() {
		words = append(words, "-e", v[0]+"="+v[1])
	}
	return append(append(append(words, "--"), program...), "serve")
}

func claudeRemove(name string) []string {
	return []string{"claude", "mcp", "remove", "--scope", "user", name}
}

func claudeNone(output string) bool { return claudeNoServer().MatchString(output) }

var claudeNoServer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no .*server.* found|server .*not found|does not exist`)
})

// claudeServersPaths: with CLAUDE_CONFIG_DIR the file stands in that folder, without it
// beside .claude.
func claudeServersPaths(user, home string) (all []string) {
	const name = ".claude.json"
	if home != "" {
		all = append(all, filepath.Join(home, name))
	}
	if user != "" && (home == "" || filepath.Clean(home) == filepath.Join(user, ".claude")) {
		all = append(all, filepath.Join(user, name))
	}
	return all
}

// PluginFile implements pluginHost.
func (c claudeSettings) PluginFile(home string) string { return c.SettingsPath(home) }

// PluginServes implements pluginHost.
func (claudeSettings) PluginServes() bool { return true }

// Plugin implements pluginHost: an object "enabledPlugins" maps "plugin@marketplace"
// to whether it is on.
func (claudeSettings) Plugin(settings []byte) string { return enabledPlugin(settings) }

// enabledPlugin finds our plugin in a settings file of that form.
func enabledPlugin(settings []byte) string {
	root, err := parseSettings(settings)
	if err != nil {
		return ""
	}
	enabled, _ := root.member("enabledPlugins")
	if enabled == nil || enabled.kind != '{' {
		return ""
	}
	for _, plugin := range enabled.items {
		if name, _, _ := strings.Cut(plugin.key, "@"); name == pluginName && plugin.value.text == "true" {
			return plugin.key
		}
	}
	return ""
}

// pluginName is what our plugin is called in its manifest.
const pluginName = "anamnesis"
