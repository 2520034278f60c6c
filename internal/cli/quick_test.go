package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/config"
	"anamnesis/internal/store/storetest"
)

// quickScripts and quickProofs are what a quick run runs of the scripts and proofs, besides those that belong to
// changed files: a few of each area, none longer than a second.
var (
	quickScripts = []string{
		"add_json", "add_text", "capture_nul", "config_text", "errors_json", "export_bundle", "forget_near", "handoff_two",
		"history_all", "hook_prompt", "hook_start", "inject_text", "list_text", "review_refused", "search_tokens", "search_words",
		"serve_stdio", "sessions_kept", "show_note", "sync_local", "version_text",
	}
	quickProofs = []string{"A1", "C1", "M1", "O1", "R1", "RS1", "S1", "SG1", "T1"}
)

// scriptsOf returns the scripts of a folder that this run runs: all of them, and in a quick run
// some and those that belong to changed files.
func scriptsOf(t *testing.T, dir string, some []string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("there are no scripts in %s: %v", dir, err)
	}
	for _, name := range some {
		if !slices.Contains(all, filepath.Join(dir, name+".txtar")) {
			t.Errorf("a quick run wants %s in %s, which does not exist", name, dir)
		}
	}
	if !storetest.Quick() {
		return all
	}
	var few []string
	for _, file := range all {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if slices.Contains(some, name) || slices.ContainsFunc(storetest.Changed(), func(changed string) bool {
			return changed == "internal/cli/"+filepath.ToSlash(file) || testsFile(t, name, changed)
		}) {
			few = append(few, file)
		}
	}
	t.Logf("a quick run: %d of %d scripts in %s", len(few), len(all), dir)
	return few
}

// testsFile reports whether a script belongs to a source file. The name of a script begins with the name of the
// command; the commands and use cases of that name are in a file of that name. A proof belongs to
// the file of its feature and to those in which it must detect faults.
func testsFile(t *testing.T, script, changed string) bool {
	file, isSource := strings.CutPrefix(changed, "internal/")
	if !isSource || !strings.HasSuffix(file, ".go") {
		return false
	}
	folder, base := filepath.Split(filepath.FromSlash(file))
	command, _, _ := strings.Cut(script, "_")
	if folder = filepath.ToSlash(folder); folder == "cli/" || strings.HasPrefix(folder, "app/") {
		if strings.TrimSuffix(strings.TrimSuffix(base, ".go"), "_test") == command {
			return true
		}
	}
	for _, f := range config.Features() {
		if f.ID == script && f.Home == file {
			return true
		}
	}
	faults, err := os.ReadFile(filepath.Join("testdata", "fault", script+".txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Contains("\n"+string(faults), "\n"+file+":")
}

// TestScriptsOfFiles checks which scripts belong to a changed file.
func TestScriptsOfFiles(t *testing.T) {
	for _, test := range []struct {
		script, changed string
		want            bool
	}{
		{"search_words", "internal/cli/search.go", true},
		{"search_words", "internal/app/search.go", true},
		{"search_words", "internal/cli/search_test.go", true},
		{"search_words", "internal/recall/search.go", false},
		{"search_words", "internal/cli/sync.go", false},
		{"slot", "internal/cli/slot.go", true},
		{"A1", "internal/inject/slot.go", true},
		{"S1", "internal/recall/field.go", true},
		{"A1", "docs/settings.md", false},
	} {
		if got := testsFile(t, test.script, test.changed); got != test.want {
			t.Errorf("%s belongs to %s: %v, want %v", test.script, test.changed, got, test.want)
		}
	}
}
