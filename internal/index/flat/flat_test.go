package flat_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"anamnesis/internal/index/flat"
)

// random makes rows, and questions, of random directions: of texts about as
// many subjects, which lean to that of theirs, or of nothing when there is none.
func random(rng *rand.Rand, dim, n, subjects int) (rows []flat.Row, questions [][]float32) {
	centers := make([][]float64, subjects)
	for i := range centers {
		for range dim {
			centers[i] = append(centers[i], rng.NormFloat64())
		}
	}
	direction := func() []float32 {
		v := make([]float32, dim)
		sum := 0.0
		about := make([]float64, dim)
		if subjects > 0 {
			about = centers[rng.IntN(subjects)]
		}
		for i := range v {
			x := rng.NormFloat64() + about[i]
			v[i], sum = float32(x), sum+x*x
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	for i := range n {
		values := make([]int8, dim)
		squares := 0.0
		for j, x := range direction() {
			values[j] = int8(math.RoundToEven(float64(x) * 300))
			squares += float64(values[j]) * float64(values[j])
		}
		rows = append(rows, flat.Row{Key: int64(3 * i), Group: uint32(i % 7), Scale: float32(1 / math.Sqrt(squares)), Values: values})
	}
	for range 20 {
		questions = append(questions, direction())
	}
	return rows, questions
}

func write(t testing.TB, h flat.Header, rows []flat.Row) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "vectors.bin")
	if err := flat.Write(name, h, rows); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t testing.TB, name string) *flat.Vectors {
	t.Helper()
	v, err := flat.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// exact compares a question with every row of some groups.
func exact(rows []flat.Row, question []float32, groups []uint32, n int) (keys []int64) {
	var near []flat.Near
	for _, r := range rows {
		if len(groups) > 0 && !slices.Contains(groups, r.Group) {
			continue
		}
		var sum float64
		for i, x := range question {
			sum += float64(x) * float64(r.Values[i])
		}
		near = append(near, flat.Near{Key: r.Key, Cosine: float32(sum * float64(r.Scale))})
	}
	slices.SortFunc(near, func(a, b flat.Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
	for _, x := range near[:min(n, len(near))] {
		keys = append(keys, x.Key)
	}
	return keys
}

// TestNearest compares the first ten of 20,000 with those of a whole
// comparison: of texts none may be missing. Directions of nothing are hardly
// nearer to each other than any two are, and their signs tell less.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name     string
		subjects int
		least    float64
	}{{"texts", 500, 1}, {"nothing", 0, 0.95}} {
		t.Run(c.name, func(t *testing.T) { nearest(t, c.subjects, c.least) })
	}
}

func nearest(t *testing.T, subjects int, least float64) {
	rows, questions := random(rand.New(rand.NewPCG(1, 1)), 256, 20_000, subjects)
	v := open(t, write(t, flat.Header{Model: 7, Epoch: 9, Last: 60_000, Dim: 256}, rows))
	if v.Model != 7 || v.Epoch != 9 || v.Last != 60_000 || v.Dim != 256 || v.Rows != 20_000 {
		t.Fatalf("header %+v", v.Header)
	}
	found, all := 0, 0
	for i, q := range questions {
		var groups []uint32
		if i%2 == 1 {
			groups = []uint32{2, 5}
		}
		got, _ := v.Nearest(q, groups, 10, -1)
		want := exact(rows, q, groups, 10)
		for _, x := range got {
			if slices.Contains(want, x.Key) {
				found++
			}
		}
		all += len(want)
		if !slices.IsSortedFunc(got, func(a, b flat.Near) int { return cmp.Compare(b.Cosine, a.Cosine) }) {
			t.Error("not the nearest first")
		}
	}
	if float64(found) < least*float64(all) {
		t.Errorf("%d of the %d nearest were found, want %.0f %%", found, all, 100*least)
	}
}

func TestNearestAtTheEdges(t *testing.T) {
	rows, questions := random(rand.New(rand.NewPCG(2, 2)), 64, 10, 0)
	v := open(t, write(t, flat.Header{Dim: 64}, rows))
	for _, c := range []struct {
		name   string
		q      []float32
		groups []uint32
		n      int
		want   int
	}{
		{"all", questions[0], nil, 100, 10},
		{"none asked for", questions[0], nil, 0, 0},
		{"another dimension", questions[0][:32], nil, 5, 0},
		{"a group of two", questions[0], []uint32{1}, 5, 2},
		{"no such group", questions[0], []uint32{99}, 5, 0},
	} {
		if got, err := v.Nearest(c.q, c.groups, c.n, -1); err != nil || len(got) != c.want {
			t.Errorf("%s: %d, want %d", c.name, len(got), c.want)
		}
	}
	empty := open(t, write(t, flat.Header{Dim: 64}, nil))
	if got, err := empty.Nearest(questions[0], nil, 5, -1); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if err := flat.Write(filepath.Join(t.TempDir(), "x"), flat.Header{Dim: 65}, nil); err == nil {
		t.Error("65 dimensions are written")
	}
}

// TestUnusable cuts a file, and turns every bit of its header.
func TestUnusable(t *testing.T) {
	rows, _ := random(rand.New(rand.NewPCG(3, 3)), 64, 5, 0)
	name := write(t, flat.Header{Model: 7, Dim: 64}, rows)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := flat.Open(name)
		if err == nil {
			_ = v.Close()
		}
		if !errors.Is(err, flat.ErrUnusable) {
			t.Errorf("%s: error %v, want %v", what, err, flat.ErrUnusable)
		}
	}
	for cut := 0; cut < len(whole); cut += 13 {
		refused("cut short", whole[:cut])
	}
	refused("too long", append(slices.Clone(whole), 0))
	refused("foreign", append([]byte("SQLite format 3\x00"), make([]byte, 500)...))
	for bit := range 64 * 8 {
		data := slices.Clone(whole)
		data[bit/8] ^= 1 << (bit % 8)
		refused("a bit of the header", data)
	}
	if _, err := flat.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// FuzzOpen opens anything: what opens can be asked.
func FuzzOpen(f *testing.F) {
	rows, questions := random(rand.New(rand.NewPCG(4, 4)), 64, 3, 0)
	name := write(f, flat.Header{Model: 7, Dim: 64}, rows)
	whole, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:70])
	f.Add([]byte("ANVF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "x.bin")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := flat.Open(name)
		if err != nil {
			return
		}
		defer func() { _ = v.Close() }()
		_, _ = v.Nearest(questions[0], nil, 3, -1)
	})
}
