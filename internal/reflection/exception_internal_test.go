package reflection

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

// A general statement must not take the place of one that knows an exception.
func TestNarrower(t *testing.T) {
	for _, tt := range []struct {
		survivor, superseded string
		lost                 string // "" when nothing is
	}{
		// What says the same may go, however it says it.
		{"Run the tests with make test before a commit.", "Before a commit, run the tests with make test.", ""},
		{"Use tabs in Go files", "use tabs in go files!", ""},
		{"Run tests with the race detector, except on Windows.", "Tests run with the race detector, except on Windows", ""},
		{"Never deploy on Friday. Deploy with make ship.", "never deploy on Friday", ""},
		{"Retry three times, wait 30 seconds.", "wait 30 seconds", ""},
		{"It takes 30s at most.", "it takes 30 seconds", ""},
		{"The server listens on port 8080 and needs Go 1.26.1.", "port 8080", ""},
		{"Edit internal/store/put.go and run `make gen`.", "internal/store/put.go is edited", ""},
		{"Windows builds need the fix.", "the fix is needed by Windows", ""},

		// An exception or a condition.
		{"Run tests with the race detector.", "Run tests with the race detector, except on Windows.", "except on Windows"},
		{"Deploy whenever you like.", "Deploy unless the queue is full", "unless the queue is full"},
		{"Cache every answer.", "Cache answers only for readers", "only for readers"},
		{"Force push to your branch.", "Never force push to a shared branch", "Never force push"},
		{"Squash the commits.", "Don’t squash the commits of a release", "Don't squash"},
		{"Use the fast path.", "Use the fast path when the input is sorted", "when the input is sorted"},
		{"Restart the worker.", "Restart the worker until the lease is gone", "until the lease is gone"},
		{"Clean the build before a release, unless it is fresh.", "Clean the build, unless disk space is short", "unless disk space is short"},

		// Numbers, versions, identifiers, paths, names.
		{"Wait a moment before the next try.", "Wait 30 seconds before the next try.", "30 seconds"},
		{"Wait 300 seconds.", "Wait 30 seconds.", "30 seconds"},
		{"Wait 30 minutes.", "Wait 30 seconds.", "30 seconds"},
		{"Needs Go 1.26.", "Needs Go 1.25.", "1.25"},
		{"Needs version 2.", "Needs v2.1.3 of it", "2.1.3"},
		{"Edit the store.", "Edit internal/store/put.go", "internal/store/put.go"},
		{"Call the function twice.", "call recalcTax() twice", "recalcTax"},
		{"Use the payment provider's sandbox.", "use the sandbox of Stripe", "Stripe"},
		{"It fails under load.", "it fails with ECONNREFUSED", "ECONNREFUSED"},
	} {
		got := lostQualifiers(&note.Note{Title: "t", Body: tt.survivor}, []*note.Note{{Title: "t", Body: tt.superseded}})
		said := strings.Join(got, "; ")
		if tt.lost == "" && said != "" || tt.lost != "" && !strings.Contains(said, tt.lost) {
			t.Errorf("%q in place of %q loses %q, want %q", tt.survivor, tt.superseded, said, tt.lost)
		}
	}
}

// Whatever a note says, it says what it says itself.
func FuzzNarrower(f *testing.F) {
	for _, s := range []string{"Never on Fridays, except v1.2.3 of Foo.Bar() in 30 s.", "don’t", "a 1 b", "İstanbul if Ǆ", "x x x:\nunless"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		n := &note.Note{Title: "t", Body: text}
		if got := lostQualifiers(n, []*note.Note{n}); len(got) > 0 {
			t.Errorf("%q loses %q in itself", text, got)
		}
	})
}
