package learn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
)

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		command, out string
		err          bool
		want         learn.Verdict
	}{
		{"go test ./...", "ok  \tx\t0.1s", false, learn.Passed},
		{"go test ./... | tail", "--- FAIL: TestX\nFAIL\nok  \ty\t0.1s", false, learn.Failed},
		{"go test ./x", "?   \tx\t[no test files]", false, learn.Unclear},
		{"pytest", "===== 3 passed, 1 skipped in 0.1s =====", false, learn.Passed},
		{"pytest | tail -1", "===== 1 failed, 3 passed in 0.1s =====", false, learn.Failed},
		{"pytest", "===== 12 skipped in 0.1s =====", false, learn.Unclear},
		{"npx vitest run", " Tests  7 passed (7)", false, learn.Passed},
		{"npx jest | cat", "Tests:       1 failed, 4 passed, 5 total", false, learn.Failed},
		{"cargo test", "test result: ok. 0 passed; 0 failed", false, learn.Unclear},
		{"cargo test", "test result: ok. 5 passed; 0 failed", false, learn.Passed},
		{"./mvnw test", "Tests run: 4, Failures: 1, Errors: 0", false, learn.Failed},
		{"./gradlew test", "BUILD SUCCESSFUL in 3s", false, learn.Passed},
		{"bundle exec rspec", "14 examples, 2 failures", false, learn.Failed},
		{"bundle exec rspec", "14 examples, 0 failures", false, learn.Passed},
		{"make", "built", false, learn.Passed},
		{"make", "built", true, learn.Failed},
	} {
		got := learn.Outcome(agent.ToolUse{ID: "t", Result: tt.out, Error: tt.err}, tt.command)
		if got != tt.want {
			t.Errorf("%s, %q: %d, want %d", tt.command, tt.out, got, tt.want)
		}
	}
}

func TestCircles(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"varied":            {[]string{"$ a => x", "$ b => x", "$ c => x", "$ a => x"}, nil},
		"twice":             {[]string{"$ a => x", "$ a => x"}, nil},
		"three times":       {[]string{"$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 3 times in a row"}},
		"and on":            {[]string{"$ a => x", "$ a => x", "$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 5 times in a row"}},
		"other arguments":   {[]string{"$ a 1 => x", "$ a 2 => x", "$ a 3 => x"}, nil},
		"by turns":          {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"not yet by turns":  {[]string{"$ a => x", "$ b => x", "$ a => x"}, nil},
		"once a swing":      {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"the user spoke":    {[]string{"$ a => x", "$ a => x", "> once more please", "$ a => x"}, nil},
		"others in between": {[]string{"$ a => x", "$ a => x", "$ b => x", "$ a => x"}, nil},
	} {
		var got []string
		for _, c := range learn.Circles(talk(tt.lines...)) {
			got = append(got, c.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The members of an input in another order are the same call.
func TestCirclesOrder(t *testing.T) {
	s := talk("$ a => x", "$ a => x", "$ a => x")
	for i, input := range []string{`{"command":"a","timeout":1}`, `{"timeout":1,"command":"a"}`, `{"command":"a", "timeout":1}`} {
		s.Turns[i].Tools[0].Input = []byte(input)
	}
	if got := learn.Circles(s); len(got) != 1 {
		t.Errorf("%d circles, want 1", len(got))
	}
}
