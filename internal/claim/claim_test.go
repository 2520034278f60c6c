package claim_test

import (
	"testing"

	"anamnesis/internal/claim"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want claim.Relation
	}{
		// One rule in other words.
		{"always run make lint before you commit", "Run `make lint` before a commit", claim.Same},
		{"remember: run make lint before every commit", "Run make lint before commits.", claim.Same},
		{"Use pnpm, never npm", "use pnpm and never npm", claim.Same},
		{"Prices are integers", "prices must be integers", claim.Same},
		{"始终使用 pnpm", "使用 pnpm", claim.Narrower},
		{"Sort the ledger export by account number", "Always sort the export of the ledger by account number", claim.Same},
		{"Ask Ann before you touch the blue environment", "Ask Ann before the blue environment is touched.", claim.Same},
		// The opposite, or another value.
		{"always use offset pagination", "never use offset pagination", claim.Opposite},
		{"Never use pnpm, always npm", "Use pnpm, never npm", claim.Opposite},
		{"Use npm", "Use pnpm, never npm", claim.Opposite},
		{"Keep functions under 50 lines", "Keep functions under 80 lines", claim.Opposite},
		{"Task 12 is done", "Task 13 is done", claim.Unrelated},
		{"The proxy is at 8443", "The proxy is at 9443", claim.Unrelated},
		{"Do not commit generated files", "Commit generated files", claim.Opposite},
		{"Copy from a.txt to b.txt", "Copy from b.txt to a.txt", claim.Unrelated},
		{"Run the linter before the tests", "Run the tests before the linter", claim.Unrelated},
		{"Wait from 3 to 5 seconds", "Wait from 5 to 3 seconds", claim.Unrelated},
		{"Keine Tabs im Code", "Tabs im Code", claim.Opposite},
		// More and less.
		{"Use pnpm in the web folder", "Use pnpm", claim.Narrower},
		{"Use pnpm", "Use pnpm in the web folder", claim.Wider},
		// An exception is no contradiction.
		{"Never push to main", "Push to main from CI", claim.Unrelated},
		{"Never use mocks", "In unit tests mocks of the clock are fine", claim.Unrelated},
		// Names, versions, platforms, environments and values make two statements.
		{"Check permissions in CreateUser", "Check permissions in DeleteUser", claim.Unrelated},
		{"The v1 API returns cents", "The v2 API returns cents", claim.Unrelated},
		{"Deploy staging with make ship", "Deploy production with make ship", claim.Unrelated},
		{"On iOS the cache holds one day", "On Android the cache holds one day", claim.Unrelated},
		{"Run the linter in api/", "Run the linter in web/", claim.Unrelated},
		{"Log errors to stderr", "Log errors to Sentry", claim.Unrelated},
		{"Retry 3 times on the queue", "Retry 5 times on the mailer", claim.Unrelated},
		{"Use the staging key for --region eu", "Use the staging key for --region us", claim.Unrelated},
		{"Postgres 14 is the oldest that we support", "MySQL 8 is the oldest that we support", claim.Unrelated},
	} {
		got := claim.Compare(claim.Text(c.a), claim.Text(c.b))
		if got != c.want {
			t.Errorf("%q to %q: %v, want %v", c.a, c.b, got, c.want)
		}
		back := claim.Compare(claim.Text(c.b), claim.Text(c.a))
		mirror := map[claim.Relation]claim.Relation{claim.Narrower: claim.Wider, claim.Wider: claim.Narrower}
		if want, ok := mirror[got]; !ok && back != got || ok && back != want {
			t.Errorf("%q to %q: %v, and back %v", c.a, c.b, got, back)
		}
	}
}

func TestMissing(t *testing.T) {
	into := claim.Text("Run the migrations before the tests")
	if got := claim.Missing(into, claim.Text("Run the migrations before the tests, never on `prod`, within 30 s")); len(got) != 2 {
		t.Errorf("missing %q, want prod and 30", got)
	}
	if got := claim.Missing(claim.Text("Never run the migrations"), claim.Text("Run the migrations")); len(got) == 0 {
		t.Error("the opposite lacks nothing")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("Use pnpm, never npm", "Use `npm`")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := claim.Text(a), claim.Text(b)
		if got := claim.Compare(x, x); got != claim.Same {
			t.Errorf("%q to itself: %v", a, got)
		}
		there, back := claim.Compare(x, y), claim.Compare(y, x)
		if (there == claim.Same) != (back == claim.Same) || (there == claim.Opposite) != (back == claim.Opposite) ||
			(there == claim.Narrower) != (back == claim.Wider) {
			t.Errorf("%q, %q: %v and back %v", a, b, there, back)
		}
	})
}
