package bundle_test

import (
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/store/bundle"
)

func FuzzMember(f *testing.F) {
	for _, name := range []string{"memory/semantic/a.md", "memory/.git/x", "local/CON", "eval/x.jsonl", "history/a/b-c.md", "redact.toml", "corpora/..//x"} {
		f.Add(name, "---\nid: a\n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if why := bundle.Refuses(name, []byte(text)); why != "" {
			return
		}
		low := strings.ToLower(name)
		for part := range strings.SplitSeq(low, "/") {
			if strings.HasPrefix(part, ".") || part == "hooks" && !strings.HasPrefix(low, "history/") || strings.HasSuffix(part, ".lock") || part == "claude.md" {
				t.Errorf("%q is let in", name)
			}
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) || name == "redact.toml" || name == "config.json" {
			t.Errorf("%q is let in", name)
		}
	})
}
