package config_test

import (
	gocmp "cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/recall"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated pages in docs")

// load loads settings from a made-up environment and the text of config.json.
func load(t *testing.T, env map[string]string, file string, flags ...string) *config.Config {
	t.Helper()
	home := t.TempDir()
	if file != "" {
		if err := os.MkdirAll(filepath.Join(home, ".anamnesis"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".anamnesis", "config.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(config.Environment{
		Lookup:   func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		UserHome: home, Hostname: "host", Flags: flags,
	})
}

func TestPrecedence(t *testing.T) {
	const file = `{"sessions": {"days": 3}, "machine_id": "from-file"}`
	hook := map[string]string{"ANAMNESIS_HOOK": "1", "ANAMNESIS_MACHINE_ID": "old", "ANAMNESIS_GIT_REMOTE": "old:x.git"}
	for _, c := range []struct {
		name   string
		env    map[string]string
		file   string
		flags  []string
		key    string
		value  string
		source config.Source
	}{
		{"default", nil, "", nil, "sessions.days", "0", config.FromDefault},
		{"file", nil, file, nil, "sessions.days", "3", config.FromFile},
		{"environment", map[string]string{"ANAMNESIS_SESSIONS_DAYS": "4"}, file, nil, "sessions.days", "4", config.FromEnv},
		{"flag", map[string]string{"ANAMNESIS_SESSIONS_DAYS": "4"}, file, []string{"sessions.days=5"}, "sessions.days", "5", config.FromFlag},
		{"an empty variable is not set", map[string]string{"ANAMNESIS_SESSIONS_DAYS": ""}, file, nil, "sessions.days", "3", config.FromFile},
		{"machine id from the file", nil, file, nil, "machine_id", "from-file", config.FromFile},
		{"machine id from the host", nil, "", nil, "machine_id", "host", config.FromDefault},
		{"a bad value in the file is not used", nil, `{"sessions": {"days": "many"}}`, nil, "sessions.days", "0", config.FromDefault},
		{"a bad value in the environment lets the file stand", map[string]string{"ANAMNESIS_SESSIONS_DAYS": "-1"}, file, nil, "sessions.days", "3", config.FromFile},
		{"a flag by the name of its variable", nil, "", []string{"ANAMNESIS_SESSIONS_DAYS=5"}, "sessions.days", "5", config.FromFlag},
		{"a fraction that is too great", map[string]string{"ANAMNESIS_PATIENCE": "2000"}, "", nil, "patience", "1000", config.FromEnv},
		{"a fraction that is too small", nil, `{"patience": -1}`, nil, "patience", "0.1", config.FromFile},
		{"a bad flag", nil, "", []string{"patience=2000"}, "patience", "1", config.FromDefault},
		{"what init wrote into a hook", hook, file, nil, "machine_id", "from-file", config.FromFile},
		{"a hook after unset", hook, file, nil, "remote", "", config.FromDefault},
		{"a hook without config.json", hook, "", nil, "remote", "old:x.git", config.FromEnv},
		{"booleans as people write them", map[string]string{"ANAMNESIS_SYNC": "Off"}, "", nil, "sync.on", "false", config.FromEnv},
		{"a broken file", nil, `{"sessions": `, nil, "sessions.days", "0", config.FromDefault},
		{"a file that is no object", nil, `[1]`, nil, "sessions.days", "0", config.FromDefault},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := load(t, c.env, c.file, c.flags...).Get(c.key)
			if err != nil || v.Value != c.value || v.Source != c.source {
				t.Errorf("%s = %q from %s (%v), want %q from %s", c.key, v.Value, v.Source, err, c.value, c.source)
			}
		})
	}
}

func TestWarningsNameTheValue(t *testing.T) {
	c := load(t, map[string]string{"ANAMNESIS_PATIENCE": "NaN"}, `{"sessions": {"days": true}}`, "no.such=1")
	got := strings.Join(slices.Concat(c.Warnings, c.Mistaken), "\n")
	for _, want := range []string{"patience (env)", "sessions.days (file)", "--set no.such=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning about %s in\n%s", want, got)
		}
	}
}

func TestHome(t *testing.T) {
	if got := load(t, map[string]string{"ANAMNESIS_HOME": "~/elsewhere"}, ""); filepath.Base(got.Home) != "elsewhere" || !filepath.IsAbs(got.Home) {
		t.Errorf("home %s", got.Home)
	}
	if got := load(t, nil, ""); filepath.Base(got.Home) != ".anamnesis" || filepath.Base(got.ClaudeHome) != ".claude" {
		t.Errorf("home %s, claude %s", got.Home, got.ClaudeHome)
	}
	// A file must not be able to move the store it stands in.
	if got := load(t, nil, `{"home": "/tmp/x"}`); filepath.Base(got.Home) != ".anamnesis" {
		t.Errorf("config.json moved the store to %s", got.Home)
	}
}

func TestEdit(t *testing.T) {
	str := func(s string) *string { return &s }
	for _, c := range []struct {
		name    string
		file    string
		changes []config.Change
		want    string // JSON; "" means an error
		err     string
	}{
		{"nested", `{}`, []config.Change{{"sessions.days", str("4")}}, `{"sessions": {"days": 4}}`, ""},
		{"coerced", ``, []config.Change{{"sync.on", str("no")}, {"machine_id", str(" box ")}}, `{"machine_id": "box", "sync": {"on": false}}`, ""},
		{"others stay", `{"reflection": {"provider": "deepseek"}, "x": 1.50}`, []config.Change{{"remote", str("u@h:m.git")}}, `{"reflection": {"provider": "deepseek"}, "remote": "u@h:m.git", "x": 1.50}`, ""},
		{"an address, a word, a key", ``, []config.Change{{"reflection.base_url", str("https://x.example/v1/")}, {"reflection.provider", str("OpenAI")}, {"reflection.api_key", str("sk-abcdef")}}, `{"reflection": {"base_url": "https://x.example/v1", "provider": "openai", "api_key": "sk-abcdef"}}`, ""},
		{"no address", `{}`, []config.Change{{"reflection.base_url", str("x.example")}}, "", "reflection.base_url: must start with https://"},
		{"no such word", `{}`, []config.Change{{"reflection.provider", str("acme")}}, "", `"acme" is not heuristic, deepseek, openai, local, claude, codex, gemini, copilot, opencode or files`},
		{"unset prunes", `{"sessions": {"days": 4}}`, []config.Change{{Key: "sessions.days"}}, `{}`, ""},
		{"a key without effect can be unset", `{"old": {"k": 4}}`, []config.Change{{Key: "old.k"}}, `{}`, ""},
		{"unknown", `{}`, []config.Change{{"nope", str("1")}}, "", "unknown setting 'nope'"},
		{"unset unknown", `{}`, []config.Change{{Key: "nope"}}, "", "unknown setting 'nope'"},
		{"bad value, nothing written", `{}`, []config.Change{{"remote", str("x")}, {"sessions.days", str("x")}}, "", "sessions.days"},
		{"home", `{}`, []config.Change{{"home", str("/x")}}, "", "ANAMNESIS_HOME"},
		{"line feed", `{}`, []config.Change{{"remote", str("a\nb")}}, "", "one line"},
		{"a broken file is left alone", `{"a": `, []config.Change{{"remote", str("x")}}, "", "not a JSON object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, nil, c.file).Edit(c.changes)
			if c.want == "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q in it", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(c.want), &b) != nil || cmp.Diff(b, a) != "" {
				t.Errorf("got %s want %s", got, c.want)
			}
		})
	}
}

func TestUnknownKeysAreMasked(t *testing.T) {
	c := load(t, nil, `{"old": {"api_key": "sk-abcdef", "model": "m"}}`)
	want := map[string]string{"old.api_key": "sk-...ef", "old.model": "m"}
	got := map[string]string{}
	for _, v := range c.Unknown() {
		got[v.Key] = v.Value
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for in, want := range map[string]string{"": "", "abc": "set", "abcdef": "set", "sk-abcdef": "sk-...ef"} {
		if got := config.Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPatience(t *testing.T) {
	for value, want := range map[string]time.Duration{"": time.Second, "20": 20 * time.Second, "0.5": 500 * time.Millisecond, "0": 100 * time.Millisecond, "1e9": 1000 * time.Second, "NaN": time.Second, "soon": time.Second} {
		env := map[string]string{}
		if value != "" {
			env["ANAMNESIS_PATIENCE"] = value
		}
		if got := load(t, env, "").Wait(time.Second); got != want {
			t.Errorf("with a patience of %q a second takes %v, want %v", value, got, want)
		}
	}
}

func TestDisabled(t *testing.T) {
	for _, name := range []string{"ANAMNESIS_DISABLED", "REFLECT_DISABLED"} {
		if !load(t, map[string]string{name: "1"}, "").Disabled {
			t.Errorf("%s=1 does not disable", name)
		}
		if load(t, map[string]string{name: "0"}, "").Disabled {
			t.Errorf("%s=0 disables", name)
		}
	}
}

// variedByTests are fields whose usual value is a constant of the room: no setting reaches
// them, and tests give others.
var variedByTests = []string{".Reflection.MinSessions", ".Reflection.MinDurable", ".Models.Embedder.Timeout", ".Lifecycle.Time"}

// TestWhoChanges requires each setting to document who changes it and when: a setting that
// has no such user is a constant of its package.
func TestWhoChanges(t *testing.T) {
	for _, v := range load(t, nil, "").Values() {
		if len(strings.Fields(v.Who)) < 4 || !strings.HasSuffix(v.Who, ".") || strings.Contains(v.Who, "|") {
			t.Errorf("%s: write a sentence about who changes it and when, not %q", v.Key, v.Who)
		}
	}
}

// Every exported field of a room's Options must be set by exactly one row, and
// every row must set a field: no orphan switch, no orphan field.
func TestEveryFieldHasOneRow(t *testing.T) {
	plain := load(t, nil, "")
	movedBy := make(map[string][]string)
	for _, v := range plain.Values() {
		flags := []string{v.Key + "=" + otherValue(v)}
		c := load(t, nil, "", flags...)
		if len(c.Warnings)+len(c.Mistaken) > 0 {
			t.Fatalf("%s: %v %v", v.Key, c.Warnings, c.Mistaken)
		}
		moved := differences("", reflect.ValueOf(*plain), reflect.ValueOf(*c))
		if len(moved) == 0 {
			t.Errorf("%s sets no field", v.Key)
		}
		for _, f := range moved {
			movedBy[f] = append(movedBy[f], v.Key)
		}
	}
	for _, f := range fields("", reflect.TypeOf(*plain)) {
		switch f {
		case ".UserHome", ".Disabled", ".Warnings", ".Mistaken": // facts of the process, not settings
			continue
		case ".Capture.Directive", ".Reflection.Directive", ".Inject.ShownTypes": // the mode says them
			continue
		}
		if strings.HasPrefix(f, ".Mode.") || f == ".Mode" {
			continue
		}
		if strings.HasPrefix(f, ".Recall.Tuning.") || slices.Contains(variedByTests, f) {
			continue
		}
		if n := len(movedBy[f]); n != 1 {
			t.Errorf("field %s is set by %d rows %v, want one", f, n, movedBy[f])
		}
	}
}

// otherValue is a value that is not the default.
func otherValue(v config.Value) string {
	switch {
	case v.Values == "true or false" && v.Def == "true":
		return "false"
	case v.Values == "true or false":
		return "true"
	case v.Key == "recall.boosts":
		return "none"
	case v.Key == "recall.floors":
		return "lexical=0.1"
	case v.Key == "mode":
		return "engineering"
	case v.Key == "unread.projects":
		return "github.com/ada/shop=off"
	case v.Values == "text":
		return "/other/value"
	case strings.Contains(v.Values, "address"):
		return "https://other.example/v1"
	case strings.Contains(v.Values, " or "): // words
		return v.Values[strings.LastIndex(v.Values, " ")+1:]
	case v.Key == "patience": // there is no such thing as none
		return "2"
	case v.Def == "1":
		return "0"
	}
	return "11"[:1+strings.Count(v.Values, "100")%2]
}

func fields(prefix string, t reflect.Type) []string {
	var all []string
	for f := range t.Fields() {
		switch {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Struct:
			all = append(all, fields(prefix+"."+f.Name, f.Type)...)
		default:
			all = append(all, prefix+"."+f.Name)
		}
	}
	return all
}

func differences(prefix string, a, b reflect.Value) []string {
	var all []string
	for _, f := range fields(prefix, a.Type()) {
		av, bv := a, b
		for name := range strings.SplitSeq(f[1:], ".") {
			av, bv = av.FieldByName(name), bv.FieldByName(name)
		}
		folder := f == ".Home" || f == ".ClaudeHome" || strings.HasPrefix(f, ".Others.") || strings.HasPrefix(f, ".Agents.") // expanded, so they differ between two homes
		if f != ".UserHome" && !folder && !reflect.DeepEqual(av.Interface(), bv.Interface()) {
			all = append(all, f)
		}
		if b, ok := bv.Interface().(bool); ok && folder && b != av.Interface().(bool) {
			all = append(all, f)
		}
		if s, ok := bv.Interface().(string); ok && s == "/other/value" && folder {
			all = append(all, f)
		}
	}
	return all
}

func TestFeatures(t *testing.T) {
	all := strings.Fields(`A1 A2 A3 A4 A5 A6 C1 C2 C3 C4 C5 M1 M2 M3 M4 M5 M6 M7 M8 O1 O2 O3 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12
		R13 R14 R15 R16 R20 S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 SG1 SG2 SG3 SG4 SG5 SG6 SG7 SG8`)
	if len(all) != 57 {
		t.Fatalf("the test knows %d ids", len(all))
	}
	all = append(all, "R21", "RS1", "RS2", "RS3", "RS4", "RS5", "RS6", "S11", "T1") // came later
	var seen, built []string
	for _, f := range config.Features() {
		built = append(built, f.ID)
		for what, s := range map[string]string{"Doc": f.Doc, "Without": f.Without} {
			if !strings.HasSuffix(s, ".") || len(s) < 20 {
				t.Errorf("%s: %s is no sentence: %q", f.ID, what, s)
			}
		}
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(f.Home))); err != nil {
			t.Errorf("%s: Home %s does not exist", f.ID, f.Home)
		}
		proof, err := os.ReadFile(filepath.Join("..", "cli", "testdata", "proof", f.ID+".txtar"))
		if err != nil {
			t.Errorf("%s has no proof: %v", f.ID, err)
		}
		for _, s := range f.Settings { // a switch is set both ways
			if n := len(regexp.MustCompile(regexp.QuoteMeta(s.Env)+"=").FindAllIndex(proof, -1)); n < 2 {
				t.Errorf("the proof of %s sets %s %d times, want both ways", f.ID, s.Env, n)
			}
		}
	}
	if !slices.IsSortedFunc(built, func(a, b string) int {
		letters, number := split(a)
		others, second := split(b)
		return gocmp.Or(strings.Compare(letters, others), number-second)
	}) {
		t.Errorf("features are not sorted: %v", built)
	}
	seen = append(seen, built...)
	slices.Sort(seen)
	slices.Sort(all)
	if d := cmp.Diff(all, seen); d != "" {
		t.Errorf("features (-want +got):\n%s", d)
	}
}

// split cuts the id of a feature into its letters and its number.
func split(id string) (letters string, number int) {
	letters = strings.TrimRight(id, "0123456789")
	number, _ = strconv.Atoi(id[len(letters):])
	return letters, number
}

func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, v := range load(t, nil, "").Values() {
		if !regexp.MustCompile(`^((ANAMNESIS|RECALL|REFLECT|CLAUDE)_[A-Z0-9_]+|CODEX_HOME|COPILOT_HOME|GEMINI_CLI_HOME|CURSOR_CONFIG_DIR|HERMES_HOME|XDG_(CONFIG|DATA)_HOME|GLOBAL_LEARNINGS_PATH)$`).MatchString(v.Env) {
			t.Errorf("environment name %q", v.Env)
		}
		if !regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`).MatchString(v.Key) {
			t.Errorf("key %q", v.Key)
		}
		if !strings.HasSuffix(v.Doc, ".") {
			t.Errorf("%s: no sentence: %q", v.Key, v.Doc)
		}
		for _, name := range []string{v.Env, v.Key} {
			if seen[name] {
				t.Errorf("%s is used twice", name)
			}
			seen[name] = true
		}
	}
}

// TestDocs compares the generated pages with what the generator writes now.
func TestDocs(t *testing.T) {
	for name, want := range map[string]string{"settings.md": config.SettingsDoc(), "features.md": config.FeaturesDoc()} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("docs/%s is stale (%v); run `make generate`", name, err)
		}
	}
}

// Names of settings that went are kept without effect: no warning, no error.
func TestFormerNames(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "## Settings that became constants")
	former := regexp.MustCompile(`\b(ANAMNESIS|RECALL|REFLECT)_[A-Z0-9_]+[A-Z0-9]`).FindAllString(table, -1)
	if !ok || len(former) < 40 {
		t.Fatalf("the page lists %d variables", len(former))
	}
	env := map[string]string{}
	for _, name := range former {
		if _, err := load(t, nil, "").Get(name); err == nil {
			t.Errorf("%s is a setting", name)
		}
		env[name] = "0.5"
	}
	c := load(t, env, `{"recall": {"lexical": {"k1": 2}, "boost": {"tags": 1}, "mmr": {"lambda": 0.1}}, "events": {"on": {"learning_created": "x"}}}`)
	if len(c.Warnings) > 0 || len(c.Unknown()) != 4 || c.Recall.Tuning != recall.Tuned() || c.Lifecycle.Program != "" {
		t.Errorf("%v, %v, %+v", c.Warnings, c.Unknown(), c.Recall.Tuning)
	}
	unknown := config.UnknownVariables(config.Environment{Names: func() []string { return former }})
	if len(unknown) != len(former) {
		t.Errorf("%d of %d former variables are named", len(unknown), len(former))
	}
}

// A shell is an agent's by what its client sets, and by nothing that a terminal of a person has.
func TestAgentShell(t *testing.T) {
	shell := func(set ...string) string {
		return config.Environment{Lookup: func(name string) (string, bool) {
			for _, kv := range set {
				if k, v, _ := strings.Cut(kv, "="); k == name {
					return v, true
				}
			}
			return "", false
		}}.AgentShell()
	}
	for _, kv := range []string{
		"CLAUDECODE=1", "CODEX_THREAD_ID=01a21b73-017e-74d1-b320-9d5a839c0ab9", "GEMINI_CLI=1", "OPENCODE=1", "COPILOT_CLI=1", "CURSOR_AGENT=1",
	} {
		if name, _, _ := strings.Cut(kv, "="); shell("TERM=xterm", kv) != name {
			t.Errorf("%s is no shell of an agent", kv)
		}
	}
	for _, kv := range []string{
		"AGENT=1", "AI_AGENT=x", "TERM_PROGRAM=vscode", "VSCODE_INJECTION=1", "CURSOR_TRACE_ID=1", "TMUX=/tmp/tmux-0/default,1,0", "CODEX_HOME=/c",
		"CODEX_MANAGED_BY_NPM=1", "GEMINI_CLI_HOME=/g", "CLAUDE_CODE_SSE_PORT=1", "COPILOT_HOME=/c", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"CLAUDECODE=0", "CLAUDECODE=",
	} {
		if name := shell("TERM=xterm", kv); name != "" {
			t.Errorf("%s makes a shell an agent's, by %s", kv, name)
		}
	}
}
