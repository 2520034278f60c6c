package recall

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

// What a rule says names an action, or does not: a tool that is shown something
// else is worse than one that is shown nothing.
func TestNamedIn(t *testing.T) {
	edit := func(file string) Action { return Action{Root: "/src/shop", Files: []string{file}} }
	for _, c := range []struct {
		statement string
		action    Action
		want      string
	}{
		{"Regenerate gRPC clients after editing payments.proto", edit("/src/shop/api/payments.proto"), "api/payments.proto"},
		{"after editing `api/payments.proto`:12, run make", edit("/src/shop/api/payments.proto"), "api/payments.proto"},
		{"edit shop/api/payments.proto", edit("/src/shop/api/payments.proto"), ""},
		{"edit i/payments.proto", edit("/src/shop/api/payments.proto"), ""},
		{"edit old_payments.proto", edit("/src/shop/api/payments.proto"), ""},
		{"edit payments.proto.bak", edit("/src/shop/api/payments.proto"), ""},
		{"the word payments", edit("/src/shop/api/payments.proto"), ""},
		{"keep package.json sorted", edit("/src/shop/package.json"), "package.json"},
		{"keep package.json sorted", edit("/src/shop/web/package.json"), ""},
		{"keep web/package.json sorted", edit("/src/shop/web/package.json"), "web/package.json"},
		{"keep src/index.ts small", edit("/src/shop/web/src/index.ts"), ""},
		{"keep web/src/index.ts small", edit("/src/shop/apps/web/src/index.ts"), "apps/web/src/index.ts"},
		{"the Makefile needs tabs", edit("/src/shop/Makefile"), "Makefile"},
		{"the Makefile needs tabs", edit("/src/shop/sub/Makefile"), ""},
		{"never edit gen/", edit("/src/shop/gen/a.go"), "gen/a.go"},
		{"never edit gen/", edit("/src/shop/old/gen/a.go"), ""},
		{"never edit internal/gen", edit("/src/shop/internal/gen/a.go"), "internal/gen/a.go"},
		{"client/server", edit("/src/shop/pkg/client/server/x.go"), ""},
		{"never edit *.pb.go by hand", edit("/src/shop/api/a.pb.go"), "api/a.pb.go"},
		{"never edit *.pb.go by hand", edit("/src/shop/api/a.go"), ""},
		{"never edit db/**/*.sql", edit("/src/shop/db/m/1/a.sql"), "db/m/1/a.sql"},
		{"a * b *.* c", edit("/src/shop/a.go"), ""},
		{"see /etc/hosts", edit("/etc/hosts"), "etc/hosts"},
		{"see /etc/hosts", edit("/src/shop/etc/hosts"), ""},
		{"~/.bashrc is a link", edit("/home/a/.bashrc"), ""},
		{`edit api\payments.proto`, edit(`\src\shop\api\payments.proto`), "api/payments.proto"},
		{"修改payments.proto后运行make reindex", edit("/src/shop/api/payments.proto"), "api/payments.proto"},
		{"Die Datei Übersicht.md bleibt", edit("/src/shop/Übersicht.md"), "Übersicht.md"},
		{"", edit("/src/shop/a.go"), ""},
		{"a.go", edit("../a.go"), ""},
	} {
		n := c.action.names()
		if _, got := n.namedIn(c.statement); got != c.want {
			t.Errorf("%q at %+v: names %q, want %q", c.statement, c.action, got, c.want)
		}
		if c.want != "" && len(n.questions()) == 0 {
			t.Errorf("%+v asks nothing", c.action)
		}
	}
}

// Whatever a tool is given, the names in it are few and small.
func TestActionNamesHostile(t *testing.T) {
	huge := strings.Repeat("git push a/b.go; ", 1<<20)
	for name, a := range map[string]Action{
		"nothing":    {},
		"a command":  {Command: huge},
		"a word":     {Command: strings.Repeat("x", 10<<20)},
		"quotes":     {Command: strings.Repeat(`"'`, 1<<20)},
		"redirects":  {Command: strings.Repeat("> a.b ", 1<<20)},
		"NUL":        {Command: "git\x00 push \x00", Files: []string{"a\x00b.go", "\x00", "", "/", ".", "..", "../../x.go"}},
		"no UTF-8":   {Command: "git push \xff\xfe", Output: "\xff\xfe", Files: []string{"\xff.go"}},
		"output":     {Output: strings.Repeat("recalc_tax aB ", 1<<20)},
		"files":      {Files: strings.Fields(huge)},
		"a path":     {Files: []string{strings.Repeat("a/", 1<<20) + "b.go"}},
		"here":       {Command: strings.Repeat("cat <<A\n", 1<<16)},
		"assignment": {Command: strings.Repeat("A=1 ", 1<<20)},
	} {
		n := a.names()
		if len(n.files) > maxActionFiles || len(n.output) > 2*(outputHead+outputTail) || len(n.commands) > 100 {
			t.Errorf("%s: %d files, %d bytes, %d commands", name, len(n.files), len(n.output), len(n.commands))
		}
		if q := n.questions(); len(q) > ruleQuestions {
			t.Errorf("%s asks %d times", name, len(q))
		}
		n.namedIn(huge[:1<<16])
	}
}

func TestIsRule(t *testing.T) {
	by := func(source string) note.Note {
		return note.Note{Type: note.Semantic, Title: "x", Provenance: note.Provenance{Source: source, Confidence: 0.1}}
	}
	said := func(change func(*note.Note)) note.Note {
		n := by(note.Human)
		change(&n)
		n.Trusted = true
		return n
	}
	with := func(source string, change func(*note.Note)) note.Note {
		n := by(source)
		change(&n)
		return n
	}
	for name, c := range map[string]struct {
		n    note.Note
		want bool
	}{
		"a person's":        {said(func(*note.Note) {}), true},
		"a user's":          {by(note.User), true},
		"learnt":            {by(note.Learning), true},
		"reviewed":          {with(note.Import, func(n *note.Note) { n.Reviewed, n.Trusted = "2026-01-01", true }), true},
		"claims a review":   {with(note.Import, func(n *note.Note) { n.Tags = []string{note.ReviewedTag} }), false},
		"with a trigger":    {with(note.Agent, func(n *note.Note) { n.When = []string{"cmd:npm"} }), true},
		"with no trigger":   {with(note.Agent, func(n *note.Note) { n.When = []string{"npm"} }), false},
		"an agent's":        {by(note.Agent), false},
		"imported":          {by(note.Import), false},
		"episodic":          {said(func(n *note.Note) { n.Type = note.Episodic }), false},
		"a skill":           {said(func(n *note.Note) { n.Kind = note.Skill }), false},
		"in quarantine":     {said(func(n *note.Note) { n.Quarantine = true }), false},
		"speculative":       {said(func(n *note.Note) { n.Speculative = true }), false},
		"wrong":             {said(func(n *note.Note) { n.Validated = "false" }), false},
		"archived":          {said(func(n *note.Note) { n.Status = "archived" }), false},
		"waiting, no state": {said(func(n *note.Note) { n.Status = "open" }), true},
	} {
		if got := IsRule(&c.n); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzNamedIn(f *testing.F) {
	f.Add("never edit gen/*.go, run `make all`", "/src/gen/a.go", "git push && make all")
	f.Add("**/*.sql [", "a/**/b", "sed -i x ${Y}")
	f.Add("修改payments.proto", `C:\x\payments.proto`, "bash -c \"a\"")
	f.Fuzz(func(t *testing.T, statement, file, command string) {
		n := Action{Root: "/src", Files: []string{file}, Command: command, Output: statement}.names()
		if strength, what := n.namedIn(statement); (strength == namesNothing) != (what == "") {
			t.Errorf("strength %d of %q", strength, what)
		}
		if q := n.questions(); len(q) > ruleQuestions {
			t.Errorf("%d questions", len(q))
		}
	})
}
