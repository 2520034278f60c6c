package recall

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Words of prompts, in any language, say what is asked for.
func TestConceptsOf(t *testing.T) {
	for text, want := range map[string][2]string{
		"put a popup in front of it":               {"dialog", ""},
		"an end to end run":                        {"tests", ""},
		"nothing of that":                          {"", ""},
		"warum fehlt die Spalte":                   {"", "column"},
		"la columna falta":                         {"", "column"},
		"теряются миграции":                        {"", "migration"},
		"新しいボタンの翻訳を追加":                             {"", "translation"},
		"the red network of the house is in there": {"color", ""}, // "red" is a net in Spanish
	} {
		sense, translation := conceptsOf(text)
		for i, got := range [][]string{sense, translation} {
			if want[i] == "" && len(got) > 0 || want[i] != "" && !slices.Contains(got, want[i]) {
				t.Errorf("%q: %q and %q, wanted %q", text, sense, translation, want)
			}
		}
	}
}

// Each line of the list has words to ask with and words of prompts.
func TestConceptListIsWhole(t *testing.T) {
	for line := range strings.Lines(conceptSource) {
		if line[0] == '#' {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(fields) < 2 || len(fields) > 3 || strings.TrimSpace(fields[0]) == "" || strings.TrimSpace(strings.Join(fields[1:], "")) == "" {
			t.Errorf("line %q", line)
		}
		for word := range strings.FieldsSeq(strings.Join(fields[1:], " ")) {
			if word != strings.ToLower(word) || !utf8.ValidString(word) || strings.Trim(word, "*_-") == "" {
				t.Errorf("word %q", word)
			}
		}
	}
}

func FuzzConceptsOf(f *testing.F) {
	f.Add("die Spalte\xff 表")
	f.Fuzz(func(t *testing.T, text string) {
		sense, translation := conceptsOf(text)
		if len(sense) > maxAsked || len(translation) > maxAsked {
			t.Errorf("%q %q", sense, translation)
		}
	})
}

func BenchmarkConceptsOf(b *testing.B) {
	for b.Loop() {
		conceptsOf("add a retry with jitter to the payment client when the provider answers 502")
	}
}
