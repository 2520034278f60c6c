package connect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

// connected returns the home of an agent with our hooks in it.
func connected(t *testing.T, c *connect.Client) (home string) {
	t.Helper()
	home = t.TempDir()
	hooks, err := c.Settings.Install(nil, c.Settings.PlainHooks(connect.CommandPrefix(connect.Env{MachineID: "m"}, "/opt/anamnesis")), connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	put(t, c.Settings.SettingsPath(home), string(hooks))
	return home
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// states lists the states of an agent's abilities that hooks bring, each once.
func states(c *connect.Client, home string) (off string, all map[connect.AbilityState]bool) {
	s := connect.Look(c, home, "", "")
	all = make(map[connect.AbilityState]bool)
	for _, a := range s.Abilities {
		switch a.Name {
		case connect.AtStart, connect.AtPrompt, connect.Remembers:
			all[a.State] = true
		}
	}
	return s.Off, all
}

// Where a setting keeps our hooks from running, the agent's abilities are off.
func TestHooksSwitchedOff(t *testing.T) {
	c := connect.Default()
	for _, tt := range []struct{ name, own, file, managed, want string }{
		{"nothing", "", "", "", ""},
		{"the user's settings", `{"disableAllHooks": true`, "", "", "settings.json"},
		{"managed settings", "", "managed-settings.json", `{"disableAllHooks": true}`, "managed-settings.json"},
		{"only managed hooks", "", "managed-settings.json", "{\n  // ours\n  \"allowManagedHooksOnly\": true,\n}", "managed-settings.json"},
		{"a part of them", "", "managed-settings.d/10-hooks.json", `{"allowManagedHooksOnly": true}`, "10-hooks.json"},
		{"others", "", "managed-settings.json", `{"allowManagedHooksOnly": false, "model": "x"}`, ""},
		{"no JSON", "", "managed-settings.json", `disableAllHooks: true`, ""},
		{"another type", "", "managed-settings.json", `{"disableAllHooks": "true"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			defer connect.SetManagedFolder(folder)()
			home := connected(t, c)
			if tt.own != "" {
				path := c.Settings.SettingsPath(home)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				put(t, path, tt.own+","+strings.TrimPrefix(string(data), "{"))
			}
			if tt.file != "" {
				put(t, filepath.Join(folder, filepath.FromSlash(tt.file)), tt.managed)
			}
			if got := connect.SwitchedOffIn(c, home); tt.want == "" != (got == "") || !strings.HasSuffix(got, tt.want) {
				t.Errorf("switched off in %q, want %q", got, tt.want)
			}
			off, all := states(c, home)
			if (off != "") != (tt.want != "") || all[connect.SwitchedOff] != (tt.want != "") || len(all) != 1 {
				t.Errorf("%q, and the abilities are %v", off, all)
			}
		})
	}
}

// Hooks that their user has not approved do not run.
func TestHooksUnapproved(t *testing.T) {
	c := connect.ByName("codex")
	home := connected(t, c)
	hooks := filepath.ToSlash(c.Settings.SettingsPath(home))
	for _, tt := range []struct {
		name, config string
		want         bool
	}{
		{"no file", "", true},
		{"nothing approved", "model = \"m\"\n", true},
		{"hooks of others", "[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n", true},
		{"known, and not approved", "[hooks.state.\"" + hooks + ":session_start:0:0\"]\nenabled = true\n", true},
		{"ours", "[hooks.state.\"" + hooks + ":session_start:0:0\"]\ntrusted_hash = \"sha256:aa\"\n", false},
		{"a file that cannot be read", "[hooks", false},
	} {
		if tt.config != "" {
			put(t, c.Approvals.Path(home), tt.config)
		}
		if got := connect.Unapproved(c, home); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
		if off, all := states(c, home); (off != "") != tt.want || all[connect.SwitchedOff] != tt.want {
			t.Errorf("%s: %q, and the abilities are %v", tt.name, off, all)
		}
	}
	if connect.Unapproved(c, t.TempDir()) || connect.Unapproved(connect.Default(), connected(t, connect.Default())) {
		t.Error("an agent without our hooks, or one that asks for no approval, waits for one")
	}
}
