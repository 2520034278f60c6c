package cli

import (
	"strings"
	"testing"
	"time"
)

// The bar says what it counts.
func TestProgressUnit(t *testing.T) {
	var out strings.Builder
	b := &progress{out: &out, what: "indexing notes", began: time.Now().Add(-time.Hour)}
	b.Step(15, 30)
	if want := "\rindexing [" + strings.Repeat("=", 15) + strings.Repeat(" ", 15) + "] 15 of 30 notes"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
