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

func TestWrap(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"some words that are longer\n", "some words that are\n  longer\n"},
		{"  - some words that are longer\n", "  - some words that\n    are longer\n"},
		{"   │ some words that are longer\n", "   │ some words that\n   │ are longer\n"},
		{"see /a/path/that/is/longer/than/it now\n", "see\n  /a/path/that/is/longer/than/it\n  now\n"},
		{"/a/path/that/is/longer/than/it\n", "/a/path/that/is/longer/than/it\n"},
		{"say `a b c d e f` or (`g h`), then\n", "say `a b c d e f` or\n  (`g h`), then\n"},
		{"`a command that is longer than a line`\n", "`a command that is\n  longer than a\n  line`\n"},
		{"日本語のとても長い題名です。\n", "日本語のとても長い題\n  名です。\n"},
		{"\x1b[1msome words\x1b[0m and others\n", "\x1b[1msome words\x1b[0m and\n  others\n"},
		{"an odd ` quote that goes on\n", "an odd ` quote that\n  goes on\n"},
		{"\n\n", "\n\n"},
		{"", ""},
	} {
		w := wrapper{width: 20}
		if got := w.wrap(tt.text); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
		}
		if w = (wrapper{}); w.wrap(tt.text) != tt.text {
			t.Errorf("%q is broken without a terminal", tt.text)
		}
	}
	w := wrapper{width: 20}
	if got := w.wrap("  a line in ") + w.wrap("parts of its own") + w.wrap("\nnext\n"); got != "  a line in parts of\n    its own\nnext\n" {
		t.Errorf("a line in parts becomes %q", got)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("  - say `a b c` twice, 日本語 and /a/long/path\n│ quoted", 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		w := wrapper{width: width}
		got := w.wrap(text)
		bare := strings.NewReplacer(" ", "", "\n", "", "│", "", "|", "").Replace
		if bare(got) != bare(text) {
			t.Errorf("%q becomes %q on %d columns", text, got, width)
		}
	})
}
