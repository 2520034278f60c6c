package smalltalk

import (
	"slices"
	"strings"
	"testing"
)

// A word that is strange is in no phrase: to see that, the lists are searched as they stand.
func TestStrange(t *testing.T) {
	all := 0
	for _, list := range []*table{load(), loadCarriers()} {
		for phrase := range list.phrases {
			tokens := strings.Fields(phrase)
			all += len(tokens)
			if i := slices.IndexFunc(tokens, strange); i >= 0 {
				t.Errorf("%q of %q is strange", tokens[i], phrase)
			}
		}
	}
	if all < 1000 {
		t.Errorf("only %d words were looked at", all)
	}
	for token, want := range map[string]bool{"postgres": true, "kubernetes": true, "42": false, "x": false, "thanks": false} {
		if got := strange(token); got != want {
			t.Errorf("%q is strange: %v, want %v", token, got, want)
		}
	}
}
