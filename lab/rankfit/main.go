// Rankfit fits the curves of the built-in reranker (internal/recall,
// fitted_curves.go): what each of its features is worth.
//
//	go run -C lab ./biencoder -base words.bin -pairs pairs.jsonl.gz -without 0 -out fold0.bin
//	go run -C lab ./biencoder -base words.bin -pairs pairs.jsonl.gz -without 1 -out fold1.bin
//	go run -C lab ./rankfit -pairs pairs.jsonl.gz -tables fold0.bin,fold1.bin \
//		-sets "3=til 3=nl2bash 6=turns,sessions" -out ../internal/recall/fitted_curves.go
//
// Every source of the pairs (lab/pairs) becomes a store of notes, and its questions
// are put to it; its vectors are of a table that has not learned from it. Sets of notes
// and questions with judgements are read besides: folders with corpus.jsonl,
// queries.jsonl and qrels.tsv (query, document, relevance; a .gz of either is read too).
// The sets of one origin stand between commas and share a weight, which says how often
// their questions count against those of the pairs.
//
// Of each question the best 100 hits are read. The curves are those that put relevant
// ones before others where that matters for nDCG (LambdaRank: Burges, From RankNet to
// LambdaRank to LambdaMART, 2010), by gradient descent from the weights that they
// replace, which also hold them. The report ranks each source, and each set, with
// curves that were fitted without it; held-out sources are in none.
//
// Questions of other stores are put to each as well: of the two that share most words with
// it, or of the next group of a set. The weights of the score are fitted to tell them
// from the store's own, and the report says how well these weights and the shipped ones
// do, in each store and by one threshold for all. They are not written anywhere.
//
// The same input makes the same file on one architecture.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

// settings are what the curves depend on besides what they are fitted to.
type settings struct {
	knots  int
	epochs int
	rate   float64 // of Adam
	hold   float64 // how strongly the weights that are replaced hold
	smooth float64 // how much a curve resists bending
	seed   uint64  // of the order of questions
	least  int     // notes that a source must have
}

func defaults() settings {
	return settings{knots: 8, epochs: 6, rate: 0.05, hold: 0.03, smooth: 0.1, seed: 1, least: 200}
}

// files are what is read, and what is written if it has a name.
type files struct {
	pairs  string
	tables []string
	sets   []group
	out    string
}

// A group is sets of one origin.
type group struct {
	weight float64
	dirs   []string
}

func main() {
	s := defaults()
	var f files
	flag.StringVar(&f.pairs, "pairs", "", "the pairs, of lab/pairs")
	tables := flag.String("tables", "", "tables that have not learned from the first and the second fold of the pairs, between commas")
	sets := flag.String("sets", "", "judged sets: weight=folder,folder weight=folder")
	flag.StringVar(&f.out, "out", "", "the Go file to write; without it, the curves are only judged")
	flag.IntVar(&s.knots, "knots", s.knots, "knots of a curve")
	flag.IntVar(&s.epochs, "epochs", s.epochs, "times that the questions are read")
	flag.Float64Var(&s.rate, "rate", s.rate, "learning rate")
	flag.Float64Var(&s.hold, "hold", s.hold, "how strongly the weights that are replaced hold")
	flag.Float64Var(&s.smooth, "smooth", s.smooth, "how much a curve resists bending")
	flag.Uint64Var(&s.seed, "seed", s.seed, "seed of the order of questions")
	flag.Parse()
	if f.tables = strings.FieldsFunc(*tables, func(r rune) bool { return r == ',' }); f.pairs == "" {
		flag.Usage()
		os.Exit(2)
	}
	err := f.readSets(*sets)
	if err == nil {
		err = run(context.Background(), s, f, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rankfit:", err)
		os.Exit(1)
	}
}

// readSets reads the groups of a line.
func (f *files) readSets(line string) error {
	for _, field := range strings.Fields(line) {
		var g group
		weight, dirs, ok := strings.Cut(field, "=")
		if _, err := fmt.Sscan(weight, &g.weight); !ok || err != nil || dirs == "" || g.weight <= 0 {
			return fmt.Errorf("sets: %q is not weight=folder,folder", field)
		}
		g.dirs = strings.Split(dirs, ",")
		f.sets = append(f.sets, g)
	}
	return nil
}
