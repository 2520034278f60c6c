package internal_test

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// missing says that a test cannot run because something is not there. Where
// everything must be there, that is a failure.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("ANAMNESIS_CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// goTool runs the go command in the repository, without the network.
func goTool(t *testing.T, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		missing(t, "there is no go command: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GODEBUG=") // a tracing caller would trace the go command too
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// The limits of package initialisation, which every process pays, also a hook
// that has nothing to do. Its unit is what the packages of the standard library take
// in the same runs, about a millisecond on the machine of the budgets: a slow
// machine is slow for both. What it takes is about half of the limits; a package
// that does its work there takes several times as much.
const (
	maxInit        = 3.5 // of all packages beside the standard library together
	maxOwnInit     = 0.6 // of ours
	maxPackageInit = 0.8 // of one
)

// heavy lists modules that are known to spend milliseconds before main.
var heavy = []string{
	"charm.land/glamour", "github.com/charmbracelet/glamour", "github.com/alecthomas/chroma",
	"github.com/mark3labs/mcp-go", "github.com/santhosh-tekuri/jsonschema",
	"github.com/microcosm-cc/bluemonday", "github.com/markusmobius/go-dateparser", "rsc.io/markdown", "github.com/yuin/goldmark",
	"github.com/alecthomas/kong", "github.com/spf13/viper",
}

// TestStart builds the program and looks at what its packages do before main.
// The best of many runs counts, for each package separately: the machine may have other
// things to do.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	bin := filepath.Join(t.TempDir(), "anamnesis")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	goTool(t, "build", "-o", bin, ".")

	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if slices.ContainsFunc(heavy, func(h string) bool { return m.Path == h || strings.HasPrefix(m.Path, h+"/") }) {
			t.Errorf("%s is linked in; its package initialisation is too dear for a hook", m.Path)
		}
	}

	packages := map[string]time.Duration{}
	var over []string
	for run := range 40 {
		for pkg, d := range initTimes(t, bin) {
			if old, ok := packages[pkg]; !ok || d < old {
				packages[pkg] = d
			}
		}
		if over = overLimit(packages); len(over) == 0 && run >= 5 {
			break
		}
	}
	t.Logf("package initialisation:\n%s", table(packages))
	for _, o := range over {
		t.Error(o)
	}
}

// overLimit names the limits that these times are over.
func overLimit(packages map[string]time.Duration) (over []string) {
	var standard, own, all time.Duration
	for pkg, d := range packages {
		root, _, _ := strings.Cut(pkg, "/")
		switch {
		case root == "anamnesis":
			own += d
			all += d
		case strings.Contains(root, "."):
			all += d
		default:
			standard += d
		}
	}
	check := func(what string, d time.Duration, limit float64) {
		if ratio := float64(d) / float64(standard); ratio > limit {
			over = append(over, fmt.Sprintf("initialising %s takes %.2f times what the standard library takes (%v), at most %.2f", what, ratio, standard, limit))
		}
	}
	check("all packages beside the standard library", all, maxInit)
	check("our packages", own, maxOwnInit)
	for pkg, d := range packages {
		check(pkg, d, maxPackageInit)
	}
	return over
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// initTimes runs the program once.
func initTimes(t *testing.T, bin string) map[string]time.Duration {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), bin, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+home, "ANAMNESIS_HOME="+filepath.Join(home, "store"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("anamnesis version: %v\n%s", err, stderr.Bytes())
	}
	each := make(map[string]time.Duration)
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatalf("%q: %v", m[0], err)
		}
		each[m[1]] = time.Duration(ms * float64(time.Millisecond))
	}
	if len(each) == 0 {
		t.Fatalf("GODEBUG=inittrace=1 printed no package:\n%s", stderr.Bytes())
	}
	return each
}

// table lists the slowest packages.
func table(packages map[string]time.Duration) string {
	names := slices.SortedFunc(maps.Keys(packages), func(a, b string) int { return cmp.Compare(packages[b], packages[a]) })
	var b strings.Builder
	for _, pkg := range names[:min(len(names), 15)] {
		fmt.Fprintf(&b, "%9v  %s\n", packages[pkg], pkg)
	}
	return b.String()
}

// A moduleFile is what these tests read of a go.mod.
type moduleFile struct {
	Require []struct{ Path, Version string }
	Replace []struct{ Old, New struct{ Path string } }
	Exclude []struct{ Path, Version string }
}

func readModuleFile(t *testing.T, file string) moduleFile {
	t.Helper()
	var m moduleFile
	if err := json.Unmarshal(goTool(t, "mod", "edit", "-json", file), &m); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	return m
}

func (m moduleFile) version(module string) string {
	for _, r := range m.Require {
		if r.Path == module {
			return r.Version
		}
	}
	return ""
}

// TestModuleFile keeps "go install anamnesis@version" possible: it refuses a
// module with replace or exclude.
func TestModuleFile(t *testing.T) {
	m := readModuleFile(t, "go.mod")
	for _, r := range m.Replace {
		t.Errorf("go.mod replaces %s; go install refuses that", r.Old.Path)
	}
	for _, e := range m.Exclude {
		t.Errorf("go.mod excludes %s %s; go install ignores that, so builds would differ", e.Path, e.Version)
	}
}

// TestLibcVersion compares modernc.org/libc with what modernc.org/sqlite was
// made and tested with: the two are one program, translated from C together.
func TestLibcVersion(t *testing.T) {
	ours := readModuleFile(t, "go.mod")
	var sqlite struct{ GoMod string }
	if err := json.Unmarshal(goTool(t, "list", "-m", "-json", "modernc.org/sqlite"), &sqlite); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sqlite.GoMod); sqlite.GoMod == "" || err != nil {
		missing(t, "the go.mod of modernc.org/sqlite is not in the module cache; run go mod download")
	}
	const libc = "modernc.org/libc"
	theirs := readModuleFile(t, sqlite.GoMod)
	if got, want := ours.version(libc), theirs.version(libc); got != want || want == "" {
		t.Errorf("go.mod has %s %s, and modernc.org/sqlite %s wants %s: go get %s@%s",
			libc, got, ours.version("modernc.org/sqlite"), want, libc, want)
	}
}

// TestLicences compares docs/licenses.md with go.mod: whoever adds or updates a
// module looks at its licence.
func TestLicences(t *testing.T) {
	page, err := os.ReadFile("../docs/licenses.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\S+) \\| \\S").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = m[2]
	}
	for _, r := range readModuleFile(t, "go.mod").Require {
		if rows[r.Path] != r.Version {
			t.Errorf("docs/licenses.md has %s %q, go.mod %s; look at the licence and correct the row", r.Path, rows[r.Path], r.Version)
		}
		delete(rows, r.Path)
	}
	for module := range rows {
		t.Errorf("docs/licenses.md lists %s, which is not in go.mod", module)
	}
}
