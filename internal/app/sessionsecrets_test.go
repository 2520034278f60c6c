package app_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/capture"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// A planted text holds secrets that the redactor knows.
type planted struct {
	text    string
	secrets []string
}

var blank = regexp.MustCompile(`[«‹]([A-Za-z0-9]*?)(\d*)(?::(\d+))?(?::[a-z]+)?(?:=[a-z])?[»›]`)

// plantedTexts are the texts of a file of redaction cases, with values drawn for their blanks; those
// whose every secret the redactor masks when it is shown the text alone.
func plantedTexts(t *testing.T, rules *redact.Redactor, file string) (all []planted, of int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "redact", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if strings.HasPrefix(file, "secrets") {
		for _, part := range strings.Split(string(data), "\n%% ")[1:] {
			_, text, _ := strings.Cut(part, "\n")
			texts = append(texts, strings.TrimSuffix(text, "\n"))
		}
	} else {
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSuffix(line, "\n"), "="), "+ "); ok {
				texts = append(texts, strings.ReplaceAll(rest, `\n`, "\n"))
			}
		}
	}
	for _, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		random := rand.New(rand.NewPCG(7, h.Sum64()))
		p := planted{}
		p.text = blank.ReplaceAllStringFunc(text, func(m string) string {
			g := blank.FindStringSubmatch(m)
			if g[1] == "1b" || g[1] == "" && g[2] == "1" {
				return "\x1b"
			}
			n, _ := strconv.Atoi(g[2] + g[3])
			v := drawn(random, g[1], max(12, min(n, 200)))
			if strings.HasPrefix(m, "«") || strings.HasPrefix(file, "secrets") {
				p.secrets = append(p.secrets, v)
			}
			return v
		})
		if len(p.secrets) == 0 {
			continue
		}
		of++
		if out := rules.Redact(p.text).String(); !holdsAny(out, p.secrets) {
			all = append(all, p)
		}
	}
	return all, of
}

func drawn(random *rand.Rand, kind string, n int) string {
	from := "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	switch kind {
	case "hex", "h", "uuid", "u":
		from = "0123456789abcdef"
	case "num", "d":
		from = "123456789"
	case "upper", "A", "ulid":
		from = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = from[random.IntN(len(from))]
	}
	return string(b)
}

func holdsAny(text string, secrets []string) bool {
	for _, s := range secrets {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// places are where a text may stand in a session: as the records of a client.
var secretPlaces = map[string]func(text string) []map[string]any{
	"ask": func(text string) []map[string]any { return said("user", text) },
	"reply": func(text string) []map[string]any {
		return append(said("user", "what stands in the file of settings?"), said("assistant", text)...)
	},
	"paste": func(text string) []map[string]any {
		return said("user", "why does this fail?\n\n```\nerror: cannot start\n"+text+"\nerror: exit code 1\n```")
	},
	"command": func(text string) []map[string]any { return ran(text, "ok", false) },
	"output":  func(text string) []map[string]any { return ran("make up", text, false) },
	"error":   func(text string) []map[string]any { return ran("make up", "error: it failed\n"+text+"\nFAIL", true) },
	"long output": func(text string) []map[string]any {
		return ran("make up", strings.Repeat("a line of the log\n", 1815)+"error: failed to use\n"+text+"\n"+strings.Repeat("a line of the log\n", 4000)+"error: it failed\n"+text, true)
	},
	"refused": func(text string) []map[string]any {
		all := ran("make up", "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"+text, true)
		return all
	},
}

func said(role, text string) []map[string]any {
	return []map[string]any{{"type": role, "message": map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}}}}
}

func ran(command, output string, failed bool) []map[string]any {
	id := fmt.Sprint("t", len(command), len(output))
	return append(said("user", "run it for me"),
		map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}}}},
		map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": output}}}},
	)
}

// Whatever the redactor's own sets hold is in no file of what is kept of sessions, wherever in a session it
// stood, nor in the index. Each text stands in its own session, so that no other text gives it away.
func TestNoSecretOfTheSets(t *testing.T) {
	rules, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	var all []planted
	of := 0
	for _, file := range []string{"secrets.txt", "secrets-more.txt", "services.txt"} {
		some, n := plantedTexts(t, rules, file)
		all, of = append(all, some...), of+n
	}
	if len(all) < of*3/4 || of < 500 {
		t.Fatalf("%d of %d texts are masked by themselves; the test says nothing", len(all), of)
	}
	key := "-----BEGIN RSA PRIVATE KEY-----\n"
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 24 {
		lines = append(lines, drawn(random, "b", 64))
	}
	all = append(all, planted{key + strings.Join(lines, "\n") + "\n-----END RSA PRIVATE KEY-----", lines})
	r := apptest.Open(t, "capture.learn=false")
	dir := t.TempDir()
	step := len(secretPlaces) // each text stands in one place, and texts of each kind in all of them
	if testing.Short() {
		step = 29
	}
	number := 0
	secrets := make(map[string]string)
	for at, place := range slices.Sorted(maps.Keys(secretPlaces)) {
		records := secretPlaces[place]
		for i := at; i < len(all); i += step {
			if i+step >= len(all) {
				i = len(all) - 1 // the key, everywhere
			}
			number++
			var out bytes.Buffer
			for j, record := range records(all[i].text) {
				record["sessionId"], record["cwd"], record["uuid"] = fmt.Sprint("s", number), "/src/shop", fmt.Sprint("u", number, "-", j)
				record["timestamp"] = fmt.Sprintf("2026-11-01T10:00:%02d.000Z", j)
				if err := json.NewEncoder(&out).Encode(record); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(dir, fmt.Sprint("s", number, ".jsonl"))
			if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := r.Recorder.Keep(t.Context(), capture.Request{Harness: agent.Default(), Transcript: file, Source: note.SessionEnd}); err != nil {
				t.Fatal(err)
			}
			for _, s := range all[i].secrets {
				secrets[s] = fmt.Sprintf("%s: %.200q", place, all[i].text)
			}
		}
	}
	if err := r.Kept.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if u, err := r.Kept.Usage(); err != nil || u.Sessions < number*9/10 {
		t.Fatalf("%d of %d sessions are kept, %v", u.Sessions, number, err)
	}
	bad := 0
	look := func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			if text, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		text = bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))
		for _, word := range wordsOf(text) {
			if where, ok := secrets[word]; ok {
				if bad++; bad < 20 {
					t.Errorf("%s holds %s (%s)", filepath.Base(name), word, where)
				}
			}
		}
		return nil
	}
	for _, folder := range []string{"local/sessions", "sessions.index"} {
		if err := filepath.WalkDir(r.Store.Path(folder), look); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d sessions with %d secrets, %d found", number, len(secrets), bad)
}

// wordsOf are the runs of letters and digits of a text.
func wordsOf(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
