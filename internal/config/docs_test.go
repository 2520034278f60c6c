package config

import (
	"fmt"
	"slices"
	"strings"
)

// SettingsDoc writes docs/settings.md.
func SettingsDoc() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n<!-- Generated from internal/config by `make generate`. Do not edit. -->\n\n" +
		"In hooks, and in the MCP server, `config.json` goes before the variables of `machine_id` and `remote`, once it holds them:\n" +
		"`init` writes them into the command lines of both, and `config set` reaches these so.\n\n" +
		"A value comes, first match wins, from `--set KEY=VALUE`, the environment, `config.json` in the store's folder, the\n" +
		"default. `anamnesis config list` shows every value and where it came from; `anamnesis config set KEY VALUE` writes\n" +
		"`config.json`.\n\n| key | environment | default | values | meaning | who changes it, and when |\n|---|---|---|---|---|---|\n")
	row := func(s Setting) {
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s | %s | %s |\n", s.Key, s.Env, s.Default, s.Values, s.Doc, s.Who)
	}
	c := &Config{}
	for _, s := range slices.Concat(c.settings(), c.unreadSettings(), c.reflection(), c.team()) {
		row(s)
	}
	for _, f := range c.features() {
		for _, s := range f.Settings {
			row(s)
		}
	}
	b.WriteString("\n`ANAMNESIS_DISABLED=1` (or `REFLECT_DISABLED=1`) makes every hook exit at once.\n")
	return strings.ReplaceAll(b.String(), "| `` |", "| |")
}

// FeaturesDoc writes docs/features.md.
func FeaturesDoc() string {
	var b strings.Builder
	b.WriteString("# Features\n\n<!-- Generated from internal/config by `make generate`. Do not edit. -->\n\n" +
		"A feature is listed when it has its code and a proof: a script in `internal/cli/testdata/proof` that fails without it.\n\n" +
		"| id | name | what it does | without it | where | switch |\n|---|---|---|---|---|---|\n")
	for _, f := range Features() {
		on := "always on"
		var envs []string
		for _, s := range f.Settings {
			envs = append(envs, "`"+s.Env+"`")
		}
		if len(envs) > 0 {
			on = strings.Join(envs, " ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` | %s |\n", f.ID, f.Name, escape(f.Doc), escape(f.Without), f.Home, on)
	}
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", "\\|").Replace(s)
}
