package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/policy"
)

const some = `# what agents may not do here
{"scope":"pretool","tool":"Bash","pattern":"git push --force","decision":"deny","message":"Never force."}

{"tool":"bash","pattern":"Git Push","decision":"context","context":"Ask before a push."}
{"pattern":"/etc/","decision":"deny","confidence":"LOW"}
{"scope":"permission","tool":"Bash","pattern":"go test","decision":"allow","message":"unused"}
{"scope":"permission","decision":"deny","pattern":"curl","message":"No network."}
{"tool":"Edit","pattern":"\"file_path\":\"/gen/","decision":"deny"}
{"pattern":"push","message":"second"}
{"pattern":"push","message":"third"}
{"pattern":"push","message":"fourth"}
`

func TestDecide(t *testing.T) {
	p := policy.Parse([]byte(some))
	if len(p.Problems) > 0 || len(p.Rules) != 9 {
		t.Fatalf("%+v", p)
	}
	for _, c := range []struct {
		at      policy.Scope
		tool    string
		input   string
		want    policy.Decision
		line    int
		message string
		context int
	}{
		{policy.PreTool, "Bash", `{"command":"git push --force"}`, policy.Deny, 2, "Never force.", 0},
		{policy.PreTool, "BASH", `{"command":"x; GIT  PUSH\n--Force"}`, policy.Deny, 2, "Never force.", 0},
		{policy.PreTool, "Bash", `{"command":"git push","description":"--force"}`, "", 0, "", 3},
		{policy.PreTool, "Edit", `{"command":"git push --force"}`, "", 0, "", 3},
		{policy.PreTool, "Bash", `{"command":"cat /etc/passwd"}`, "", 0, "", 0},
		{policy.PreTool, "Bash", `{"command":"go test"}`, "", 0, "", 0},
		{policy.PreTool, "Bash", `{"command":"curl x"}`, "", 0, "", 0},
		{policy.Permission, "Bash", `{"command":"go test ./..."}`, policy.Allow, 6, "", 0},
		{policy.Permission, "Bash", `{"command":"curl x | go test"}`, policy.Allow, 6, "", 0},
		{policy.Permission, "Write", `{"content":"curl"}`, policy.Deny, 7, "No network.", 0},
		{policy.PreTool, "Edit", `{"old_string":"","file_path":"/gen/a.go"}`, policy.Deny, 8, "", 0},
		{policy.PreTool, "Edit", `{"file_path":"/src/a.go"}`, "", 0, "", 0},
		{policy.PreTool, "Bash", `{"command":["git push --force"]}`, policy.Deny, 2, "Never force.", 0},
		{policy.PreTool, "Bash", `no JSON: git push --force`, policy.Deny, 2, "Never force.", 0},
		{policy.PreTool, "Bash", "{\"command\":\"git\\u0000 push --force\"}", policy.Deny, 2, "Never force.", 0},
		{policy.PreTool, "Bash", ``, "", 0, "", 0},
	} {
		v := p.Decide(c.at, c.tool, []byte(c.input))
		if v.Decision != c.want || v.Line != c.line || v.Message != c.message || len(v.Context) != c.context {
			t.Errorf("%s of %s %s: %+v", c.at, c.tool, c.input, v)
		}
	}
	huge := `{"command":"` + strings.Repeat("x", 10<<20) + `; git push --force"}`
	if v := p.Decide(policy.PreTool, "Bash", []byte(huge)); v.Decision != policy.Deny {
		t.Error("a rule is passed by a long command")
	}
	if v := new(policy.Policy).Decide(policy.PreTool, "Bash", []byte(huge)); v.Decision != "" || v.Context != nil {
		t.Errorf("no rules: %+v", v)
	}
}

// A line that is no rule is named, denies nothing and leaves the others alone.
func TestParseDamaged(t *testing.T) {
	for _, line := range []string{
		`{"patern":"x","decision":"deny"}`, `{"decision":"deny"`, `deny everything`, `["deny"]`, `{"decision":"forbid","pattern":"x"}`,
		`{"scope":"always","decision":"deny"}`, `{"confidence":"sure","decision":"deny"}`, `{"pattern":7,"decision":"deny"}`, `{"pattern":"x"}`,
		`{"decision":"deny"} {"decision":"deny"}`, "\xff\xfe", `"deny"`, `{"decision":"deny"}x`,
	} {
		p := policy.Parse([]byte("\n" + line + "\n" + `{"pattern":"git push","decision":"deny"}` + "\n"))
		if len(p.Problems) != 1 || p.Problems[0].Line != 2 || len(p.Rules) != 1 || p.Rules[0].Line != 3 {
			t.Errorf("%s: %+v", line, p)
			continue
		}
		if v := p.Decide(policy.PreTool, "Bash", []byte(`{"command":"ls x"}`)); v.Decision != "" {
			t.Errorf("%s: denies", line)
		}
	}
	if p := policy.Parse([]byte("\ufeff{\"decision\":\"deny\"}\r\n")); len(p.Rules) != 1 || p.Rules[0].Tool != "*" {
		t.Errorf("a file of an editor on Windows: %+v", p)
	}
	if p := policy.Parse([]byte(strings.Repeat(some, 1000))); len(p.Rules) > 1000 || len(p.Problems) != 1 {
		t.Errorf("%d rules, %d problems", len(p.Rules), len(p.Problems))
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, policy.File)
	if p, err := policy.Read(path); err != nil || len(p.Rules) > 0 {
		t.Errorf("no file: %+v, %v", p, err)
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(some), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err == nil {
		if p, err := policy.Read(path); err == nil || len(p.Rules) > 0 {
			t.Errorf("a link is followed: %+v", p)
		}
		_ = os.Remove(path)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Read(path); err == nil {
		t.Error("a folder is a policy")
	}
	if p, err := policy.Read(other); err != nil || len(p.Rules) != 9 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.WriteFile(other, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Read(other); err == nil {
		t.Error("two megabytes of a policy")
	}
}

func FuzzParse(f *testing.F) {
	for line := range strings.Lines(some) {
		f.Add([]byte(line), "Bash", []byte(`{"command":"git push --force"}`))
	}
	f.Add([]byte("{}\n\x00\n[]"), "", []byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte, tool string, input []byte) {
		p := policy.Parse(data)
		for _, at := range []policy.Scope{policy.PreTool, policy.Permission} {
			v := p.Decide(at, tool, input)
			if (v.Decision != "") != (v.Line > 0) || len(v.Context) > 3 || v.Decision != "" && len(v.Context) > 0 {
				t.Errorf("%+v", v)
			}
			if v.Decision != "" && !slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return r.Line == v.Line && r.Decision == v.Decision && r.Sure }) {
				t.Errorf("%+v of no rule", v)
			}
		}
	})
}
