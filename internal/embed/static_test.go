package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// plainWords stands in for index.Words: it does not stem, so the words here are
// stems already.
func plainWords(text string) []string { return strings.Fields(strings.ToLower(text)) }

// sound compares a table with its checksum and looks for disorder.
func sound(data string) error {
	s, err := ReadStatic(data, nil)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256([]byte(data[tableHeader:])); string(sum[:]) != data[32:tableHeader] {
		return fmt.Errorf("%w: its checksum is %x", errTable, sum)
	}
	for i := range s.words {
		h := number(s.hashes, i)
		if i > 0 && h <= number(s.hashes, i-1) {
			return fmt.Errorf("%w: word %d is out of order", errTable, i)
		}
		if at, _ := s.find(h); at != i {
			return fmt.Errorf("%w: the directory does not lead to word %d", errTable, i)
		}
	}
	return nil
}

func openStatic(t testing.TB) *Static {
	t.Helper()
	s, err := OpenStatic(plainWords)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStaticTableIsWhole(t *testing.T) {
	if err := sound(staticTable); err != nil {
		t.Fatal(err)
	}
	s := openStatic(t)
	if len(staticTable) > 12_000_000 {
		t.Errorf("the table has %d bytes, which is more than a binary should carry", len(staticTable))
	}
	if s.words < 30_000 || s.dim < 96 {
		t.Errorf("%d words of %d dimensions", s.words, s.dim)
	}
	if got := len(s.Tokens([]string{"file"})); got != s.dim {
		t.Errorf("a vector has %d values, the table says %d", got, s.dim)
	}
	for i := range s.words {
		w, ok := s.Word(number(s.hashes, i))
		if !ok {
			continue
		}
		if c := w.cosine(w); math.Abs(float64(c)-1) > 1e-4 {
			t.Fatalf("word %d has length² %v", i, c)
		}
		if w.Weight <= 0 || w.Weight > 1 {
			t.Fatalf("word %d weighs %v", i, w.Weight)
		}
	}
}

func TestStaticRefusesWhatIsNoTable(t *testing.T) {
	change := func(at int, n uint32) string {
		b := []byte(staticTable)
		binary.LittleEndian.PutUint32(b[at:], n)
		return string(b)
	}
	for _, tt := range []struct{ name, data string }{
		{"empty", ""},
		{"foreign", strings.Repeat("GIF89a", 100)},
		{"header alone", staticTable[:tableHeader]},
		{"truncated", staticTable[:len(staticTable)-1]},
		{"longer", staticTable + "\x00"},
		{"an older version", change(4, 1)},
		{"no dimensions", change(8, 0)},
		{"too many words", change(12, 1<<30)},
		{"more words than bytes", change(12, 60_000)},
		{"more meaning than dimensions", change(16, 1000)},
		{"a directory of 2³¹", change(20, 31)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadStatic(tt.data, nil); !errors.Is(err, errTable) {
				t.Errorf("got %v, want ErrTable", err)
			}
		})
	}
	if err := sound(change(len(staticTable)-4, 0x01020304)); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a changed row: %v", err)
	}
}

// Each line: a word, a relative, and a stranger that is farther away.
func TestStaticKnowsWhatWordsMean(t *testing.T) {
	s := openStatic(t)
	for _, line := range strings.Split(strings.TrimSpace(`
		directori folder price
		delet remov window
		list display password
		show print owner
		find search licens
		find locat birthday
		argument paramet network
		repositori repo finger
		buy purchas compil
		kid child semaphor
		job career bracket
		hobbi interest kernel
		swim pool mutex
		paint draw socket
		error failur picnic
		commit revis dinner
		folder dir music
		compress archiv cousin
		permiss chmod song
		wife husband regex
	`), "\n") {
		f := strings.Fields(line)
		var w [3]Word
		for i := range w {
			var ok bool
			if w[i], ok = s.Word(TokenHash(f[i])); !ok {
				t.Fatalf("no vector for %s", f[i])
			}
		}
		near, far := w[0].cosine(w[1]), w[0].cosine(w[2])
		if near < far+0.15 {
			t.Errorf("%s: %s %.2f, %s %.2f", f[0], f[1], near, f[2], far)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestStaticEmbed(t *testing.T) {
	s := openStatic(t)
	texts := []string{
		"delet all file in a folder",
		"remov everi file of the directori",
		"the wed parti was fun",
		"",
		"the of and",
	}
	v, err := s.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < far+0.2 {
		t.Errorf("the paraphrase is at %.2f, another thing at %.2f", near, far)
	}
	for i, want := range []float64{1, 1, 1, 0, 0} {
		if got := dot(v[i], v[i]); math.Abs(got-want) > 1e-4 {
			t.Errorf("text %d has length² %v, want %v", i, got, want)
		}
	}
	again, _ := s.Embed(t.Context(), texts)
	if diff := cmp.Diff(v, again); diff != "" {
		t.Errorf("two runs differ: %s", diff)
	}
}

func TestUnknownWordsAreLikeThemselves(t *testing.T) {
	s := openStatic(t)
	for _, e := range []struct {
		name   string
		vector func(...string) []float32
	}{
		{"static", func(t ...string) []float32 { return s.Tokens(t) }},
	} {
		t.Run(e.name, func(t *testing.T) {
			for _, tt := range []struct{ a, like, unlike string }{
				{"datenbankverbindung", "datenbankverbindungen", "wetterbericht"},
				{"развертывание", "развертывания", "праздник"},
				{"数据", "数据", "天气"},
				{"zqxfrobnicate", "zqxfrobnicator", "wombatulous"},
			} {
				same, other := dot(e.vector(tt.a), e.vector(tt.like)), dot(e.vector(tt.a), e.vector(tt.unlike))
				if same < other+0.3 {
					t.Errorf("%s: %s %.2f, %s %.2f", tt.a, tt.like, same, tt.unlike, other)
				}
			}
		})
	}
}

func TestStaticCostsNothingBeforeItIsAsked(t *testing.T) {
	s := openStatic(t)
	w, ok := s.Word(TokenHash("file"))
	if !ok {
		t.Fatal("no vector for file")
	}
	from := uintptr(unsafe.Pointer(unsafe.StringData(staticTable)))
	if at := uintptr(unsafe.Pointer(&w.Values[0])); at < from || at >= from+uintptr(len(staticTable)) {
		t.Error("the vector of a word is a copy")
	}
	h := TokenHash("file")
	if n := testing.AllocsPerRun(100, func() { s.Word(h) }); n != 0 {
		t.Errorf("looking up a word allocates %v times", n)
	}
	tokens := strings.Fields(strings.Repeat("delet file zqxunknown ", 30))
	if n := testing.AllocsPerRun(100, func() { s.Tokens(tokens) }); n != 1 {
		t.Errorf("a text allocates %v times, want the vector alone", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = OpenStatic(nil) }); n > 8 {
		t.Errorf("opening the table allocates %v times", n)
	}
}

func FuzzStaticTable(f *testing.F) {
	small := []byte(staticTable[:tableHeader+64])
	binary.LittleEndian.PutUint32(small[24:], 64)
	for _, n := range []uint32{1, 2, 4} {
		b := append([]byte(nil), small...)
		binary.LittleEndian.PutUint32(b[8:], n)
		binary.LittleEndian.PutUint32(b[12:], n)
		binary.LittleEndian.PutUint32(b[20:], n)
		f.Add(b)
	}
	f.Add([]byte("anwv"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadStatic(string(data), nil)
		if err != nil {
			if !errors.Is(err, errTable) {
				t.Fatalf("%v is no ErrTable", err)
			}
			return
		}
		_ = sound(string(data))
		s.Word(0)
		s.Word(math.MaxUint32)
		s.Tokens([]string{"file", "x"})
	})
}

func BenchmarkStaticTokens(b *testing.B) {
	s := openStatic(b)
	tokens := strings.Fields(strings.Repeat("how to delet all file in the folder that are older ", 10))[:100]
	b.ReportAllocs()
	for b.Loop() {
		s.Tokens(tokens)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkStaticWord(b *testing.B) {
	s := openStatic(b)
	hashes := []uint32{TokenHash("file"), TokenHash("directori"), TokenHash("zqxunknown"), TokenHash("delet")}
	i := 0
	for b.Loop() {
		s.Word(hashes[i&3])
		i++
	}
}

func BenchmarkWordCosine(b *testing.B) {
	s := openStatic(b)
	x, _ := s.Word(TokenHash("file"))
	y, _ := s.Word(TokenHash("directori"))
	for b.Loop() {
		x.cosine(y)
	}
}

func BenchmarkOpenStatic(b *testing.B) {
	for b.Loop() {
		_, _ = OpenStatic(nil)
	}
}
