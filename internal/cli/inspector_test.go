package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// TestInspector drives the server with the command line of the protocol's own
// inspector: a client that we did not write. It needs mcp-inspector on the PATH
// (npm install -g @modelcontextprotocol/inspector).
func TestInspector(t *testing.T) {
	inspector, err := exec.LookPath("mcp-inspector")
	if err != nil {
		if os.Getenv("ANAMNESIS_CI") != "" {
			t.Fatal("mcp-inspector is not on the PATH")
		}
		t.Skip("mcp-inspector is not installed: npm install -g @modelcontextprotocol/inspector")
	}
	dir := t.TempDir()
	cfg, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"memory": map[string]any{
		"command": "anamnesis", "args": []string{"serve"},
		"env": map[string]string{"ANAMNESIS_HOME": filepath.Join(dir, "store"), "HOME": dir, "ANAMNESIS_MACHINE_ID": "testbox", "PATH": os.Getenv("PATH")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(file, cfg, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(answer any, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, inspector, append([]string{"--cli", "--config", file, "--server", "memory"}, args...)...)
		var diag bytes.Buffer
		cmd.Stderr = &diag
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, diag.String())
		}
		if err := json.Unmarshal(out, answer); err != nil {
			t.Fatalf("%s: %v in %s", strings.Join(args, " "), err, out)
		}
	}

	var list struct {
		Tools []struct{ Name string }
	}
	ask(&list, "--method", "tools/list")
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	for _, want := range []string{"memory_search", "memory_list", "memory_status", "memory_write", "memory_sync", "memory_get", "memory_forget", "memory_handoff"} {
		if !slices.Contains(names, want) {
			t.Errorf("no tool %s among %v", want, names)
		}
	}
	type answer struct {
		Content []struct{ Text string }
	}
	read := func(a answer, v any) {
		t.Helper()
		if len(a.Content) != 1 {
			t.Fatalf("an answer of %d parts", len(a.Content))
		}
		text := strings.TrimSuffix(strings.TrimPrefix(a.Content[0].Text, agent.InjectStart+"\n"), "\n"+agent.InjectEnd)
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	var a answer
	var written struct{ ID, Outcome string }
	ask(&a, "--method", "tools/call", "--tool-name", "memory_write", "--tool-arg", "type=semantic",
		"--tool-arg", "title=Tests run with vitest", "--tool-arg", "body=Not with jest.")
	read(a, &written)
	if written.Outcome != "created" {
		t.Fatalf("memory_write = %+v", written)
	}
	var found struct{ Result []struct{ ID string } }
	a = answer{}
	ask(&a, "--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=which test runner, vitest?")
	read(a, &found)
	if r := found.Result; len(r) != 1 || r[0].ID != written.ID {
		t.Errorf("memory_search = %+v, want %s", r, written.ID)
	}
	var resource struct {
		Contents []struct{ Text string }
	}
	ask(&resource, "--method", "resources/read", "--uri", "memory://note/"+written.ID)
	if len(resource.Contents) != 1 || !strings.Contains(resource.Contents[0].Text, "Not with jest.") {
		t.Errorf("resources/read = %+v", resource)
	}
}
