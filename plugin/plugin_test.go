// Package plugin_test checks the Claude Code plugin in this folder. There is no
// Go in the plugin: it is JSON, markdown and a script that finds the program.
package plugin_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/connect"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const root = "${CLAUDE_PLUGIN_ROOT}/"

type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Author      map[string]string `json:"author"`
	License     string            `json:"license"`
	Keywords    []string          `json:"keywords"`
}

type entry struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Keywords    []string `json:"keywords"`
	License     string   `json:"license"`
}

type marketplace struct {
	Name        string            `json:"name"`
	Owner       map[string]string `json:"owner"`
	Description string            `json:"description"`
	Plugins     []entry           `json:"plugins"`
}

// strict reads a file of JSON into v; a key that v does not have is a mistake.
func strict(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Claude Code finds the plugin in the marketplace, and gives an update only
// when the version changes: the two files must agree.
func TestManifests(t *testing.T) {
	var m manifest
	var market marketplace
	strict(t, ".claude-plugin/plugin.json", &m)
	strict(t, "../.claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 || market.Owner["name"] == "" || market.Name == "" {
		t.Fatalf("marketplace has %d plugins, owner %v", len(market.Plugins), market.Owner)
	}
	e := market.Plugins[0]
	if e.Source != "./plugin" {
		t.Errorf("source is %q: it has to be the path of this folder from the root of the repository", e.Source)
	}
	want := manifest{Name: e.Name, Version: e.Version, Description: e.Description, License: e.License, Keywords: e.Keywords, Author: market.Owner}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("plugin.json differs from its entry in marketplace.json:\n%s", diff)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(m.Version) {
		t.Errorf("version %q is not of the form 1.2.3", m.Version)
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(m.Name) {
		t.Errorf("name %q has to be lower case", m.Name)
	}
}

type hookFile struct {
	Description string `json:"description"`
	Hooks       map[string][]struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
			Async   bool   `json:"async"`
		} `json:"hooks"`
	} `json:"hooks"`
}

// allow is the command of a hook that lets Claude Code call a tool without asking. Its user's own rules, to ask or to deny,
// count more.
const allow = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`

// A plugin has no rules for tools in its manifest, so a hook allows those of our tools that read or propose, and no other.
func TestToolsWithoutQuestion(t *testing.T) {
	var f hookFile
	strict(t, "hooks/hooks.json", &f)
	var names []string
	for _, tool := range mcp.Unasked() {
		names = append(names, connect.ClaudeTool("plugin_anamnesis_anamnesis", tool))
	}
	n := 0
	for event, groups := range f.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if h.Command != allow {
					continue
				}
				if n++; event != "PreToolUse" || g.Matcher != strings.Join(names, "|") {
					t.Errorf("%s allows %s, not %s", event, g.Matcher, strings.Join(names, "|"))
				}
			}
		}
	}
	if n != 1 {
		t.Errorf("%d hooks allow tools", n)
	}
}

// The plugin and `anamnesis init` install the same hooks.
func TestHooksAreThoseOfInit(t *testing.T) {
	var f hookFile
	strict(t, "hooks/hooks.json", &f)
	var got []connect.Hook
	for event, groups := range f.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if h.Type != "command" {
					t.Errorf("%s: a hook of type %q", event, h.Type)
				}
				if h.Command == allow {
					continue
				}
				got = append(got, connect.Hook{Event: event, Matcher: g.Matcher, Command: h.Command, Timeout: h.Timeout, Async: h.Async})
			}
		}
	}
	// The folder of a plugin may have spaces in its name: quotes around it.
	want := connect.ByName("claude").Settings.PlainHooks(connect.HookMark + ` "` + root + `launch"`)
	order := func(a, b connect.Hook) int { return strings.Compare(a.Event+" "+a.Command, b.Event+" "+b.Command) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hooks.json differs from what init installs:\n%s", diff)
	}
	for _, h := range got {
		if !connect.Own(h.Command) {
			t.Errorf("uninstall would not recognise %s", h.Command)
		}
	}
	executable(t, "launch")
}

func TestServer(t *testing.T) {
	var f struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	strict(t, ".mcp.json", &f)
	s, ok := f.Servers["anamnesis"]
	if !ok || len(f.Servers) != 1 {
		t.Fatalf("servers: %v", f.Servers)
	}
	name, ok := strings.CutPrefix(s.Command, root)
	if !ok || !slices.Equal(s.Args, []string{"serve"}) {
		t.Errorf("the server is started by %s %v", s.Command, s.Args)
	}
	executable(t, name)
	if _, err := os.Stat(name + ".cmd"); err != nil {
		t.Errorf("Windows starts no script without an ending: %v", err)
	}
}

func executable(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode()&0o111 != 0o111 {
		t.Errorf("%s is not executable (%v)", name, info.Mode())
	}
}

// Spaces and line ends are where scripts die on the way to another system.
func TestLineEnds(t *testing.T) {
	attributes, err := os.ReadFile(".gitattributes")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"launch text eol=lf\n", "launch.cmd text eol=crlf\n"} {
		if !strings.Contains(string(attributes), line) {
			t.Errorf(".gitattributes lacks %q", line)
		}
	}
	script, err := os.ReadFile("launch")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(script, '\r') || !bytes.HasPrefix(script, []byte("#!/bin/sh\n")) {
		t.Error("launch does not begin with #!/bin/sh, or has carriage returns")
	}
}

// page is a command or a skill: front matter and body.
type page struct {
	path, body string
	matter     map[string]any
}

func pages(t *testing.T) []page {
	t.Helper()
	paths, err := fs.Glob(os.DirFS("."), "commands/*.md")
	if err != nil {
		t.Fatal(err)
	}
	skills, err := fs.Glob(os.DirFS("."), "skills/*/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []page
	for _, path := range append(paths, skills...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		front, body, ok := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(string(data), "---\n"), "\r\n", "\n"), "\n---\n")
		if !ok || !strings.HasPrefix(string(data), "---") {
			t.Fatalf("%s has no front matter", path)
		}
		p := page{path: path, body: body}
		if err := yaml.Unmarshal([]byte(front), &p.matter); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, p)
	}
	return out
}

func TestPages(t *testing.T) {
	var names []string
	for _, p := range pages(t) {
		names = append(names, p.path)
		description, _ := p.matter["description"].(string)
		if description == "" || len(description) > 1024 {
			t.Errorf("%s: a description of %d bytes", p.path, len(description))
		}
		if strings.TrimSpace(p.body) == "" {
			t.Errorf("%s is empty", p.path)
		}
		// A text between !` and ` would be run in a shell before anybody reads it,
		// with whatever the user typed in it.
		if strings.Contains(p.body, "!`") {
			t.Errorf("%s runs a command while it is read", p.path)
		}
		known := []string{"description", "argument-hint", "allowed-tools", "disable-model-invocation"}
		if strings.HasPrefix(p.path, "skills/") {
			known = []string{"name", "description"}
			if folder := filepath.Base(filepath.Dir(p.path)); p.matter["name"] != folder {
				t.Errorf("%s: the name %v is not that of its folder", p.path, p.matter["name"])
			}
		} else {
			if strings.Count(p.body, "$ARGUMENTS") != 1 {
				t.Errorf("%s does not take $ARGUMENTS once", p.path)
			}
			if _, ok := p.matter["argument-hint"].(string); !ok {
				t.Errorf("%s: argument-hint is %v, not a text", p.path, p.matter["argument-hint"])
			}
		}
		for key := range p.matter {
			if !slices.Contains(known, key) {
				t.Errorf("%s: unknown key %s", p.path, key)
			}
		}
	}
	want := []string{"commands/forget.md", "commands/handoff.md", "commands/learn.md", "commands/recall.md", "commands/remember.md", "skills/memory/SKILL.md"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// What a command may do without being asked: our tools under the names that they
// have in a plugin and outside of one, no shell, and never the tool that erases.
func TestAllowedTools(t *testing.T) {
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "commands/") {
			continue
		}
		list, _ := p.matter["allowed-tools"].(string)
		var plugin, plain []string
		for tool := range strings.SplitSeq(list, ", ") {
			if name, ok := strings.CutPrefix(tool, "mcp__plugin_anamnesis_anamnesis__memory_"); ok {
				plugin = append(plugin, name)
			} else if name, ok := strings.CutPrefix(tool, "mcp__anamnesis__memory_"); ok {
				plain = append(plain, name)
			} else {
				t.Errorf("%s allows %q", p.path, tool)
			}
		}
		if len(plugin) == 0 || !slices.Equal(plugin, plain) {
			t.Errorf("%s allows %v in the plugin and %v outside of it", p.path, plugin, plain)
		}
		if slices.Contains(plugin, "forget") {
			t.Errorf("%s would erase without being asked", p.path)
		}
		if strings.HasSuffix(p.path, "forget.md") && p.matter["disable-model-invocation"] != true {
			t.Errorf("%s can be called by the model", p.path)
		}
	}
}

// The skill says what is worth a note in the words of the server and of the session start.
func TestSkillRubric(t *testing.T) {
	data, err := os.ReadFile("skills/memory/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), note.Rubric) {
		t.Errorf("the skill does not contain %q", note.Rubric)
	}
	if tokens := len(note.Rubric) / 4; tokens > 70 {
		t.Errorf("the rubric has about %d tokens, at most 70", tokens)
	}
}
