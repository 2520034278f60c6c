package connect

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"anamnesis/internal/agent"
)

// A Release is the newest client of an agent that the tests of this program drive.
type Release struct {
	Program string // on the search path
	Package string // of npm
	Version string
}

// maxPackage bounds the bytes of a package.json that are read.
const maxPackage = 1 << 20

// VersionOf returns the version of the client whose program is a file, "" if nothing says it. The client is not
// run, which takes some of them seconds: the version is that of the npm package around the file, or of a folder
// or file on the way to it that is named after a version, as other installers do.
func (r Release) VersionOf(program string) string {
	file, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	// What npm puts beside its packages on Windows is a script, and no link.
	if v := r.packaged(filepath.Join(filepath.Dir(file), "node_modules", filepath.FromSlash(r.Package))); v != "" {
		return v
	}
	for at := file; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if v := cmp.Or(r.packaged(at), versionIn(filepath.Base(at))); v != "" {
			return v
		}
	}
	return ""
}

// packaged returns the version of the package in a folder, "" if it is another one or none.
func (r Release) packaged(dir string) string {
	f, err := os.Open(filepath.Join(dir, "package.json"))
	if err != nil {
		return ""
	}
	defer f.Close()
	var p struct{ Name, Version string }
	if json.NewDecoder(io.LimitReader(f, maxPackage)).Decode(&p) != nil || p.Name != r.Package {
		return ""
	}
	return versionIn(p.Version)
}

// versionIn returns a name that is a version, else "".
func versionIn(name string) string {
	if v := strings.TrimPrefix(name, "v"); strings.Count(v, ".") >= 2 && Newer(v, "0.0.0") {
		return v
	}
	return ""
}

// Newer reports whether version a is newer than b. Of each the first three numbers count; what is no version is not
// newer than any, and none is newer than what is no version.
func Newer(a, b string) bool {
	x, okA := numbers(a)
	y, okB := numbers(b)
	if !okA || !okB {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

// numbers returns the first three numbers of a version, which a program may print with words behind.
func numbers(version string) (all [3]int, ok bool) {
	version, _, _ = strings.Cut(strings.TrimSpace(version), " ")
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return all, false
	}
	for i, part := range parts {
		if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 && i == 2 {
			part = part[:end]
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return all, false
		}
		all[i] = n
	}
	return all, true
}

// ShowsDialog returns which clients ask their user before they call a tool of MCP that decides: those that were tried,
// in the version that was tried, as far as the process that started this one is such a client with a person at it.
func ShowsDialog(parent agent.Process) func(client, version string) bool {
	return func(client, version string) bool {
		return agent.ShowsDialog(client, version, ByName(claudeName).Release.Version, parent)
	}
}
