package cli

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "öß": 2, "e\u0301": 1, "日本語": 6, "한글": 4, "👍 ok": 5, "ﬁ": 1, "Ａ": 2} {
		if got := textColumns(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	for _, text := range []string{"短い題名ですがとても長くなりました", strings.Repeat("word ", 30), "a", "e\u0301e\u0301e\u0301e\u0301"} {
		for n := 1; n < 40; n++ {
			cut := cutColumns(text, n)
			if textColumns(cut) > n || textColumns(text) <= n && cut != text || cut != text && !strings.HasSuffix(cut, "…") {
				t.Errorf("%q cut to %d columns is %q", text, n, cut)
			}
		}
	}
}
