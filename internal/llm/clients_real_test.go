package llm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/redact"
)

// TestAgentsAsModels asks the released clients for a text, with a transcript in which their
// model is made to call tools: none runs, no hook of ours is heard, and the text comes back.
func TestAgentsAsModels(t *testing.T) {
	if testing.Short() {
		t.Skip("a real client takes its time")
	}
	for _, c := range []struct {
		provider, shell, argument string
		model                     string
		offers                    bool // a few tools that do no harm stay
		setUp                     func(t *testing.T, home, url string) (env []string)
	}{
		{provider: llm.Claude, shell: "Bash", argument: "command", setUp: func(t *testing.T, home, url string) []string {
			put(t, filepath.Join(home, ".claude", "settings.json"), `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch `+
				filepath.Join(home, "hook")+`"}]}]}}`)
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		}},
		{provider: llm.Codex, model: llm.OwnModel, shell: "exec_command", argument: "cmd", offers: true, setUp: func(t *testing.T, home, url string) []string {
			put(t, filepath.Join(home, ".codex", "config.toml"), `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "`+url+`/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`)
			return []string{"SCRIPTED_KEY=x"}
		}},
		{provider: llm.Gemini, shell: "run_shell_command", argument: "command", setUp: func(t *testing.T, home, url string) []string {
			put(t, filepath.Join(home, ".gemini", "settings.json"), `{"security": {"auth": {"selectedType": "gemini-api-key"}},
				"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch `+filepath.Join(home, "hook")+`"}]}]}}`)
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url}
		}},
		{provider: llm.Copilot, model: llm.OwnModel, shell: "bash", argument: "command", setUp: func(_ *testing.T, _, url string) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_MODEL=scripted", "COPILOT_AUTO_UPDATE=false"}
		}},
		{provider: llm.OpenCode, shell: "bash", argument: "command", setUp: func(t *testing.T, home, url string) []string {
			put(t, filepath.Join(home, ".config", "opencode", "opencode.json"), `{"model": "scripted/scripted", "permission": "allow",
				"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "`+url+`/v1", "apiKey": "x"},
				"models": {"scripted": {"tool_call": true, "limit": {"context": 128000, "output": 8000}}}}}}`)
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}
		}},
	} {
		t.Run(c.provider, func(t *testing.T) {
			t.Parallel()
			variable := "ANAMNESIS_TEST_" + strings.ToUpper(c.provider)
			program := os.Getenv(variable)
			if program == "" {
				if os.Getenv("ANAMNESIS_CI") != "" {
					t.Fatalf("%s names no program", variable)
				}
				t.Skipf("no real client: %s names none", variable)
			}
			home, model := t.TempDir(), llmtest.NewScripted(t)
			env := append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, c.setUp(t, home, model.URL)...)
			g, err := llm.NewCommand(llm.GeneratorOptions{Provider: c.provider, Command: program, Model: c.model, Timeout: 60}, env, nil)
			if err != nil {
				t.Fatal(err)
			}
			var r redact.Redactor
			made := filepath.Join(home, "made")
			text, err := g.Generate(t.Context(), llm.Prompt{
				System: r.Redact("You write notes."),
				User:   r.Redact("@force " + c.shell + ` {"` + c.argument + `":"touch ` + made + "\"}\n@say The note."),
			})
			if err != nil || strings.TrimSpace(text) != "The note." {
				t.Errorf("it says %q, %v", text, err)
			}
			for _, file := range []string{made, filepath.Join(home, "hook")} {
				if _, err := os.Stat(file); err == nil {
					t.Errorf("%s was made", file)
				}
			}
			for request := range strings.Lines(model.Requests()) {
				if !c.offers && (strings.Contains(request, `"functionDeclarations":[{`) || strings.Contains(request, `"tools":[{"type"`)) {
					t.Errorf("its model is offered tools: %.500s", request)
				}
			}
		})
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
