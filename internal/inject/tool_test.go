package inject_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

var beforeTools = inject.Options{PageTokens: 4000}

func tool(t *testing.T, in *inject.Injector, p inject.Place, a recall.Action) inject.Reminder {
	t.Helper()
	r, err := in.Tool(t.Context(), p, recall.Query{Projects: p.Projects}, a)
	if err != nil {
		t.Fatal(err)
	}
	if tokens := recall.Tokens(r.Text); tokens > 200 || tokens != r.Tokens || (r.Text == "") != (r.Silent != "") {
		t.Errorf("%d tokens, silent %q:\n%s", tokens, r.Silent, r.Text)
	}
	return r
}

// A ruleCase is a rule, the trigger that a reader sets ("" where the form of the note has it), a
// call that the rule is about, and one that only looks like it.
type ruleCase struct{ rule, when, call, near string }

var ruleCases = []ruleCase{
	{"Use pnpm, never npm", "", "npm install left-pad", "cat docs/npm.md"},
	{"The workspace is installed by pnpm", "cmd:npm i*", "cd web && npm i", "npm test"},
	{"Use uv instead of pip", "", "pip install requests", "uv pip list"},
	{"Python packages come from uv", "cmd:pip install", "python3 -m pip install -r requirements.txt", "git commit -m 'pip install fails'"},
	{"Search with ripgrep, not grep", "", "grep -rn recalcTax internal | head", "rg recalcTax internal"},
	{"Use podman, never docker", "", "docker run --rm alpine", "git commit -m 'docker: slimmer image'"},
	{"Use `docker compose`, never docker-compose", "", "docker-compose up -d", "cat docker-compose.yml"},
	{"The stack starts without the cache", "cmd:docker compose up", "docker compose -f dev.yml up -d", "docker compose ps"},
	{"Use python3, never python", "", "python manage.py migrate", "ls python"},
	{"Never use sudo", "", "A=1 sudo apt-get install jq", "echo sudo"},
	{"Never force push to main", "cmd:git push --force*", "git push --force origin main", "git push origin main"},
	{"No force push to a shared branch", "cmd:git push -f", "git push -uf origin dev", "git commit -m 'force push'"},
	{"`terraform apply` only from CI", "", "terraform -chdir=prod apply", "terraform plan"},
	{"Regenerate the clients with `make proto-gen`", "path:api/**/*.proto", "sed -i s/a/b/ api/v1/payments.proto", "sed -i s/a/b/ web/payments.proto"},
	{"`gen/` is generated", "", "rm gen/client.go", "rm cmd/gen.go"},
	{"Migrations run one by one", "cmd:* run migrate", "yarn run migrate", "yarn run migrate-docs"},
	{"Releases are tagged by the pipeline", "cmd:git tag", "bash -c 'git fetch && git tag v1'", "git log --tags"},
	{"Type checks need the project file", "cmd:tsc", "npx --yes tsc -p .", "npx tsc-watch"},
	{"Start the database before the tests", "error:ECONNREFUSED 127.0.0.1:5432", "", ""},
}

func (c ruleCase) action(line string) recall.Action {
	if c.call == "" { // of a failure
		return recall.Action{Root: "/src", Output: map[bool]string{true: "Error: connect ECONNREFUSED 127.0.0.1:5432\n", false: "connect refused"}[line == ""]}
	}
	return recall.Action{Root: "/src", Command: line}
}

// idOf is the id that open gives the note of an index.
func idOf(i int) note.ID { return note.ID(fmt.Sprintf("n%03d", i)) }

// Each rule is injected at its call, in one line, in a session that is new to it as well as in
// one that was shown it at its start; and at no other call.
func TestRulesAtTheirCalls(t *testing.T) {
	var notes []note.Note
	for _, c := range ruleCases {
		n := note.Note{Title: c.rule}
		if c.when != "" {
			n.When = []string{c.when}
		}
		notes = append(notes, n)
	}
	for range 40 { // what shares the words of the calls and is no rule about them
		notes = append(notes, note.Note{Title: "git push, npm install and docker are slow here", Body: "On terraform apply, too; see api/v1/payments.proto."})
	}
	in, s := open(t, beforeTools, notes...)
	for i, c := range ruleCases {
		for _, shown := range []bool{false, true} {
			p := place
			p.Session = c.rule + map[bool]string{true: " shown"}[shown]
			if shown {
				shown := s.Spool().ShownLog(p.Session, "")
				b := page(t, in, p)
				if _, err := shown.Claim(b.Injections...); err != nil || !slices.Contains(b.Shown, idOf(i)) {
					t.Fatalf("%s: the start shows %v, %v", c.rule, b.Shown, err)
				}
			}
			near := c.near
			if c.call == "" {
				near = "x"
			}
			if r := tool(t, in, p, c.action(near)); strings.Contains(r.Text, c.rule) {
				t.Errorf("%q at %q:\n%s", c.rule, near, r.Text)
			}
			r := tool(t, in, p, c.action(c.call))
			if strings.Count(r.Text, c.rule) != 1 || strings.Count(r.Text, "\n") != 3+len(r.Shown) {
				t.Errorf("%q at %q: %q\n%s", c.rule, c.call, r.Silent, r.Text)
			}
			if again := tool(t, in, p, c.action(c.call)); strings.Contains(again.Text, c.rule) {
				t.Errorf("%q twice at %q:\n%s", c.rule, c.call, again.Text)
			}
			st, err := s.Spool().ShownLog(p.Session, "").State()
			if n := (&note.Note{ID: idOf(i), Title: c.rule}); err != nil || !st.Has(n) || !st.HasAtTool(n) {
				t.Errorf("%q does not count as shown: %v", c.rule, err)
			}
		}
	}
}

// A rule is a line of at most 60 tokens; those with triggers of their own come first.
func TestToolLines(t *testing.T) {
	in, s := open(t, beforeTools,
		note.Note{Title: strings.TrimSpace(strings.Repeat("never edit it by hand, ", 30)), When: []string{"path:gen/"}},
		note.Note{Title: "Never edit `gen/api.go`"},
		note.Note{Title: "Rules of a machine", When: []string{"path:gen/"}, Body: "Run `git push --force` then.", Provenance: note.Provenance{Source: note.Learning, Confidence: 1}},
		note.Note{Title: "third", When: []string{"path:gen/*.go"}})
	p := place
	p.Session = "s"
	r := tool(t, in, p, recall.Action{Root: "/src", Files: []string{"/src/gen/api.go"}})
	if !slices.Equal(r.Shown, []note.ID{"n003", "n000"}) || !slices.Equal(r.Cut, []note.ID{"n000"}) || len(r.Near) != 1 || r.Near[0].ID != "n001" {
		t.Errorf("shown %v, cut %v, near %v:\n%s", r.Shown, r.Cut, r.Near, r.Text)
	}
	for line := range strings.Lines(r.Text) {
		if recall.Tokens(line) > 60 {
			t.Errorf("%d tokens: %s", recall.Tokens(line), line)
		}
	}
	if r.Parts[0].Text != "path:gen/*.go" {
		t.Errorf("the log has %q", r.Parts[0].Text)
	}
	p.Agent = "a" // a sub-agent knows nothing of what its session knows
	if r := tool(t, in, p, recall.Action{Root: "/src", Files: []string{"/src/gen/api.go"}}); len(r.Shown) != 2 {
		t.Errorf("a sub-agent is shown %v", r.Shown)
	}
	if err := s.Spool().ShownLog("s", "").Clear(); err != nil { // its context is lost
		t.Fatal(err)
	}
	p.Agent = ""
	if r := tool(t, in, p, recall.Action{Root: "/src", Files: []string{"/src/gen/api.go"}}); len(r.Shown) != 2 {
		t.Errorf("after a compaction it is shown %v", r.Shown)
	}
}

// Hooks run side by side: one of them tells, also where the start of the session did.
func TestToolInParallel(t *testing.T) {
	n := note.Note{ID: "n000", Title: "never `git push` on Fridays", Body: "The freeze."}
	in, s := open(t, beforeTools, n)
	p := place
	p.Session = "s"
	if _, err := s.Spool().ShownLog("s", "").Claim(store.InjectionOf(&n)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	shown := make([]int, 16)
	for i := range shown {
		wg.Go(func() { shown[i] = len(tool(t, in, p, recall.Action{Command: "git push"}).Shown) })
	}
	wg.Wait()
	sum := 0
	for _, n := range shown {
		sum += n
	}
	if sum != 1 {
		t.Errorf("shown %d times", sum)
	}
}
