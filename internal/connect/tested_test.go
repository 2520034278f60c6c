package connect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"anamnesis/internal/connect"

	"github.com/google/go-cmp/cmp"
)

// TestReleases compares the releases that the program calls tested with those that the tests get.
func TestReleases(t *testing.T) {
	data, err := os.ReadFile("../../.ci/steps")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)\nclients=\((.*?)\n\)`).FindSubmatch(data)
	if list == nil {
		t.Fatal(".ci/steps has no list of clients")
	}
	pinned := make(map[string]connect.Release)
	for _, m := range regexp.MustCompile(`(\w+)=(\S+)@(\S+)`).FindAllSubmatch(list[1], -1) {
		pinned[string(m[1])] = connect.Release{Program: string(m[1]), Package: string(m[2]), Version: string(m[3])}
	}
	tested := make(map[string]connect.Release)
	for _, c := range connect.All() {
		if c.Release != (connect.Release{}) {
			tested[c.Name] = c.Release
		}
	}
	if diff := cmp.Diff(pinned, tested); diff != "" {
		t.Errorf("(-.ci/steps +package connect):\n%s", diff)
	}
}

// TestVersionOf: the version of a client stands near its program.
func TestVersionOf(t *testing.T) {
	r := connect.Release{Program: "claude", Package: "@anthropic-ai/claude-code"}
	for _, tt := range []struct{ name, program, to, file, text, want string }{
		{"npm", "bin/claude", "lib/@anthropic-ai/claude-code/bin/claude.exe", "lib/@anthropic-ai/claude-code/package.json", `{"version":"2.1.332","name":"@anthropic-ai/claude-code"}`, "2.1.332"},
		{"npm on Windows", "claude.cmd", "", "node_modules/@anthropic-ai/claude-code/package.json", `{"name":"@anthropic-ai/claude-code","version":"2.1.332"}`, "2.1.332"},
		{"an installer", "bin/claude", "share/claude/versions/2.2.0", "", "", "2.2.0"},
		{"a cask", "bin/claude", "Caskroom/claude/v2.2.0/claude", "", "", "2.2.0"},
		{"another package", "bin/claude", "lib/x/claude.js", "lib/x/package.json", `{"version":"9.0.0","name":"x"}`, ""},
		{"no version", "bin/claude", "lib/x/claude.js", "lib/x/package.json", `{"version":"new","name":"@anthropic-ai/claude-code"}`, ""},
		{"no JSON", "bin/claude", "lib/x/claude.js", "lib/x/package.json", `version: 9.0.0`, ""},
		{"nothing", "bin/claude", "", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				name = filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			program := filepath.Join(dir, filepath.FromSlash(tt.program))
			if tt.to == "" {
				write(tt.program, "")
			} else {
				write(tt.to, "")
				if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(tt.to)), program); err != nil {
					t.Skip(err)
				}
			}
			if tt.file != "" {
				write(tt.file, tt.text)
			}
			if got := r.VersionOf(program); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := r.VersionOf(filepath.Join(t.TempDir(), "claude")); got != "" {
		t.Errorf("no file has the version %q", got)
	}
}

func TestNewer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"2.1.333", "2.1.332", true},
		{"2.2.0", "2.1.332", true},
		{"10.0.0", "9.9.9", true},
		{"2.1.332", "2.1.332", false},
		{"2.1.331", "2.1.332", false},
		{"2.1.333 (Claude Code)", "2.1.332", true},
		{"2.1.333-beta.1", "2.1.332", true},
		{"", "2.1.332", false},
		{"2.1", "2.0.0", false},
		{"99999999999999999999.0.0", "2.0.0", false},
		{"-1.0.0", "2.0.0", false},
	} {
		if got := connect.Newer(tt.a, tt.b); got != tt.want {
			t.Errorf("%s newer than %s: %v", tt.a, tt.b, got)
		}
	}
}
