package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

// An agentHome is a home folder in which agents are connected and looked at.
type agentHome struct {
	t    *testing.T
	home string
}

// run runs a command of ours that answers in JSON.
func (a *agentHome) run(v any, args ...string) {
	a.t.Helper()
	cmd := exec.Command("anamnesis", append(args, "--json")...)
	cmd.Dir = a.home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "USERPROFILE=" + a.home, "ANAMNESIS_MACHINE_ID=testbox", "ANAMNESIS_PATIENCE=" + patience,
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.TempDir(), "GORACE=" + os.Getenv("GORACE"),
	}
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, _ := cmd.Output()
	if err := json.Unmarshal(out, v); err != nil {
		a.t.Fatalf("%v: %v\n%s%s", args, err, out, diag.String())
	}
}

// A verdict is what init, doctor and agents say of an agent.
type verdict struct {
	planned []string // what init would do to its files
	state   connect.State
	lines   map[string]string // what doctor says of it, by check
	checks  map[string]string // the states of those checks
}

func (a *agentHome) look(c *connect.Client) (v verdict) {
	a.t.Helper()
	var plan struct {
		Plan struct{ Agents []connect.AgentPlan }
	}
	a.run(&plan, "init", "--print", "--agent", c.Name, "--command", "/bin/sh")
	for _, p := range plan.Plan.Agents {
		for _, f := range p.Files {
			v.planned = append(v.planned, f.Result)
		}
	}
	var agents struct{ Agents []connect.State }
	a.run(&agents, "agents")
	v.state = agents.Agents[slices.IndexFunc(agents.Agents, func(s connect.State) bool { return s.Agent == c.Name })]
	var doctor struct {
		Checks []struct {
			ID, State string
			Evidence  []string
		}
	}
	a.run(&doctor, "doctor", "--only", "hooks,mcp-registered,trust")
	v.lines, v.checks = make(map[string]string), make(map[string]string)
	for _, check := range doctor.Checks {
		v.checks[check.ID] = check.State
		for _, line := range check.Evidence {
			if strings.HasPrefix(line, c.Name+":") || strings.HasPrefix(line, c.Title+":") {
				v.lines[check.ID] += line + "\n"
			}
		}
	}
	return v
}

// off are settings that switch all hooks of an agent off.
var off = map[string]string{
	"gemini": `{"hooksConfig": {"enabled": false}, `, "qwen": `{"disableAllHooks": true, `, "copilot": `{"disableAllHooks": true, `,
}

// TestAgentStates: init, doctor and agents agree on each agent that has hooks, in each state.
func TestAgentStates(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of the hooks is /bin/sh")
	}
	for _, c := range connect.All() {
		if c.Settings == nil || c == connect.Default() { // what init registers with Claude Code needs its program
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			a := &agentHome{t, t.TempDir()}
			a.run(new(any), "add", "--global", "--title", "x", "--body", "y") // makes the store
			var found struct{ Agents []connect.State }
			a.run(&found, "agents")
			home := found.Agents[slices.IndexFunc(found.Agents, func(s connect.State) bool { return s.Agent == c.Name })].Home
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}

			v := a.look(c) // installed
			if slices.Contains(v.planned, "no change") || !v.state.Found || len(v.state.Connected) != 0 || len(v.lines) != 0 {
				t.Errorf("installed: %+v", v)
			}

			init := func() { a.run(new(any), "init", "--yes", "--no-sync", "--agent", c.Name, "--command", "/bin/sh") }
			init() // connected
			v = a.look(c)
			if slices.ContainsFunc(v.planned, func(s string) bool { return s != "no change" }) || !slices.Equal(v.state.Connected, []string{"hooks", "server"}) ||
				strings.Contains(v.lines["hooks"], "missing") || strings.Contains(v.lines["hooks"], "another version") ||
				!strings.Contains(v.lines["hooks"], " in ") || !strings.Contains(v.lines["mcp-registered"], "registered for every project") {
				t.Errorf("connected: %+v", v)
			}
			if waits := c.Approvals != nil; waits != (v.state.Off != "") || waits != strings.Contains(v.lines["trust"], "approved none") {
				t.Errorf("not approved: %+v", v)
			}

			if begin, ok := off[c.Name]; ok { // hooks off
				path := c.Settings.SettingsPath(home)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.Replace(string(data), "{", begin, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
				v = a.look(c)
				if v.state.Off == "" || v.checks["hooks"] != "bad" {
					t.Errorf("hooks off: %+v", v)
				}
			}

			if err := os.RemoveAll(home); err != nil { // gone
				t.Fatal(err)
			}
			v = a.look(c)
			if v.state.Found || len(v.state.Connected) != 0 || v.state.Off != "" || strings.Contains(v.lines["mcp-registered"], "registered for") ||
				v.checks["hooks"] == "ok" {
				t.Errorf("gone: %+v", v)
			}
			if _, err := os.Stat(filepath.Join(home, "x")); err == nil {
				t.Error("the folder is there again")
			}
		})
	}
}
