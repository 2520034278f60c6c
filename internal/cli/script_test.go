package cli

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// TestMain makes the test binary serve as the program, too: under the name
// anamnesis it runs Main, so that scripts, and the background runs that hooks
// start by os.Executable, are real processes. A test that runs the program in this
// process starts the test binary itself as such: without a flag of tests it is the
// program, too, or it would run all tests again.
func TestMain(m *testing.M) {
	useOtherIndex()
	if os.Getenv(unattended) == "" { // a test plays a person at a terminal
		attended = func(*program) bool { return true }
	}
	if strings.Contains(filepath.Base(os.Args[0]), "anamnesis.former") { // an upgrade asks it; it must not run the tests, and so on
		os.Exit(testMain())
	}
	if strings.Contains(filepath.Base(os.Args[0]), ".test") && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(testMain())
	}
	testscript.Main(storetest.Memory{M: m}, map[string]func(){
		"anamnesis": func() {
			code := testMain()
			if file := os.Getenv(peakFile); file != "" {
				if status, err := os.ReadFile("/proc/self/status"); err == nil {
					_ = os.WriteFile(file, status, 0o600)
				}
			}
			os.Exit(code)
		},
		"lockholder": lockHolder,
		"crasher":    crashMain,
	})
}

// testMain is the program, on the clock and the disk of a simulated fortnight if there is one.
func testMain() int {
	useRelease()
	if os.Getenv(simClock) != "" {
		return simMain()
	}
	return Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// unattended is set by a script that plays a command without a terminal.
const unattended = "ANAMNESIS_TEST_UNATTENDED"

// peakFile names a file into which the program writes, when it ends, what Linux knows of
// its memory. What the kernel tells the parent of a program (ru_maxrss) holds the memory
// of the parent too: it counts what stood in the process before exec.
const peakFile = "ANAMNESIS_TEST_PEAK"

// TestScripts runs the sessions in testdata/script. Each has a separate home
// and an environment that holds nothing of the caller's but PATH.
//
// Besides testscript's own commands and those in scriptcmd_test.go, scripts
// know these variables: STORE is the store's folder, PROJECT a folder to work
// in, ID1, ID2 … the notes that "ids" found in the last output.
func TestScripts(t *testing.T) {
	maps.Copy(scriptCommands, unixCommands)
	scriptCommands["postgres"] = cmdPostgres(t)
	waitForLock(t)
	testscript.Run(t, testscript.Params{
		Files:               scriptsOf(t, filepath.Join("testdata", "script"), quickScripts),
		WorkdirRoot:         workRoot(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Condition:           scriptCondition,
		Cmds:                scriptCommands,
	})
}

// alone gives a test in this process, and what it starts, a folder to work in and a
// home that are nobody's.
func alone(t *testing.T) (home string) {
	t.Helper()
	t.Chdir(t.TempDir())
	home = t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "ANAMNESIS_HOME"} {
		t.Setenv(name, home)
	}
	t.Setenv("ANAMNESIS_DISABLED", "1")
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, "claude"))
	t.Cleanup(func() {
		if left := waitForChildren(home, idleTime); len(left) > 0 {
			t.Errorf("background runs outlived the test: %v", left)
		}
	})
	return home
}

// workRoot makes the folder in which scripts have theirs, when it is in memory; "" lets
// testscript make one. Others that run the same scripts at this moment have another.
func workRoot(t *testing.T) string {
	t.Helper()
	memory := storetest.Folder()
	if memory == "" {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "") //nolint:usetesting // the path of t.TempDir is too long, see storetest.Memory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func setupScript(env *testscript.Env) error {
	work := env.WorkDir
	if storetest.Folder() != "" { // testscript keeps what stands in a root that it is given
		env.Defer(func() { _ = os.RemoveAll(work) })
	}
	home := filepath.Join(work, "home")
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	env.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(work, "claude"))
	env.Setenv("ANAMNESIS_MACHINE_ID", "testbox")
	env.Setenv("ANAMNESIS_PATIENCE", patience)
	env.Setenv("STORE", filepath.Join(home, ".anamnesis"))
	env.Setenv("PROJECT", filepath.Join(work, "storefront"))
	env.Setenv("TZ", "UTC")
	env.Setenv("LC_ALL", "C")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every process lingers for a second under the race detector
	env.Values[namesKey{}] = &names{work: work}
	for _, dir := range []string{home, filepath.Join(work, "storefront")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	env.Defer(func() {
		if left := waitForChildren(work, idleTime); len(left) > 0 {
			panic(fmt.Sprintf("background runs outlived the script: %v", left))
		}
		_ = filepath.WalkDir(work, func(path string, d os.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o755) // so that the folder can be deleted
			}
			return nil
		})
	})
	return nil
}

// What a test waits for comes at once, or never: these say when it is never,
// also on a machine that has other things to do for a minute.
const (
	patience = "100" // of the program, see config.Config.Wait
	idleTime = 2 * time.Minute
)

// scriptCondition knows [git], and [tinydisk]: a file system of a few pages can
// be made in a namespace of one's own.
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "git":
		_, err := exec.LookPath("git")
		return err == nil, nil
	case "tinydisk":
		return exec.Command("unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt").Run() == nil, nil
	case "postgres":
		return havePostgres(), nil
	case "proc":
		_, err := os.Stat("/proc/self/cwd")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// children lists the processes that work in a folder: the background runs of
// the hooks of a script, which have the store as their folder. It knows them
// from the moment they are started. Systems without /proc have no list.
func children(work string) []string {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var found []string
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		dir, err := os.Readlink("/proc/" + name + "/cwd")
		if err != nil || dir != work && !strings.HasPrefix(dir, work+"/") {
			continue
		}
		if cmd, _ := os.ReadFile("/proc/" + name + "/cmdline"); len(cmd) > 0 {
			found = append(found, strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return found
}

// waitForChildren waits until no background run is left, and returns those that are.
func waitForChildren(work string, most time.Duration) []string {
	if runtime.GOOS != "linux" {
		time.Sleep(500 * time.Millisecond)
		return nil
	}
	pause := 2 * time.Millisecond // longer for what takes longer: the list of processes costs something
	for began := time.Now(); ; time.Sleep(pause) {
		pause = min(pause*3/2, 50*time.Millisecond)
		left := children(work)
		if len(left) == 0 || time.Since(began) > most {
			return left
		}
	}
}

// waitForLock runs a command that waits for a lock as long as one does, while
// the scripts run: it would hold up the others if it were one.
func waitForLock(t *testing.T) {
	home := t.TempDir()
	l := flock.New(filepath.Join(home, "store.lock"))
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal("not locked:", err)
	}
	cmd := exec.Command("anamnesis", "add", "--project", "p", "--title", "New", "--body", "x")
	cmd.Env = append(os.Environ(), "ANAMNESIS_HOME="+home, "ANAMNESIS_PATIENCE=0.1")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan time.Duration, 1)
	go func() { _ = cmd.Wait(); done <- time.Since(began) }()
	t.Cleanup(func() {
		took := <-done
		code := cmd.ProcessState.ExitCode()
		if code != 75 || stdout.String() != "" || !strings.Contains(stderr.String(), "another anamnesis process is working on the store; try again") {
			t.Errorf("a command that cannot get the lock exits with %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
		}
		if took < store.LockTimeout/10 {
			t.Errorf("it waited for %v, want %v", took, store.LockTimeout/10)
		}
		_ = l.Unlock()
	})
}
