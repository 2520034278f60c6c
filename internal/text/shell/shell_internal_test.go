package shell

import (
	"strings"
	"testing"
)

func TestCommandsOf(t *testing.T) {
	for line, want := range map[string]string{
		"git push origin main":                                 "git push origin main",
		"cd api && sudo FOO=1 make -C x proto-gen BAR=2":       "cd api | sudo FOO=1 make -C x proto-gen BAR=2 > make -C x proto-gen BAR=2",
		"ls -la; cat a | grep b":                               "ls -la | cat a | grep b",
		"echo 'git push; rm x' && true":                        "echo git push; rm x | true",
		"bash -lc 'git push && ls'":                            "git push | ls",
		"sudo bash -c \"sh -c 'make all'\"":                    "make all | sudo bash -c sh -c 'make all'",
		"timeout 30 ./scripts/release.sh prod":                 "timeout 30 ./scripts/release.sh prod > ./scripts/release.sh prod",
		"cat > a.txt <<'EOF'\ngit push\nmake all\nEOF\ngo vet": "cat | go vet",
		"X=$(git rev-parse HEAD) # git push\n# make it":        "git rev-parse HEAD",
		"if true; then git push; fi":                           "true | git push",
		"git \\\n push":                                        "git push",
		"npx --yes tsc -p .":                                   "npx --yes tsc -p . > tsc -p .",
		"sudo -u bob uv run --with x pytest":                   "sudo -u bob uv run --with x pytest > uv run --with x pytest > pytest",
		"python3 -m pip install x":                             "python3 -m pip install x > pip install x",
		"npm --prefix web run build":                           "npm --prefix web run build",
		"env":                                                  "env",
		"":                                                     "",
		"\x00\x00":                                             "",
		"'unclosed git push":                                   "unclosed git push",
		"&& || ;; ((":                                          "",
		`C:\Git\git.exe push`:                                  "C:Gitgit.exe push", // a shell would read it so, too
	} {
		var got []string
		for _, c := range Commands(line) {
			var forms []string
			for _, f := range c.Forms {
				forms = append(forms, strings.Join(f, " "))
			}
			got = append(got, strings.Join(forms, " > "))
		}
		if got := strings.Join(got, " | "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestCommandFiles(t *testing.T) {
	for line, want := range map[string]string{
		"cat a.proto":                               "cat a.proto",
		"sed -i s/a/b/ a.proto":                     "sed s/a/b/ a.proto",
		"echo hi > out/a.txt":                       "out/a.txt",
		"echo out/a.txt":                            "",
		"git checkout main -- a.go":                 "git checkout main a.go",
		"git commit -m api/a.go --message api/b.go": "git commit",
		"git commit -m 'docs: api/a.go' api/c.go":   "git commit api/c.go",
		"./scripts/release.sh prod":                 "./scripts/release.sh prod",
		"grep x <in.txt | tee out.txt":              "grep x in.txt tee out.txt",
	} {
		var got []string
		for _, c := range Commands(line) {
			got = append(got, c.Files...)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func FuzzCommandsOf(f *testing.F) {
	for _, line := range []string{
		"git push", "a <<E\nx\nE", "bash -c 'a; b'", "\\", "`$(", "<<<", "> ", "a 2>&1", "timeout 3", "'", "&>", "<<", "sudo -u", "npx", "uv run",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all := Commands(line)
		if len(all) > maxCommands*maxCommands {
			t.Errorf("%d commands", len(all))
		}
		for _, c := range all {
			if len(c.Forms) == 0 || len(c.Forms) > maxForms || len(c.Forms[0]) == 0 {
				t.Errorf("%q: forms %q", line, c.Forms)
			}
		}
	})
}
