package capture

import (
	"strings"
	"testing"
)

func FuzzParseSummary(f *testing.F) {
	for _, s := range []string{`{"skip": true}`, `{"skip": false, "title": "t", "body": "b"}`, "```json\n{}\n```", `{"skip": "false"}`, "[]", "{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		got, err := parseSummary(text)
		if err != nil {
			return
		}
		whole := strings.TrimSpace(got.title) != "" && strings.TrimSpace(got.body) != "" && !strings.ContainsAny(got.title, "\r\n")
		if got.skip == whole {
			t.Errorf("%q is taken for %+v", text, got)
		}
	})
}
