package web

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

const linkStart = `<a target="_blank" rel="noopener noreferrer nofollow" href="`

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a\nb", "<p>a\nb</p>"},
		{"a  \nb\\\nc", "<p>a<br>b<br>c</p>"},
		{"a\n\n\nb", "<p>a</p><p>b</p>"},
		{"# One #\n## Two\n####### no", "<h3>One</h3><h4>Two</h4><p>####### no</p>"},
		{"#no heading\n#", "<p>#no heading</p><h3></h3>"},
		{"One\n===\nTwo\nlines\n---\n", "<p>One\n===\nTwo\nlines</p><hr>"},
		{"a\n\n---\n* * *\n_____", "<p>a</p><hr><hr><hr>"},
		{"*a* _b_ **c** __d__ ~~e~~ ~f~", "<p><em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <del>e</del> <del>f</del></p>"},
		{"***a** b* and **a *b***", "<p><em><strong>a</strong> b</em> and <strong>a <em>b</em></strong></p>"},
		{"a_b_c 2*3*4 * x* **y", "<p>a_b_c 2<em>3</em>4 * x* **y</p>"},
		{"**/*.go,**/x", "<p><strong>/*.go,</strong>/x</p>"},
		{"`a*b*` ``c`d`` `open", "<p><code>a*b*</code> <code>c`d</code> `open</p>"},
		{`\*a\* \\ \q`, `<p>*a* \ \q</p>`},
		{"&lt;b&gt; &#42; &#x2a; &nope; &", "<p>&lt;b&gt; * * &amp;nope; &amp;</p>"},
		{"a <b>c</b> <br/> 1 < 2", "<p>a &lt;b&gt;c&lt;/b&gt; &lt;br/&gt; 1 &lt; 2</p>"},
		{"<div>\n*a*\n\n*b*", "<p>&lt;div&gt;\n<em>a</em></p><p><em>b</em></p>"},
		{"<!-- a\n\nb --> c\nd", "<p>&lt;!-- a</p><p>b --&gt; c\nd</p>"},
		{"```go\nif a < b {\n\tc\n```\nd", "<pre tabindex=\"0\"><code>if a &lt; b {\n\tc\n</code></pre><p>d</p>"},
		{"~~~\n```\n~~~", "<pre tabindex=\"0\"><code>```\n</code></pre>"},
		{"a\n\n    code\n\n      more\n\nb", "<p>a</p><p>code</p><p>more</p><p>b</p>"},
		{"> a\nb\n> > c\n\nd", "<blockquote><p>a</p></blockquote><p>b</p><blockquote><blockquote><p>c</p></blockquote></blockquote><p>d</p>"},
		{"> - a\n> - b\n\nc", "<blockquote><ul><li>a</li><li>b</li></ul></blockquote><p>c</p>"},
		{"- a\n- b\n  - c\n\n* d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ul><li>d</li></ul>"},
		{"- a\n\n- b", "<ul><li>a</li><li>b</li></ul>"},
		{"- a\n\n  b\n-\n- c\nd", "<ul><li>a<p>b</p></li><li></li><li>c</li></ul><p>d</p>"},
		{"3. a\n4. b\n\nx\n2. no list", `<ol start="3"><li>a</li><li>b</li></ol><p>x` + "\n2. no list</p>"},
		{
			"- [x] a\n- [ ] b", `<ul><li><span class="task" role="img" aria-label="done">☑</span> a</li>` +
				`<li><span class="task" role="img" aria-label="to do">☐</span> b</li></ul>`,
		},
		{"1. a\n   ```\n   b\n   ```\n2. c", "<ol><li>a<pre tabindex=\"0\"><code>b\n</code></pre></li><li>c</li></ol>"},
		{
			"x\n| a | b |\n|---|:-:|\n| `1` | 2 \\| 3\n| 4 |\n\ny", `<p>x</p><div class="scroll" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr>` +
				`</thead><tbody><tr><td><code>1</code></td><td>2 | 3</td></tr><tr><td>4</td><td></td></tr></tbody></table></div><p>y</p>`,
		},
		{"[a *b*](https://e.example/x?a=1&b=2 \"t\")", "<p>" + linkStart + `https://e.example/x?a=1&amp;b=2">a <em>b</em></a></p>`},
		{"[a](<https://e.example/x y>) [b](/local) [c]( javascript:x )", "<p>" + linkStart + `https://e.example/x%20y">a</a> b c</p>`},
		{"[a][r]\n\n[r]: https://e.example/", "<p>[a][r]</p><p>[r]: " + linkStart + `https://e.example/">https://e.example/</a></p>`},
		{"[none] [a](x y) ![", "<p>[none] [a](x y) ![</p>"},
		{"[![p](https://e.example/p.png)](https://e.example/)", "<p>" + linkStart + `https://e.example/">🖼 p</a></p>`},
		{"![p](https://e.example/p.png)", "<p>" + linkStart + `https://e.example/p.png">🖼 p</a></p>`},
		{"<https://e.example/> <a@e.example> <x:y>", "<p>" + linkStart + `https://e.example/">https://e.example/</a> ` + linkStart +
			`mailto:a@e.example">a@e.example</a> &lt;x:y&gt;</p>`},
		{"(see https://e.example/a_b_(c)). www.e.example, or a.b@e.example.", "<p>(see " + linkStart + `https://e.example/a_b_(c)">https://e.example/a_b_(c)</a>). ` +
			linkStart + `http://www.e.example">www.e.example</a>, or ` + linkStart + `mailto:a.b@e.example">a.b@e.example</a>.</p>`},
		{"a\r\nb\rc\u202ed", "<p>a\nb\ncd</p>"},
		{"a\x00b", "<p>ab</p>"},
		{"a\n\f\nb", "<p>a</p><p>b</p>"},
	} {
		if got := string(markdownOf(c.text)); got != c.want {
			t.Errorf("%q\nis   %s\nwant %s", c.text, got, c.want)
		}
	}
}

// markdownTag is an element that markdownOf may write.
var markdownTag = regexp.MustCompile(`<(/?)(p|h[3-6]|pre|code|blockquote|ul|ol|li|em|strong|del|br|hr|table|thead|tbody|tr|th|td|div|span|a)` +
	`((?: [a-z-]+="[^"<>]*")*)>`)

// closed fails unless every element of the HTML of a text is ours and ends where it should.
// It returns the number of links.
func closed(t *testing.T, text string) (linked int) {
	t.Helper()
	got := string(markdownOf(text))
	if rest := markdownTag.ReplaceAllString(got, ""); strings.ContainsAny(rest, "<>") {
		t.Fatalf("%q\nhas an element that is not ours: %s", text, got)
	}
	var open []string
	for _, m := range markdownTag.FindAllStringSubmatch(got, -1) {
		switch {
		case m[2] == "br" || m[2] == "hr":
		case m[1] == "":
			open = append(open, m[2])
			if m[2] == "a" {
				linked++
				if !strings.HasPrefix(m[3], linkStart[2:]+"http") && !strings.HasPrefix(m[3], linkStart[2:]+"mailto:") {
					t.Fatalf("%q\nhas a link that is not to the web: %s", text, got)
				}
			}
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("%q\nends what is not open: %s", text, got)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q\nleaves %q open: %s", text, open, got)
	}
	return linked
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		"# a\n\n- [x] b\n  1. c\n\n> d **e _f_** `g`\n", "|a|b|\n|-|-|\n|c|[d](https://e.example/)|\n", "[a][b]\n\n[b]: https://e.example/\n",
		"<https://e.example/?\"'> ![a](b) &lt; \\* www.e.example x@e.example\n```\n<b>\n```\n", "<!-- a\n-->\n\n    code\n\ta\n===\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { closed(t, text) })
}

// TestMarkdownIsClosed reads pieces of markdown in any order: every element of the HTML is one
// that we write, and ends where it should.
func TestMarkdownIsClosed(t *testing.T) {
	pieces := []string{
		"*", "**", "_", "__", "~~", "`", "``", "[", "]", "](", "![", "(", ")", "](https://e.example/)", "[r]: https://e.example/\n", "<", ">", "<b>",
		"</p>", "<!--", "-->", "<script>", "&lt;", "&#60;", "\\", "\\<", "\n", "\n\n", "\n- ", "\n  - ", "\n1. ", "\n> ", "\n# ", "\n---\n", "\n===\n", "\n```\n",
		"\n    ", "\t", " ", "  \n", "a", "b c", "é", "|", "\n|a|b|\n|-|-|\n", "https://e.example/", "www.e.example", "x@e.example", "\"", "'", "\u202e", "\xff",
		"- [x] ", "javascript:", "[x](javascript:y)", "<https://e.example/?\"'>",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	linked := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(24) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		linked += closed(t, b.String())
	}
	if linked < 2000 {
		t.Errorf("%d links in all, the pieces are no good", linked)
	}
}

// TestMarkdownStaysSmall reads texts of which a page would be hundreds of times as large.
func TestMarkdownStaysSmall(t *testing.T) {
	const size = 42 << 10
	for name, text := range map[string]string{
		"a table of many columns":  strings.Repeat("|a", 7000) + "\n" + strings.Repeat("|-", 7000) + "\n" + strings.Repeat("|\n", 7000),
		"a long address":           "[a]: http://x/" + strings.Repeat("b", size/2) + "\n\n" + strings.Repeat("[a]\n", size/8),
		"quotes within quotes":     strings.Repeat(strings.Repeat(">", 40)+"a\n\n", size/43),
		"lists within lists":       strings.Repeat(strings.Repeat("- ", 40)+"a\n", size/82),
		"an ordinary long text":    strings.Repeat("- **one** and `two`\n", size/20),
		"an ordinary table":        "|a|b|\n|-|-|\n" + strings.Repeat("|c|d|\n", size/6),
		"a table with short lines": "|a|b|c|\n|-|-|-|\n|d|\n",
	} {
		got := string(markdownOf(text))
		if len(got) > maxHTML+size {
			t.Errorf("%s: %d bytes become %d", name, len(text), len(got))
		}
		if strings.Contains(name, "ordinary") && strings.HasPrefix(got, "<pre>") {
			t.Errorf("%s is shown as it is written", name)
		}
		if strings.Contains(name, "short lines") && !strings.Contains(got, "<td>d</td><td></td><td></td>") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestMarkdownTakesNotLong reads texts that make a careless reader look at everything again and again. A text takes some 30 ms; the
// limit is a thousand times that, because other programs run, too.
func TestMarkdownTakesNotLong(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads: -short comes with the race detector, which makes expressions a hundred times as slow")
	}
	for _, piece := range []string{
		"> ", "- ", "1. ", "*a ", "*a _b ", "a**b", "**a *b ", "[", "[a", "![", "[a](", "[a](b", "<a b='", "<!--", "<?", "`", "``a", "\\", "&", "&#1",
		"a*\n", "*a\n", "[a\n", "> a\nb\n", "- a\n", "- a\nb\n", " - a\n", "a\n===\n", "|a|b|\n|-|-|\n", "|a\n|-\n", "```\n", "> ```\n", "[a]: b\n", "<b\n", "<b a=\"\n",
		"www.a)", "http://a:)", "a@b.", "a@", "*_~", "~a~ ", "~a ", "]", "[]", "a&lt;", "\t", "\t- ", "`a\n", "``\n`\n", "[[]]\n", "*[a\n", "![[](",
		"[a](b '", "[a](b (", "[a](<", "http://(", "a.", "a-", "|a\n|-\n\n", "# a #", "-", "x (", "a|b\n-|-\n",
	} {
		text := strings.Repeat(piece, maxMarkdown/len(piece))
		for _, text := range []string{text, "> " + text, "- " + text, "[a](" + text, strings.Repeat("> ", maxDepth) + text} {
			text = text[:min(len(text), maxMarkdown)]
			began := time.Now()
			markdownOf(text)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%q again and again takes %v", piece, took)
			}
		}
	}
}
