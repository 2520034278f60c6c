// Program wordvec makes the table of word vectors that package embed holds.
//
//	go run -C lab ./wordvec -out ../internal/embed/static.bin
//
// It fetches the texts listed in sources.go into a cache, each at a pinned
// version and compared with its checksum, cuts them with the analysis of
// package index, counts which words stand near each other, factors the matrix
// of their pointwise mutual information (Levy and Goldberg 2014), pulls words
// together that a dictionary relates (Faruqui et al. 2015), and rounds the
// vectors to eight bits. The same sources and settings make the same bytes on
// one architecture.
//
// Failure policy: a source that cannot be had, or is not what it was, ends the
// run; the table is renamed into place when it is whole. Package embed has to
// compile for it, so a first table needs an empty file in its place.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings are what the table depends on besides its sources.
type settings struct {
	dim, words   int     // the size of the table
	least        int     // occurrences of a word
	window       int     // neighbours on either side
	pairs        uint    // weighted occurrences of a pair
	smooth       float64 // exponent of context frequencies
	shift        float64 // subtracts its logarithm from the information
	power        float64 // of the singular values
	top          int     // leading directions that are removed from all words
	kin, wordnet float64 // how strongly related words attract each other
	seed         uint64
}

func defaults() settings {
	return settings{
		dim: 128, words: 42000, least: 6, window: 3, pairs: 5, smooth: 0.75, shift: 1, power: 0.1,
		top: 1, kin: 2, wordnet: 1, seed: 1,
	}
}

func main() {
	s := defaults()
	out := flag.String("out", "", "the table to write")
	words := flag.String("words", "", "file for the words of the table in the order of its rows, which lab/biencoder asks for")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "anamnesis-wordvec"), "folder for the sources")
	write := flag.Bool("sources", false, "print SOURCES.md and stop")
	flag.IntVar(&s.dim, "dim", s.dim, "dimensions")
	flag.IntVar(&s.words, "words", s.words, "words at most")
	flag.IntVar(&s.least, "least", s.least, "occurrences that a word needs")
	flag.IntVar(&s.window, "window", s.window, "neighbours on either side")
	flag.UintVar(&s.pairs, "pairs", s.pairs, "weighted occurrences that a pair needs")
	flag.Float64Var(&s.smooth, "smooth", s.smooth, "exponent of context frequencies")
	flag.Float64Var(&s.shift, "shift", s.shift, "shift of the information")
	flag.Float64Var(&s.power, "power", s.power, "exponent of singular values")
	flag.IntVar(&s.top, "top", s.top, "leading directions to remove")
	flag.Float64Var(&s.kin, "kin", s.kin, "attraction of kin.txt")
	flag.Float64Var(&s.wordnet, "wordnet", s.wordnet, "attraction of WordNet")
	flag.Parse()
	var err error
	switch {
	case *write:
		err = list(os.Stdout)
	case *out == "":
		err = fmt.Errorf("-out is missing: name the table to write")
	default:
		err = train(context.Background(), s, *cache, *out, *words, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wordvec:", err)
		os.Exit(1)
	}
}

// train makes a table from all sources and says what it does.
func train(ctx context.Context, s settings, cache, out, words string, log io.Writer) error {
	start := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(log, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	text, related, err := gather(ctx, cache, say)
	if err != nil {
		return err
	}
	made := build(s, text, related, say)
	data := made.bytes()
	if words != "" {
		if err := os.WriteFile(words, []byte(strings.Join(made.words, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(out+".new", data, 0o644); err != nil {
		return err
	}
	if err := os.Rename(out+".new", out); err != nil {
		return err
	}
	say("%s: %d bytes, SHA-256 %x", out, len(data), sha256.Sum256(data))
	return nil
}

// gather reads all sources.
func gather(ctx context.Context, cache string, say func(string, ...any)) (*corpus, *ties, error) {
	text := newCorpus()
	var meanings []synset
	ranks := make(map[string]int)
	for i := range sources {
		src := &sources[i]
		files, err := src.fetch(ctx, cache)
		if err != nil {
			return nil, nil, err
		}
		digest, size, tokens := sha256.New(), 0, 0
		for _, f := range files {
			if src.form == "wordnet" {
				meanings = append(meanings, synsets(string(f.Data))...)
				senses(string(f.Data), ranks)
			}
			for _, p := range paragraphs(src.form, f.Path, f.Data) {
				digest.Write([]byte(p))
				size += len(p)
				tokens += text.add(p, i, max(src.times, 1))
			}
		}
		say("%-32s %6d files %7.1f MB of text %9d new tokens  %x", src.name, len(files), float64(size)/1e6, tokens, digest.Sum(nil)[:4])
	}
	text.seen = nil
	return text, relations(meanings, ranks), nil
}

// build makes a table.
func build(s settings, text *corpus, related *ties, say func(string, ...any)) *table {
	v := text.vocabulary(s.words, s.least, related.known)
	ids := text.ids(v)
	say("%d tokens, %d distinct, %d words in the vocabulary, the rarest %d times",
		len(text.stream), len(text.tokens), len(v.words), v.count[len(v.count)-1])
	m := pmi(ids, len(v.words), s.window, uint32(s.pairs), s.smooth, s.shift)
	entries := 0
	for _, c := range m.cols {
		entries += len(c)
	}
	say("%d pairs", entries)
	x, values := svd(m, s.dim, s.power, s.seed)
	say("factored, singular values %.0f … %.0f", values[0], values[len(values)-1])
	unit(x)
	plain(x, s.top)
	unit(x)
	n := related.retrofit(x, v, s.kin, s.wordnet)
	say("%d words have relatives", n)
	unit(x)
	return newTable(x, v, slices.Sorted(maps.Keys(text.stop)), ids)
}
