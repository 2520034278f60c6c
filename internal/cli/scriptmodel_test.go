package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// model FILE starts a chat server that answers every request with the text of
// FILE as it is then, and sets the settings that make it the model. What it
// receives is added to asked.txt.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "model FILE")
	answer, asked := ts.MkAbs(args[0]), ts.MkAbs("asked.txt")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if f, err := os.OpenFile(asked, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.Write(append(body, '\n'))
			f.Close()
		}
		text, err := os.ReadFile(answer)
		if err != nil {
			http.Error(w, "the model is not loaded", http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"content": strings.TrimSpace(string(text))}}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
		})
	}))
	ts.Defer(srv.Close)
	for name, value := range map[string]string{
		"ANAMNESIS_REFLECTION_PROVIDER": "local", "ANAMNESIS_REFLECTION_MODEL": "test",
		"ANAMNESIS_REFLECTION_BASE_URL": srv.URL, "ANAMNESIS_REFLECTION_TIMEOUT": "5",
	} {
		ts.Setenv(name, value)
	}
}

// undo runs the command behind "undo:" in the last output.
func cmdUndo(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) < 2, "[!] undo [FILE]")
	_, line, ok := strings.Cut(ts.ReadFile(append(args, "stdout")[0]), "undo: ")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		ts.Fatalf("no undo in the output")
	}
	err := ts.Exec(words[0], words[1:]...)
	if !neg {
		ts.Check(err)
	} else if err == nil {
		ts.Fatalf("the undo took everything back")
	}
}
