package llm

import (
	"strings"
	"testing"
)

func FuzzDialects(f *testing.F) {
	for _, s := range []string{
		`{"type":"result","result":"x","usage":{"input_tokens":1}}`, `[{"type":"system"},{"result":"x"}]`, `{"is_error":true}`, "[]", "",
		"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1}}\nno", `{"type":"turn.failed","error":{"message":"m"}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		for name, d := range dialects() {
			got, err := d.read([]byte(text), []byte("answer"))
			if err != nil && (got.Text != "" || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b")) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	})
}
