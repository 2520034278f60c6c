package redact_test

import (
	"strings"
	"testing"
)

// LL-01: the window.
func TestWindow(t *testing.T) {
	const mark = "\n\n...[transcript truncated for length]...\n\n"
	text := strings.Repeat("a", 600) + strings.Repeat("b", 400)
	for _, tt := range []struct {
		n    int
		want string
	}{
		{0, text},
		{1000, text},
		{5000, text},
		{100, strings.Repeat("a", 60) + mark + strings.Repeat("b", 40)},
		{101, strings.Repeat("a", 60) + mark + strings.Repeat("b", 41)},
	} {
		if got := newRedactor(t).Redact(text).Window(tt.n).String(); got != tt.want {
			t.Errorf("%d: %q", tt.n, got)
		}
	}
}
