package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, s := range []string{"", "plain", "ü 日本 \U0001F600", "a\x00b", "\xff", "\xed\xa0\x80", "\U0010FF00\U0010FFFF", "\ufffd", "\U0010FEFF"} {
		text := escape(s)
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Errorf("%q becomes %q, which cannot be kept", s, text)
		}
		if got := unescape(text); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
	}
	if escape("ü plain") != "ü plain" {
		t.Error("ordinary text was changed")
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x00\xff\U0010FFFE")
	f.Fuzz(func(t *testing.T, s string) {
		text := escape(s)
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || unescape(text) != s {
			t.Errorf("%q becomes %q, and that %q", s, text, unescape(text))
		}
	})
}
