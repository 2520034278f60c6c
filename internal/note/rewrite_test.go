package note_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

// head is a front matter to which the cases below add their lines.
const head = "id: n1\ntype: semantic\ntitle: A title\ncreated_at: '2026-01-01T00:00:00+00:00'\n"

const stamps = "-updated_at: '2026-01-01T00:00:00+00:00'\n+updated_at: '2026-02-03T04:05:06+00:00'\n"

const updated = "updated_at: '2026-01-01T00:00:00+00:00'\n"

// Adding one tag alters the lines of tags and updated_at, and no other byte.
func TestRewriteAddsOneTag(t *testing.T) {
	tests := []struct {
		name, front, body, want string
	}{
		{"canonical", head + updated + "tags:\n- a\n", "Body.\n", stamps + "+- new\n"},
		{"empty list", head + updated + "tags: []\n", "Body.\n", stamps + "-tags: []\n+tags:\n+- new\n"},
		{"no tags key", head + updated, "Body.\n", stamps + "+tags:\n+- new\n"},
		{"no value", head + updated + "tags:\n", "Body.\n", stamps + "+- new\n"},
		{"null", head + updated + "tags: ~\n", "Body.\n", stamps + "-tags: ~\n+tags:\n+- new\n"},
		{"one bare tag", head + updated + "tags: a\n", "Body.\n", stamps + "-tags: a\n+tags:\n+- a\n+- new\n"},
		{"indented list", head + updated + "tags:\n    - a\n    - 'b c'\nother: 1\n", "Body.\n", stamps + "+    - new\n"},
		{"flow list", head + updated + "tags: [a, 'b, c']\n", "Body.\n", stamps + "-tags: [a, 'b, c']\n+tags:\n+- a\n+- b, c\n+- new\n"},
		{
			"flow list on lines", head + updated + "tags: [\n  a,\n  b\n]\nz: 1\n", "Body.\n",
			stamps + "-tags: [\n-  a,\n-  b\n-]\n+tags:\n+- a\n+- b\n+- new\n",
		},
		{"comments between items", head + updated + "tags:\n- a # why\n# and\n- b\n\n# end\nz: 1\n", "Body.\n", stamps + "+- new\n"},
		{"comments between keys", "# top\n" + head + "# when\n" + updated + "\n# what\ntags: # of it\n- a\n", "Body.\n", stamps + "+- new\n"},
		{"repeated tag", head + updated + "tags:\n- a\n- a\n", "Body.\n", stamps + "+- new\n"},
		{
			"folded title", "title: 'A title that is\n  folded by a writer\n\n  with a break'\nid: n1\n" + updated + "type: semantic\ntags:\n- a\n",
			"Body.\n", stamps + "+- new\n",
		},
		{"folded plain", "title: A title that is\n  folded\nid: n1\n" + updated + "type: semantic\ntags:\n- a\n", "Body.\n", stamps + "+- new\n"},
		{"folded double", "title: \"A \\\n  \\ b\\tc\n  d\"\nid: n1\n" + updated + "type: semantic\ntags:\n- a\n", "Body.\n", stamps + "+- new\n"},
		{"folded tag", head + updated + "tags:\n- a\n  b\n", "Body.\n", stamps + "-  b\n+- new\n" + "-- a\n+- a b\n"},
		{"block scalars", head + "problem: |\n  # one\n  two\n\nfix: >-\n  three\n  four\n" + updated + "tags:\n- a\n", "Body.\n", stamps + "+- new\n"},
		{
			"unknown keys", "aliases:\n  - x\nnested:\n  a: {b: [1, 2]}\n  c:\n  - d: &e f\n    g: *e\n" + head + updated + "tags:\n- a\nlast: |+\n  x\n\n",
			"Body.\n", stamps + "+- new\n",
		},
		{"odd order", "tags:\n- a\n" + updated + "zzz: 1\n" + head, "Body.\n", stamps + "+- new\n"},
		{"blank lines", "\n" + head + "\n" + updated + "\n\ntags:\n\n- a\n\n", "Body.\n", stamps + "+- new\n"},
		{"quoted keys", "\"id\": n1\n'type': semantic\n\"title\": T\n" + updated + "'tags':\n- a\n", "Body.\n", stamps + "+- new\n"},
		{"bare time stamp", head + "updated_at: 2026-01-01\ntags: [a]\n", "Body.\n", "-updated_at: 2026-01-01\n" + "+updated_at: '2026-02-03T04:05:06+00:00'\n" + "-tags: [a]\n+tags:\n+- a\n+- new\n"},
		{"no final line feed", head + updated + "tags:\n- a\n", "Body.", stamps + "+- new\n"},
		{"empty body", head + updated + "tags:\n- a\n", "", stamps + "+- new\n"},
		{"dashes in the body", head + updated + "tags:\n- a\n", "a\n---\nb: c\n---\n\n\n\n", stamps + "+- new\n"},
		{"mixed body", head + updated + "tags:\n- a\n", "a\r\nb\rc\nd\t \x01", stamps + "+- new\n"},
	}
	for _, tt := range tests {
		for _, windows := range []bool{false, true} {
			name, old := tt.name, "---\n"+tt.front+"---\n"+tt.body
			if windows {
				name, old = name+" CRLF", strings.ReplaceAll(strings.ReplaceAll(old, "\r\n", "\n"), "\n", "\r\n")
			}
			t.Run(name, func(t *testing.T) {
				n, err := note.Parse([]byte(old))
				if err != nil {
					t.Fatalf("Parse: %v\n%s", err, old)
				}
				n.AddTags("new")
				n.UpdatedAt = note.At(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC))
				out, err := n.Rewrite([]byte(old))
				if err != nil {
					t.Fatal(err)
				}
				got := lineDiff(old, string(out))
				if windows && strings.Count(string(out), "\r\n") != strings.Count(string(out), "\n") {
					t.Errorf("Rewrite mixes line ends:\n%q", out)
				}
				if d := cmp.Diff(sorted(tt.want), sorted(strings.ReplaceAll(got, "\r", ""))); d != "" {
					t.Errorf("changed lines (-want +got):\n%s\nfile:\n%s", d, out)
				}
				again, err := n.Rewrite(out)
				if err != nil || !bytes.Equal(again, out) {
					t.Errorf("Rewrite without a change differs: %v", err)
				}
			})
		}
	}
}

func TestRewrite(t *testing.T) {
	const old = "---\n" + head + "# mine\nfoo: {a: 1}\nstatus: archived\n---\nBody\n"
	tests := []struct {
		name   string
		change func(*note.Note)
		want   string
	}{
		{"nothing", func(*note.Note) {}, ""},
		{"title", func(n *note.Note) { n.Title = "yes" }, "-title: A title\n+title: 'yes'\n"},
		{"body", func(n *note.Note) { n.Body = "New\n\n" }, "-Body\n+New\n+\n+\n"},
		{"key goes", func(n *note.Note) { n.Status = "" }, "-status: archived\n"},
		{"key comes behind its predecessor", func(n *note.Note) { n.Kind = note.Skill; n.Project = "p" }, "+project: p\n+kind: skill\n"},
		{"unknown key changes", func(n *note.Note) { n.Extra[0].Raw = "foo: 2\n" }, "-foo: {a: 1}\n+foo: 2\n"},
		{"unknown key goes", func(n *note.Note) { n.Extra = nil }, "-foo: {a: 1}\n"},
		{"unknown key comes", func(n *note.Note) { n.Extra = append(n.Extra, note.Field{Key: "bar", Raw: "bar:\n- 1\n"}) }, "+bar:\n+- 1\n"},
		{"number", func(n *note.Note) { n.Provenance.Confidence = 0.25 }, "+confidence: 0.25\n"},
		{"evidence", func(n *note.Note) {
			n.Evidence = []note.Evidence{{Session: "s", Chunk: "1", Quote: "a: b"}}
			n.ProofCount = n.Sessions()
		}, "+evidence:\n+- session: s\n+  chunk: '1'\n+  quote: 'a: b'\n+proof_count: 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := mustParse(t, old)
			tt.change(n)
			out, err := n.Rewrite([]byte(old))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(sorted(tt.want), sorted(lineDiff(old, string(out)))); d != "" {
				t.Errorf("changed lines (-want +got):\n%s\nfile:\n%s", d, out)
			}
			if got := mustParse(t, string(out)); !note.Equal(got, n) {
				t.Errorf("the file says something else:\n%s", cmp.Diff(n, got))
			}
		})
	}
}

// A front matter that is no lines of keys is rewritten; unknown keys stay.
func TestRewriteAnew(t *testing.T) {
	const old = "---\n{id: n1, type: semantic, title: T, foo: {a: 1, b: [x]}, tags: [a]}\n---\nBody\n"
	n := mustParse(t, old)
	n.AddTags("b")
	out, err := n.Rewrite([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "tags:\n- a\n- b\nfoo: {a: 1, b: [x]}\n---\nBody\n") {
		t.Errorf("got:\n%s", out)
	}
	if _, err := n.Rewrite([]byte("no note")); err == nil {
		t.Error("Rewrite of something that is no note succeeds")
	}
}

func mustParse(t testing.TB, file string) *note.Note {
	t.Helper()
	n, err := note.Parse([]byte(file))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, file)
	}
	return n
}

// lineDiff returns the lines that leave and come, found by a longest common subsequence.
func lineDiff(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	length := make([][]int, len(x)+1)
	for i := range length {
		length[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case i < len(x) && (j == len(y) || length[i+1][j] >= length[i][j+1]):
			out.WriteString("-" + x[i])
			i++
		default:
			out.WriteString("+" + y[j])
			j++
		}
	}
	return out.String()
}

// sorted returns the lines in order: where a line moved to is not the matter of these tests.
func sorted(diff string) []string {
	all := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i := range all {
		for j := i; j > 0 && all[j] < all[j-1]; j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}
