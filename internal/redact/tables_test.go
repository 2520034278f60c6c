package redact

import (
	"regexp"
	"strings"
	"testing"
)

// TestTables checks what the tables promise: patterns that compile, keywords
// that the filter can find, ids that name one rule, a sentence each.
func TestTables(t *testing.T) {
	check := func(id, about, keys, pattern string) {
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if id == "" || strings.ToLower(id) != id || !strings.HasSuffix(about, ".") {
			t.Errorf("%q: want a lower-case id and a sentence, got %q", id, about)
		}
		for k := range strings.FieldsSeq(keys) {
			if len(k) < 3 {
				t.Errorf("%s: keyword %q is shorter than three bytes", id, k)
			}
		}
	}
	for _, r := range tokens {
		check(r.id, r.about, r.keys, r.pattern)
	}
	for _, r := range inside {
		check(r.id, r.about, r.keys, r.pattern)
	}
	for _, r := range contexts {
		check(r.id, r.about, r.keys, between+r.pattern)
		if strings.ToLower(r.keys) != r.keys {
			t.Errorf("%s: keywords of contexts are lower case: %q", r.id, r.keys)
		}
	}
	for _, k := range newFilter(nil).words {
		if len(k.text) < 3 || strings.ToLower(k.text) != k.text {
			t.Errorf("keyword %q", k.text)
		}
	}
}
