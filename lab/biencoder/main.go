// Program biencoder trains the vectors of internal/embed/static.bin by contrast. A
// question's vector is near those of the passages that answer it. docs/retrieval.md tells
// what they won and what they lost.
//
//	go run -C lab ./wordvec -out words.bin -words words.bin.words
//	GOEXPERIMENT=simd go run -C lab ./biencoder -base words.bin -pairs pairs.jsonl.gz -out ../internal/embed/static.bin
//	go run -C lab ./biencoder -base words.bin -pairs pairs.jsonl.gz -judge ../internal/embed/static.bin
//
// It begins with the word vectors that lab/wordvec made (-base) and learns from
// the pairs of lab/pairs which texts belong together: the vector of a text is the
// sum of its words' rows, and a question's vector shall be nearer to its passage
// than to the passages of the other questions of a batch, in all dimensions and in
// the first half of them alone (InfoNCE both ways, van den Oord et al. 2018;
// Matryoshka, Kusupati et al. 2022). What a word weighs is the length of its row, and
// is learned with it. A word without a row has its letters. Held-out sources judge the
// word vectors and what became of them.
//
// The same base, pairs and settings make the same bytes on one architecture, on any
// number of processors: work is divided by text or by row, never by time. Only the
// vector instructions of GOEXPERIMENT=simd, which are several times as fast, add up in
// another order and make other bytes.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// settings are what the table depends on besides base and pairs.
type settings struct {
	epochs int     // times that the pairs are read
	batch  int     // pairs
	group  int     // pairs of one source and kind that stand together in a batch
	rate   float64 // of Adagrad
	scale  float64 // what cosines are multiplied with: 1 / temperature
	half   float64 // weight of the loss in the first half of the dimensions
	way    float64 // share of the way from the word vectors to where training led that is gone
	hard   int     // hard negatives of a pair
	tokens int     // of a text that are read
	part   int     // one pair in so many is learned from
	fold   int     // the sources of this fold (origin.Fold) are left out; -1 for none
	seed   uint64  // of the order of pairs
}

func defaults() settings {
	return settings{epochs: 1, batch: 512, group: 32, rate: 0.02, scale: 20, half: 0.5, way: 1, tokens: 120, part: 1, fold: -1, seed: 1}
}

func main() {
	s := defaults()
	base := flag.String("base", "", "the word vectors to begin with, of lab/wordvec, with their words in the file beside it")
	pairs := flag.String("pairs", "", "the pairs, of lab/pairs")
	out := flag.String("out", "", "the table to write; without it, what was trained is only judged")
	judged := flag.String("judge", "", "a table to judge by the held-out pairs, instead of training")
	flag.IntVar(&s.epochs, "epochs", s.epochs, "times that the pairs are read; 0 writes the word vectors as they are")
	flag.IntVar(&s.batch, "batch", s.batch, "pairs of a batch")
	flag.IntVar(&s.group, "group", s.group, "pairs of one source and kind that stand together")
	flag.Float64Var(&s.rate, "rate", s.rate, "learning rate")
	flag.Float64Var(&s.scale, "scale", s.scale, "1 / temperature")
	flag.Float64Var(&s.half, "half", s.half, "weight of the loss in the first half of the dimensions")
	flag.Float64Var(&s.way, "way", s.way, "share of the way to where training led that is gone")
	flag.IntVar(&s.hard, "hard", s.hard, "hard negatives of a pair")
	flag.IntVar(&s.tokens, "tokens", s.tokens, "tokens of a text that are read")
	flag.IntVar(&s.part, "part", s.part, "one pair in so many is learned from")
	flag.IntVar(&s.fold, "without", s.fold, "fold of the sources to learn nothing from, for lab/rankfit; -1 for none")
	flag.Uint64Var(&s.seed, "seed", s.seed, "seed of the order of pairs")
	flag.Parse()
	if err := run(s, files{*base, *pairs, *judged, *out}, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "biencoder:", err)
		os.Exit(1)
	}
}

// files are what is read, and the table that is written if it has a name.
type files struct{ base, pairs, judged, out string }

// run trains, judges and writes. A table is renamed into place when it is whole.
func run(s settings, f files, log io.Writer) error {
	start := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(log, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	m, d, err := read(s, f)
	if err != nil {
		return err
	}
	say("%d pairs to learn from, %d held out, %d words without a row, vector instructions: %t",
		len(d.learn), len(d.held), len(m.strangers), vectorised)
	if f.judged != "" {
		table, err := os.ReadFile(f.judged)
		if err != nil {
			return err
		}
		if err := m.reread(table); err != nil {
			return fmt.Errorf("read %s: %w", f.judged, err)
		}
		m.judge(d, log)
		return nil
	}
	m.judge(d, log)
	if s.hard > 0 {
		d.mine(s)
		say("hard negatives found")
	}
	if s.epochs > 0 {
		train(m, d, s, say)
		m.judge(d, log)
	}
	if f.out == "" {
		return nil
	}
	table := m.bytes()
	if err := os.WriteFile(f.out+".new", table, 0o644); err != nil {
		return err
	}
	say("%s: %d bytes, SHA-256 %x", f.out, len(table), sha256.Sum256(table))
	return os.Rename(f.out+".new", f.out)
}

// read returns the word vectors as a model, and the pairs.
func read(s settings, f files) (*model, *data, error) {
	table, err := os.ReadFile(f.base)
	if err != nil {
		return nil, nil, err
	}
	words, err := os.ReadFile(f.base + ".words")
	if err != nil {
		return nil, nil, err
	}
	m, err := begin(table, strings.Fields(string(words)))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.base, err)
	}
	d, err := readPairs(f.pairs, m, s)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.pairs, err)
	}
	return m, d, nil
}
