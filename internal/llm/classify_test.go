package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/redact"

	"github.com/google/go-cmp/cmp"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want llm.Class
	}{
		{"", llm.Idle},
		{" \n\t", llm.Idle},
		{`{"keep": true}`, llm.Valid},
		{"```json\n{\"keep\": true}\n```", llm.Valid},
		{`[1, 2, 3]`, llm.Malformed},
		{`"a json string"`, llm.Malformed},
		{`{"keep": tr`, llm.Malformed},
		{"```json\n{\"keep\": tr\n```", llm.Malformed},
		{`{"keep": true} I hope this is useful!`, llm.Malformed},
		{"Of course! {}", llm.Prose},
		{"\xff\xfe\x00", llm.Prose},
		{"Error: the prompt is too long", llm.Poisoned},
		{`{"type": "result", "is_error": true, "result": "Credit balance is too low"}`, llm.Poisoned},
		{`{"type": "result", "is_error": false, "result": "how big is the context window"}`, llm.Valid},
		{`{"type": "result", "is_error": "true", "result": "context window"}`, llm.Valid},
	} {
		if got := llm.Classify([]byte(tt.raw)); got != tt.want {
			t.Errorf("Classify(%q) = %s, want %s", tt.raw, got, tt.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", "{}", "[", "```", "\x00", `{"is_error":true,"x":"context window"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := llm.Classify(raw)
		for _, c := range llm.Classes {
			if got == c {
				return
			}
		}
		t.Errorf("%q is of the class %q", raw, got)
	})
}

// speaker says its lines one after the other, the last for ever.
type speaker struct {
	lines []string
	errs  []error
	asked []llm.Prompt
}

func (s *speaker) Name() string { return "test/speaker" }

func (s *speaker) Generate(_ context.Context, p llm.Prompt) (string, error) {
	i := min(len(s.asked), len(s.lines)-1)
	s.asked = append(s.asked, p)
	if i < len(s.errs) && s.errs[i] != nil {
		return "", s.errs[i]
	}
	return s.lines[i], nil
}

type word struct {
	Word string `json:"word"`
}

func (w *word) check() []string {
	if w.Word != "good" {
		return []string{"the word is not good"}
	}
	return nil
}

func TestExact(t *testing.T) {
	prompt := llm.Prompt{User: (&redact.Redactor{}).Redact("say the word")}
	for _, tt := range []struct {
		name    string
		lines   []string
		tries   int
		classes []llm.Class
		calls   int
		ok      bool
		told    string // of the second request
	}{
		{"at once", []string{`{"word": "good"}`}, 3, []llm.Class{llm.Valid}, 1, true, ""},
		{"bad once", []string{`{"word": "bad"}`, `{"word": "good"}`}, 3, []llm.Class{llm.SchemaInvalid, llm.Valid}, 2, true, "the word is not good"},
		{"prose once", []string{"Sure!", `{"word": "good"}`}, 3, []llm.Class{llm.Prose, llm.Valid}, 2, true, "without a word before or behind"},
		{"an unknown key", []string{`{"word": "good", "order": "rm"}`}, 1, []llm.Class{llm.SchemaInvalid}, 1, false, ""},
		{"always bad", []string{`{"word": "bad"}`}, 3, []llm.Class{llm.SchemaInvalid, llm.SchemaInvalid, llm.SchemaInvalid}, 3, false, "the word is not good"},
		{"five tries", []string{"no"}, 5, []llm.Class{llm.Prose, llm.Prose, llm.Prose, llm.Prose, llm.Prose}, 5, false, "not JSON"},
		{"no tries is one", []string{"no"}, 0, []llm.Class{llm.Prose}, 1, false, ""},
		{"it cannot go on", []string{"session limit reached"}, 3, []llm.Class{llm.Poisoned}, 1, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &speaker{lines: tt.lines}
			var classes []llm.Class
			got, err := llm.Exact(t.Context(), m, prompt, llm.Asking{Tries: tt.tries, Answered: func(c llm.Class) bool {
				classes = append(classes, c)
				return true
			}}, (*word).check)
			if d := cmp.Diff(tt.classes, classes); d != "" || len(m.asked) != tt.calls || (err == nil) != tt.ok || tt.ok && got.Word != "good" {
				t.Fatalf("%+v, %v after %d calls\n%s", got, err, len(m.asked), d)
			}
			if bad := llm.Invalid(err); !tt.ok && (bad == nil || bad.Tries != tt.calls) {
				t.Errorf("the error is %v", err)
			}
			if tt.told != "" && !strings.Contains(m.asked[1].User.String(), tt.told) {
				t.Errorf("the second request says %q", m.asked[1].User)
			}
			if len(m.asked) > 1 && !strings.HasPrefix(m.asked[1].User.String(), "say the word") {
				t.Errorf("the second request begins with %q", m.asked[1].User)
			}
		})
	}
	// A model that is not there is not asked again, one that says nothing is.
	down := errors.New("it is down")
	m := &speaker{lines: []string{""}, errs: []error{down}}
	if _, err := llm.Exact(t.Context(), m, prompt, llm.Asking{Tries: 3}, (*word).check); !errors.Is(err, down) || len(m.asked) != 1 {
		t.Errorf("%v after %d calls", err, len(m.asked))
	}
	m = &speaker{lines: []string{"", `{"word": "good"}`}, errs: []error{llm.ErrEmpty}}
	if _, err := llm.Exact(t.Context(), m, prompt, llm.Asking{Tries: 3}, (*word).check); err != nil || len(m.asked) != 2 {
		t.Errorf("%v after %d calls", err, len(m.asked))
	}
}

func TestParseLimits(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       []llm.Limit
	}{
		{"nothing", `{"result": "ok"}`, nil},
		{"no JSON", `a rate of 5`, nil},
		{"snake", `{"rate_limit_info": {"rate_limit_type": "seven_day", "status": "rejected", "utilization": 1, "resets_at": 1800000000}}`, []llm.Limit{
			{Window: "seven_day", Rejected: true, Used: 1, Until: time.Unix(1800000000, 0).UTC()},
		}},
		{"camel, lines, the last holds", `{"a": {"b": [{"rateLimitInfo": {"rateLimitType": "five_hour", "utilization": 0.1}}]}}
{"rateLimitInfo": {"rateLimitType": "five_hour", "surpassedThreshold": 0.9, "isUsingOverage": true, "utilization": 0.91}}`, []llm.Limit{
			{Window: "five_hour", Surpassed: true, Overage: true, Used: 0.91},
		}},
		{"overage", `{"rate_limit": {"type": "overage", "overageStatus": "rejected"}}`, []llm.Limit{{Window: "overage", Rejected: true}}},
		{"no name", `{"rate_limit": {}}`, []llm.Limit{{Window: llm.DefaultWindow}}},
		{"too deep", `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"rate_limit":{}}}}}}}}}`, nil},
		{"odd values", `{"rate_limit": {"utilization": "much", "resetsAt": 1e300, "status": 7}}`, []llm.Limit{{Window: llm.DefaultWindow}}},
	} {
		if d := cmp.Diff(tt.want, llm.ParseLimits([]byte(tt.data))); d != "" {
			t.Errorf("%s:\n%s", tt.name, d)
		}
	}
}
