package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/lab/origin"
)

// run reads, fits, judges and writes. The file is renamed into place when it is whole.
func run(ctx context.Context, s settings, f files, log io.Writer) error {
	sets, err := readAll(ctx, s, f)
	if err != nil {
		return err
	}
	models := fitAll(sets, s, len(f.sets))
	report(log, sets, models)
	reportScores(log, sets, scoreAll(sets, len(f.sets)))
	if f.out == "" {
		return nil
	}
	pairs, err := os.ReadFile(f.pairs)
	if err != nil {
		return err
	}
	code, err := write(models[0], sha256.Sum256(pairs))
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.out+".new", code, 0o644); err != nil {
		return err
	}
	return os.Rename(f.out+".new", f.out)
}

// folds is into how many parts the sources are divided for the report.
const folds = 4

// readAll asks the questions of all sources and sets.
func readAll(ctx context.Context, s settings, f files) ([]*set, error) {
	own, err := embed.OpenStatic(index.Words)
	if err != nil {
		return nil, err
	}
	tables, err := readTables(f.tables)
	if err != nil {
		return nil, err
	}
	sources, err := readPairs(f.pairs)
	if err != nil {
		return nil, err
	}
	var all []*corpus
	for _, src := range sources {
		c := src.store()
		if len(c.docs) < s.least {
			continue
		}
		c.left = 1 + int(hash(src.name)>>8%folds)
		if c.words = own; !src.held {
			c.words = tables[origin.Fold(src.name)]
		}
		all = append(all, c)
	}
	for i, g := range f.sets {
		for _, dir := range g.dirs {
			c, err := load(dir)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", dir, err)
			}
			c.name, c.weight, c.left, c.words, c.people = filepath.Base(dir), g.weight, 1+folds+i, own, true
			all = append(all, c)
		}
	}
	invite(all)
	return askAll(ctx, all)
}

// readTables reads a table for each fold of the sources.
func readTables(names []string) ([]*embed.Static, error) {
	if len(names) != origin.Folds {
		return nil, fmt.Errorf("%d tables, one is needed for each of the %d folds", len(names), origin.Folds)
	}
	var tables []*embed.Static
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t, err := embed.ReadStatic(string(b), index.Words)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// askAll asks the questions of all corpora, two of them at a time: each keeps a
// processor busy, and a disk.
func askAll(ctx context.Context, all []*corpus) ([]*set, error) {
	asked, errs := make([]*set, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	running := make(chan struct{}, 2)
	for i, c := range all {
		wg.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			if asked[i], errs[i] = c.ask(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", c.name, errs[i])
			}
		})
	}
	wg.Wait()
	return asked, errors.Join(errs...)
}

// fitAll returns the model of everything, those without a fold of the sources, and
// those without a group of sets.
func fitAll(sets []*set, s settings, groups int) []*model {
	models := make([]*model, 1+folds+groups)
	var wg sync.WaitGroup
	for i := range models {
		wg.Go(func() {
			var some []*set
			for _, set := range sets {
				if !set.held && set.left != i {
					some = append(some, set)
				}
			}
			models[i] = fit(some, s)
		})
	}
	wg.Wait()
	return models
}

// A figure is the mean of what questions come to.
type figure struct{ questions, ndcg, hit1, hit5, recall5, recall10, reciprocal float64 }

func (f *figure) add(o figure) {
	f.questions += o.questions
	f.ndcg += o.ndcg
	f.hit1 += o.hit1
	f.hit5 += o.hit5
	f.recall5 += o.recall5
	f.recall10 += o.recall10
	f.reciprocal += o.reciprocal
}

func (f figure) String() string {
	n := max(1, f.questions)
	return fmt.Sprintf("nDCG@10 %.4f  hit@1 %.3f  hit@5 %.4f  recall@5 %.4f  recall@10 %.4f  MRR %.4f",
		f.ndcg/n, f.hit1/n, f.hit5/n, f.recall5/n, f.recall10/n, f.reciprocal/n)
}

// judge says how well a set is ranked.
func (s *set) judge(scores func(*judged) []float64) (sum figure) {
	for i := range s.questions {
		q := &s.questions[i]
		first, one := math.MaxInt, figure{questions: 1}
		for j, place := range places(scores(q)) {
			if !q.relevant[j] {
				continue
			}
			first = min(first, place)
			if place < 5 {
				one.hit5 = 1
				one.recall5 += 1 / float64(q.all)
			}
			if place < 10 {
				one.recall10 += 1 / float64(q.all)
				one.ndcg += gain(place) / ideal(q.all)
			}
		}
		if first < math.MaxInt {
			one.reciprocal = 1 / float64(first+1)
		}
		if first == 0 {
			one.hit1 = 1
		}
		sum.add(one)
	}
	return sum
}

// weighted ranks by the weights that the curves replace.
func weighted(q *judged) []float64 {
	weights := startWeights()
	all := make([]float64, len(q.features))
	for i, features := range q.features {
		all[i] = unfittedWorth(features)
		for f, w := range weights {
			all[i] += w * features[f]
		}
	}
	return all
}

// report prints how everything is ranked by curves that were fitted without it.
func report(w io.Writer, sets []*set, models []*model) {
	var sources, held [2]figure
	better, worse := 0, 0
	for _, s := range sets {
		a := s.judge(weighted)
		if s.held {
			held[0].add(a)
			held[1].add(s.judge(models[0].scores))
			continue
		}
		b := s.judge(models[s.left].scores)
		if s.left <= folds {
			sources[0].add(a)
			sources[1].add(b)
			if b.ndcg > a.ndcg {
				better++
			} else if b.ndcg < a.ndcg {
				worse++
			}
			continue
		}
		fmt.Fprintf(w, "%-24s weights        %v\n%24s left out       %v\n%24s all            %v\n",
			s.name, a, "", b, "", s.judge(models[0].scores))
	}
	fmt.Fprintf(w, "%-24s weights        %v\n%24s left out       %v\n%24s %d sources better, %d worse\n", "sources", sources[0], "",
		sources[1], "", better, worse)
	fmt.Fprintf(w, "%-24s weights        %v\n%24s curves         %v\n", "held-out sources", held[0], "", held[1])
}
