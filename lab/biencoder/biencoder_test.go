package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/embed"
)

// lines are pairs of a made-up language: what is asked for in one word is answered in another.
func lines() string {
	var b strings.Builder
	for i := range 240 {
		asked, answered := i%12, i/12
		fmt.Fprintf(&b, `{"kind":"doc","source":"s%d","held":%t,"query":"please ask%c about place%c","passage":"the told%c thing near place%c is number%c"}`+"\n",
			i%2, i%5 == 4, 'a'+asked, 'a'+answered, 'a'+asked, 'a'+answered, 'a'+i%7)
	}
	return b.String()
}

// small writes word vectors, their words, and pairs.
func small(t *testing.T) (base, pairs string) {
	t.Helper()
	dir := t.TempDir()
	base, pairs = filepath.Join(dir, "words.bin"), filepath.Join(dir, "pairs.gz")
	words := []string{"pleas", "about", "the", "thing", "near"}
	for i := range 20 {
		for _, w := range []string{"ask", "told", "place"} {
			words = append(words, fmt.Sprintf("%s%c", w, 'a'+i))
		}
	}
	slices.SortFunc(words, func(a, b string) int { return int(int64(embed.TokenHash(a)) - int64(embed.TokenHash(b))) })
	le := binary.LittleEndian
	var body []byte
	body = append(body, make([]byte, 8)...) // a directory of one bit
	for _, w := range words {
		body = le.AppendUint32(body, embed.TokenHash(w))
	}
	for range words {
		body = le.AppendUint32(body, math.Float32bits(1.0/256))
	}
	weights := make([]byte, (len(words)+3)&^3)
	for i, w := range words {
		weights[i] = 200
		if w == "the" {
			weights[i] = 0
		}
	}
	body = append(body, weights...)
	for i := range words {
		for d := range half {
			body = append(body, byte(int8((i*31+d*17+i*d)%63-31)))
		}
	}
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	head := append([]byte("anwv"), 1, 0, 0, 0)
	for _, n := range []int{half, len(words), 0, 1, len(body), 0} {
		head = le.AppendUint32(head, uint32(n))
	}
	sum := sha256.Sum256(body)
	put(t, base, append(append(head, sum[:]...), body...))
	put(t, base+".words", []byte(strings.Join(words, "\n")))
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := io.WriteString(w, lines()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, pairs, z.Bytes())
	return base, pairs
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func settled() settings {
	s := defaults()
	s.epochs, s.batch, s.group = 12, 48, 8
	return s
}

// made trains and returns the table and what was said.
func made(t *testing.T, s settings, base, pairs string) (table []byte, said string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "table.bin")
	var log strings.Builder
	if err := run(s, files{base: base, pairs: pairs, out: out}, &log); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return table, log.String()
}

func TestTwoRunsMakeTheSameBytes(t *testing.T) {
	base, pairs := small(t)
	s := settled()
	s.hard = 1
	first, _ := made(t, s, base, pairs)
	if again, _ := made(t, s, base, pairs); !bytes.Equal(first, again) {
		t.Error("two runs differ")
	}
	s.seed = 2
	if other, _ := made(t, s, base, pairs); bytes.Equal(first, other) {
		t.Error("another seed makes the same table")
	}
}

// A question is nearer to what answers it after training than before, and the table
// that is written says what the model says.
func TestTrainingBringsAnswersNearer(t *testing.T) {
	base, pairs := small(t)
	near := func(s settings) float64 {
		m, _, err := read(s, files{base: base, pairs: pairs})
		if err != nil {
			t.Fatal(err)
		}
		table, _ := made(t, s, base, pairs)
		if err := m.reread(table); err != nil {
			t.Fatal(err)
		}
		texts := newSide([][]int32{m.ids([]string{"aska"}), m.ids([]string{"tolda"}), m.ids([]string{"toldb"})})
		texts.forward(m)
		return float64(dot(texts.at(0, 0), texts.at(0, 1)) - dot(texts.at(0, 0), texts.at(0, 2)))
	}
	s := settled()
	after := near(s)
	s.way = 0
	start := near(s)
	s.epochs = 0
	if before := near(s); math.Abs(before-start) > 1e-6 {
		t.Errorf("none of the way gone is %v, no epoch %v", start, before)
	} else if after < before+0.3 {
		t.Errorf("the answer is nearer than another by %.2f, before training by %.2f", after, before)
	}
}

// The gradients are those of the loss: a small step in a number changes the loss as they say.
func TestGradients(t *testing.T) {
	base, pairs := small(t)
	m, d, err := read(settled(), files{base: base, pairs: pairs})
	if err != nil {
		t.Fatal(err)
	}
	batch := []int32{0, 1, 2, 3, 4, 5, 6}
	loss := func() (float64, *side, *side) {
		q, p := newSide(d.texts(batch, true)), newSide(d.texts(batch, false))
		q.forward(m)
		p.forward(m)
		sum := 0.0
		for k, weight := range []float64{1, 0.5} {
			sum += contrast(q, p, k, 5, weight, d.alike(batch, len(p.texts)))
		}
		return sum * float64(len(batch)), q, p
	}
	_, q, p := loss()
	o := newOptimiser(m)
	for w := range workers {
		o.gather(w, []*side{q, p})
		for i, r := range o.order[w] {
			at := i*7%dim + int(r)*dim
			got := float64(o.sums[w][i*dim+i*7%dim])
			const h = 1e-2
			was := m.rows[at]
			m.rows[at] = was + h
			up, _, _ := loss()
			m.rows[at] = was - h
			down, _, _ := loss()
			m.rows[at] = was
			if want := (up - down) / (2 * h); math.Abs(got-want) > 0.02*math.Abs(want)+0.02 {
				t.Errorf("row %d: gradient %.4f, the loss changes by %.4f", r, got, want)
			}
		}
	}
}

func TestHardNegativesShareWordsAndAreNotTheAnswer(t *testing.T) {
	d := &data{names: []string{"s doc"}, learn: []example{
		{query: []int32{1, 2}, passage: []int32{1, 2, 3}, passageHash: 1, askedHash: 1},
		{query: []int32{4}, passage: []int32{1, 2, 5}, passageHash: 2, askedHash: 2},
		{query: []int32{6}, passage: []int32{2, 7}, passageHash: 3, askedHash: 3},
		{query: []int32{8}, passage: []int32{9}, passageHash: 4, askedHash: 4},
	}}
	s := settled()
	s.hard = 2
	d.mine(s)
	if got := d.learn[0].hard; !slices.Equal(got, []int32{2}) {
		t.Errorf("got %v, want the second best that shares a word", got)
	}
	if got := d.learn[3].hard; len(got) != 0 {
		t.Errorf("got %v for a question whose word stands nowhere", got)
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	base, pairs := small(t)
	good, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T)
	}{
		{"no table", func(t *testing.T) { put(t, base, []byte("GIF89a")) }},
		{"a short table", func(t *testing.T) { put(t, base, good[:200]) }},
		{"other words", func(t *testing.T) { put(t, base+".words", []byte("a b c")) }},
		{"no pairs", func(t *testing.T) { put(t, pairs, []byte("x")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			put(t, base, good)
			tt.spoil(t)
			if err := run(settled(), files{base: base, pairs: pairs}, io.Discard); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestJudgesATableThatWasWritten(t *testing.T) {
	base, pairs := small(t)
	out := filepath.Join(t.TempDir(), "table.bin")
	var judged strings.Builder
	if err := run(settled(), files{base: base, pairs: pairs, out: out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := run(settled(), files{base: base, pairs: pairs, judged: out}, &judged); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(judged.String(), "| mean of ") {
		t.Errorf("it says %s", judged.String())
	}
	table, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	table[len(table)-5]++
	put(t, out, table)
	if err := run(settled(), files{base: base, pairs: pairs, judged: out}, io.Discard); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a table that was changed: %v", err)
	}
	if err := run(settled(), files{base: base, pairs: pairs, judged: base}, io.Discard); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("word vectors: %v", err)
	}
}
