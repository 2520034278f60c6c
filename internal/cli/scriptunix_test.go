//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// unixCommands are commands for what other systems do not have.
var unixCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"fifo":   cmdFIFO,
	"asuser": cmdAsUser,
	"peak":   cmdPeak,
}

// fifo FILE makes a named pipe.
func cmdFIFO(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "fifo FILE")
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// asuser CODE PROGRAM ARG... runs a program as somebody whom permissions bind:
// for root, who may do everything, that is nobody.
func cmdAsUser(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "asuser CODE PROGRAM ARG...")
	cmd := command(ts, args[1], args[2:]...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		for _, path := range []string{cmd.Path, workOf(ts)} { // nobody may pass
			for dir := filepath.Dir(path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
				ts.Check(os.Chmod(dir, 0o755))
			}
		}
		ts.Check(os.Chmod(workOf(ts), 0o755))
	}
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	_ = cmd.Run()
	_, _ = ts.Stdout().Write(out.Bytes())
	_, _ = ts.Stderr().Write(diag.Bytes())
	if code := cmd.ProcessState.ExitCode(); code != number(ts, args[0]) {
		ts.Fatalf("exited with %d, want %s\n%s%s", code, args[0], out.String(), diag.String())
	}
	if strings.Contains(diag.String(), "goroutine ") {
		ts.Fatalf("it crashed:\n%s", diag.String())
	}
}

// peak MB PROGRAM ARG... runs a program and checks how much memory it had at
// most. The race detector multiplies that, so with it nothing is checked.
func cmdPeak(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "peak MB PROGRAM ARG...")
	cmd := command(ts, args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Run())
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || raceDetector() {
		return
	}
	kb := int(usage.Maxrss)
	if runtime.GOOS == "darwin" {
		kb /= 1024
	}
	if kb/1024 > number(ts, args[0]) {
		ts.Fatalf("it took %d MB, at most %s", kb/1024, args[0])
	}
	ts.Logf("peak %d MB", kb/1024)
}

func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
