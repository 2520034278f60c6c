package reflection

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

// A paraphrase that keeps the condition stands for the note; one that drops, weakens
// or turns round a condition, a number, a negation or an identifier does not.
func TestParaphrases(t *testing.T) {
	for _, tt := range []struct {
		keeps                bool
		superseded, survivor string
	}{
		{true, "Run make gen when the payments proto changes.", "Run make gen whenever payments proto files change."},
		{true, "When the payments proto changes run make gen.", "Run make gen whenever payments proto files change."},
		{true, "If the DB is down, restart the worker.", "Restart the worker if the database is down."},
		{true, "The tests need the DB.", "The tests need the database."},
		{true, "Keep the config in the repo.", "Keep the configuration in the repository."},
		{true, "Use a PR when you change prod.", "Use a pull request whenever you change production."},
		{true, "Restart it each time the config changes.", "Restart it when the configuration changes."},
		{true, "Seed the DB in case it is empty.", "Seed the database if it is empty."},
		{true, "Run tests except on Windows.", "Run tests, excluding Windows."},
		{true, "Run tests apart from Windows.", "Run tests unless on Windows."},
		{true, "Don't run the tests on Windows.", "Never run the tests on Windows."},
		{true, "Never run tests on prod.", "Tests must not be run on production."},
		{true, "Do not push to main.", "Pushing to main is not allowed."},
		{true, "Use tabs instead of spaces.", "Use tabs rather than spaces."},
		{true, "Use tabs rather than spaces.", "Use tabs, not spaces."},
		{true, "Deploy only when the tests pass.", "Deploy only if the tests pass."},
		{true, "Tag the release once the build is green.", "Tag the release as soon as the build is green."},
		{true, "Run the linter prior to a commit.", "Before a commit, run the linter."},
		{true, "Retry no more than 3 times.", "Retry at most 3 times."},
		{true, "Wait at least 30 seconds.", "Wait no less than 30s."},
		{true, "Remove the cache after the schema was modified.", "Delete the cache after the schema changed."},
		{true, "Always run the linter.", "Run the linter."},
		{true, "Never commit keys.", "Never commit keys or passwords."},
		{true, "Never commit keys.", "Never commit keys because the remote is public."},
		{true, "Clear the temp dir while the app is stopped.", "Clear the temporary directory while the application is stopped."},

		{false, "Run make gen when the payments proto changes.", "Run make gen."},
		{false, "Run make gen when the payments proto changes.", "Run make gen when a proto changes."},
		{false, "Run make gen when the payments proto changes.", "Run make gen unless the payments proto changes."},
		{false, "Deploy only when the tests pass.", "Deploy when the tests pass."},
		{false, "Deploy if the tests pass.", "Deploy if the tests fail."},
		{false, "Deploy if the tests pass.", "Deploy if the tests pass or the lint passes."},
		{false, "Deploy if the tests pass.", "Don't deploy if the tests pass."},
		{false, "Never deploy on Friday.", "Deploy on Friday."},
		{false, "Never deploy on Friday.", "Usually do not deploy on Friday."},
		{false, "Never deploy on Friday.", "Never deploy on Friday night."},
		{false, "Deploy on Friday.", "Never deploy on Friday."},
		{false, "Always sign the tag.", "Usually sign the tag."},
		{false, "Sign the tag.", "Consider to sign the tag."},
		{false, "Use tabs, not spaces.", "Use spaces, not tabs."},
		{false, "Use tabs instead of spaces.", "Use spaces instead of tabs."},
		{false, "Run the migration before the deploy.", "Run the migration after the deploy."},
		{false, "Keep the lease until the job ends.", "Keep the lease while the job ends."},
		{false, "Build without cgo.", "Build with cgo."},
		{false, "Retry at most 3 times.", "Retry at least 3 times."},
		{false, "Retry more than 3 times.", "Retry 3 times."},
		{false, "Alert when status >= 500.", "Alert when status != 500."},
		{false, "The exit code is -1.", "The exit code is 1."},
		{false, "The exit code is 1.", "The exit code is -1."},
		{false, "Wait 30 seconds.", "Wait 30 minutes."},
		{false, "Enable the cache.", "Disable the cache."},
		{false, "Restart the DB of Stripe.", "Restart the database."},
		{false, "Restart the DB of prod.", "Restart the cache of prod."},
		{false, "Edit internal/db/open.go.", "Edit internal/database/open.go."},
		{false, "Call `db` first.", "Call `database` first, when it is DBOpen."},
		{false, "Call openDB when the pool is full.", "Call openPool when the pool is full."},
		{false, "Set DEBUG_SQL=1 if queries hang.", "Set DEBUG_HTTP=1 if queries hang."},
		{false, "Run tests except on Windows.", "Run tests except on Linux."},
		{false, "Run tests except on Windows.", "Run tests only on Windows."},
	} {
		lost := lostQualifiers(&note.Note{Title: "t", Body: tt.survivor}, []*note.Note{{Title: "t", Body: tt.superseded}})
		if tt.keeps != (len(lost) == 0) {
			t.Errorf("%q in place of %q: keeps it is %v, lost %q", tt.survivor, tt.superseded, !tt.keeps, strings.Join(lost, "; "))
		}
	}
}
