package index_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"

	"github.com/google/go-cmp/cmp"
)

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]string{
		"run cmd/main.go, then recalcTax":       "cmd/main.go recalcTax",
		"set max_conns and PGHOST2 to 5":        "max_conns PGHOST2",
		"it says ECONNREFUSED or ORA-00942":     "ECONNREFUSED ORA-00942",
		"E1234 and E1 and HTTP":                 "",
		"import github.com/x/y and @scope/name": "github.com/x/y scope/name",
		"Foo.bar() calls Foo.bar() again":       "Foo.bar",
		"plain words, and more. And so on":      "",
		"version 1.2.3 of 2026-01-31 at 12:30":  "",
		"well-known words stay prose":           "",
		"a/b x_":                                "a/b",
		"note: see https://example.org/a.html":  "",
		"東京 recalc_tax 京都":                      "recalc_tax",
		"e.g. this and i.e. that":               "",
	} {
		if got := strings.Join(index.Identifiers(text, 10), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := index.Identifiers("a_a b_b c_c d_d", 2); len(got) != 2 {
		t.Errorf("limit: %v", got)
	}
	if got := index.Identifiers(strings.Repeat("x", 1<<20)+"_y", 5); len(got) != 0 {
		t.Errorf("a megabyte without a blank: %d", len(got))
	}
}

// key is the key of a name: of the longest run of its words.
func key(t *testing.T, name string) index.EntityKey {
	t.Helper()
	all := index.QuestionEntities(name)
	if len(all) == 0 {
		t.Fatalf("%q names nothing", name)
	}
	return all[0].Key
}

func TestEntityKeys(t *testing.T) {
	for _, same := range [][]string{
		{"Gateway timeout", "gateway-timeout", "gateway timeouts", "gateway_timeout", "GatewayTimeout"},
		{"recalcTax", "recalc tax", "RecalcTax"},
		{"internal/db/pool.go", "internal db pool go"},
		{"Café", "cafe"},
	} {
		for _, other := range same[1:] {
			if key(t, same[0]) != key(t, other) {
				t.Errorf("%q and %q are two", same[0], other)
			}
		}
	}
	seen := make(map[index.EntityKey]string)
	for _, name := range []string{"gateway timeout", "timeout gateway", "gateway", "timeout", "pool"} {
		k := key(t, name)
		if seen[k] != "" {
			t.Errorf("%q and %q are one", name, seen[k])
		}
		seen[k] = name
	}
}

func TestQuestionEntities(t *testing.T) {
	var names []string
	for _, n := range index.QuestionEntities("why the gateway timeout") {
		names = append(names, n.Name)
	}
	for _, want := range []string{"gateway timeout", "gateway", "timeout"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not among %q", want, names)
		}
	}
	for _, n := range names {
		if words := strings.Fields(n); words[0] == "the" || words[len(words)-1] == "the" {
			t.Errorf("%q begins or ends with a stop word", n)
		}
	}
	long := index.QuestionEntities("one two three four five six seven")
	if len(long) == 0 || long[0].Words != 5 {
		t.Errorf("the longest name has %d words, want 5", long[0].Words)
	}
	if d := cmp.Diff(0, len(index.QuestionEntities("the of and"))); d != "" {
		t.Error("stop words name something")
	}
	for _, odd := range []string{"", " ", "\x00\xff", strings.Repeat("ab ", 1<<20), "::::", "🙂"} {
		index.QuestionEntities(odd)
	}
}
