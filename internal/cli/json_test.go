package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shapes are command lines whose JSON answers are pinned: names of keys and the
// kinds of their values, in testdata/json. They run in this order in one store;
// $ONE, $TWO and $HAND are notes in it. An answer only ever gains keys.
var shapes = [][]string{
	{"add", "--title", "Use tabs", "--body", "because gofmt does", "--tag", "go", "--global"},
	{"search", "--explain", "tabs"},
	{"sessions"},
	{"sessions", "show", "json"},
	{"sessions", "forget", "json"},
	{"fix", "--limit", "3", "error: cannot open tabs.conf"},
	{"how", "--limit", "3", "check the tabs"},
	{"blame", "--limit", "3", "tabs.go:1"},
	{"resume", "--project", ""},
	{"list"},
	{"show", "$ONE"},
	{"edit", "$ONE", "--tag", "style"},
	{"why", "$ONE"},
	{"supersede", "$TWO", "$ONE"},
	{"archive", "$TWO"},
	{"unarchive", "$TWO"},
	{"undo"},
	{"undo", "--list"},
	{"forget", "$TWO"},
	{"history", "$ONE"},
	{"handoff"},
	{"handoff", "done", "$HAND"},
	{"inject"},
	{"held"},
	{"gaps"},
	{"project"},
	{"upgrade"},
	{"corpus", "list"},
	{"index", "tabs"},
	{"timeline", "tabs"},
	{"hydrate", "$ONE"},
	{"workflow"},
	{"dedup"},
	{"expire"},
	{"consolidate"},
	{"conventions"},
	{"migrate", "a", "b"},
	{"backfill-provenance"},
	{"restore", "--since", "1h"},
	{"export", "$WORK/all.tar"},
	{"import", "bundle", "$WORK/all.tar", "--merge"},
	{"import", "native"},
	{"import", "transcripts"},
	{"import", "reflect"},
	{"reflect"},
	{"merge"},
	{"review"},
	{"verify", "--dir", "$CLONE"},
	{"cost"},
	{"stats"},
	{"log"},
	{"status"},
	{"doctor", "--only", "drift,rules"},
	{"sync", "--status"},
	{"sync"},
	{"share", "--repo", "--dry-run", "--set", "team.repo.address=/srv/team.git", "$ONE"},
	{"team", "trust"},
	{"conflicts"},
	{"machines"},
	{"reindex"},
	{"models"},
	{"drain"},
	{"redact", "$WORK/secret.txt"},
	{"calibrate-thresholds"},
	{"config", "list"},
	{"config", "get", "sessions.days"},
	{"config", "explain", "R3"},
	{"config", "test"},
	{"init", "--print", "--command", "/opt/anamnesis"},
	{"uninstall", "--no-mcp"},
	{"version"},
}

// jsonSession is a session in which an error came and went.
func jsonSession(dir string) string {
	var b strings.Builder
	line := func(at int, role string, content any) {
		data, _ := json.Marshal(map[string]any{
			"type": role, "sessionId": "json", "cwd": dir, "gitBranch": "main", "uuid": fmt.Sprint("j", at),
			"timestamp": fmt.Sprintf("2026-05-01T10:00:%02dZ", at), "message": map[string]any{"role": role, "content": content},
		})
		b.Write(append(data, '\n'))
	}
	tool := func(at int, name string, input map[string]any, result string, failed bool) {
		line(at, "assistant", []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", at), "name": name, "input": input}})
		line(at+1, "user", []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", at), "content": result, "is_error": failed}})
	}
	line(0, "user", "why do the tabs fail to open?")
	tool(1, "Bash", map[string]any{"command": "make check-tabs"}, "error: cannot open tabs.conf", true)
	line(3, "assistant", []any{map[string]any{"type": "text", "text": "The file is missing because the build never copies it."}})
	tool(4, "Edit", map[string]any{"file_path": filepath.Join(dir, "tabs.go")}, "ok", false)
	tool(6, "Bash", map[string]any{"command": "make check-tabs"}, "ok", false)
	tool(8, "Bash", map[string]any{"command": "git commit -am tabs"}, "[main abc1234] Copy it", false)
	line(10, "assistant", []any{map[string]any{"type": "text", "text": "I added the copy to the build."}})
	return b.String()
}

// TestJSON compares the shape of every JSON answer with testdata/json, so that
// a review sees what the programs of users will see.
func TestJSON(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home, work := t.TempDir(), t.TempDir()
	vars := map[string]string{"WORK": work}
	for name, text := range map[string]string{"secret.txt": "nothing", ".anamnesis/project": "shop\n", "json.jsonl": jsonSession(work)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) []byte {
		t.Helper()
		for i := range args {
			args[i] = os.Expand(args[i], func(name string) string { return vars[name] })
		}
		cmd := exec.Command("anamnesis", append(args, "--json")...)
		cmd.Dir = work
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "claude"),
			"ANAMNESIS_MACHINE_ID=testbox", "ANAMNESIS_PATIENCE=" + patience, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.TempDir(), "ANAMNESIS_DISABLED=1",
			"GORACE=" + os.Getenv("GORACE"),
		}
		var diag bytes.Buffer
		cmd.Stderr = &diag
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || len(out) == 0 {
			t.Fatalf("%v: %v\n%s", args, err, diag.String())
		}
		return out
	}
	id := func(out []byte) string {
		var v struct{ ID string }
		if err := json.Unmarshal(out, &v); err != nil || v.ID == "" {
			t.Fatalf("no id in %s: %v", out, err)
		}
		return v.ID
	}
	vars["CLONE"] = filepath.Join(work, "clone")
	if err := os.MkdirAll(filepath.Join(vars["CLONE"], ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vars["CLONE"], ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("capture", "--no-sync", "--transcript", "$WORK/json.jsonl")
	vars["TWO"] = id(run("add", "--title", "Use spaces", "--body", "four of them", "--global"))
	vars["HAND"] = id(run("handoff", "leave", "--title", "Half done", "--project", "shop"))

	var names []string
	for _, line := range shapes {
		args := slices.Clone(line)
		out := run(args...)
		if line[0] == "add" {
			vars["ONE"] = id(out)
		}
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Errorf("%v: %v in %s", line, err, out)
			continue
		}
		found := map[string]string{}
		shape("", v, found)
		var text strings.Builder
		for _, path := range slices.Sorted(maps.Keys(found)) {
			// A list that is empty in one place and not in another; which comes first may depend on the second.
			if found[path] == "list" && slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return strings.HasPrefix(p, path+"[]") }) {
				continue
			}
			// An object that is empty in one element of a list and not in another.
			if found[path] == "object" && slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return strings.HasPrefix(p, path+".") }) {
				continue
			}
			fmt.Fprintf(&text, "%s %s\n", path, found[path])
		}
		name := line[0]
		if len(line) > 1 && !strings.HasPrefix(line[1], "-") && !strings.HasPrefix(line[1], "$") && line[1] != "tabs" && line[1] != "a" {
			name += "_" + line[1]
		}
		if slices.Contains(names, name) { // the second form of a command
			name += "_again"
		}
		names = append(names, name)
		compareGolden(t, filepath.Join("testdata", "json", name+".txt"), text.String())
	}
	entries, _ := os.ReadDir(filepath.Join("testdata", "json"))
	if len(entries) != len(names) {
		t.Errorf("%d files in testdata/json for %d answers", len(entries), len(names))
	}
}

func compareGolden(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Errorf("%v; make it with -update", err)
	} else if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got, -update accepts it):\n%s", golden, d)
	}
}

// monthKey is a key that depends on the day of the test.
var monthKey = regexp.MustCompile(`^\d{4}-\d\d$`)

// shape notes the kind of every value below a path. Elements of a list are one.
func shape(path string, v any, found map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if monthKey.MatchString(key) {
				key = "<MONTH>"
			}
			shape(path+"."+key, value, found)
		}
		if len(v) == 0 {
			found[path] = "object"
		}
	case []any:
		if len(v) == 0 {
			found[path] = "list"
		}
		for _, e := range v {
			shape(path+"[]", e, found)
		}
	case string:
		found[path] = "text"
	case float64:
		found[path] = "number"
	case bool:
		found[path] = "true or false"
	case nil:
		found[path] = "null"
	}
}
