package session_test

import (
	"testing"

	"anamnesis/internal/agent"
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
