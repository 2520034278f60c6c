package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/session"
)

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		command, out string
		err          bool
		want         session.Verdict
	}{
		{"go test ./...", "ok  \tx\t0.1s", false, session.Passed},
		{"go test ./... | tail", "--- FAIL: TestX\nFAIL\nok  \ty\t0.1s", false, session.Failed},
		{"go test ./x", "?   \tx\t[no test files]", false, session.Unclear},
		{"pytest", "===== 3 passed, 1 skipped in 0.1s =====", false, session.Passed},
		{"pytest | tail -1", "===== 1 failed, 3 passed in 0.1s =====", false, session.Failed},
		{"pytest", "===== 12 skipped in 0.1s =====", false, session.Unclear},
		{"npx vitest run", " Tests  7 passed (7)", false, session.Passed},
		{"npx jest | cat", "Tests:       1 failed, 4 passed, 5 total", false, session.Failed},
		{"cargo test", "test result: ok. 0 passed; 0 failed", false, session.Unclear},
		{"cargo test", "test result: ok. 5 passed; 0 failed", false, session.Passed},
		{"./mvnw test", "Tests run: 4, Failures: 1, Errors: 0", false, session.Failed},
		{"./gradlew test", "BUILD SUCCESSFUL in 3s", false, session.Passed},
		{"bundle exec rspec", "14 examples, 2 failures", false, session.Failed},
		{"bundle exec rspec", "14 examples, 0 failures", false, session.Passed},
		{"make", "built", false, session.Passed},
		{"make", "built", true, session.Failed},
	} {
		got := session.Outcome(agent.ToolUse{ID: "t", Result: tt.out, Error: tt.err}, tt.command)
		if got != tt.want {
			t.Errorf("%s, %q: %d, want %d", tt.command, tt.out, got, tt.want)
		}
	}
}

// A test run that failed last is left failing; one that passed since, was refused, or is no test, is not.
func TestLeftFailing(t *testing.T) {
	all := session.Cut(agenttest.Talk(
		"> test it", "$ go test ./pay !> vat.go:3: undefined: roundHalf", "$ go test ./tax !> tax.go:3: undefined: floorTax", "~ vat.go",
		"$ go test -v ./pay => ok  pay 0.1s", "$ make deploy !> no such host", "> and the rest", "$ npm test !> Tests: 1 failed, 2 total", "I stop here.",
	), strings.TrimSpace)
	want := []string{"`go test ./tax` failed last: tax.go:3: undefined: floorTax", "`npm test` failed last: Tests: 1 failed, 2 total"}
	if d := cmp.Diff(want, session.LeftFailing(all)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
