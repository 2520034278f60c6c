package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
)

func folder(t *testing.T, dir string, b *llm.Budget) *llm.Folder {
	t.Helper()
	f, err := llm.NewFolder(llm.GeneratorOptions{Provider: llm.Files, Folder: dir, Model: "m"}, b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func asked(t *testing.T, text string) llm.Prompt {
	return llm.Prompt{System: safe(t, "Answer in JSON.")[0], User: safe(t, text)[0], MaxTokens: 900}
}

type batchLine struct {
	ID     string `json:"custom_id"`
	Method string
	URL    string
	Body   struct {
		Model    string
		Messages []struct{ Role, Content string }
		Most     int `json:"max_completion_tokens"`
	}
}

// requests reads requests.jsonl of a folder.
func requests(t *testing.T, dir string) (all []batchLine) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var l batchLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, l)
	}
	return all
}

func openAI(id, text string) string {
	return fmt.Sprintf(`{"id":"batch_req_1","custom_id":%q,"response":{"status_code":200,"request_id":"r","body":{"choices":[{"message":`+
		`{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":7}}},"error":null}`+"\n", id, text)
}

func anthropic(id, text string) string {
	return fmt.Sprintf(`{"custom_id":%q,"result":{"type":"succeeded","message":{"content":[{"type":"text","text":%q}],"stop_reason":"max_tokens",`+
		`"usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":7}}}}`+"\n", id, text)
}

func pending(t *testing.T, f *llm.Folder, p llm.Prompt) {
	t.Helper()
	if text, err := f.Generate(t.Context(), p); !errors.Is(err, llm.ErrPending) || text != "" {
		t.Fatalf("%q, %v; want it pending", text, err)
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "batch")
	b := &budget{left: 2}
	f := folder(t, dir, b.of())
	one, two := asked(t, "one"), asked(t, "two")
	for range 3 { // a request is written once, whoever asks
		pending(t, f, one)
		pending(t, folder(t, dir, b.of()), two)
	}
	all := requests(t, dir)
	if len(all) != 2 || b.left != 0 || all[0].ID == all[1].ID {
		t.Fatalf("%d requests, budget %d: %+v", len(all), b.left, all)
	}
	l := all[0]
	if l.Method != http.MethodPost || l.URL != "/v1/chat/completions" || l.Body.Model != "m" || l.Body.Most != 900 || len(l.Body.Messages) != 2 ||
		l.Body.Messages[0].Content != "Answer in JSON." || l.Body.Messages[1].Content != "one" || f.Name() != "files/m" {
		t.Errorf("%+v", l)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{"": 0o700, "kept": 0o700, "requests.jsonl": 0o600, "kept/" + l.ID + ".json": 0o600} {
			if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", name, fi.Mode(), err)
			}
		}
	}
	put(t, filepath.Join(dir, "out.jsonl"), openAI(all[0].ID, `{"keep": false}`)+anthropic(all[1].ID, "two said"))
	b.left = -1 // what is there costs nothing more, whatever the budget says
	b.refuses = llm.ErrSpent
	for range 2 { // the same answer as often as it is asked, counted once
		got, err := f.Complete(t.Context(), one)
		if err != nil || got.Text != `{"keep": false}` || got.Cut || got.Usage != (llm.Usage{Prompt: 100, Answer: 7}) {
			t.Errorf("%+v, %v", got, err)
		}
		got, err = folder(t, dir, b.of()).Complete(t.Context(), two)
		if err != nil || got.Text != "two said" || !got.Cut || got.Usage != (llm.Usage{Prompt: 100, Answer: 7}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if b.tokens != 214 {
		t.Errorf("%d tokens counted, want 214", b.tokens)
	}
	if err := os.Remove(filepath.Join(dir, "out.jsonl")); err != nil {
		t.Fatal(err)
	}
	if text, err := folder(t, dir, b.of()).Generate(t.Context(), one); err != nil || text != `{"keep": false}` {
		t.Errorf("once its file is gone: %q, %v", text, err)
	}
}

func TestFolderRefusedByTheBudget(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir, (&budget{refuses: llm.ErrSpent}).of())
	if _, err := f.Generate(t.Context(), asked(t, "one")); !errors.Is(err, llm.ErrSpent) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "requests.jsonl")); err == nil {
		t.Error("the request was written")
	}
}

// What failed is an error once, and written again when it is asked again.
func TestFolderErrors(t *testing.T) {
	for name, line := range map[string]string{
		"quota exceeded":          `{"custom_id":%q,"response":{"status_code":429,"body":{"error":{"message":"quota exceeded"}}},"error":null}`,
		"the batch expired":       `{"custom_id":%q,"response":null,"error":{"code":"batch_expired","message":"the batch expired"}}`,
		"max_tokens: required":    `{"custom_id":%q,"result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"}}}}`,
		"the request was expired": `{"custom_id":%q,"result":{"type":"expired"}}`,
	} {
		dir := t.TempDir()
		f, p := folder(t, dir, nil), asked(t, "one")
		pending(t, f, p)
		id := requests(t, dir)[0].ID
		put(t, filepath.Join(dir, "errors.jsonl"), fmt.Sprintf(line, id)+"\n")
		if err := os.Rename(filepath.Join(dir, "requests.jsonl"), filepath.Join(dir, "sent.txt")); err != nil {
			t.Fatal(err)
		}
		if text, err := f.Generate(t.Context(), p); err == nil || errors.Is(err, llm.ErrPending) || !strings.Contains(err.Error(), name) || text != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		pending(t, f, p)
		pending(t, folder(t, dir, nil), p) // the old line does not count again
		if again := requests(t, dir); len(again) != 1 || again[0].ID != id {
			t.Errorf("%s: %+v", name, again)
		}
		put(t, filepath.Join(dir, "later.jsonl"), openAI(id, "at last"))
		if text, err := f.Generate(t.Context(), p); err != nil || text != "at last" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestFolderWithHostileAnswers(t *testing.T) {
	dir := t.TempDir()
	f, p := folder(t, dir, nil), asked(t, "one")
	pending(t, f, p)
	id := requests(t, dir)[0].ID
	whole := openAI(id, "right")
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	put(t, outside, openAI(id, "from outside"))
	put(t, filepath.Join(dir, "a.jsonl"), strings.Join([]string{
		"no JSON", "{}", "[]", "null", `{"custom_id":7}`, `{"custom_id":"../../etc/passwd","response":{}}`,
		strings.TrimSpace(openAI("anamnesis-"+strings.Repeat("0", 40), "not asked")), strings.TrimSpace(openAI(id+"/../x", "no")),
		strings.TrimSpace(openAI(id, strings.Repeat("x", 9<<20))), // longer than a line may be
		fmt.Sprintf(`{"custom_id":%q}`, id), fmt.Sprintf(`{"custom_id":%q,"response":{"status_code":200,"body":{"choices":[]}}}`, id),
		whole[:len(whole)/2], // half a line, of a file that is being written
	}, "\n"))
	put(t, filepath.Join(dir, "z.txt"), openAI(id, "of another kind"))
	if err := os.Mkdir(filepath.Join(dir, "d.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink(outside, filepath.Join(dir, "link.jsonl")); err != nil {
			t.Fatal(err)
		}
		if err := fifo(filepath.Join(dir, "pipe.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	pending(t, f, p)
	file, err := os.OpenFile(filepath.Join(dir, "a.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil { // the other half, and a second answer
		_, err = file.WriteString(whole[len(whole)/2:] + openAI(id, "a second answer"))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text, err := f.Generate(t.Context(), p); err != nil || text != "right" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "kept")); len(entries) != 1 {
		t.Errorf("%d files are kept", len(entries))
	}
	if runtime.GOOS != "windows" { // a pipe in the place of the requests
		other := t.TempDir()
		if err := fifo(filepath.Join(other, "requests.jsonl")); err != nil {
			t.Fatal(err)
		}
		if _, err := folder(t, other, nil).Generate(t.Context(), p); err == nil || errors.Is(err, llm.ErrPending) {
			t.Errorf("a pipe for requests: %v", err)
		}
	}
}

// A process that is killed leaves a claim, or half a line: the next one writes the request.
func TestFolderAfterAKill(t *testing.T) {
	dir := t.TempDir()
	pending(t, folder(t, dir, nil), asked(t, "one"))
	id := requests(t, dir)[0].ID
	file := filepath.Join(dir, "requests.jsonl")
	kept := filepath.Join(dir, "kept", id+".json")
	put(t, kept, "") // claimed just now
	put(t, file, `{"custom_id":"anam`)
	pending(t, folder(t, dir, nil), asked(t, "one"))
	if data, _ := os.ReadFile(file); strings.Contains(string(data), id) {
		t.Errorf("the request of another process is written: %s", data)
	}
	old := llm.Claimed()
	if err := os.Chtimes(kept, old, old); err != nil {
		t.Fatal(err)
	}
	pending(t, folder(t, dir, nil), asked(t, "one"))
	data, _ := os.ReadFile(file)
	if lines := strings.Split(string(data), "\n"); len(lines) != 3 || !strings.Contains(lines[1], id) {
		t.Errorf("%q", lines)
	}
	put(t, kept, "") // it was written, and not noted
	if err := os.Chtimes(kept, old, old); err != nil {
		t.Fatal(err)
	}
	pending(t, folder(t, dir, nil), asked(t, "one"))
	if again, _ := os.ReadFile(file); string(again) != string(data) {
		t.Errorf("it is written twice: %s", again)
	}
}

func TestFolderAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		f := folder(t, dir, nil)
		wg.Go(func() {
			for i := range 20 {
				if _, err := f.Generate(context.Background(), asked(t, fmt.Sprint(i))); !errors.Is(err, llm.ErrPending) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	ids := make(map[string]bool)
	for _, l := range requests(t, dir) {
		if ids[l.ID] {
			t.Errorf("%s is written twice", l.ID)
		}
		ids[l.ID] = true
	}
	if len(ids) != 20 {
		t.Errorf("%d requests", len(ids))
	}
}

// Exact goes on where it was: an answer that would not do is not counted again.
func TestExactOverAFolder(t *testing.T) {
	dir := t.TempDir()
	f, p := folder(t, dir, nil), asked(t, "one")
	var counted []llm.Class
	exact := func() (string, error) {
		got, err := llm.Exact(t.Context(), f, p, llm.Asking{Tries: 3, Answered: func(c llm.Class) bool { counted = append(counted, c); return true }},
			func(a *struct{ Word string }) []string { return nil })
		return got.Word, err
	}
	for range 2 {
		if _, err := exact(); !errors.Is(err, llm.ErrPending) || llm.Invalid(err) != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "1.jsonl"), openAI(requests(t, dir)[0].ID, "Sure!"))
	for range 3 {
		if _, err := exact(); !errors.Is(err, llm.ErrPending) {
			t.Fatal(err)
		}
	}
	all := requests(t, dir)
	if len(all) != 2 || !strings.Contains(all[1].Body.Messages[1].Content, "was not JSON") {
		t.Fatalf("%+v", all)
	}
	put(t, filepath.Join(dir, "2.jsonl"), openAI(all[1].ID, `{"Word":"yes"}`))
	if word, err := exact(); err != nil || word != "yes" {
		t.Errorf("%q, %v", word, err)
	}
	if want := []llm.Class{llm.Prose, llm.Valid}; fmt.Sprint(counted) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", counted, want)
	}
}

// Only what was redacted is written.
func TestFolderWritesRedactedText(t *testing.T) {
	dir := t.TempDir()
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	pending(t, folder(t, dir, nil), llm.Prompt{User: (&redact.Redactor{}).Redact("the token is " + secret)})
	data, err := os.ReadFile(filepath.Join(dir, "requests.jsonl"))
	if err != nil || strings.Contains(string(data), secret) || !strings.Contains(string(data), "[REDACTED") {
		t.Errorf("%s, %v", data, err)
	}
}

func TestPingOfAFolder(t *testing.T) {
	o := llm.GeneratorOptions{Provider: llm.Files, Folder: filepath.Join(t.TempDir(), "f"), Model: "m"}
	for range 2 {
		text, ok := llm.Ping(t.Context(), o, llm.Network{}, nil, nil)
		if want := "ok (provider=files model=m): 0 requests wait for an answer, 0 have one"; text != want || !ok {
			t.Errorf("%s", text)
		}
	}
	for _, o := range []llm.GeneratorOptions{{Provider: llm.Files, Folder: o.Folder}, {Provider: llm.Files, Model: "m"}} {
		if _, err := llm.OpenGenerator(o, llm.Network{}, nil, nil); !errors.Is(err, llm.ErrNotConfigured) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
