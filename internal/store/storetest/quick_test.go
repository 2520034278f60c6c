package storetest

import "testing"

// TestSkipQuick checks which cases a quick run leaves out.
func TestSkipQuick(t *testing.T) {
	for _, test := range []struct {
		name, changed, ci string
		skipped           bool
	}{
		{"no quick run", "", "", false},
		{"CI", "internal/cli/search.go", "1", false},
		{"quick", "internal/cli/search.go", "", true},
		{"nothing changed", "none", "", true},
		{"a chosen case", "internal/cli/search.go", "", false},
		{"the test changed", "a.go\ninternal/store/storetest/quick_test.go", "", false},
		{"a test of this name elsewhere", "internal/cli/quick_test.go", "", true},
	} {
		t.Setenv(changedFiles, test.changed)
		t.Setenv("ANAMNESIS_CI", test.ci)
		ran := false
		t.Run(test.name, func(t *testing.T) {
			SkipQuick(t, "a chosen case")
			ran = true
		})
		if ran == test.skipped {
			t.Errorf("%s: ran is %v", test.name, ran)
		}
	}
}
