package capture

import (
	"strings"
	"testing"

	"anamnesis/internal/learn"
	"anamnesis/internal/redact"
)

// Every text of a session is masked, and none of what was read is changed.
func TestRedactedFacts(t *testing.T) {
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	secret := "ghp_" + strings.Repeat("Ab1", 12)
	f := facts{
		title: secret, first: secret, branch: secret, files: []string{secret},
		exchanges: []exchange{{prompt: secret, replies: []string{"first", secret}}},
		fixes:     []learn.Fix{{Failed: secret, Passed: secret, Output: secret, Edited: []string{"deploy/" + secret}}},
	}
	clean := f.redacted(r)
	all := append(clean.texts(), clean.fixes[0].Edited...)
	if text := strings.Join(all, "\n"); strings.Contains(text, secret) || strings.Contains(text, "first") {
		t.Errorf("the facts keep a secret, or more than the last word:\n%s", text)
	}
	if f.title != secret || f.files[0] != secret || f.exchanges[0].prompt != secret || len(f.exchanges[0].replies) != 2 || f.fixes[0].Edited[0] == clean.fixes[0].Edited[0] {
		t.Errorf("what was read is %+v", f)
	}
}
