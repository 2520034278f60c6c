package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/app/hooks"
)

// A rule about a folder is shown when the agent has edited a file there, and not before.
func TestPromptKnowsTheFilesInWork(t *testing.T) {
	r := apptest.Open(t)
	dir := t.TempDir()
	for _, rule := range []string{"Tariffs are rounded by the backend: `billing/tariffs`", "Scanners of the hall keep old versions"} {
		if _, err := app.Add(t.Context(), r, app.Draft{Type: "semantic", Title: rule, Body: rule + ". That was learned in March.", Project: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	e := agent.Event{
		Harness: "claude", SessionID: "one", Dir: dir, TranscriptPath: filepath.Join(dir, "one.jsonl"),
		Prompt: "give the customers of the north their own one from the next month on",
	}
	ask := func() string {
		t.Helper()
		a, err := hooks.Prompt(t.Context(), r, e, hooks.PromptOptions{Project: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		return a.Text
	}
	if got := ask(); got != "" {
		t.Errorf("without a transcript it is told\n%s", got)
	}
	edit := `{"type":"assistant","uuid":"1","sessionId":"one","message":{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"` + filepath.ToSlash(dir) + `/billing/tariffs/north.go"}}]}}` + "\n"
	if err := os.WriteFile(e.TranscriptPath, []byte(edit), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(); !strings.Contains(got, "rounded by the backend") || strings.Contains(got, "Scanners") {
		t.Errorf("with a file of billing/tariffs in work it is told\n%s", got)
	}
	e.SessionID, e.TranscriptPath = "two", dir
	if got := ask(); got != "" {
		t.Errorf("a folder in place of a transcript tells\n%s", got)
	}
}
