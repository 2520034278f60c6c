package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// networked are the rooms that may import a network: what they ask, and whom they answer,
// stands in SECURITY.md.
var networked = []string{"llm", "embed/models", "upgrade", "mcp", "web", "index/postgres/schema"}

// TestNetwork keeps the network out of all other rooms.
func TestNetwork(t *testing.T) {
	for _, s := range sources(t) {
		if _, suite := suiteOf(s.pkg); suite || s.lab || slices.Contains(networked, s.pkg) {
			continue
		}
		for _, pkg := range []string{"net", "net/http"} {
			if s.nameOf(pkg) != "" {
				t.Errorf("%s imports %s, and %s may not reach a network", s.path, pkg, s.pkg)
			}
		}
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// TestSecurityPage finds the tests that SECURITY.md says hold its promises.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "| promise | tests |\n")
	if !ok {
		t.Fatal("SECURITY.md has no table of promises")
	}
	promises := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 {
			if strings.HasPrefix(line, "|---") {
				continue
			}
			break
		}
		promises++
		tests := quoted.FindAllStringSubmatch(cells[1], -1)
		if len(tests) == 0 {
			t.Errorf("no test holds: %s", cells[0])
		}
		for _, named := range tests {
			if why := missingTest(named[1]); why != "" {
				t.Errorf("%s: %s", cells[0], why)
			}
		}
	}
	if promises < 30 {
		t.Errorf("%d promises were read", promises)
	}
}

// missingTest says what is not there of "room/file_test.go TestName" or "script/name.txtar", "" when it is.
func missingTest(named string) string {
	file, name, goTest := strings.Cut(named, " ")
	if strings.HasPrefix(file, "script/") {
		file = "cli/testdata/" + file
	}
	data, err := os.ReadFile(filepath.FromSlash(file))
	switch {
	case err != nil:
		return err.Error()
	case goTest != strings.HasSuffix(file, "_test.go"):
		return named + " is neither a test nor a script"
	case goTest && !strings.Contains(string(data), "\nfunc "+name+"(t *testing.T) {"):
		return file + " has no " + name
	}
	return ""
}
