package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/text"
)

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		"plain é 提交\n\tx\r\n":                                             "plain é 提交\n\tx\r\n",
		"\x1b[31mTypeError:\x1b[39m \x1b[1mround\x1b[22mHalf":             "TypeError: roundHalf",
		"\x1b[38;2;255;0;0mred\x1b[0m \x1b[4:3mu\x1b[m":                   "red u",
		"\x1b[?25lon\x1b[2K\x1b[1G":                                       "on",
		"\u009b31mred\u009b0m":                                            "red",
		"\x9b31mred\x9b0m":                                                "red",
		"see \x1b]8;;https://a.example/b\x1b\\the page\x1b]8;;\x1b\\ now": "see the page now",
		"see \x1b]8;id=1;https://a.example\athe page\x1b]8;;\a now":       "see the page now",
		"\u009d0;title\u009cx":                                            "x",
		"\x1b]0;title\ax":                                                 "x",
		"\x1b]0;cut off\nnext":                                            "\nnext",
		"\x1b]0;then \x1b[31mred":                                         "red",
		"\x1bPq#0;2\x1b\\x\x1b_app\x1b\\y\x1b^pm\x1b\\z":                  "xyz",
		"\x1b(Ba\x1b7b\x1b=c\x1bMd\x1b#8e":                                "abcde",
		"a\x1b":                                                           "a",
		"a\x1b[":                                                          "a",
		"a\x1b[3":                                                         "a",
		"a\x1b[31":                                                        "a",
		"a\x1b\x1b[31mb":                                                  "ab",
		"a\x1b[31\nb":                                                     "a\nb",
		"a\x1b title, e\x1bf":                                             "a title, ef",
		"\x1bé":                                                           "é",
		"ab\b\bcd\a\x00\x7f":                                              "cd",
		"N\bNA\bAM\bME\bE":                                                "NAME",
		"\b\n\bx":                                                         "\nx",
		"é\bx":                                                            "x",
		"a\fb\vc\u0085d":                                                  "a\nb\nc\nd",
		`\e[31m \x1b[0m \u001b[1m ^[[0m [31m`:                             `\e[31m \x1b[0m \u001b[1m ^[[0m [31m`,
		"it\u00e2\u0080\u0099s a \u00e2\u0080\u009dword\u00e2\u0080\u009d here": "it\u00e2s a \u00e2word\u00e2 here",
		"a \u009d no end here": "a  no end here",
		"\xc2\x1b[0m\x9b31m":   "\ufffd",
		"caf\xe9 au lait":      "caf\ufffd au lait",
		"10%\r20%":             "10%\r20%",
	} {
		if got := text.Plain(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func TestOverwritten(t *testing.T) {
	for s, want := range map[string]string{
		"a\nb":                            "a\nb",
		"10%\r20%\r100%\ndone\n":          "100%\ndone\n",
		"10%\r20%\r100%":                  "100%",
		"10%\r20%\r\ndone":                "20%\ndone",
		"10%\r20%\r   \r\n":               "20%\n",
		"a\r\nb\r\n":                      "a\nb\n",
		"\r":                              "",
		"building\r\r\rfailed: x\nnext\r": "failed: x\nnext",
	} {
		if got := text.Overwritten(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

// FuzzPlain holds that nothing which moves a terminal is left, that words without controls stay, and that cleaning
// twice changes nothing.
func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31mred\x1b]8;;x\x07y\b\u009b1mz\xc2\x1b[0m\x9b")
	f.Add("\x1b\x1b]\x1b\\\x90\x9c\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := text.Plain(s)
		if !utf8.ValidString(got) || len(got) > 3*len(s) {
			t.Fatalf("%q is %q", s, got)
		}
		for _, r := range got {
			if r < ' ' && !strings.ContainsRune("\n\t\r", r) || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q is %q", s, got)
			}
		}
		if again := text.Plain(got); again != got {
			t.Fatalf("%q is %q, then %q", s, got, again)
		}
		if over := text.Overwritten(got); strings.Contains(over, "\r") || text.Overwritten(over) != over {
			t.Fatalf("%q is %q", got, over)
		}
		words := strings.Map(func(r rune) rune {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				return 'x'
			}
			return r
		}, strings.ToValidUTF8(s, "x"))
		if text.Plain(words) != words {
			t.Fatalf("%q is %q", words, text.Plain(words))
		}
	})
}
