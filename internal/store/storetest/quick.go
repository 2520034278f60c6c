package storetest

import (
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// changedFiles is the variable of a quick run. It holds the names of the files with uncommitted
// changes, from the root of the repository, with line feeds between them.
const changedFiles = "ANAMNESIS_QUICK"

// Quick reports whether this is a quick run, as make quick starts it. Long suites then run few of their
// cases. In CI it returns false, so that no case is left out there.
func Quick() bool { return os.Getenv(changedFiles) != "" && os.Getenv("ANAMNESIS_CI") == "" }

// Changed returns the changed files of a quick run, from the root of the repository.
func Changed() []string {
	if !Quick() {
		return nil
	}
	return strings.Fields(os.Getenv(changedFiles))
}

// SkipQuick skips a long test in a quick run. It does not skip a case whose name is among cases, nor a
// test in a file that changed.
func SkipQuick(t testing.TB, cases ...string) {
	t.Helper()
	if !Quick() {
		return
	}
	_, file, _, _ := runtime.Caller(1)
	file = path.Base(path.Dir(file)) + "/" + path.Base(file)
	for _, name := range Changed() {
		if strings.HasSuffix(name, "/"+file) {
			return
		}
	}
	_, name, isCase := strings.Cut(t.Name(), "/")
	if isCase && slices.Contains(cases, strings.ReplaceAll(name, "_", " ")) {
		return
	}
	t.Skip("a quick run leaves it out; go test and CI run it")
}
