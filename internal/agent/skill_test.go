package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

func TestReadSkill(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want agent.Skill
	}{
		"usual": {
			"---\nname: pdf\ndescription: Fill in forms.\n---\n\nStep one.\n",
			agent.Skill{Name: "pdf", Summary: "Fill in forms.", Body: "Step one."},
		},
		"lists": {
			"---\nname: \"pdf\"\ntags: [Forms, 'a b', forms]\ntriggers:\n  - \"fill in\"\n  - sign\n---\n",
			agent.Skill{Name: "pdf", Tags: []string{"forms", "a b", "fill in", "sign"}},
		},
		"a block": {
			"---\nname: pdf\ndescription: |\n  First: this.\n  Then that.\n---\nx",
			agent.Skill{Name: "pdf", Summary: "First: this. Then that.", Body: "x"},
		},
		"no front matter": {"Just a text.", agent.Skill{Name: "forms", Body: "Just a text."}},
		"open":            {"---\nname: pdf\n", agent.Skill{Name: "forms", Body: "---\nname: pdf"}},
		"empty":           {"", agent.Skill{Name: "forms"}},
	} {
		got := agent.ReadSkill("/home/ada/.claude/skills/forms/SKILL.md", []byte(tc.text))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzReadSkill(f *testing.F) {
	f.Add("---\nname: pdf\ntags: [a, b]\ndescription: x\n---\nbody")
	f.Add("---\ntags:\n  - a\n  - b\n---")
	f.Fuzz(func(t *testing.T, text string) {
		s := agent.ReadSkill("/a/b/SKILL.md", []byte(text))
		for _, one := range append([]string{s.Name, s.Summary, s.Body}, s.Tags...) {
			if !utf8.ValidString(one) || strings.ContainsRune(one, 0) {
				t.Fatalf("%q is no text", one)
			}
		}
		if strings.ContainsAny(s.Name+s.Summary, "\n\x1b") || len(s.Tags) > 32 || len([]rune(s.Summary)) > 240 {
			t.Fatalf("out of bounds: %q, %q, %d tags", s.Name, s.Summary, len(s.Tags))
		}
	})
}
