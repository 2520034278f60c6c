package index_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"
)

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]string{
		"run cmd/main.go, then recalcTax":       "cmd/main.go recalcTax",
		"set max_conns and PGHOST2 to 5":        "max_conns PGHOST2",
		"it says ECONNREFUSED or ORA-00942":     "ECONNREFUSED ORA-00942",
		"E1234 and E1 and HTTP, K1234":          "E1234",
		"import github.com/x/y and @scope/name": "github.com/x/y scope/name",
		"Foo.bar() calls Foo.bar() again":       "Foo.bar",
		"plain words, and more. And so on":      "",
		"version 1.2.3 of 2026-01-31 at 12:30":  "",
		"well-known words stay prose":           "",
		"a/b x_":                                "a/b",
		"東京 recalc_tax 京都":                      "recalc_tax",
		"e.g. this and i.e. that":               "",
		"at pool.go:42:7, in std::vec, a:b":     "pool.go std::vec",
		// Hosts.
		"note: see https://example.org/a.html":              "example.org",
		"POST to https://api.stripe.com/v1?x_y=a_b.":        "api.stripe.com",
		"<http://www.Example.org:8080>, (ftp://a.net/x_y)":  "example.org a.net",
		"http://localhost:80/x_y http://10.0.0.1/a_b":       "",
		"postgres://me:s3cret_x@db.acme.dev/app_db":         "db.acme.dev",
		"https://{host}/a_b http://$HOST_NAME/x":            "a_b",
		"https://github.com/a/b/pull/3, https://github.com": "github.com/a/b",
		"clone https://gitlab.com/a/b.git":                  "gitlab.com/a/b",
		// Commands.
		"`kubectl rollout restart deploy/web` helps":                 "kubectl rollout|deploy/web",
		"`sudo FOO=1 systemctl restart nginx`":                       "systemctl restart",
		"use `rsync -a x y`, `ls`, `const x = 1`":                    "rsync",
		"  $ git rebase --onto main\nand go on":                      "git rebase",
		"we git rebase often; it costs $ 5 a month":                  "",
		"```bash\n# a comment\nterraform plan\n```\nterraform apply": "terraform plan",
		"```go\nreturn nil\nfoo bar\n```\n~~~sh\nmake all;\n~~~":     "make all",
		"```\n$ npm ci\nadded packages\n```":                         "npm ci",
		"an `open span\nends with its line: recalcTax":               "recalcTax",
	} {
		sep := " "
		if strings.Contains(want, "|") {
			sep = "|"
		}
		if got := strings.Join(index.Identifiers(text, 10), sep); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := index.Identifiers("a_a b_b c_c d_d", 2); len(got) != 2 {
		t.Errorf("limit: %v", got)
	}
	for name, long := range map[string]string{
		"a word": strings.Repeat("x", 1<<20) + "_y", "backticks": strings.Repeat("`", 1<<20), "an address": "https://" + strings.Repeat("x", 1<<20),
	} {
		if got := index.Identifiers(long, 5); len(got) != 0 {
			t.Errorf("a megabyte of %s: %d", name, len(got))
		}
	}
}

func FuzzIdentifiers(f *testing.F) {
	for _, text := range []string{
		"run cmd/main.go:4, `kubectl rollout restart`", "$ sudo A=1 git push", "```sh\nmake all\n```", "~~~\n~~~", "https://u:p@h.org:1/x", "`\xff`",
		"https://github.com/a/b.git", "std::vec ::: a::", "E0382 ORA-1 ://", "```\n``` x\n`",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := index.Identifiers(text, 12)
		if len(all) > 12 {
			t.Errorf("%d of at most 12", len(all))
		}
		lower := strings.ToLower(text)
		for i, name := range all {
			if len(name) < 2 || len(name) > 66 || slices.Contains(all[:i], name) {
				t.Errorf("%q of %q is too short, too long or there twice", name, text)
			}
			for part := range strings.SplitSeq(name, " ") { // of a command there may be more blanks between
				if !strings.Contains(lower, strings.ToLower(part)) && !strings.Contains(name, "/") {
					t.Errorf("%q is not in %q", name, text)
				}
			}
		}
		if again := index.Identifiers(text, 12); !slices.Equal(all, again) {
			t.Errorf("%q and then %q", all, again)
		}
	})
}
