package cli

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"anamnesis/internal/upgrade"
	"anamnesis/internal/upgrade/upgradetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// released says, in the environment of scripts, that the program is of a release: its
// version, and the public key of releases, if it has one.
const released = "ANAMNESIS_TEST_RELEASED"

// useRelease makes this process the program of a release.
func useRelease() {
	if fields := strings.Fields(os.Getenv(released)); len(fields) > 0 {
		version = fields[0]
		releaseKey = strings.Join(fields[1:], "")
	}
}

// release VERSION FILE serves a release of the program FILE, and sets what a program of
// version 1.0.0 would know of it. A copy of the program that may be replaced is $OWN.
// "release damaged" changes its archive, "release unsigned" its checksums.
func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	known := ts.Value(namesKey{}).(*names)
	if len(args) == 1 {
		r := known.release
		switch args[0] {
		case "damaged":
			r.Change(func(files map[string][]byte) { files[r.Archive] = append(files[r.Archive], 0) })
		case "unsigned":
			r.Change(func(files map[string][]byte) { files[upgrade.Checksums] = append(files[upgrade.Checksums], '\n') })
		default:
			ts.Fatalf("release damaged|unsigned")
		}
		return
	}
	need(ts, !neg && len(args) == 2, "release VERSION FILE")
	r := upgradetest.Make(args[0], []byte(ts.ReadFile(args[1])))
	known.release = r
	srv := httptest.NewServer(r)
	ts.Defer(srv.Close)
	ts.Setenv("RELEASES", srv.URL)
	ts.Setenv(released, "1.0.0 "+r.Key)

	program, err := exec.LookPath("anamnesis")
	ts.Check(err)
	own := filepath.Join(ts.MkAbs("own"), upgrade.ProgramName(runtime.GOOS))
	ts.Check(os.MkdirAll(filepath.Dir(own), 0o700))
	_ = os.Remove(own)
	_ = os.Remove(upgrade.Former(own))
	// Another process writes it: what this one writes is busy while a child inherits it.
	ts.Check(ts.Exec("cp", program, own))
	ts.Setenv("OWN", own)
}
