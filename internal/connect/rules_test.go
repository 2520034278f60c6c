package connect_test

import (
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

// A page in a file of rules stands inside our block, another takes its place, a second install
// keeps it, and uninstalling gives back the bytes.
func TestRulesPage(t *testing.T) {
	for _, own := range []string{"", "# Mine\n\n- a\n", "# Mine\r\n\r\n- a\r\n"} {
		installed, err := connect.InstallRules([]byte(own))
		if err != nil {
			t.Fatal(err)
		}
		if got, has, err := connect.PutRules([]byte(own), "- x"); has || err != nil || string(got) != own {
			t.Errorf("%q without our block: %q, %v, %v", own, got, has, err)
		}
		first, has, err := connect.PutRules(installed, "\n## Known\n- one\n")
		if err != nil || !has || strings.Count(string(first), "- one") != 1 {
			t.Fatalf("%q: %q, %v, %v", own, first, has, err)
		}
		again, err := connect.InstallRules(first)
		if err != nil || string(again) != string(first) {
			t.Errorf("%q: a second install: %q, %v", own, again, err)
		}
		second, _, err := connect.PutRules(first, "- two")
		if err != nil || strings.Contains(string(second), "- one") || strings.Count(string(second), "- two") != 1 {
			t.Errorf("%q: %q, %v", own, second, err)
		}
		empty, _, err := connect.PutRules(second, "")
		if err != nil || string(empty) != string(installed) {
			t.Errorf("%q without a page: %q, want %q, %v", own, empty, installed, err)
		}
		if left, err := connect.UninstallRules(second); err != nil || string(left) != own {
			t.Errorf("%q: left %q, %v", own, left, err)
		}
	}
}
