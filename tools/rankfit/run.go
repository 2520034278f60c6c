package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/format"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/recall"
	"anamnesis/tools/origin"
)

// run reads, fits, judges and writes. The file is renamed into place when it is whole.
func run(ctx context.Context, s settings, f files, log io.Writer) error {
	sets, err := readAll(ctx, s, f)
	if err != nil {
		return err
	}
	models := fitAll(sets, s, len(f.sets))
	report(log, sets, models)
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
	sets, err := askSources(ctx, sources, s.least, func(src source) *embed.Static {
		if src.held {
			return own
		}
		return tables[origin.Fold(src.name)]
	})
	if err != nil {
		return nil, err
	}
	for i, g := range f.sets {
		for _, dir := range g.dirs {
			questions, err := load(ctx, dir, own)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", dir, err)
			}
			sets = append(sets, &set{name: filepath.Base(dir), weight: g.weight, left: 1 + folds + i, questions: questions})
		}
	}
	return sets, nil
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
		t, err := embed.ReadStatic(b, index.Words)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// askSources asks the questions of the sources that have at least so many notes.
func askSources(ctx context.Context, sources []source, least int, words func(source) *embed.Static) ([]*set, error) {
	asked := make([]*set, len(sources))
	errs := make([]error, len(sources))
	var wg sync.WaitGroup
	running := make(chan struct{}, 2) // each keeps a processor busy, and a disk
	for i, src := range sources {
		wg.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			docs, questions, want := src.store()
			if len(docs) < least {
				return
			}
			asked[i] = &set{name: src.name, held: src.held, weight: 1, left: 1 + int(hash(src.name)>>8%folds)}
			asked[i].questions, errs[i] = ask(ctx, docs, questions, want, words(src))
		})
	}
	wg.Wait()
	return slices.DeleteFunc(asked, func(s *set) bool { return s == nil }), errors.Join(errs...)
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
	weights := recall.StartWeights()
	all := make([]float64, len(q.features))
	for i, features := range q.features {
		all[i] = recall.UnfittedWorth(features)
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

// write returns the model as Go source.
func write(m *model, pairs [sha256.Size]byte) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by tools/rankfit. DO NOT EDIT.\n\npackage recall\n\n")
	fmt.Fprintf(&b, "// fittedCurves were fitted to the pairs with the SHA-256\n// %x\n", pairs)
	fmt.Fprintf(&b, "// and to judged sets (docs/retrieval.md).\nvar fittedCurves = [numFeatures]curve{\n")
	list := func(name string, values []float64) {
		var texts []string
		for _, v := range values {
			texts = append(texts, fmt.Sprintf("%.4g", v))
		}
		fmt.Fprintf(&b, "\t\t%s: []float64{%s},\n", name, strings.Join(texts, ", "))
	}
	for f, name := range recall.FeatureNames() {
		if len(m.knots[f]) < 2 {
			continue
		}
		fmt.Fprintf(&b, "\t%d: { // %s\n", f, name)
		list("knots", m.knots[f])
		list("few", m.heights(f, false))
		list("many", m.heights(f, true))
		fmt.Fprintf(&b, "\t},\n")
	}
	fmt.Fprintf(&b, "}\n")
	return format.Source(b.Bytes())
}
