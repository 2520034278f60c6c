package hooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConstraints(t *testing.T) {
	prompts := []string{
		"Add a discount to the cart. You must never add a dependency without asking me.",
		"thanks",
		"no, don't touch that",
		"Always run all tests of cart.go after editing it.",
		"Should we never use mocks?",
		"Never edit vat.go by hand.",
	}
	for _, tc := range []struct {
		name, task string
		want       []string
	}{
		{"general", "Look for dead code.", []string{"You must never add a dependency without asking me.", "no, don't touch that"}},
		{"named", "Split cart.go in two.", []string{
			"You must never add a dependency without asking me.", "no, don't touch that", "Always run all tests of cart.go after editing it.",
		}},
		{"the newest three", "Split cart.go and vat.go.", []string{
			"no, don't touch that", "Always run all tests of cart.go after editing it.", "Never edit vat.go by hand.",
		}},
	} {
		if diff := cmp.Diff(tc.want, constraintsOf(prompts, tc.task)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if got := constraintsOf([]string{string([]byte{0xff, 0}), ""}, "x"); len(got) > 0 {
		t.Errorf("of nothing: %q", got)
	}
}
