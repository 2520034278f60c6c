//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// unixCommands are commands for what other systems do not have.
var unixCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"fifo":     cmdFIFO,
	"asuser":   cmdAsUser,
	"peak":     cmdPeak,
	"readable": cmdReadable,
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
	code, out, diag := asUser(ts, "", args[1:])
	_, _ = ts.Stdout().Write(out)
	_, _ = ts.Stderr().Write(diag)
	if code != number(ts, args[0]) {
		ts.Fatalf("exited with %d, want %s\n%s%s", code, args[0], out, diag)
	}
}

func asUser(ts *testscript.TestScript, stdin string, args []string) (code int, stdout, stderr []byte) {
	cmd := command(ts, args[0], args[1:]...)
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &diag
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	if strings.Contains(diag.String(), "goroutine ") {
		ts.Fatalf("it crashed:\n%s", diag.String())
	}
	return cmd.ProcessState.ExitCode(), out.Bytes(), diag.Bytes()
}

// peak MB PROGRAM ARG... runs a program and checks how much memory it had at
// most. The race detector multiplies that, so with it nothing is checked.
func cmdPeak(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "peak MB PROGRAM ARG...")
	cmd := command(ts, args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	file := filepath.Join(ts.Getenv("WORK"), "peak.txt")
	cmd.Env = append(cmd.Env, peakFile+"="+file)
	ts.Check(cmd.Run())
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || raceDetector() {
		return
	}
	kb := int(usage.Maxrss)
	if runtime.GOOS == "darwin" {
		kb /= 1024
	}
	if status, err := os.ReadFile(file); err == nil { // Linux
		m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
		if m == nil {
			ts.Fatalf("no VmHWM in %s", file)
		}
		kb = number(ts, string(m[1]))
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

// readable checks that somebody who may not write in the store can ask it all
// the same, by hand and in a hook: the note $NOTE, about tabs, is found.
func cmdReadable(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "readable")
	ask := func(want, stdin string, args ...string) {
		code, out, diag := asUser(ts, stdin, append([]string{"anamnesis"}, args...))
		if code != 0 || !bytes.Contains(out, []byte(want)) {
			ts.Fatalf("%v exited with %d, and %q is not in\n%s%s", args, code, want, out, diag)
		}
	}
	id := ts.Getenv("NOTE")
	ask("Use tabs", "", "search", "--format", "simple", "tabs")
	ask("Use tabs", "", "search", "--json", "tabs")
	ask("Use tabs", "", "list")
	ask("Use tabs", "", "show", id)
	ask("Use tabs", "", "show", "--json", id)
	ask("Use tabs", "", "inject")
	ask("the store cannot be written", "", "status")
	ask("", "", "held")
	ask("storefront", "", "project")
	ask("sessions.days", "", "config", "list")
	ask("Use tabs", `{"hook_event_name":"SessionStart","source":"startup","cwd":"`+ts.Getenv("PROJECT")+`"}`, "inject")
	ask("", `{"hook_event_name":"SessionEnd","session_id":"s1","cwd":"`+ts.Getenv("PROJECT")+`","transcript_path":"/nowhere/x.jsonl"}`, "capture")
}
