package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/index"
)

func TestParagraphs(t *testing.T) {
	for _, tt := range []struct {
		form, path, data string
		want             []string
	}{
		{
			"html", "a.html", `<head><title>no</title></head><p>Use <code>ls -l</code> to list</p><p>short</p><script>x</script><p>files &amp; folders of a tree</p>`,
			[]string{"Use ls -l to list", "files & folders of a tree"}[1:],
		},
		{
			"roff", "ls.1", ".Dd May 1\n.Sh NAME\n.Nm ls\n.Nd list directory \\fBcontents\\fR of a place\n.\\\" a remark\n.Pp\nThe\n.Fl l\noption is for the long format.\n",
			[]string{"NAME\nls\nlist directory contents of a place", "The\nl\noption is for the long format."},
		},
		{
			"go", "a.go", "// Copyright of somebody and others\n\npackage a\n\n// Open opens the named file\n// for reading.\nfunc Open() {}\n//go:noinline\n",
			[]string{"Open opens the named file\n for reading."},
		},
		{"text", "a.md", "A first paragraph of text.\r\n\r\nA second paragraph of text.\n", []string{"A first paragraph of text.", "A second paragraph of text."}},
	} {
		t.Run(tt.form, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, paragraphs(tt.form, tt.path, []byte(tt.data))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const dataNoun = `  1 This software and database is being provided to you
00001740 03 n 02 folder 0 file_folder 0 002 @ 00002137 n 0000 + 00692329 v 0101 | covering that is folded; "keep it in a folder"
00002137 03 n 01 covering 0 000 | an artifact
`

func TestWordNet(t *testing.T) {
	got := synsets(dataNoun)
	if len(got) != 2 || got[0].key != "n00001740" || !slices.Equal(got[0].words, []string{"folder", "file folder"}) {
		t.Fatalf("got %+v", got)
	}
	want := []relation{{"@", "n00002137", [2]int{}}, {"+", "v00692329", [2]int{1, 1}}}
	if !slices.Equal(got[0].related, want) {
		t.Errorf("got %+v, want %+v", got[0].related, want)
	}
	ranks := make(map[string]int)
	senses("folder n 2 1 @ 2 1 00009999 00001740  \ncovering n 1 1 @ 1 1 00002137  \n", ranks)
	if ranks["foldern00001740"] != 2 || ranks["coveringn00002137"] != 1 {
		t.Errorf("got %v", ranks)
	}
	related := relations(got, ranks)
	found := false
	for _, tie := range related.wordnet {
		found = found || tie.a == "folder" && tie.b == "cover" && math.Abs(tie.weight-0.3/math.Sqrt2) < 1e-9
	}
	if !found {
		t.Errorf("a hypernym is missing in %v", related.wordnet)
	}
}

// small is a corpus in which dogs and cats keep the same company.
func small() *corpus {
	c := newCorpus()
	for i, line := range []string{
		"the dog eats meat at home", "the cat eats meat at home", "a dog sleeps at home today", "a cat sleeps at home today",
		"the shell prints text lines", "the program prints text lines", "a shell reads text input", "a program reads text input",
	} {
		c.add(line, i%2, 1)
	}
	return c
}

func TestCorpus(t *testing.T) {
	c := small()
	if n := c.add("the  dog eats meat\nat home", 0, 1); n != 0 {
		t.Errorf("a repeated paragraph gave %d tokens", n)
	}
	v := c.vocabulary(100, 2, nil)
	for _, w := range v.words {
		if index.Stopword(w) || v.count[v.number[w]] < 2 {
			t.Errorf("%q is in the vocabulary", w)
		}
	}
	if !c.stop["the"] {
		t.Error("no stop word was seen")
	}
}

func TestPMI(t *testing.T) {
	// a b | a b | a c, neighbours at distance 1 count 1.
	ids := []uint16{0, 1, noWord, 0, 1, noWord, 0, 2, noWord}
	m := pmi(ids, 3, 1, 1, 1, 1)
	value := func(w, c int) float64 {
		at := slices.Index(m.cols[w], uint16(c))
		return float64(m.values[w][at] + m.left[w] + m.right[c])
	}
	// p(a,b) = 2/6, p(a) = 3/6, p(b) = 2/6
	if got, want := value(0, 1), math.Log(2.0/6/(3.0/6*2.0/6)); math.Abs(got-want) > 1e-5 {
		t.Errorf("got %v, want %v", got, want)
	}
	if slices.Contains(m.cols[1], 2) {
		t.Error("words of two paragraphs are neighbours")
	}
}

func TestSVD(t *testing.T) {
	// Symmetric with the eigenvalues 5, 3 and 1.
	m := &sparse{
		cols: [][]uint16{{0, 1}, {0, 1}, {2}}, values: [][]float32{{3, 2}, {2, 3}, {3}},
		left: make([]float32, 3), right: make([]float32, 3),
	}
	x, values := svd(m, 3, 1, 1)
	for i, want := range []float64{5, 3, 1} {
		if math.Abs(values[i]-want) > 1e-3 {
			t.Errorf("singular value %d is %v, want %v", i, values[i], want)
		}
	}
	// x·xᵀ = m·mᵀ
	for i, want := range [][]float64{{13, 12, 0}, {12, 13, 0}, {0, 0, 9}} {
		for j := range want {
			var got float64
			for d := range x.cols {
				got += float64(x.row(i)[d]) * float64(x.row(j)[d])
			}
			if math.Abs(got-want[j]) > 1e-2 {
				t.Errorf("(%d,%d) is %v, want %v", i, j, got, want[j])
			}
		}
	}
}

func TestEigenAndOrthonormal(t *testing.T) {
	values, vectors := eigen([][]float64{{2, 1}, {1, 2}})
	if math.Abs(values[0]-3) > 1e-9 || math.Abs(values[1]-1) > 1e-9 || math.Abs(math.Abs(vectors[0][0])-math.Sqrt2/2) > 1e-9 {
		t.Errorf("got %v, %v", values, vectors)
	}
	x := &matrix{3, 2, []float32{1, 1, 1, 0, 1, 2}}
	orthonormal(x)
	for i, row := range gram(x) {
		for j, got := range row {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(got-want) > 1e-5 {
				t.Errorf("qᵀq[%d][%d] = %v", i, j, got)
			}
		}
	}
}

func TestRetrofitBringsRelativesTogether(t *testing.T) {
	v := &vocabulary{words: []string{"folder", "directori", "swim"}, number: map[string]int{"folder": 0, "directori": 1, "swim": 2}}
	x := &matrix{3, 2, []float32{1, 0, 0, 1, 0, -1}}
	related := &ties{own: []tie{{"folder", "directori", 1}, {"directori", "folder", 1}}}
	if n := related.retrofit(x, v, 1, 1); n != 2 {
		t.Errorf("%d words have relatives", n)
	}
	unit(x)
	if cos := x.row(0)[0]*x.row(1)[0] + x.row(0)[1]*x.row(1)[1]; cos < 0.7 {
		t.Errorf("they are at %v", cos)
	}
	if x.row(2)[1] != -1 {
		t.Error("a word without relatives moved")
	}
}

func TestBuildIsRepeatable(t *testing.T) {
	s := defaults()
	s.dim, s.words, s.least, s.pairs = 4, 50, 2, 1
	say := func(string, ...any) {}
	made := build(s, small(), &ties{}, say)
	first := made.bytes()
	if again := build(s, small(), &ties{}, say); !bytes.Equal(first, again.bytes()) {
		t.Error("two runs differ")
	}
	if string(first[:4]) != "anwv" {
		t.Errorf("it begins with %q", first[:4])
	}
	for i, w := range made.words {
		if index.TokenHash(w) != made.hashes[i] {
			t.Errorf("row %d is not that of %s", i, w)
		}
	}
}

func TestRounding(t *testing.T) {
	v := &vocabulary{words: []string{"dog", "cat"}, count: []int{1, 1}, total: 2}
	x := &matrix{2, 4, []float32{0.5, -0.5, 0.5, 0.5, 0.9, 0.1, -0.3, 0.3}}
	unit(x)
	tab := newTable(x, v, []string{"the"}, nil)
	if len(tab.hashes) != 3 || !slices.IsSorted(tab.hashes) {
		t.Fatalf("hashes %v", tab.hashes)
	}
	for i, w := range v.words {
		at := slices.Index(tab.hashes, index.TokenHash(w))
		for d, want := range x.row(i) {
			if got := float32(tab.rows[at*4+d]) * tab.scales[at]; math.Abs(float64(got-want)) > 0.005 {
				t.Errorf("%s[%d] = %v, want %v", w, d, got, want)
			}
		}
	}
	if at := slices.Index(tab.hashes, index.TokenHash("the")); tab.weights[at] != 0 {
		t.Error("a stop word has a weight")
	}
}

func TestSourcesPageIsFresh(t *testing.T) {
	var want bytes.Buffer
	if err := list(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("run go run -C lab ./wordvec -sources > lab/wordvec/SOURCES.md: %s", diff)
	}
	for _, s := range sources {
		if s.licence == "" || s.version == "" || s.sum == "" && s.kind != "go" {
			t.Errorf("%s has no licence, version or checksum", s.name)
		}
		for _, bad := range []string{"GPL-2", "GPL-3", "LGPL", "NC", "SA"} {
			if strings.Contains(s.licence, bad) {
				t.Errorf("%s: %s", s.name, s.licence)
			}
		}
	}
}

// The table is made of the tokens that package index cuts. Whoever changes how
// it cuts them has to make the table again, or its words are not those of notes
// any more: run the program, measure, and set the sum here.
func TestAnalysisOfTheTable(t *testing.T) {
	const sample = "The RSpec's re-run failed: parse_url(HTTPServer, v2.0) can't be re-used; naïve cafés, don't “quote” 日本語 " +
		"--dry-run ~/.config/x.toml running runner ran studies policies C++ e.g. 10ms 0xff snake_case camelCase it's"
	sum := sha256.Sum256([]byte(strings.Join(index.Words(sample), "\n")))
	if got := hex.EncodeToString(sum[:4]); got != "d3eef1a9" {
		t.Errorf("index.Words cuts text otherwise (%s) than when internal/embed/static.bin was made", got)
	}
}
