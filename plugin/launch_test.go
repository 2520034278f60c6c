package plugin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fake stands for the program: it prints its arguments and what it is shown,
// and fails.
const fake = "#!/bin/sh\nprintf '%s' \"$0\"\nprintf ' <%s>' \"$@\"\ncat\nexit 7\n"

// A place is a home folder with the plugin in it. Both have spaces and a quote
// in their names.
type place struct {
	t          *testing.T
	home, root string
	env        []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is for a POSIX shell")
	}
	home := filepath.Join(t.TempDir(), "Ada's home")
	p := &place{t: t, home: home, root: filepath.Join(home, "plug ins", "0.1.0")}
	script, err := os.ReadFile("launch")
	if err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.root, "launch"), string(script), 0o700)
	p.env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT=" + p.root}
	for _, dir := range []string{"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"} {
		if _, err := os.Stat(filepath.Join(dir, "anamnesis")); err == nil {
			t.Skipf("anamnesis is installed in %s, where the script looks", dir)
		}
	}
	return p
}

func (p *place) write(path, text string, mode os.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

// install puts the fake into a folder of the home.
func (p *place) install(dir ...string) string {
	path := filepath.Join(append([]string{p.home}, append(dir, "anamnesis")...)...)
	p.write(path, fake, 0o700)
	return path
}

// run runs a command line as Claude Code does.
func (p *place) run(line, stdin string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "/bin/sh", "-c", line)
	cmd.Env, cmd.Dir, cmd.Stdin = p.env, p.home, strings.NewReader(stdin)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return out.String(), diag.String(), cmd.ProcessState.ExitCode()
}

const (
	inject  = `ANAMNESIS_HOOK=1 "${CLAUDE_PLUGIN_ROOT}/launch" inject`
	capture = `ANAMNESIS_HOOK=1 "${CLAUDE_PLUGIN_ROOT}/launch" capture --source precompact --no-sync`
	serve   = `"${CLAUDE_PLUGIN_ROOT}/launch" serve`
)

func TestLaunchFinds(t *testing.T) {
	for _, test := range []struct {
		name  string
		dir   []string
		env   string // of a variable that names the folder, or the program
		where string
	}{
		{"in ~/go/bin", []string{"go", "bin"}, "", ""},
		{"in ~/.local/bin", []string{".local", "bin"}, "", ""},
		{"in ~/.anamnesis/bin", []string{".anamnesis", "bin"}, "", ""},
		{"in GOBIN", []string{"go bin"}, "GOBIN", "."},
		{"in GOPATH", []string{"go path", "bin"}, "GOPATH", ".."},
		{"on PATH", []string{"my tools"}, "PATH", "."},
		{"as ANAMNESIS_BIN", []string{"some where"}, "ANAMNESIS_BIN", "anamnesis"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			program := p.install(test.dir...)
			if test.env != "" {
				value := filepath.Join(filepath.Dir(program), test.where)
				switch test.env {
				case "PATH":
					value += ":/usr/bin:/bin"
				case "GOPATH":
					value += ":/elsewhere"
				}
				p.env = append(p.env, test.env+"="+value)
			}
			stdout, stderr, code := p.run(capture, ` {"session_id":"x"}`)
			if want := program + ` <capture> <--source> <precompact> <--no-sync> {"session_id":"x"}`; stdout != want || stderr != "" {
				t.Errorf("the hook printed %q and %q, want %q", stdout, stderr, want)
			}
			if code != 0 {
				t.Errorf("the hook exited with %d: its failures are no business of the session's", code)
			}
			stdout, _, code = p.run(serve, "")
			if want := program + ` <serve>`; stdout != want || code != 7 {
				t.Errorf("the server printed %q and exited with %d, want %q and 7", stdout, code, want)
			}
		})
	}
}

func TestLaunchPrefers(t *testing.T) {
	p := newPlace(t)
	p.install("go", "bin")
	path, named := p.install("tools"), p.install("named")
	p.env = append(p.env, "PATH="+filepath.Dir(path)+":/usr/bin:/bin")
	if stdout, _, _ := p.run(serve, ""); !strings.HasPrefix(stdout, path) {
		t.Errorf("PATH comes before folders: %q", stdout)
	}
	p.env = append(p.env, "ANAMNESIS_BIN="+named)
	if stdout, _, _ := p.run(serve, ""); !strings.HasPrefix(stdout, named) {
		t.Errorf("ANAMNESIS_BIN comes before PATH: %q", stdout)
	}
}

// What a repository brings along is not run, nor a folder, nor a text.
func TestLaunchIgnores(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(p *place)
	}{
		{"the folder of the session on PATH", func(p *place) {
			p.install()
			p.env = append(p.env, "PATH=.:/usr/bin:/bin")
		}},
		{"an empty entry in PATH", func(p *place) {
			p.install()
			p.env = append(p.env, "PATH=:/usr/bin:/bin")
		}},
		{"a relative ANAMNESIS_BIN", func(p *place) {
			p.install()
			p.env = append(p.env, "ANAMNESIS_BIN=./anamnesis")
		}},
		{"a relative GOBIN", func(p *place) {
			p.install("bin")
			p.env = append(p.env, "GOBIN=bin")
		}},
		{"a folder", func(p *place) { p.write(filepath.Join(p.home, "go", "bin", "anamnesis", "x"), "", 0o600) }},
		{"a file that is not executable", func(p *place) { p.write(filepath.Join(p.home, "go", "bin", "anamnesis"), fake, 0o600) }},
		{"no home", func(p *place) { p.env = append(p.env, "HOME=") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			test.prepare(p)
			missing(t, p)
		})
	}
}

// missing checks what the launcher does without the program.
func missing(t *testing.T, p *place) {
	t.Helper()
	if stdout, stderr, code := p.run(capture, "{}"); stdout+stderr != "" || code != 0 {
		t.Errorf("a hook without the program printed %q and %q and exited with %d", stdout, stderr, code)
	}
	if stdout, stderr, code := p.run(serve, ""); stdout != "" || strings.Count(stderr, "\n") != 1 || code != 1 {
		t.Errorf("the server without the program printed %q and %q and exited with %d", stdout, stderr, code)
	}
	stdout, stderr, code := p.run(inject, "{}")
	var reply struct {
		Message string `json:"systemMessage"`
		Output  struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(stdout), &reply); err != nil {
		t.Fatalf("a session start without the program printed %q: %v", stdout, err)
	}
	if stderr != "" || code != 0 || strings.Count(stdout, "\n") != 1 {
		t.Errorf("a session start without the program printed %q and %q and exited with %d", stdout, stderr, code)
	}
	if reply.Output.Event != "SessionStart" || reply.Output.Context != reply.Message || !strings.Contains(reply.Message, "ANAMNESIS_BIN") {
		t.Errorf("the hint is %+v", reply)
	}
}

// The hint is given once a week, and not once a session.
func TestLaunchHint(t *testing.T) {
	for _, test := range []struct{ name, variable, mark string }{
		{"the folder that Claude Code gives", "CLAUDE_PLUGIN_DATA", ""},
		{"the state folder", "XDG_STATE_HOME", ""},
		{"the home", "", ".local/state"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			dir := filepath.Join(p.home, filepath.FromSlash(test.mark))
			if test.variable != "" {
				dir = filepath.Join(p.home, "a b")
				p.env = append(p.env, test.variable+"="+dir)
			}
			missing(t, p)
			if stdout, stderr, code := p.run(inject, "{}"); stdout+stderr != "" || code != 0 {
				t.Errorf("the second session is told again: %q, %q, %d", stdout, stderr, code)
			}
			long := time.Now().AddDate(0, 0, -9)
			if err := os.Chtimes(filepath.Join(dir, "anamnesis-told-to-install"), long, long); err != nil {
				t.Fatal(err)
			}
			missing(t, p)
		})
	}
	t.Run("a folder that cannot be made", func(t *testing.T) {
		p := newPlace(t)
		p.write(filepath.Join(p.home, "file"), "", 0o600)
		p.env = append(p.env, "CLAUDE_PLUGIN_DATA="+filepath.Join(p.home, "file", "x"))
		missing(t, p)
	})
	t.Run("a folder that takes no file", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("there is no /proc, in which not even root can write")
		}
		p := newPlace(t)
		p.env = append(p.env, "CLAUDE_PLUGIN_DATA=/proc")
		missing(t, p)
	})
}

// The settings of another agent that loads the plugin are that one's, whatever stands in
// those of the first.
func TestLaunchInAnotherAgent(t *testing.T) {
	const ours = `{"hooks": {"SessionStart": [{"hooks": [{"command": "ANAMNESIS_HOOK=1 /opt/anamnesis inject"}]}]}}`
	for _, agent := range []struct{ variable, file string }{
		{"PLUGIN_ROOT", ".codex/hooks.json"}, {"COPILOT_PLUGIN_ROOT", ".copilot/hooks/anamnesis.json"},
	} {
		p := newPlace(t)
		p.install("go", "bin")
		p.write(filepath.Join(p.home, ".claude", "settings.json"), ours, 0o600)
		if stdout, _, _ := p.run(inject, "{}"); stdout != "" {
			t.Errorf("beside hooks of its own the plugin said %q", stdout)
		}
		p.env = append(p.env, agent.variable+"=/opt/plugin")
		if stdout, _, _ := p.run(inject, "{}"); stdout == "" {
			t.Errorf("with %s nothing was told", agent.variable)
		}
		p.write(filepath.Join(p.home, filepath.FromSlash(agent.file)), ours, 0o600)
		if stdout, _, _ := p.run(inject, "{}"); stdout != "" {
			t.Errorf("beside %s the plugin said %q", agent.file, stdout)
		}
	}
}

// Where the user's settings have the hooks already, the plugin's do nothing.
func TestLaunchLeavesItToInit(t *testing.T) {
	const shape = `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "%"}]}]}}`
	for _, test := range []struct {
		name, command string
		want          []bool // which of inject and capture run
	}{
		{"installed by init", `ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=desk '/opt/my tools/anamnesis' inject`, []bool{false, false}},
		{"one hook written by hand", `/home/ada/go/bin/anamnesis inject`, []bool{false, true}},
		{"somebody else's", `echo anamnesis injects`, []bool{true, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, variable := range []string{"", "CLAUDE_CONFIG_DIR"} {
				p := newPlace(t)
				p.install("go", "bin")
				dir := filepath.Join(p.home, ".claude")
				if variable != "" {
					dir = filepath.Join(p.home, "other settings")
					p.env = append(p.env, variable+"="+dir)
				}
				p.write(filepath.Join(dir, "settings.json"), strings.Replace(shape, "%", test.command, 1), 0o600)
				var got []bool
				for _, line := range []string{inject, capture} {
					stdout, stderr, code := p.run(line, "{}")
					if stderr != "" || code != 0 {
						t.Errorf("printed %q, exited with %d", stderr, code)
					}
					got = append(got, stdout != "")
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("inject and capture, with %q:\n%s", variable, diff)
				}
				if stdout, _, _ := p.run(serve, ""); stdout == "" {
					t.Error("the server is no hook and was not started")
				}
			}
		})
	}
}
