package replica

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// configure makes what stands in .git: attributes that nobody's remote can
// change, and where origin is and how to merge by hand. It
// reads the file itself: git would be started once for each question, in every
// sync.
func (g *git) configure(ctx context.Context) error {
	if err := firstOf(shield(g.dir), exclude(g.dir)); err != nil {
		return err
	}
	type setting struct{ key, want string }
	var wanted []setting
	if g.o.Remote != "" && CheckRemote(g.o.Remote) == nil {
		wanted = append(wanted,
			setting{"remote.origin.url", g.origin()},
			setting{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
			setting{"branch.main.remote", "origin"},
			setting{"branch.main.merge", "refs/heads/main"},
		)
	}
	if g.o.Driver != "" {
		wanted = append(wanted,
			setting{"merge.anamnesis.name", "merge of notes"},
			setting{"merge.anamnesis.driver", g.o.Driver},
		)
	}
	if len(wanted) == 0 {
		return nil
	}
	have := parseConfig(filepath.Join(g.dir, ".git", "config"))
	for _, s := range wanted {
		if values := have[s.key]; len(values) == 1 && values[0] == s.want {
			continue
		}
		if err := g.locked(ctx, "", "config", "--local", "--replace-all", s.key, s.want); err != nil {
			return err
		}
		if s.key == "remote.origin.url" && len(have[s.key]) > 0 {
			// What the old remote had says nothing about the new one.
			for _, ref := range []string{"refs/remotes/origin/main", theirRef} {
				if err := g.locked(ctx, "", "update-ref", "-d", ref); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// origin is what people's own git takes for the remote. One that holds sealed files is
// nothing that it may push to: it looks for a helper of that name, and there is none.
func (g *git) origin() string {
	if g.o.Seal != "" {
		return "anamnesis-sealed::" + g.o.Remote
	}
	return g.o.Remote
}

// parseConfig reads the plain part of git's format. What it does not
// understand is left out, and costs no more than a start of git.
func parseConfig(at string) map[string][]string {
	data, err := os.ReadFile(at)
	if err != nil {
		return nil
	}
	have := make(map[string][]string)
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, ok := strings.CutSuffix(line[1:], "]")
			head, sub, quoted := strings.Cut(name, " ")
			switch {
			case !ok || strings.Contains(sub, `\`):
				section = ""
			case quoted:
				section = strings.ToLower(head) + "." + strings.Trim(sub, `"`) + "."
			default:
				section = strings.ToLower(head) + "."
			}
		case section != "":
			key, value, ok := strings.Cut(line, "=")
			if value, plain := unquote(strings.TrimSpace(value)); ok && plain {
				key = section + strings.ToLower(strings.TrimSpace(key))
				have[key] = append(have[key], value)
			}
		}
	}
	return have
}

// unquote reads a value. It is false for comments, continued lines and
// escapes that we never write.
func unquote(value string) (string, bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(value); i++ {
		switch ch := value[i]; {
		case ch == '"':
			quoted = !quoted
		case ch == '\\':
			if i++; i == len(value) || value[i] != '"' && value[i] != '\\' {
				return "", false
			}
			b.WriteByte(value[i])
		case !quoted && (ch == '#' || ch == ';'):
			return "", false
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), !quoted
}
