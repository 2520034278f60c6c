package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"          //nolint:depguard // a server of this process, asked by a child of it
	"net/http/httptest" //nolint:depguard // likewise
	"os"
	"path/filepath"
	"strings"
	"time"

	labelled "anamnesis/lab/quality"
)

// tokens counts what a model reads for a session: the sessions of the held-out half of
// lab/quality/sessions are captured, their learnings given to a model, and each project
// is distilled. The model is a server here that answers nothing of use and counts four
// characters as a token, once for each request, as when every answer is good at once.
func (s *stage) tokens(*stand) error {
	folder, err := labelled.BuiltInLessons("heldout")
	if err != nil {
		return err
	}
	sets, err := labelled.ReadLessonSets(folder)
	if err != nil {
		return err
	}
	srv := httptest.NewServer(http.HandlerFunc(countTokens))
	defer srv.Close()
	home, err := os.MkdirTemp("", "anamnesis-tokens-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	run := func(args ...string) ([]byte, error) {
		c := child{args: append([]string{s.program}, args...), dir: home, env: []string{
			"HOME=" + home, "ANAMNESIS_HOME=" + filepath.Join(home, "store"), "ANAMNESIS_MACHINE_ID=bench", "ANAMNESIS_REFLECTION_PROVIDER=local",
			"ANAMNESIS_REFLECTION_MODEL=count", "ANAMNESIS_REFLECTION_BASE_URL=" + srv.URL,
			"ANAMNESIS_REFLECTION_DAILY_CALLS=0", "ANAMNESIS_REFLECTION_DAILY_TOKENS=0", "ANAMNESIS_CONSOLIDATE=0",
		}, ok: 1}
		out, _, err := c.run()
		return out, err
	}
	sessions := 0
	for i := range sets {
		for j := range sets[i].Sessions {
			id := fmt.Sprintf("%s-%02d", sets[i].Name, j+1)
			name := filepath.Join(home, id+".jsonl")
			data := sets[i].Sessions[j].Transcript(id, "/home/ada/src/"+sets[i].Name, time.Now().Add(time.Duration(j-100)*time.Hour))
			if err := os.WriteFile(name, data, 0o600); err != nil {
				return err
			}
			if _, err := run("capture", "--no-sync", "--project", sets[i].Project, "--transcript", name); err != nil {
				return err
			}
			if _, err := run("drain"); err != nil {
				return err
			}
			sessions++
		}
		if _, err := run("reflect", "--apply", "--project", sets[i].Project); err != nil {
			return err
		}
	}
	out, err := run("cost", "--json")
	if err != nil {
		return err
	}
	var cost struct {
		Rows []struct {
			Purpose string  `json:"purpose"`
			In      float64 `json:"tokens_in"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &cost); err != nil {
		return fmt.Errorf("read what models cost: %w", err)
	}
	sum := map[string]float64{}
	for _, r := range cost.Rows { // one a day and purpose
		sum[r.Purpose] += r.In
	}
	for _, purpose := range tokenPurposes {
		s.table.put("tokens "+purpose, 0, sum[purpose]/float64(sessions), 0)
	}
	return nil
}

// tokenPurposes are what a model is asked for after a session.
var tokenPurposes = []string{"summary", "refine", "reflect"}

// tokenRows are their rows of the table.
func tokenRows() (all []row) {
	for _, purpose := range tokenPurposes {
		all = append(all, row{id: "tokens " + purpose, what: "read by a model a session, to " + purpose, unit: "tokens"})
	}
	return all
}

// countTokens answers a chat request with nothing of use.
func countTokens(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &asked)
	n := 0
	for _, m := range asked.Messages {
		if strings.Contains(m.Content, "Your last answer was not accepted:") {
			n = 0 // it was counted before
			break
		}
		n += len(m.Content)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": "{}"}}},
		"usage":   map[string]any{"prompt_tokens": n / 4, "completion_tokens": 1},
	})
}
