package agent_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"anamnesis/internal/agent"
)

var update = flag.Bool("update", false, "write the pages that are generated")

// TestDocs wants the pages of agents to be what the tables say.
func TestDocs(t *testing.T) {
	pages := map[string]string{"README.md": agent.Overview()}
	for _, h := range agent.All {
		if h.Hooks != nil && h != agent.Default() {
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
