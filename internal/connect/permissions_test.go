package connect_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/connect"
)

var unasked = []string{"memory_search", "memory_get", "memory_write"}

// Rules for tools get into the file of an agent once and out again, beside its hooks and its server, and those that the
// user has made stay.
func TestToolRules(t *testing.T) {
	home := filepath.FromSlash("/home/ada/.agent")
	for _, tt := range []struct {
		agent, path string
		files       []string
		rule, own   string
	}{
		{
			agent: "claude", path: "settings.json", rule: `"mcp__anamnesis__memory_search"`, own: `"mcp__anamnesis__memory_get"`,
			files: []string{
				"", "\n", "{}\n", `{"model":"opus"}`, `{"permissions":{}}`, `{"permissions":{"allow":[]}}`,
				`{"permissions":{"allow":["mcp__anamnesis__memory_get"],"deny":["Read(.env)"]}}`,
				"{\n  // mine\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\", // always\n      /* ours */ \"mcp__anamnesis__memory_get\",\n    ],\n  },\n}\n",
				"{\n\t\"permissions\": {\n\t\t\"allow\": [\"mcp__anamnesis__memory_write\", \"mcp__other__memory_search\"]\n\t},\n\t\"model\": \"opus\"\n}",
				"{\"permissions\": {\"allow\": [ ]}, \"hooks\": {}}\n", "{\n  \"permissions\": {\"allow\": [\n    // none yet\n  ]}\n}\n",
			},
		},
		{
			agent: "codex", path: "config.toml", rule: `[mcp_servers.anamnesis.tools.memory_search]`, own: "memory_get",
			files: []string{
				"", "model = \"m\" # mine\n", "model = \"m\"", "[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.tools.memory_get]\napproval_mode = \"prompt\"\n",
			},
		},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			h := connect.ByName(tt.agent)
			o := connect.Options{Home: home, UserHome: "/home/ada", Command: []string{"/opt/anamnesis"}, Allow: unasked}
			var parts []connect.Part
			for _, p := range connect.Parts(h, o) {
				if p.Path == filepath.Join(home, tt.path) {
					parts = append(parts, p)
				}
			}
			if len(parts) != 2 {
				t.Fatalf("parts: %+v", parts)
			}
			for _, file := range tt.files {
				for _, old := range []string{file, strings.ReplaceAll(file, "\n", "\r\n")} {
					with := withParts(t, parts, []byte(old))
					if !bytes.Contains(with, []byte(tt.rule)) {
						t.Errorf("no rule in\n%s", with)
					}
					if diff := cmp.Diff(string(with), string(withParts(t, parts, with))); diff != "" {
						t.Errorf("a second time (-once +twice):\n%s", diff)
					}
					back := with
					for _, p := range slices.Backward(parts) {
						var err error
						if back, err = p.Uninstall(back); err != nil {
							t.Fatal(err)
						}
					}
					if strings.TrimSpace(old) == "" {
						continue // the record says that there was no text
					}
					if diff := cmp.Diff(old, string(back)); diff != "" {
						t.Errorf("back (-before +after):\n%s\nwith:\n%s", diff, with)
					}
				}
			}
		})
	}
}

func withParts(t *testing.T, parts []connect.Part, data []byte) []byte {
	t.Helper()
	for _, p := range parts {
		var err error
		if data, err = p.Install(data); err != nil {
			t.Fatalf("%s: %v", p.What, err)
		}
	}
	return data
}

// What the user has decided in Codex for one of our tools stays when init runs again.
func TestToolRuleOfTheUser(t *testing.T) {
	h := connect.ByName("codex")
	parts := connect.Parts(h, connect.Options{Home: "/h", UserHome: "/u", Command: []string{"/opt/anamnesis"}, Allow: unasked})[1:]
	with := withParts(t, parts, nil)
	const own = "\n[mcp_servers.anamnesis.tools.memory_forget]\napproval_mode = \"approve\"\n"
	with = append(bytes.Replace(with, []byte("memory_get]\napproval_mode = \"approve\""), []byte("memory_get]\napproval_mode = \"prompt\""), 1), own...)
	if diff := cmp.Diff(string(with), string(withParts(t, parts, with))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A settings file whose rules have another form stops the plan.
func TestToolRulesRefused(t *testing.T) {
	h := connect.ByName("claude")
	for _, old := range []string{`{"permissions": []}`, `{"permissions": {"allow": "all"}}`} {
		if _, err := h.Tools.Allow([]byte(old), "anamnesis", unasked); err == nil {
			t.Errorf("%s was changed", old)
		}
	}
}
