package note_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func noteFile(change func(*note.Note)) []byte {
	n := &note.Note{
		ID: "n1", Type: note.Semantic, Title: "Port of the proxy", Body: "It is 8080.\n\nSee the chart.", Project: "p", MachineID: "m",
		Scope: note.Portable, UserID: "self", WorkspaceID: "w", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00", Tags: []string{"a", "b"},
	}
	if change != nil {
		change(n)
	}
	return n.Format()
}

const (
	early = note.Stamp("2026-02-01T00:00:00+00:00")
	late  = note.Stamp("2026-03-01T00:00:00+00:00")
)

func TestReconcile(t *testing.T) {
	both := func(at note.Stamp, change func(*note.Note)) []byte {
		return noteFile(func(n *note.Note) { n.UpdatedAt = at; change(n) })
	}
	for _, c := range []struct {
		name    string
		a, b    []byte
		noBase  bool
		want    []byte
		lost    []string
		damaged bool
	}{
		{
			name: "one side", a: noteFile(nil), b: both(late, func(n *note.Note) { n.Tags = []string{"z", "b"} }),
			want: both(late, func(n *note.Note) { n.Tags = []string{"z", "b"} }),
		},
		{
			name: "sets",
			a:    both(early, func(n *note.Note) { n.Tags = []string{"a", "z", "c"}; n.Supersedes = []note.ID{"x"} }),
			b:    both(late, func(n *note.Note) { n.Tags = []string{"a", "b", "d"}; n.Supersedes = []note.ID{"w"} }),
			want: both(late, func(n *note.Note) { n.Tags = []string{"a", "c", "d", "z"}; n.Supersedes = []note.ID{"w", "x"} }),
		},
		{
			name: "different fields",
			a:    both(early, func(n *note.Note) { n.Status, n.StatusReason = "archived", "old" }),
			b:    both(late, func(n *note.Note) { n.Body = "It is 9090.\n\nSee the chart." }),
			want: both(late, func(n *note.Note) {
				n.Status, n.StatusReason, n.Body = "archived", "old", "It is 9090.\n\nSee the chart."
				n.Edits = []note.Edit{{Key: "status", At: early}}
			}),
		},
		{
			name: "one field, the later edit wins",
			a:    both(late, func(n *note.Note) { n.Title = "A" }),
			b:    both(early, func(n *note.Note) { n.Title = "B"; n.Project = "q" }),
			want: both(late, func(n *note.Note) {
				n.Title, n.Project = "A", "q"
				n.Edits = []note.Edit{{Key: "project", At: early}}
			}),
			lost: []string{"title: A over B"},
		},
		{
			name: "evidence is united and counted",
			a: both(early, func(n *note.Note) {
				n.Evidence, n.ProofCount = []note.Evidence{{Session: "s1"}, {Session: "s2"}}, 2
			}),
			b: both(late, func(n *note.Note) {
				n.Evidence, n.ProofCount = []note.Evidence{{Session: "s2"}, {Session: "s3", Quote: "q"}}, 2
			}),
			want: both(late, func(n *note.Note) {
				n.Evidence, n.ProofCount = []note.Evidence{{Session: "s1"}, {Session: "s2"}, {Session: "s3", Quote: "q"}}, 3
			}),
		},
		{
			name: "paragraphs", a: both(early, func(n *note.Note) { n.Body = "It is 9090.\n\nSee the chart." }),
			b: both(late, func(n *note.Note) { n.Body = "It is 8080.\n\nSee the chart.\n\nAsk Ada." }),
			want: both(late, func(n *note.Note) {
				n.Body = "It is 9090.\n\nSee the chart.\n\nAsk Ada."
			}),
		},
		{
			name: "overlap", a: both(early, func(n *note.Note) { n.Body = "It is 9090.\n\nSee the chart." }),
			b:    both(late, func(n *note.Note) { n.Body = "It is 7070.\n\nSee the chart.\n\nAsk Ada." }),
			want: both(late, func(n *note.Note) { n.Body = "It is 7070.\n\nSee the chart.\n\nAsk Ada." }),
			lost: []string{"body: It is 7070. over It is 9090."},
		},
		{
			name: "marks of a conflict are content", a: both(early, func(n *note.Note) { n.Body = "It is 8080.\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x" }),
			b: both(late, func(n *note.Note) { n.Body = "It is 9090.\n\nSee the chart." }),
			want: both(late, func(n *note.Note) {
				n.Body = "It is 9090.\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x"
			}),
		},
		{
			name: "no base, one holds the other", noBase: true, a: noteFile(nil),
			b:    both(late, func(n *note.Note) { n.Body += "\n\nAsk Ada." }),
			want: both(late, func(n *note.Note) { n.Body += "\n\nAsk Ada." }),
		},
		{
			name: "no base, nothing shared", noBase: true, a: both(early, func(n *note.Note) { n.Body = "x" }),
			b:    both(late, func(n *note.Note) { n.Body = "y" }),
			want: both(late, func(n *note.Note) { n.Body = "y" }),
			lost: []string{"body: y over x"},
		},
		{
			name: "a side that is no note", a: []byte("<<<<<<< HEAD\n"), b: noteFile(nil), noBase: true, want: noteFile(nil), damaged: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := noteFile(nil)
			if c.noBase {
				base = nil
			}
			got := note.Reconcile(base, c.a, c.b)
			if d := cmp.Diff(string(c.want), string(got.Data)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if d := cmp.Diff(got, note.Reconcile(base, c.b, c.a)); d != "" {
				t.Errorf("the other way round:\n%s", d)
			}
			var lost []string
			for _, l := range got.Lost {
				if l.Field != note.WholeFile {
					lost = append(lost, fmt.Sprintf("%s: %s over %s", l.Field, l.Winner, l.Loser))
				}
			}
			if d := cmp.Diff(c.lost, lost); d != "" || c.damaged != (len(got.Lost) > len(lost)) {
				t.Errorf("lost -want +got:\n%s", d)
			}
			if (got.Other != nil) != (len(got.Lost) > 0) {
				t.Errorf("lost %v, other form %q", got.Lost, got.Other)
			}
		})
	}
}

// What nobody changed stays as its owner wrote it.
func TestReconcileKeepsBytes(t *testing.T) {
	base := "---\n# mine\nid: n1\ntitle: \"T\"  \ntype: semantic\naliases: [x]\nzz: 1\n---\nBody\n"
	a := strings.Replace(base, "zz: 1", "zz: 2", 1)
	b := strings.Replace(base, "aliases: [x]\n", "aliases: [x]\naa: {b: c}\n", 1)
	got := note.Reconcile([]byte(base), []byte(a), []byte(b))
	want := strings.Replace(base, "zz: 1\n", "zz: 2\naa: {b: c}\n", 1)
	if d := cmp.Diff(want, string(got.Data)); d != "" || got.Lost != nil {
		t.Errorf("-want +got:\n%s%v", d, got.Lost)
	}
}

var mergeWords = []string{"port", "proxy", "chart", "deploy", "friday", "cache", "lock", "retry", "token", "index", "merge", "branch"}

func paragraphGen(label string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(mergeWords), 1, 4).Draw(t, "words"), " ")
		}), 1, 3).Draw(t, "lines")
		return label + strings.Join(lines, "\n"+label)
	})
}

// sideGen changes a note at random; label marks what it inserts.
func sideGen(base *note.Note, label string) *rapid.Generator[*note.Note] {
	return rapid.Custom(func(t *rapid.T) *note.Note {
		n := base.Clone()
		some := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
		texts := rapid.SampledFrom([]string{"", "x", "y", "z"})
		if some("title") {
			n.Title = "T" + texts.Draw(t, "t")
		}
		if some("status") {
			n.Status, n.StatusReason = texts.Draw(t, "s"), texts.Draw(t, "r")
		}
		if some("fix") {
			n.Fix = texts.Draw(t, "f")
		}
		if some("tags") {
			n.Tags = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID).Draw(t, "tags")
		}
		if some("evidence") {
			times := rapid.SampledFrom([]note.Stamp{"", "2026-01-02T03:04:05+00:00", "2026-02-02T03:04:05+00:00"})
			for range rapid.IntRange(0, 2).Draw(t, "n") {
				n.Evidence = append(n.Evidence, note.Evidence{Session: texts.Draw(t, "es"), Quote: texts.Draw(t, "eq"), At: times.Draw(t, "et")})
			}
			n.ProofCount = rapid.IntRange(0, 3).Draw(t, "count")
		}
		if some("extra") {
			n.Extra = nil
			for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x1", "x2", "x3"}), rapid.ID).Draw(t, "keys") {
				n.Extra = append(n.Extra, note.Field{Key: k, Raw: k + ": " + rapid.SampledFrom([]string{"1", "[2]", "{a: b}"}).Draw(t, "raw") + "\n"})
			}
		}
		if some("created") {
			n.CreatedAt = stampGen.Draw(t, "c")
		}
		n.UpdatedAt = stampGen.Draw(t, "u")
		if some("edits") {
			n.Edits = []note.Edit{{Key: rapid.SampledFrom([]string{"title", "body", "fix"}).Draw(t, "ek"), At: stampGen.Draw(t, "ea")}}
		}
		n.Body = changeBody(t, n.Body, label)
		return n
	})
}

var stampGen = rapid.Custom(func(t *rapid.T) note.Stamp {
	return note.Stamp(fmt.Sprintf("2026-0%d-01T00:00:00+00:00", rapid.IntRange(1, 5).Draw(t, "month")))
})

func changeBody(t *rapid.T, body, label string) string {
	all := strings.Split(body, "\n\n")
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			all = slices.Insert(all, i, paragraphGen(label).Draw(t, "inserted"))
		case 1:
			all = append(all, paragraphGen(label).Draw(t, "appended"))
		case 2:
			all[i] += "\n" + paragraphGen(label).Draw(t, "line")
		case 3:
			if all = slices.Delete(all, i, i+1); len(all) == 0 {
				return ""
			}
		}
	}
	return strings.Join(all, "\n\n")
}

func baseGen() *rapid.Generator[*note.Note] {
	return rapid.Custom(func(t *rapid.T) *note.Note {
		n := parsed(t, noteFile(nil))
		n.Body = strings.Join(rapid.SliceOfN(paragraphGen(""), 0, 5).Draw(t, "paragraphs"), "\n\n")
		return sideGen(n, "").Draw(t, "base")
	})
}

func parsed(t *rapid.T, data []byte) *note.Note {
	n, err := note.Parse(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return n
}

func drawThree(t *rapid.T) (base, a, b []byte) {
	n := baseGen().Draw(t, "n")
	a, b = sideGen(n, "a ").Draw(t, "a").Format(), sideGen(n, "b ").Draw(t, "b").Format()
	if rapid.Bool().Draw(t, "has base") {
		base = n.Format()
	}
	return base, a, b
}

func TestReconcileLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawThree(t)
		m := note.Reconcile(base, a, b)
		if d := cmp.Diff(m, note.Reconcile(base, b, a)); d != "" {
			t.Fatalf("not commutative:\n%s", d)
		}
		for _, side := range [][]byte{a, b, m.Data} {
			if x := note.Reconcile(base, side, side); !bytes.Equal(x.Data, side) || x.Lost != nil {
				t.Fatalf("not idempotent:\n%s", x.Data)
			}
			if x := note.Reconcile(base, m.Data, side); !bytes.Equal(x.Data, m.Data) {
				t.Fatalf("not absorbing:\n%s", cmp.Diff(string(m.Data), string(x.Data)))
			}
		}
		if base != nil {
			if x := note.Reconcile(base, base, a); !bytes.Equal(x.Data, a) {
				t.Fatalf("an unchanged side changed the other:\n%s", x.Data)
			}
		}
	})
}

// Whatever a side said stands in the merged body or is named as lost, line by line.
func TestReconcileLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawThree(t)
		m := note.Reconcile(base, a, b)
		kept := strings.Split(parsed(t, m.Data).Body, "\n")
		for _, l := range m.Lost {
			kept = append(kept, strings.Split(l.Loser, "\n")...)
		}
		if base != nil {
			kept = append(kept, strings.Split(parsed(t, base).Body, "\n")...)
		}
		for _, side := range [][]byte{a, b} {
			for line := range strings.SplitSeq(parsed(t, side).Body, "\n") {
				has := slices.Contains(kept, line) || base == nil && strings.Contains(strings.Join(kept, "\n"), line)
				if strings.TrimSpace(line) != "" && !has {
					t.Fatalf("%q is neither in\n%s\nnor lost: %v", line, m.Data, m.Lost)
				}
			}
		}
	})
}

// Over one base, three sides can be merged in any order: the front matter always.
func TestReconcileFrontIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := baseGen().Draw(t, "base")
		var side [3][]byte
		for i := range side {
			x := sideGen(n, "s ").Draw(t, "side")
			x.Body = n.Body
			side[i] = x.Format()
		}
		var base []byte
		if rapid.Bool().Draw(t, "has base") {
			base = n.Format()
		}
		associative(t, base, side[0], side[1], side[2])
	})
}

// Bodies too, when no two sides touch the same place.
func TestReconcileBodyIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := parsed(t, noteFile(nil))
		var all []string
		for i := range 12 {
			all = append(all, fmt.Sprintf("paragraph %d of the base\nwith line %d", i, i))
		}
		n.Body = strings.Join(all, "\n\n")
		var side [3][]byte
		owner := rapid.SliceOfN(rapid.IntRange(0, 3), 6, 6).Draw(t, "owners")
		for i := range side {
			own := slices.Clone(all)
			for j, o := range owner {
				if o != i {
					continue
				}
				switch rapid.IntRange(0, 2).Draw(t, "how") {
				case 0:
					own[2*j] += fmt.Sprintf("\nand a line of %d", i)
				case 1:
					own[2*j] += fmt.Sprintf("\n\nnew of %d behind %d", i, j)
				case 2:
					own[2*j] = ""
				}
			}
			own = slices.DeleteFunc(own, func(s string) bool { return s == "" })
			x := n.Clone()
			x.UpdatedAt = stampGen.Draw(t, "u")
			x.Body = strings.Join(own, "\n\n")
			// Everybody appends.
			if rapid.Bool().Draw(t, "appends") {
				x.Body += fmt.Sprintf("\n\n%s end of %d\n\nvery end of %d", rapid.SampledFrom(mergeWords).Draw(t, "w"), i, i)
			}
			side[i] = x.Format()
		}
		associative(t, n.Format(), side[0], side[1], side[2])
	})
}

// And when all change one paragraph: the same one wins.
func TestReconcileOverlapIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := parsed(t, noteFile(nil))
		var side [3][]byte
		for i := range side {
			x := n.Clone()
			x.UpdatedAt = stampGen.Draw(t, "u")
			x.Body = strings.Replace(x.Body, "8080", rapid.StringMatching(`[0-9]{2}`).Draw(t, "port"), 1)
			side[i] = x.Format()
		}
		associative(t, n.Format(), side[0], side[1], side[2])
	})
}

func associative(t *rapid.T, base, a, b, c []byte) {
	left := note.Reconcile(base, note.Reconcile(base, a, b).Data, c)
	right := note.Reconcile(base, a, note.Reconcile(base, b, c).Data)
	if d := cmp.Diff(string(left.Data), string(right.Data)); d != "" {
		t.Fatalf("not associative (-left +right):\n%s", d)
	}
}
