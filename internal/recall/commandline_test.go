package recall

import (
	"strings"
	"testing"
)

func TestCommandsOf(t *testing.T) {
	for line, want := range map[string]string{
		"git push origin main":                                 "git push origin",
		"git -C /x push --force":                               "git push",
		"cd api && sudo FOO=1 make -C x proto-gen BAR=2":       "cd | make proto-gen",
		"ls -la; cat a | grep b":                               "ls | cat | grep",
		"npm run test:unit -- --watch":                         "npm run test:unit",
		"echo 'git push; rm x' && true":                        "echo | true",
		"bash -lc 'git push && ls'":                            "git push | ls",
		"bash -c \"sh -c 'make all'\"":                         "make all",
		"timeout 30 ./scripts/release.sh prod":                 "release.sh prod",
		"cat > a.txt <<'EOF'\ngit push\nmake all\nEOF\ngo vet": "cat | go vet",
		"X=$(git rev-parse HEAD) # git push\n# make it":        "git rev-parse",
		"if true; then git push; fi":                           "true | git push",
		"git \\\n push":                                        "git push",
		"/usr/bin/git push":                                    "git push",
		"":                                                     "",
		"\x00\x00":                                             "",
		"'unclosed git push":                                   "unclosed git push",
		"&& || ;; ((":                                          "",
		`C:\Git\git.exe push`:                                  "C:Gitgit push", // a shell would read it so too
	} {
		var got []string
		for _, c := range commandsOf(line, 0) {
			got = append(got, strings.Join(c.words, " "))
		}
		if got := strings.Join(got, " | "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestCommandFiles(t *testing.T) {
	for line, want := range map[string]string{
		"cat a.proto":                     "",
		"sed s/a/b/ a.proto":              "",
		"sed -i s/a/b/ a.proto":           "s/a/b/ a.proto",
		"rm -f gen/a.pb.go":               "gen/a.pb.go",
		"echo hi > out/a.txt":             "out/a.txt",
		"go vet 2>&1 >>log.txt":           "vet 2 1 log.txt",
		"git diff a.go":                   "",
		"git checkout main -- a.go":       "checkout main a.go",
		"./scripts/release.sh prod":       "./scripts/release.sh prod",
		"grep x <in.txt | tee out.txt":    "out.txt",
		"psql -f migrations/001.sql shop": "migrations/001.sql shop",
	} {
		var got []string
		for _, c := range commandsOf(line, 0) {
			got = append(got, c.files...)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestCommandNames(t *testing.T) {
	for _, c := range []struct {
		line, mention string
		want          bool
	}{
		{"git push --force", "git push", true},
		{"git push --force", "git push origin main", true},
		{"git pull", "git push", false},
		{"git push", "git", false},
		{"npm run build", "npm run lint", false},
		{"npm run lint", "npm run lint --fix", true},
		{"npm run lint", "npm run", true},
		{"npm install x", "npm install", true},
		{"gh pr view 3", "gh pr create", false},
		{"pytest tests", "pytest -n0", true},
		{"pytest tests", "pytest", false},
		{"ls -la", "ls", false},
		{"cat git push", "cat git", false},
		{"make", "make reindex", false},
		{"docker compose up", "docker compose down", false},
		{"docker compose up", "docker compose", true},
		{"python3 x.py", "python3", false},
	} {
		all := commandsOf(c.line, 0)
		mention := commandsOf(c.mention, 0)
		if got := len(all) == 1 && all[0].names(mention[0]); got != c.want {
			t.Errorf("%q names %q: %v", c.mention, c.line, got)
		}
	}
}

func FuzzCommandsOf(f *testing.F) {
	for _, line := range []string{"git push", "a <<E\nx\nE", "bash -c 'a; b'", "\\", "`$(", "<<<", "> ", "a 2>&1", "timeout 3", "'", "&>", "<<"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all := commandsOf(line, 0)
		if len(all) > maxCommands*maxCommands {
			t.Errorf("%d commands", len(all))
		}
		for _, c := range all {
			if len(c.words) == 0 || len(c.words) > maxWords || c.words[0] == "" {
				t.Errorf("%q: words %q", line, c.words)
			}
		}
	})
}
