package note_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"anamnesis/internal/note"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// textGen makes texts that are hard to quote.
func textGen() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"a", "word", " ", "  ", ":", ": ", "#", " #", "-", "- ", "'", `"`, `\`, "[", "]", "{", "}", ",", "&", "*", "!", "|", ">",
			"%", "@", "`", "?", "~", "=", "<<", "null", "yes", "Off", "1", "07", ".", "_", "1e5", "0x1f", "2026-01-01", "12:30",
			"---", "...", "\n", "\r\n", "\r", "\t", "\x00", "\x1b", "\x7f", "\u0085", "\u2028", "\ufeff", "\u00a0", "\u3000", "日本", "👍",
		}),
		rapid.StringN(0, 4, -1),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "parts"), "")
	})
}

func noteGen() *rapid.Generator[*note.Note] {
	return rapid.Custom(func(t *rapid.T) *note.Note {
		text := func(label string) string {
			if rapid.IntRange(0, 2).Draw(t, "has "+label) > 0 {
				return ""
			}
			return textGen().Draw(t, label)
		}
		list := func(label string) []string {
			all := rapid.SliceOfNDistinct(textGen(), 0, 3, rapid.ID).Draw(t, label)
			var out []string
			for _, s := range all {
				if s != "" {
					out = append(out, s)
				}
			}
			return out
		}
		n := &note.Note{
			ID:      note.ID(rapid.StringMatching(`[A-Za-z0-9_-]{1,20}`).Draw(t, "id") + "_"),
			Type:    rapid.SampledFrom(note.Types).Draw(t, "type"),
			Title:   "T" + textGen().Draw(t, "title"),
			Body:    textGen().Draw(t, "body"),
			Project: text("project"), MachineID: text("machine"), UserID: text("user"), WorkspaceID: text("workspace"),
			Scope: rapid.SampledFrom([]note.Scope{note.Portable, note.Local}).Draw(t, "scope"),
			Provenance: note.Provenance{
				Source: text("source"), Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
				Model: text("model"), Session: text("session"),
			},
			CreatedAt: note.Stamp(text("created")), UpdatedAt: note.Stamp(text("updated")),
			Tags: list("tags"), Symptoms: list("symptoms"), Problem: text("problem"), Status: text("status"), Branch: text("branch"),
			Validated:   rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "validated"),
			Speculative: rapid.Bool().Draw(t, "speculative"), Quarantine: rapid.Bool().Draw(t, "quarantine"),
			ProofCount: rapid.IntRange(0, 9).Draw(t, "proofs"),
		}
		for _, id := range list("supersedes") {
			n.Supersedes = append(n.Supersedes, note.ID(id))
		}
		for range rapid.IntRange(0, 2).Draw(t, "evidence") {
			n.Evidence = append(n.Evidence, note.Evidence{Session: text("es"), Chunk: text("ec"), Quote: text("eq"), At: note.Stamp(text("et"))})
		}
		for _, key := range list("edits") {
			n.Edits = append(n.Edits, note.Edit{Key: key, At: "2026-01-01T00:00:00+00:00"})
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "extra") {
			key := fmt.Sprintf("x%d", i)
			n.Extra = append(n.Extra, note.Field{Key: key, Raw: key + ":" + rapid.SampledFrom([]string{
				"\n", " a\n", " [1, {b: c}]\n", "\n  b: c\n  d:\n  - e\n", "\n- a\n", " |\n  x\n  y\n", " |+\n  x\n\n", " >-\n  f\n", " 'q\n\n  r'\n", " \"a\\\n  b\"\n",
			}).Draw(t, "raw")})
		}
		return n
	})
}

func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := noteGen().Draw(t, "note")
		data := n.Format()
		got, err := note.Parse(data)
		if err != nil {
			t.Fatalf("Parse: %v\n%s", err, data)
		}
		if !note.Equal(got, n) {
			t.Fatalf("-want +got:\n%s\n%s", cmp.Diff(n, got), data)
		}
		if again := got.Format(); !bytes.Equal(again, data) {
			t.Fatalf("Format of what was read differs:\n%s\n%s", data, again)
		}
		same, err := n.Rewrite(data)
		if err != nil || !bytes.Equal(same, data) {
			t.Fatalf("Rewrite without a change differs: %v\n%s", err, same)
		}
	})
}

func TestRewriteFromOneNoteToAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := noteGen().Draw(t, "a"), noteGen().Draw(t, "b")
		old := a.Format()
		if rapid.Bool().Draw(t, "crlf") {
			old = []byte(strings.ReplaceAll(strings.ReplaceAll(string(old), "\r\n", "\n"), "\n", "\r\n"))
		}
		out, err := b.Rewrite(old)
		if err != nil {
			t.Fatalf("Rewrite: %v\n%q", err, old)
		}
		got, err := note.Parse(out)
		if err != nil || !note.Equal(got, b) {
			t.Fatalf("%v\n-want +got:\n%s\n%s", err, cmp.Diff(b, got), out)
		}
	})
}

// Other readers of YAML find the same text: here the library, as a user of it would.
func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := textGen().Draw(t, "text")
		var got map[string]any
		if err := yaml.Unmarshal([]byte("k: "+note.Quote(s)+"\n"), &got); err != nil || got["k"] != any(s) {
			t.Fatalf("%q is written as %s and read as %#v, %v", s, note.Quote(s), got["k"], err)
		}
	})
}

// The examples of the format page are notes in canonical form.
func TestFormatPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "\n```note\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("docs/format.md has no note blocks")
	}
	for _, block := range blocks {
		file, _, _ := strings.Cut(block, "```\n")
		n := mustParse(t, file)
		if d := cmp.Diff(file, string(n.Format())); d != "" {
			t.Errorf("written back (-page +got):\n%s", d)
		}
		if err := n.ValidateNew(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := note.Parse(data)
		if err != nil {
			return
		}
		out, err := n.Rewrite(data)
		if err != nil || !bytes.Equal(out, data) {
			t.Fatalf("Rewrite without a change: %v\n%q", err, out)
		}
		n.Extra = nil // its lines may use anchors of one another
		got, err := note.Parse(n.Format())
		if err != nil || !note.Equal(got, n) {
			t.Fatalf("Format is read back as something else: %v\n%s", err, cmp.Diff(n, got))
		}
	})
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "new tag", "Title")
	}
	f.Fuzz(func(t *testing.T, data []byte, tag, title string) {
		n, err := note.Parse(data)
		if err != nil {
			return
		}
		n.AddTags(tag)
		n.Title = strings.TrimSpace(strings.ToValidUTF8(title, "?"))
		n.Tags = cleaned(n.Tags)
		if n.Title == "" {
			return
		}
		out, err := n.Rewrite(data)
		if err != nil {
			return // an unknown key that cannot be kept
		}
		got, err := note.Parse(out)
		if err != nil || got.Title != n.Title || !cmp.Equal(got.Tags, n.Tags) || len(got.Extra) != len(n.Extra) {
			t.Fatalf("%v\n%s\n%s", err, cmp.Diff(n, got), out)
		}
	})
}

func cleaned(tags []string) []string {
	n := new(note.Note)
	for _, s := range tags {
		n.AddTags(strings.ToValidUTF8(s, "?"))
	}
	return n.Tags
}

var seeds = []string{
	"---\nid: a\ntype: semantic\ntitle: t\n---\n",
	"---\r\nid: a\r\ntype: semantic\r\ntitle: 'x\r\n\r\n  y'\r\ntags:\r\n  - b\r\n---\r\nbody\r\n---\r\n",
	"---\n{id: a, type: semantic, title: t, x: [1]}\n---\nb",
	"---\nid: a\ntype: episodic\ntitle: \"a\\\n  b\\x41\"\nfoo: &x |+\n  y\n\nbar: *x\ntags: [a, 'b']\n---\n\n",
	"\ufeff---\n# c\n\"id\": a\ntype: procedural\ntitle: >-\n  t\nevidence:\n- session: s\n  quote: q\n---\nx\n\n",
}
