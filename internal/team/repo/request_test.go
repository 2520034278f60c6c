package repo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/team/repo"
)

// hosted makes the bare repository the one that a web address stands for.
func (w *world) hosted(address string) {
	w.o.Remote = address
	w.config("[user]\nname = Ada\nemail = ada@example.org\n[url \"" + w.hub + "\"]\ninsteadOf = " + address + "\n")
}

func (w *world) shareWith(bin string, d repo.Document) repo.Item {
	w.t.Helper()
	items, err := w.open(bin).Share(w.t.Context(), []repo.Document{d})
	if err != nil {
		w.t.Fatal(err)
	}
	return items[0]
}

func TestRequests(t *testing.T) {
	title := "$(touch x); `id` --head=evil \"q\" \u202e\x1b[31m"
	d := doc("a", .6, func(n *note.Note) { n.Title = title })
	for _, c := range []struct {
		program, address, list, create string
	}{
		{
			"gh", "https://github.example.org/acme/know.ledge.git", "pr list --repo=github.example.org/acme/know.ledge --head=BRANCH --state=all --limit=1 --json=url",
			"pr create --repo=github.example.org/acme/know.ledge --draft --head=BRANCH --base=main --title=knowledge: ",
		},
		{
			"glab", "https://gitlab.example.org/acme/sub/knowledge.git", "mr list --repo=https://gitlab.example.org/acme/sub/knowledge --source-branch=BRANCH --all --output=json",
			"mr create --repo=https://gitlab.example.org/acme/sub/knowledge --draft --yes --source-branch=BRANCH --target-branch=main --title=knowledge: ",
		},
	} {
		t.Run(c.program, func(t *testing.T) {
			w := newWorld(t)
			w.hosted(c.address)
			bin, log := filepath.Join(w.home, "bin"), filepath.Join(w.home, "log")

			it := w.shareWith(bin, d)
			if it.State != repo.Pushed || it.Request != "" || !strings.Contains(it.Why, c.program+" ") {
				t.Errorf("without the program: %+v", it)
			}
			script(t, filepath.Join(bin, c.program), "#!/bin/sh\necho 'error: not logged in, token ghp_0123456789abcdefABCDEF0123456789abcd' >&2\nexit 4\n")
			it = w.shareWith(bin, d)
			if it.State != repo.Unchanged || !strings.Contains(it.Why, "not logged in") || strings.Contains(it.Why, "ghp_0123") {
				t.Errorf("a program that fails: %+v", it)
			}
			script(t, filepath.Join(bin, c.program), "#!/bin/sh\nfor a in \"$@\"; do printf '%s ' \"$a\"; done >> "+log+"\necho >> "+log+
				"\nenv >> "+log+".env\ncase \"$2\" in list) echo '[]';; create) echo 'Creating draft'; echo 'https://host.example/acme/1';; esac\n")
			it = w.shareWith(bin, d)
			if it.State != repo.Unchanged || it.Request != "https://host.example/acme/1" {
				t.Errorf("with the program: %+v", it)
			}
			it = w.shareWith(bin, d) // and is not asked again
			text, err := os.ReadFile(log)
			if err != nil || it.Request != "https://host.example/acme/1" {
				t.Fatalf("%+v %v", it, err)
			}
			calls := strings.SplitN(string(text), "\n", 3)
			if len(calls) < 2 || strings.TrimSpace(calls[0]) != strings.ReplaceAll(c.list, "BRANCH", it.Branch) ||
				!strings.HasPrefix(calls[1], strings.ReplaceAll(c.create, "BRANCH", it.Branch)+"$(touch x); `id` --head=evil \"q\"") {
				t.Errorf("it was called with\n%s", text)
			}
			if strings.Count(string(text), " list ") != 1 || strings.ContainsAny(string(text), "\x1b\u202e") {
				t.Errorf("it was called with\n%q", text)
			}
			if env, _ := os.ReadFile(log + ".env"); !strings.Contains(string(env), "ANAMNESIS_DISABLED=1") {
				t.Error("hooks of ours would run in it")
			}
		})
	}
}

// A request that is there already is found, and an answer that is no address is none.
func TestRequestFound(t *testing.T) {
	w := newWorld(t)
	w.hosted("git@github.example.org:acme/knowledge.git")
	bin := filepath.Join(w.home, "bin")
	script(t, filepath.Join(bin, "gh"), "#!/bin/sh\necho '[{\"url\": \"https://host.example/7\"}]'\n")
	if it := w.shareWith(bin, doc("a", .6, nil)); it.Request != "https://host.example/7" {
		t.Errorf("got %+v", it)
	}
	for _, answer := range []string{"javascript:alert(1)", "https://u:p@host.example/1", "done", "https://host.example/\x1b[31m"} {
		script(t, filepath.Join(bin, "gh"), "#!/bin/sh\ncase \"$2\" in list) echo '[]';; *) printf '%s\\n' '"+answer+"';; esac\n")
		d := doc(note.ID("b"+strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return '-'
		}, answer), "-")), .6, nil)
		if it := w.shareWith(bin, d); it.State != repo.Pushed || it.Request != "" || !strings.Contains(it.Why, "no address") {
			t.Errorf("%q: %+v", answer, it)
		}
	}
	w.o.Host = repo.HostNone
	if it := w.shareWith(bin, doc("c", .6, nil)); it.Request != "" || !strings.Contains(it.Why, "where the repository is hosted") {
		t.Errorf("got %+v", it)
	}
}
