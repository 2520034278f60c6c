package agent_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

func TestClaudeMemory(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             agent.Memory
	}{
		{
			"in full", "projects/-src-shop/memory/rebase.md", "---\nname: rebase\ndescription: Rebase first\nmetadata:\n  node_type: memory\n  type: feedback\n---\n\n# Rebase\n\nAlways.\n",
			agent.Memory{Key: "-src-shop/rebase", Kind: "feedback", Title: "Rebase first", Body: "# Rebase\n\nAlways.", Folder: "projects/-src-shop"},
		},
		{
			"an unquoted colon, and words below a key", "projects/p/memory/a.md", "---\ndescription: a: b\n  goes on\nmetadata:\n  just words\n---\nx\n",
			agent.Memory{Key: "p/a", Kind: "project", Title: "a: b goes on", Body: "x", Folder: "projects/p"},
		},
		{
			"our own block is cut out", "projects/p/memory/a.md", "---\nname: n\n---\nx\n" + agent.InjectStart + "\nold\n" + agent.InjectEnd + "\ny\n",
			agent.Memory{Key: "p/a", Kind: "project", Title: "n", Body: "x\n\ny", Folder: "projects/p"},
		},
	} {
		got, err := agent.Claude{}.ReadMemory(tt.file, []byte(tt.text))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v %v", tt.name, got, err)
			continue
		}
		if d := cmp.Diff(tt.want, got[0]); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	for _, text := range []string{"", "no front matter", "---\nname: x\n", "---\nname: x\n---\n", "---\nname: x\n---\n \n\n"} {
		if got, err := (agent.Claude{}).ReadMemory("projects/p/memory/a.md", []byte(text)); !errors.Is(err, agent.ErrNoMemory) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func TestGeminiMemory(t *testing.T) {
	m := agent.ByName("gemini").Memory
	for _, tt := range []struct {
		name, file, text string
		want             []agent.Memory
	}{
		{
			"what save_memory wrote", "GEMINI.md",
			"# Mine\n- not this\n\n## Gemini Added Memories\n- Use pnpm, never npm\n- Deploy only from CI\n  on Fridays too\n\n# Other\n- nor this\n",
			[]agent.Memory{
				{Key: "GEMINI.md#use pnpm, never npm", Kind: "memory", Title: "Use pnpm, never npm", Body: "Use pnpm, never npm"},
				{Key: "GEMINI.md#deploy only from ci on fridays too", Kind: "memory", Title: "Deploy only from CI on Fridays too", Body: "Deploy only from CI\non Fridays too"},
			},
		},
		{
			"the index of a project", "tmp/shop/memory/MEMORY.md", "# Project memory\n\n- VAT is rounded per line\n- [Deploy](deploy.md): how it is done\n- see `release.md`\n",
			[]agent.Memory{{Key: "shop#vat is rounded per line", Kind: "memory", Title: "VAT is rounded per line", Body: "VAT is rounded per line", Folder: "tmp/shop"}},
		},
		{
			"a note", "tmp/shop/memory/deploy.md", "# How to deploy\n\nRun make deploy.\n",
			[]agent.Memory{{Key: "shop/deploy", Kind: "note", Title: "How to deploy", Body: "Run make deploy.", Folder: "tmp/shop"}},
		},
	} {
		got, err := m.ReadMemory(tt.file, []byte(tt.text))
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", tt.name, err, d)
		}
	}
	for _, text := range []string{"", "# Mine\n- a rule of mine\n", "```\n## Gemini Added Memories\n- x\n```\n", "## Gemini Added Memories\n\n"} {
		if got, err := m.ReadMemory("GEMINI.md", []byte(text)); !errors.Is(err, agent.ErrNoMemory) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func TestCodexAddedNote(t *testing.T) {
	got, err := agent.ByName("codex").Memory.ReadMemory("memories/extensions/ad_hoc/notes/vat.md", []byte("VAT is rounded per line.\n"))
	want := []agent.Memory{{Key: "extensions/ad_hoc/notes/vat", Kind: "note", Title: "VAT is rounded per line.", Body: "VAT is rounded per line."}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestSubagentSession(t *testing.T) {
	for name, want := range map[string]int{"projects/p/agent-1f.jsonl": 0, "projects/agent-x/0b1c.jsonl": 1} {
		if got, err := (agent.Claude{}).SessionsIn(name, nil); err != nil || len(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzReadMemory(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: \"b\\\"\"\nmetadata:\n  type: user\n---\nbody\n", "---\n  x\n: y\n#\n---\n", "# Task Group: a\napplies_to: cwd=/x; y\n```\n# b\n",
		"## User Profile\nx\n## a\n## a\ny\n", "thread_id: a\ncwd: /x\n\n# T\nb", "---\na: |\n\n  b\nb:\n  c:\n    d: e\n---\nx",
	} {
		f.Add([]byte(s))
	}
	files := []string{"projects/p/memory/a.md", "memories/MEMORY.md", "memories/memory_summary.md", "memories/rollout_summaries/a.md", "memories/skills/s/SKILL.md"}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range agent.All {
			if h.Memory == nil {
				continue
			}
			r := h.Memory
			for _, name := range files {
				all, err := r.ReadMemory(name, data)
				if (err != nil) != (len(all) == 0) || err != nil && !errors.Is(err, agent.ErrNoMemory) {
					t.Fatalf("%s: %d memories, %v", name, len(all), err)
				}
				keys := make(map[string]bool)
				for _, m := range all {
					if m.Title == "" || m.Body == "" || m.Key == "" || strings.ContainsAny(m.Title, "\n\r") || !utf8.ValidString(m.Title+m.Body) || strings.ContainsRune(m.Body, 0) {
						t.Fatalf("%s: %+v", name, m)
					}
					if keys[m.Key] {
						t.Fatalf("%s: two memories have the key %q", name, m.Key)
					}
					keys[m.Key] = true
				}
			}
		}
	})
}
