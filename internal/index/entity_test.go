package index_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"

	"github.com/google/go-cmp/cmp"
)

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
