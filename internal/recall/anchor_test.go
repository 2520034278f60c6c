package recall

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

// What a rule says names an action, or does not: a tool that is told about something
// else is worse than one that is told nothing.
func TestNamedIn(t *testing.T) {
	edit := func(file string, text ...string) Action {
		return Action{Root: "/src/shop", Files: []string{file}, Text: strings.Join(text, "\n")}
	}
	run := func(line string) Action { return Action{Root: "/src/shop", Command: line} }
	for _, c := range []struct {
		statement string
		action    Action
		want      string
	}{
		// Files.
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
		{"修改后运行make reindex", run("make reindex"), "make reindex"},
		{"Die Datei Übersicht.md bleibt", edit("/src/shop/Übersicht.md"), "Übersicht.md"},
		{"", edit("/src/shop/a.go"), ""},
		{"a.go", edit("../a.go"), ""},
		// Symbols.
		{"recalcTax rounds half up", edit("/src/shop/cart.go", "x := recalcTax(order)"), "recalcTax"},
		{"recalcTaxes rounds half up", edit("/src/shop/cart.go", "x := recalcTax(order)"), ""},
		{"the order of things", edit("/src/shop/cart.go", "x := recalcTax(order)"), ""},
		{"max_conns is per pod.", edit("/src/shop/cart.go", "max_conns = 4"), "max_conns"},
		// Commands.
		{"Run make proto-gen.", run("cd api && make proto-gen"), "make proto-gen"},
		{"always run make reindex after a deploy", run("make reindex"), "make reindex"},
		{"always run make reindex-all after a deploy", run("make reindex"), ""},
		{"we make test data by hand", run("make test"), ""},
		{"we `make test` by hand", run("make test"), "make test"},
		{"never git push on Fridays", run("git push origin main"), "git push"},
		{"never `git push --force` here", run("git push origin main"), "git push"},
		{"git is fine, push too", run("git push"), ""},
		{"legit pushes; never git pushed", run("git push"), ""},
		{"npm install breaks the links", run("npm install left-pad"), "npm install"},
		{"npm run lint before a commit", run("npm run build"), ""},
		{"`pytest -n0` only", run("pytest tests"), "pytest"},
		{"pytest is our runner", run("pytest tests"), ""},
		{"`ls` lists, `cat` prints", run("ls && cat a"), ""},
		{"scripts/release.sh wants a tag", run("bash -c './scripts/release.sh prod'"), "scripts/release.sh"},
		{"payments.proto is generated", run("cat api/payments.proto"), ""},
		{"payments.proto is generated", run("rm api/payments.proto"), "api/payments.proto"},
		{"payments.proto is generated", run("echo x > api/payments.proto"), "api/payments.proto"},
		{"use git push", run("echo 'git push'"), ""},
	} {
		n := c.action.names()
		if _, got := n.namedIn(c.statement); got != c.want {
			t.Errorf("%q at %+v: names %q, want %q", c.statement, c.action, got, c.want)
		}
		if c.want != "" && n.question() == "" {
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
		"no UTF-8":   {Command: "git push \xff\xfe", Text: "\xff\xfe", Files: []string{"\xff.go"}},
		"text":       {Text: strings.Repeat("recalc_tax aB ", 1<<20)},
		"files":      {Files: strings.Fields(huge)},
		"a path":     {Files: []string{strings.Repeat("a/", 1<<20) + "b.go"}},
		"here":       {Command: strings.Repeat("cat <<A\n", 1<<16)},
		"assignment": {Command: strings.Repeat("A=1 ", 1<<20)},
	} {
		n := a.names()
		if len(n.files) > maxActionFiles || len(n.symbols) > maxActionSymbols || len(n.commands) > maxCommands*maxShells {
			t.Errorf("%s: %d files, %d symbols, %d commands", name, len(n.files), len(n.symbols), len(n.commands))
		}
		if q := n.question(); len(q) > 64<<10 {
			t.Errorf("%s asks %d bytes", name, len(q))
		}
		n.namedIn(huge[:1<<16])
	}
}

func TestIsRule(t *testing.T) {
	human := note.Provenance{Source: note.Human, Confidence: 1}
	for _, c := range []struct {
		n    note.Note
		want bool
	}{
		{note.Note{Type: note.Procedural, Title: "Regenerate the clients"}, true},
		{note.Note{Type: note.Procedural, Title: "The clients", Body: "They are generated."}, false},
		{note.Note{Type: note.Semantic, Title: "pnpm, never npm"}, true},
		{note.Note{Type: note.Semantic, Title: "Money", Body: "It is int64.\nUse cents everywhere."}, true},
		{note.Note{Type: note.Semantic, Title: "cart.go holds the cart", Body: "It was written in 2020. The users use it."}, false},
		{note.Note{Type: note.Semantic, Title: "Commits", Tags: []string{"Convention"}}, true},
		{note.Note{Type: note.Semantic, Title: "Commits", LearningType: "correction"}, true},
		{note.Note{Type: note.Semantic, Title: "Commits", Fix: "restart"}, true},
		{note.Note{Type: note.Semantic, Title: "Nie von Hand ändern"}, true},
		{note.Note{Type: note.Semantic, Title: "修改后必须运行"}, true},
		{note.Note{Type: note.Semantic, Title: "Никогда не пушить"}, true},
		{note.Note{Type: note.Semantic, Title: "Nothing of the mustard is nevermore"}, false},
		{note.Note{Type: note.Episodic, Title: "Never again"}, false},
		{note.Note{Type: note.Procedural, Kind: note.Skill, Title: "Never again"}, false},
		{note.Note{Type: note.Procedural, Quarantine: true, Title: "Never again"}, false},
		{note.Note{Type: note.Procedural, Speculative: true, Title: "Never again"}, false},
		{note.Note{Type: note.Procedural, Validated: "false", Title: "Never again"}, false},
	} {
		c.n.Provenance = human
		if got := IsRule(&c.n); got != c.want {
			t.Errorf("%+v: %v", c.n.Title, got)
		}
	}
	if IsRule(&note.Note{Type: note.Procedural, Title: "Never", Provenance: note.Provenance{Confidence: 0.3}}) {
		t.Error("a rule that is doubted")
	}
}

// Of a long note only what tells what to do names things.
func TestStatements(t *testing.T) {
	n := note.Note{
		Type: note.Procedural, Title: "Deploys", Anchors: []string{"deploy/"},
		Body: "We looked at cart.go for an hour.\nNever edit values.json by hand. " + strings.Repeat("The cluster is old. ", 60),
	}
	join := func() string {
		var b strings.Builder
		for _, s := range statements(&n) {
			b.WriteString(s.text + "\n")
		}
		return b.String()
	}
	all := join()
	if strings.Contains(all, "cart.go") || !strings.Contains(all, "values.json") || !strings.Contains(all, "deploy/") {
		t.Error(all)
	}
	n.Body = "We looked at cart.go. Never look again."
	if all := join(); strings.Contains(all, "cart.go") || !strings.Contains(all, "Deploys") {
		t.Error(all)
	}
	for body, want := range map[string]bool{
		"Run `make all`, then look.": false, "Run make x. Always run `make all` first.": true, "`make all` must not run twice.": true,
		"To clean up: `make all`.\nNever look back.": false, "Before a release run `make all`.": false, "`make all` breaks the cache.": true,
	} {
		n, got := note.Note{Title: "Deploys", Body: body}, false
		for _, s := range statements(&n) {
			got = got || s.commands && strings.Contains(s.text, "make all")
		}
		if got != want {
			t.Errorf("%q names its command: %v", body, got)
		}
	}
}

func FuzzNamedIn(f *testing.F) {
	f.Add("never edit gen/*.go, run `make all`", "/src/gen/a.go", "git push && make all")
	f.Add("**/*.sql [", "a/**/b", "sed -i x ${Y}")
	f.Add("修改payments.proto", `C:\x\payments.proto`, "bash -c \"a\"")
	f.Fuzz(func(t *testing.T, statement, file, command string) {
		n := Action{Root: "/src", Files: []string{file}, Command: command, Text: statement}.names()
		if strength, what := n.namedIn(statement); (strength == namesNothing) != (what == "") {
			t.Errorf("strength %d of %q", strength, what)
		}
		if q := n.question(); len(q) > 64<<10 {
			t.Errorf("%d bytes", len(q))
		}
	})
}
