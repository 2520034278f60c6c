package note_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"

	"pgregory.net/rapid"
)

// frontGen makes front matter of pieces that are likely to be read wrongly.
func frontGen() *rapid.Generator[string] {
	char := rapid.SampledFrom([]string{
		"a", "b", "x", "é", "日", "👍", " ", " ", ":", "#", "-", "'", "''", `"`, "\\", "[", "]", "{", "}", ",", "&", "*", "!",
		"|", ">", "%", "@", "`", "?", "~", "=", "<", "null", "true", "yes", "1", "0", ".", "_", "+", "e", "0x", "2026-01-01",
		"\u00a0", "\u3000", "\u2003", "/", "(", "$", ";", "\t",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(char, 1, 8).Draw(t, "chars"), "")
	})
	scalar := rapid.OneOf(text,
		rapid.Custom(func(t *rapid.T) string { return "'" + strings.ReplaceAll(text.Draw(t, "s"), "'", "''") + "'" }),
		rapid.Custom(func(t *rapid.T) string { return note.Quote(text.Draw(t, "q")) }),
		rapid.SampledFrom([]string{"", "[]", "~", "null", "Null", `"a\tb\x41\u00e9"`, "1e5", "12:30", "-", "---", "x:y", "a #b", "a#b"}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(t, "keys") {
			key := rapid.SampledFrom([]string{"tags", "title", "evidence", "k-1", "on", "Zed", "_x"}).Draw(t, "key")
			b.WriteString(key + string(rune('a'+i)) + ":")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0, 1:
				b.WriteString(" " + scalar.Draw(t, "value") + "\n")
			case 2:
				b.WriteString("\n")
				for range rapid.IntRange(0, 3).Draw(t, "items") {
					b.WriteString("- " + scalar.Draw(t, "item") + "\n")
				}
			case 3:
				b.WriteString("\n")
				for range rapid.IntRange(0, 2).Draw(t, "items") {
					b.WriteString("- session: " + scalar.Draw(t, "s") + "\n  chunk: " + scalar.Draw(t, "c") + "\n")
				}
			case 4:
				b.WriteString(" " + scalar.Draw(t, "value") + "\n" + rapid.SampledFrom([]string{"  more\n", "\n", "# c\n", " # c\n", "- x\n"}).Draw(t, "next"))
			}
		}
		return b.String()
	})
}

// What the quick reader accepts, the YAML library reads in the same way.
func TestReadersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		front := frontGen().Draw(t, "front")
		fast, slow, declined := note.Readers(front)
		if !declined && fast != slow {
			t.Fatalf("front matter:\n%s\nquick reader:\n%s\nYAML:\n%s", front, fast, slow)
		}
	})
}
