package note_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

const three = "id: n1\ntype: semantic\ntitle: T\n"

func file(front string) string { return "---\n" + front + "---\nBody\n" }

func TestParseMinimal(t *testing.T) {
	want := &note.Note{
		ID: "n1", Type: note.Semantic, Title: "T", Body: "Body",
		Project: "global", MachineID: "unknown", Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: "human", Confidence: 1},
	}
	if d := cmp.Diff(want, mustParse(t, file(three))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Values are the literal text of the scalar, whatever the style.
func TestParseText(t *testing.T) {
	tests := []struct{ yaml, want string }{
		{" plain text", "plain text"},
		{" 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{" 2026-01-01", "2026-01-01"},
		{" 0x1f", "0x1f"},
		{" 1_000", "1_000"},
		{" 012", "012"},
		{" 1e5", "1e5"},
		{" .inf", ".inf"},
		{" -.5", "-.5"},
		{" 12:30:00", "12:30:00"},
		{" yes", "yes"},
		{" True", "True"},
		{" ~", ""},
		{" null", ""},
		{"", ""},
		{" '~'", "~"},
		{" 'null'", "null"},
		{" ''", ""},
		{" it's", "it's"},
		{" 'it''s'", "it's"},
		{" ?x", "?x"},
		{" a:b#c", "a:b#c"},
		{" text # comment", "text"},
		{" 'text' # comment", "text"},
		{`   spaced out   `, "spaced out"},
		{"\ttabbed\t", "tabbed"},
		{" a\tb", "a\tb"},
		{" a\t b\n  c\td", "a\t b c\td"},
		{` "a\tb\n\"c\" \x41é\U0001F600\e\0\_\N\L\P\/\\"`, "a\tb\n\"c\" Aé😀\x1b\x00\u00a0\u0085\u2028\u2029/\\"},
		{" folded\n  plain\n\n  text", "folded plain\ntext"},
		{" 'folded\n  single\n\n\n  text'", "folded single\n\ntext"},
		{" 'folded\n\n\n  '' single'", "folded\n\n' single"},
		{" \"folded\n  double\\\n  \\ text\n\n  end\"", "folded double text\nend"},
		{"\n  on the\n  next line", "on the next line"},
		{" |\n  a\n   b\n\n  c\n", "a\n b\n\nc\n"},
		{" |-\n  a\n", "a"},
		{" |+\n  a\n", "a\n\n"},
		{" |2\n    a\n", "  a\n"},
		{" >\n  a\n  b\n\n  c\n\n    d\n  e\n", "a b\nc\n\n  d\ne\n"},
		{" >-\n  # no comment\n", "# no comment"},
		{" !!str 12", "12"},
		{" 日本 👍", "日本 👍"},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n"} {
			data := strings.ReplaceAll(file(three+"problem:"+tt.yaml+"\nfix: end\n"), "\n", eol)
			n, err := note.Parse([]byte(data))
			if err != nil {
				t.Errorf("%q: %v", tt.yaml, err)
				continue
			}
			if n.Problem != tt.want || n.Fix != "end" || n.Body != "Body" {
				t.Errorf("%q: got %q, want %q; fix %q, body %q", tt.yaml, n.Problem, tt.want, n.Fix, n.Body)
			}
		}
	}
}

func TestParseLists(t *testing.T) {
	tests := []struct {
		yaml string
		want []string
	}{
		{"", nil},
		{" null", nil},
		{" ~", nil},
		{" []", nil},
		{" ''", nil},
		{" one", []string{"one"}},
		{" 'a, b'", []string{"a, b"}},
		{" [a, 'b c', \"d\", 12, yes]", []string{"a", "b c", "d", "12", "yes"}},
		{" [\n  a,\n  b,\n]", []string{"a", "b"}},
		{"\n- a\n- a\n- b", []string{"a", "b"}},
		{"\n  - a # why\n  # and\n  - '2026'\n  - 2026", []string{"a", "2026"}},
		{"\n- a\n  folded\n-\n- ~\n- ''", []string{"a folded"}},
	}
	for _, tt := range tests {
		n := mustParse(t, file(three+"tags:"+tt.yaml+"\nsupersedes:"+tt.yaml+"\n"))
		if d := cmp.Diff(tt.want, n.Tags); d != "" {
			t.Errorf("tags:%s\n-want +got:\n%s", tt.yaml, d)
		}
		if len(n.Supersedes) != len(tt.want) {
			t.Errorf("supersedes:%s: got %q", tt.yaml, n.Supersedes)
		}
	}
}

func TestParseOtherShapes(t *testing.T) {
	n := mustParse(t, file(three+`confidence: .5
validated: Yes
quarantine: "true"
speculative: off
proof_count: 2
"my key": {a: [1, 2]}
evidence:
  - session: claude/1
    chunk: 0123
    quote: "a
      b"
    later: kept out
  - {session: s, quote: ~}
nested:
  deep:
  - - x
    - y: |+
        z

# the end
`))
	want := []note.Evidence{{Session: "claude/1", Chunk: "0123", Quote: "a b"}, {Session: "s"}}
	if d := cmp.Diff(want, n.Evidence); d != "" {
		t.Errorf("evidence -want +got:\n%s", d)
	}
	if n.Provenance.Confidence != 0.5 || n.Validated != "true" || !n.Quarantine || n.Speculative || n.ProofCount != 2 {
		t.Errorf("got %+v", n)
	}
	if len(n.Extra) != 2 || n.Extra[0].Key != "my key" || n.Extra[0].Raw != "\"my key\": {a: [1, 2]}\n" || n.Extra[1].Key != "nested" {
		t.Errorf("unknown keys: %q", n.Extra)
	}
}

func TestParseBody(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"one line feed is taken off", "---\n" + three + "---\na\n\n", "a\n"},
		{"none is missed", "---\n" + three + "---\na", "a"},
		{"empty", "---\n" + three + "---\n\n", ""},
		{"nothing", "---\n" + three + "---\n", ""},
		{"not even a line feed", "---\n" + three + "---", ""},
		{"dashes", "---\n" + three + "---\n---\na\n---\n", "---\na\n---"},
		{"CRLF in a file of LF", "---\n" + three + "---\na\r\nb\r\n", "a\r\nb\r"},
		{"byte order mark", "\ufeff---\n" + three + "---\na\n", "a"},
		{"dashes in a value", "---\n" + three + "problem: |\n  x\n  ---\n  y\n---\na\n", "a"},
	}
	for _, tt := range tests {
		if got := mustParse(t, tt.data).Body; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	var laughs strings.Builder
	laughs.WriteString("a: &a [x, x]\n")
	for c := 'b'; c < 'z'; c++ {
		fmt.Fprintf(&laughs, "%c: &%c [*%c, *%c, *%c]\n", c, c, c-1, c-1, c-1)
	}
	tests := []struct{ name, data, want string }{
		{"empty", "", "missing YAML front matter"},
		{"no front matter", "# Title\n", "missing YAML front matter"},
		{"almost", "--- \n" + three + "---\n", "missing YAML front matter"},
		{"unterminated", "---\n" + three + "----\n", "unterminated front matter"},
		{"empty front matter", file(""), "line 1: id: is missing; add a line"},
		{"comments only", file("# x\n\n"), "line 1: id: is missing"},
		{"no title", file("id: a\ntype: semantic\n"), "line 1: title: is missing"},
		{"empty title", file("id: a\ntype: semantic\ntitle: ' '\n"), "line 4: title: is empty; write a text"},
		{"null title", file("id: a\ntype: semantic\ntitle: null\n"), "line 4: title: is empty"},
		{"bad type", file("id: a\ntype: ../x\ntitle: T\n"), `line 3: type: "../x" is not one of procedural`},
		{"bad id", file("id: ../a\ntype: semantic\ntitle: T\n"), `line 2: id: "../a": an id is 1 to 128 letters`},
		{"device", file("id: Aux\ntype: semantic\ntitle: T\n"), "line 2: id"},
		{"duplicate", file(three + "tags: []\n\ntags: [x]\n"), "line 7: "},
		{"duplicate in the quick reader", file(three + "foo: a\nfoo: b\n"), "line 6: foo: stands here a second time"},
		{"confidence", file(three + "confidence: often\n"), `line 5: confidence: "often" is not a number`},
		{"not a number", file(three + "confidence: .nan\n"), "line 5: confidence"},
		{"truth", file(three + "quarantine: maybe\n"), `line 5: quarantine: "maybe" is neither true nor false`},
		{"count", file(three + "proof_count: 1.5\n"), "line 5: proof_count"},
		{"list for text", file(three + "branch: [a]\n"), "line 5: branch: must be one text"},
		{"mapping for list", file(three + "tags: {a: b}\n"), "line 5: tags: must be a list of texts"},
		{"alias", file(three + "x: &a b\nbranch: *a\n"), "line 6: branch: anchors and aliases"},
		{"broken", file(three + "x: [a\ny: 'b\n"), "cannot be read as YAML"},
		{"colon in plain", file("id: a\ntype: semantic\ntitle: a: b\n"), "line 4: front matter: cannot be read as YAML"},
		{"no mapping", file("- a\n"), "must be lines of the form"},
		{"two documents", file(three + "...\na: b\n"), "front matter"},
		{"not UTF-8", "---\n" + three + "---\na\xff\n", "line 6: front matter: the file is not UTF-8"},
		{"deep", file(three + "x: " + deep + "\n"), "nested more than 32 levels"},
		{"deep dashes", file(three + "x:\n" + strings.Repeat("- ", 40) + "a\n"), "nested more than 32 levels"},
		{"large", file(three + "x: " + strings.Repeat("a\n  ", 1<<17) + "\n"), "larger than 256 KB"},
		{"large and canonical", file(three + "problem: " + strings.Repeat("a", 256<<10) + "\n"), "larger than 256 KB"},
		{"many and canonical", file(three + strings.Repeat("y:\n", 2000)), "more than 2000 keys"},
		{"many", file(three + "x: [a]\n" + strings.Repeat("y:\n", 2000)), "more than 2000 keys"},
		{"laughs", file(three + laughs.String() + "tags: *y\n"), "anchors and aliases"},
	}
	for _, tt := range tests {
		_, err := note.Parse([]byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", tt.name, err, tt.want)
		}
		var field *note.FieldError
		if !errors.Is(err, note.ErrNoFrontMatter) && !errors.Is(err, note.ErrUnterminated) && !errors.As(err, &field) {
			t.Errorf("%s: %T is no documented error", tt.name, err)
		}
	}
}

// Every case of the quoting rules of PyYAML, which wrote the older files.
func TestQuote(t *testing.T) {
	tests := []struct{ style, texts string }{
		{"plain", "it's|?x|-x|:x|a:b|a#b|a, b|x]y|http://x.y/z|é 日本 👍|1.2.3|12a|2026-plan|0xyz|1e|yess|nullable|.|+|-a-|a - b|a\\b|\"|"},
		{"single", "yes|No|ON|off|y|N|true|FALSE|null|Null|~|=|<<|123|-5|+5|1_000|012|0o17|0x1F|0b10|1.5|.5|5.|1e5|1.5e+3|.inf|-.INF|.NaN|12:30|12:30:45.5|" +
			"2026-01-01|2026-1-1 2:03:04|2026-01-01T00:00:00Z|2026-07-02T08:15:00+00:00|" +
			"- |-|- a|? a|?|: a|:|@a|`a|#a|\"a|[a|]a|{a|}a|*a|&a|!a|%a|>a|,a|'a|a: b|a:|a #b|--- a|...| a|a |" + "|"},
		{"double", "a\tb|a\nb|a\rb|\x00|\x1b|\x7f|a\u0085b|a\u2028b|\ufeff|\ufffe|"},
	}
	for _, tt := range tests {
		for _, s := range strings.Split(strings.TrimSuffix(tt.texts, "|"), "|") {
			q := note.Quote(s)
			got := "plain"
			switch {
			case strings.HasPrefix(q, "'"):
				got = "single"
			case strings.HasPrefix(q, `"`) && len(q) > 1:
				got = "double"
			}
			want := tt.style
			if s == `"` {
				want = "single"
			}
			if got != want {
				t.Errorf("%q is written %s, as %s; want %s", s, q, got, want)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data := []byte("---\nid: 01K2M3N4P5Q6R7S8T9V0W1X2Y3\ntype: procedural\ntitle: 'Rotate the staging certificate: weekly job'\n" +
		"project: github.com/acme/storefront\nmachine_id: studio-desktop\nscope: portable\nuser_id: self\nworkspace_id: personal\n" +
		"prov_source: reflection\nconfidence: 0.6\ncreated_at: '2026-07-02T08:15:00+00:00'\nupdated_at: '2026-07-02T08:15:00+00:00'\n" +
		"tags:\n- reflection\n- '2026'\n---\n" + strings.Repeat("Run the rotation script, then restart the proxy. ", 6) + "\n")
	b.Run("canonical", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := note.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notes/s")
	})
	foreign := []byte(strings.Replace(string(data), "tags:\n- reflection\n- '2026'\n", "tags: [reflection, '2026']\n", 1))
	b.Run("foreign", func(b *testing.B) {
		for b.Loop() {
			if _, err := note.Parse(foreign); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notes/s")
	})
}

func TestStampTime(t *testing.T) {
	tests := []struct {
		stamp note.Stamp
		want  string // empty when it is no time
	}{
		{"2026-07-02T08:15:00+00:00", "2026-07-02T08:15:00Z"},
		{"2026-07-02T08:15:00Z", "2026-07-02T08:15:00Z"},
		{"2026-07-02t08:15:00z", "2026-07-02T08:15:00Z"},
		{"2026-07-02T08:15:00.123456+02:00", "2026-07-02T06:15:00.123456Z"},
		{"2026-07-02T08:15:00-0530", "2026-07-02T13:45:00Z"},
		{"2026-07-02T08:15:00+02", "2026-07-02T06:15:00Z"},
		{"2026-01-01", "2026-01-01T00:00:00Z"},
		{"2026-01-01 10:00:00", "2026-01-01T10:00:00Z"},
		{"2026-01-01 10:00:00+00:00", "2026-01-01T10:00:00Z"},
		{"2026-01-01 10:00:00 +01:00", "2026-01-01T09:00:00Z"},
		{"2026-1-2 3:04:05", "2026-01-02T03:04:05Z"},
		{"2026-01-01T10:00", "2026-01-01T10:00:00Z"},
		{" 2026-01-01 ", "2026-01-01T00:00:00Z"},
		{"", ""},
		{"soon", ""},
		{"2026-02-31T00:00:00+00:00", ""},
		{"2026-13-01", ""},
		{"2026-07-02T25:15:00+00:00", ""},
	}
	for _, tt := range tests {
		got, ok := tt.stamp.Time()
		if !ok && tt.want == "" {
			continue
		}
		if s := got.Format(time.RFC3339Nano); !ok || s != tt.want {
			t.Errorf("%q: got %s, %v; want %s", tt.stamp, s, ok, tt.want)
		}
	}
	now := time.Now()
	if got, ok := note.At(now).Time(); !ok || !got.Equal(now.Truncate(time.Second)) {
		t.Errorf("At(%v).Time() = %v, %v", now, got, ok)
	}
}
