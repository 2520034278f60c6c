package connect_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

var update = flag.Bool("update", false, "write the pages that are generated")

// TestDocs wants the pages of agents to be what the tables say.
func TestDocs(t *testing.T) {
	pages := map[string]string{"README.md": overview()}
	for _, h := range connect.All() {
		if h.Hooks != nil && h != connect.Default() {
			pages[h.Name+".md"] = h.Page()
		}
	}
	for name, want := range pages {
		file := filepath.Join("..", "..", "docs", "agents", name)
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("docs/agents/%s is stale (%v); run `make generate`", name, err)
		}
	}
}

// overview writes the table of all agents for docs/agents.
func overview() string {
	var b strings.Builder
	b.WriteString("# Agents\n\nThis page is generated. `anamnesis agents` shows the same for this machine.\n\n| |")
	for _, a := range connect.Default().Abilities() {
		fmt.Fprintf(&b, " %s |", a.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(connect.Default().Abilities())) + "\n")
	for _, h := range connect.All() {
		if !h.Connects() {
			continue
		}
		fmt.Fprintf(&b, "| %s |", h.Title)
		for _, a := range h.Abilities() {
			switch a.State {
			case connect.Works:
				b.WriteString(" yes |")
			case connect.Partial:
				b.WriteString(" part |")
			default:
				b.WriteString(" no |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThe page of each agent says what restricts it. [measured.md](measured.md) has the figures.\n\n")
	for _, h := range connect.All() {
		if h.Connects() && h.Hooks != nil && h != connect.Default() {
			fmt.Fprintf(&b, "- [%s](%s.md)\n", h.Title, h.Name)
		}
	}
	b.WriteString("- [Claude Code](claude-code.md)\n")
	return b.String()
}
