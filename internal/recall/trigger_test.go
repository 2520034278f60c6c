package recall

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
)

// A trigger fits what it says, word by word, and nothing that only looks like it.
func TestTriggerFits(t *testing.T) {
	run := func(lines ...string) (all []Action) {
		for _, line := range lines {
			all = append(all, Action{Root: "/src/shop", Command: line})
		}
		return all
	}
	edit := func(files ...string) (all []Action) {
		for _, f := range files {
			all = append(all, Action{Root: "/src/shop", Files: []string{f}})
		}
		return all
	}
	failed := func(outputs ...string) (all []Action) {
		for _, o := range outputs {
			all = append(all, Action{Root: "/src/shop", Output: o})
		}
		return all
	}
	for trigger, c := range map[string]struct{ fit, not []Action }{
		"cmd:npm install": {
			run("npm install", "npm install x", "cd web && npm install", "A=1 sudo -u bob npm --prefix web install x", "npm -g install", "bash -c 'npm install'",
				"env CI=1 npm install >/dev/null 2>&1", "x=$(npm install)", "/usr/bin/npm install", "corepack npm install", "yes | npm install"),
			run("npm test", "npm run install", "npm", "echo npm install", "pnpm install", "git commit -m 'npm install'", "cat <<E\nnpm install\nE", "ls # npm install",
				"npm installer"),
		},
		"cmd:npm":                {run("npm", "npm -v"), run("npmx", "cat npm", "./npm.sh", "pnpm dlx npm-check", "which npm")},
		"cmd:npm i*":             {run("npm i", "npm install"), run("npm run i")},
		"cmd:* run lint":         {run("npm run lint", "pnpm --filter web run lint"), run("lint run", "npm run lints")},
		"cmd:git push --force":   {run("git push --force origin main", "git -C x push origin main --force", "git push --force=true"), run("git push", "git push --force-with-lease")},
		"cmd:git push --force*":  {run("git push --force-with-lease"), run("git push -f")},
		"cmd:git push * main":    {run("git push origin main", "git push -u origin main"), run("git push origin", "git push origin dev main")},
		"cmd:git push":           {run("git -c user.name=push push"), run("git commit -m push", "git log push", "git -m pull")},
		"cmd:rm -rf":             {run("rm -fr x", "rm -r -f x", "sudo rm -rf x", "find . | xargs rm -rf"), run("rm -r x", "rm x -- -f", "rm --rf x")},
		"cmd:make deploy":        {run("make -C x deploy V=1", "make V=1 deploy"), run("make deploy-docs", "make")},
		"cmd:docker compose up":  {run("docker compose -f a.yml up -d"), run("docker-compose up", "docker up compose")},
		"cmd:./scripts/x.sh":     {run("./scripts/x.sh", "scripts/x.sh a"), run("./x.sh", "cat scripts/x.sh")},
		"cmd:pip install":        {run("pip install x", "python3 -m pip install x", "uv run pip install"), run("uv pip install x", "pipx install x")},
		"cmd:tsc":                {run("npx tsc -p .", "pnpm exec tsc", "npx --yes tsc"), run("npx tsc-watch", "npm tsc")},
		"path:payments.proto":    {append(edit("/src/shop/api/payments.proto", "payments.proto"), run("cat api/payments.proto", "echo x > api/payments.proto")...), append(edit("/src/shop/payments.proto.bak", "/etc/payments.proto"), run("echo payments.proto", "git commit -m payments.proto", "git commit -m 'see api/payments.proto'")...)},
		"path:api/**/*.proto":    {edit("/src/shop/api/a.proto", "/src/shop/api/v1/x/a.proto"), edit("/src/shop/web/api/a.proto", "/src/shop/api/a.go", "/src/api/a.proto")},
		"path:gen/":              {edit("/src/shop/gen/a.go", "gen/b/c.go"), edit("/src/shop/old/gen/a.go", "/src/shop/generate.go")},
		"path:*.pb.go":           {edit("/src/shop/x/a.pb.go"), edit("/src/shop/a.go")},
		"path:/package.json":     {edit("/src/shop/package.json"), edit("/src/shop/web/package.json")},
		"path:/etc/hosts":        {edit("/etc/hosts"), edit("/src/etc/hosts")},
		"path:a/**/b/**/c/**/*":  {edit("a/b/c/d"), edit("a/b/d")},
		"error:EADDRINUSE: 3000": {failed("Exit code 1\nError: listen eaddrinuse:\t3000"), append(failed("EADDRINUSE: 4000", ""), run("echo EADDRINUSE: 3000")...)},
	} {
		trigger, err := note.ParseTrigger(trigger)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range slices.Concat(c.fit, c.not) {
			n := a.names()
			if got, want := n.fits(trigger), i < len(c.fit); got != want {
				t.Errorf("%s at %+v: %v", trigger, a, got)
			}
			if i < len(c.fit) && len(n.questions()) == 0 {
				t.Errorf("%+v asks nothing", a)
			}
		}
	}
}

// What a note has by its form: commands and paths in back-ticks, anchors, ruled-out programs.
func TestPropose(t *testing.T) {
	on := strings.Fields("npm yarn pip grep docker sudo python docker-compose make terraform go git write install")
	runs := func(name string) []string {
		switch {
		case slices.Contains(on, name):
			return []string{name}
		case name == "deploy-prod":
			return []string{"make deploy-prod"}
		}
		return nil
	}
	for _, c := range []struct {
		n    note.Note
		want string
	}{
		{note.Note{Title: "Use pnpm, never npm"}, "cmd:npm"},
		{note.Note{Title: "pnpm, not npm or yarn."}, "cmd:npm cmd:yarn"},
		{note.Note{Title: "Packages", Rule: "Use uv instead of pip"}, "cmd:pip"},
		{note.Note{Title: "Never use npm in this repository"}, "cmd:npm"},
		{note.Note{Title: "Do not use npm/yarn here"}, "cmd:npm cmd:yarn"},
		{note.Note{Title: "Take `rg` and not `grep` here"}, "cmd:grep"},
		{note.Note{Title: "Never deploy-prod."}, "cmd:make deploy-prod"},
		{note.Note{Title: "Never force push to main"}, ""},
		{note.Note{Title: "Never write tests by hand, and never install from source"}, ""},
		{note.Note{Title: "npm is old", Body: "Use pnpm, never npm."}, ""},
		{note.Note{Title: "`terraform apply` only from CI"}, "cmd:terraform apply"},
		{note.Note{Title: "x", Body: "Run `cd api && make proto-gen <name>` after editing `api/payments.proto:12`."}, "cmd:make proto-gen path:api/payments.proto"},
		{note.Note{Title: "x", Body: "`npm` is fine, `recalcTax` rounds, `a := b` and `unknown thing` do not count."}, ""},
		{note.Note{Title: "x", Body: "Keep `package.json` sorted, `gen/` and `*.pb.go` as they are."}, "path:/package.json path:gen/ path:*.pb.go"},
		{note.Note{Title: "x", Body: "```\nnpm install\n```\n"}, ""},
		{note.Note{Title: "x", Body: "`npm install` " + strings.Repeat("and so on ", 80)}, ""},
		{note.Note{Title: "x", Anchors: []string{"internal/cart.go:12", "Cart.Add()", "https://x.org/a"}}, "path:internal/cart.go"},
		{note.Note{Title: "`git push --force` never"}, "cmd:git push --force"},
	} {
		var got []string
		for _, trigger := range propose(&c.n, runs) {
			got = append(got, trigger.String())
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.n.Title, c.n.Body, got, c.want)
		}
	}
}

// A rule of a machine with a command that forces is injected only where a person vouches for it,
// and a note has triggers by its form only where the user vouches for it: of a quoted one by its title.
func TestTriggersOfNotes(t *testing.T) {
	runs := func(name string) []string { return []string{name} }
	of := func(source string, sure float64, when ...string) *note.Note {
		return &note.Note{
			Type: note.Semantic, Title: "Use pnpm, never npm", When: when, Provenance: note.Provenance{Source: source, Confidence: sure},
			Trusted: source == note.Human,
		}
	}
	quoted := of(note.User, 0.9)
	quoted.Trusted, quoted.Body, quoted.Rule = true, "Run `make ship` then.", "Never yarn"
	for name, c := range map[string]struct {
		n        *note.Note
		want     int
		proposed bool
	}{
		"a person's":           {of(note.Human, 0.1), 1, true},
		"typed":                {quoted, 1, true},
		"an agent's":           {of(note.Agent, 1), 0, false},
		"imported":             {of(note.Import, 1), 0, false},
		"an agent's, explicit": {of(note.Agent, 0.1, "cmd:npm", "cmd:yarn"), 2, false},
		"learnt":               {of(note.Learning, 0.9), 0, false},
	} {
		if all, proposed := Triggers(c.n, runs); len(all) != c.want || proposed != c.proposed {
			t.Errorf("%s: %v, %v", name, all, proposed)
		}
	}
	risky := of(note.Learning, 1, "cmd:git push")
	risky.Body = "Run git push --force then."
	if vouched(risky) {
		t.Error("a machine's rule that forces")
	}
	risky.Tags = []string{note.ReviewedTag}
	if vouched(risky) {
		t.Error("a rule that forces, and that only its file calls reviewed")
	}
	risky.Trusted = true
	if !vouched(risky) {
		t.Error("a reviewed rule that forces")
	}
}

func FuzzTriggerFits(f *testing.F) {
	f.Add("cmd", "git push --force * main", "sudo git -C x push -f origin main", "/src/a.go")
	f.Add("path", "**/a/**/[x", "cat `x` > y", `C:\x\**`)
	f.Add("error", "**", "bash -c 'a; b' <<E", "a/../b")
	f.Add("cmd", strings.Repeat("* ", 60), strings.Repeat("-a x ", 200), "")
	f.Fuzz(func(t *testing.T, kind, pattern, command, file string) {
		n := Action{Root: "/src", Files: []string{file}, Command: command, Output: command}.names()
		trigger := note.Trigger{Kind: note.TriggerKind(kind), Pattern: pattern}
		if n.fits(trigger) && kind != "cmd" && kind != "path" && kind != "error" {
			t.Errorf("%v fits", trigger)
		}
		for _, p := range propose(&note.Note{Title: pattern, Body: command, Rule: file, Anchors: []string{file}}, n.runs) {
			if _, err := note.ParseTrigger(p.String()); err != nil {
				t.Error(err)
			}
		}
		if task := TaskAction("/src", pattern+command); len(task.Files) > maxActionFiles {
			t.Errorf("%d files", len(task.Files))
		}
		if !wordFits("*", command) || pattern == command && !wordFits(pattern, command) {
			t.Errorf("%q does not fit %q", pattern, command)
		}
	})
}
