package index_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/index"
)

func TestAnalyze(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Running the tests", "run the test"},
		{"payments.proto", "payment proto payments_proto"},
		{"recalcTaxForOrder", "recalctaxforord recalc tax for order"},
		{"HTTPServer parseURL", "httpserver http server parseurl pars url"},
		{"snake_case_name", "snake case name snake_case_name"},
		{"run --no-sync now", "run no sync no_sync now"},
		{"internal/store/disk.go:42", "intern store disk go 42 disk_go_42 internal_store_disk_go_42"},
		{"v1.2.3", "v1 2 3 v1_2_3 1_2_3"},
		{"1.2.3", "1 2 3 1_2_3"},
		{"state-of-the-art at 16:9", "state of the art state_of_the_art at 16 9 16_9"},
		{"it's the user's, don't", "it the user don"},
		{"café Résumé", "cafe resum"},
		{"Ｆｕｌｌ　ｗｉｄｔｈ", "full width"},
		{"C++ and C#, not c", "cplusplus and csharp not c"},
		{"データベース", "デー ータ タベ ベー ース"},
		{"数据库", "数据 数 据库 据 库"},
		{"인덱스", "인덱 덱스"},
		{"本 x", "本 x"},
		{"error E0382: borrow of moved value", "error e0382 borrow of move valu"},
		{"sha256 utf8", "sha256 utf8"},
		{"user@host.example", "user host exampl user_host_example"},
		{"... --- !!!", ""},
		{"", ""},
		{strings.Repeat("x", 65), ""},
		{"a" + strings.Repeat(".b", 60), "a" + strings.Repeat(" b", 60)},
	} {
		if got := strings.Join(index.Analyze(c.text), " "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestTokensOfQuestions(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"how do I deploy the staging server?", "deploy stage server"},
		{"what is it", "what is it"}, // nothing else to go by
		{"deploy deploy DEPLOY deployed", "deploy"},
		{"数据", "数据"},
		{"数", "数"},
		{"- * ^ ( )", ""},
		{`"NEAR(a b)" OR title:x*`, "near b titl x title_x"},
	} {
		if got := strings.Join(index.Tokens(c.question), " "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.question, got, c.want)
		}
	}
}

// FuzzAnalyze checks what backends rely on: tokens are short, valid, and hold
// nothing that a query language could take for an operator.
func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"", "payments.proto", "a'b'c", "データー", "x\x00\xff", "ﬁ ǅ İ", "v1..2", "c++++", "c#+x", "🎉 ok"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, tok := range append(index.Analyze(s), index.Tokens(s)...) {
			if tok == "" || len(tok) > 4*64 || !utf8.ValidString(tok) {
				t.Fatalf("token %q", tok)
			}
			if strings.ContainsFunc(tok, func(r rune) bool {
				return r < utf8.RuneSelf && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsSpace(r) || r < utf8.RuneSelf && unicode.IsUpper(r)
			}) {
				t.Fatalf("token %q of %q", tok, s)
			}
		}
	})
}

func TestPassages(t *testing.T) {
	para := func(c string, n int) string { return strings.Repeat(c, n) }
	for _, c := range []struct {
		name string
		body string
		want int
	}{
		{"empty", "", 1},
		{"short", "one\n\ntwo", 1},
		{"paragraphs gather", para("a ", 300) + "\n\n" + para("b ", 300) + "\n\n" + para("c ", 300), 2},
		{"one long paragraph", para("word ", 2000), 5},
		{"a long word", para("x", 6000), 3},
		{"characters are not cut", para("日", 2000), 3},
		{"blank end", para("a ", 600) + "\n\n\n\n", 1},
	} {
		got := index.Passages(c.body)
		if len(got) != c.want {
			t.Errorf("%s: %d passages, want %d", c.name, len(got), c.want)
		}
		if strings.Join(got, "") != c.body {
			t.Errorf("%s: the passages do not make the body", c.name)
		}
		for _, p := range got {
			if !utf8.ValidString(p) {
				t.Errorf("%s: a passage cuts a character", c.name)
			}
		}
	}
}

// A heading stands in the passage of what it is above, and so do headings above it.
func TestPassagesKeepHeadings(t *testing.T) {
	text := strings.Repeat("words ", 150) // 900 bytes
	for _, body := range []string{
		text + "\n\n" + text + "\n\n## Deploying\n\n" + text + "\n\n" + text,
		text + "and some more of it, so that the aim is reached with the heading.\n\nand a line of 30 bytes or so\n\n## Deploying\n\n" + text,
		text + text + "\n\n# Running it\n\n## Deploying\n\n" + text,
		"## Deploying\n\n" + text + text,
	} {
		kept := false
		got := index.Passages(body)
		for _, p := range got {
			_, below, ok := strings.Cut(p, "## Deploying\n")
			kept = kept || ok && strings.HasPrefix(strings.TrimSpace(below), "words")
			if strings.Contains(p, "# Running it") != strings.Contains(p, "# Running it\n\n## Deploying") {
				t.Errorf("headings are parted: %q", got)
			}
		}
		if !kept || strings.Join(got, "") != body {
			t.Errorf("the heading stands alone: %q", got)
		}
	}
	for body, want := range map[string]int{
		text + text + "\n\n# At the end":               2, // nothing stands below it
		text + text + "\n\n#hashtag\n\n" + text:        2, // no heading
		strings.Repeat("# A heading of many\n\n", 200): 2, // cut when they are too long, and not before
	} {
		if got := index.Passages(body); len(got) < want || strings.Join(got, "") != body {
			t.Errorf("%d passages of %q, want %d", len(got), body, want)
		}
	}
}

func TestPrune(t *testing.T) {
	term := func(tok string, df int) index.Term { return index.Term{Token: tok, Frequency: df} }
	for _, c := range []struct {
		name  string
		terms []index.Term
		want  string
	}{
		{"all fit", []index.Term{term("a", 10), term("b", 5)}, "b a"},
		{"unknown words go", []index.Term{term("a", 0), term("b", 5)}, "b"},
		{"the commonest go", []index.Term{term("a", 9000), term("b", 5), term("c", 3000)}, "b c"},
		{"one stays, however common", []index.Term{term("a", 90000), term("b", 99000)}, "a"},
		{"nothing known", []index.Term{term("a", 0)}, ""},
	} {
		var got []string
		for _, x := range index.Prune(c.terms) {
			got = append(got, x.Token)
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
