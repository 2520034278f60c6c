package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/config"
	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/lab/quality"
)

// most is how many questions of a judged set are asked, about.
const most = 700

// A set is the questions of one store.
type set struct {
	name      string
	held      bool
	weight    float64 // of a question
	left      int     // the model that was fitted without it
	people    bool    // its questions were put by people
	questions []judged
	trials    []trial
}

// A judged question: its hits and which of them are relevant.
type judged struct {
	features [][]float64
	relevant []bool
	all      int     // relevant documents, found or not
	many     float64 // recall.ManyWords
}

// answers are the documents that answer each question.
type answers map[string]map[string]bool

// A corpus is notes, the questions that are put to them, and questions of others.
type corpus struct {
	set
	docs      []quality.Document
	own       []quality.Question
	want      answers
	words     *embed.Static
	strangers []quality.Question
}

// load reads a folder.
func load(dir string) (*corpus, error) {
	name, err := unpacked(dir, "corpus.jsonl")
	if err != nil {
		return nil, err
	}
	docs, err := quality.ReadCorpus(name)
	if err != nil {
		return nil, err
	}
	queries, err := unpacked(dir, "queries.jsonl")
	if err != nil {
		return nil, err
	}
	questions, err := quality.ReadQuestions(queries)
	if err != nil {
		return nil, err
	}
	want, err := readQrels(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		return nil, err
	}
	c := &corpus{docs: docs, want: want}
	for i, q := range questions {
		if len(want[q.ID]) > 0 && (len(questions) <= most || i%(len(questions)/most+1) == 0) {
			c.own = append(c.own, q)
		}
	}
	return c, nil
}

// ask puts the notes of a corpus into a store of their own and the questions to it.
func (c *corpus) ask(ctx context.Context) (*set, error) {
	root, err := os.MkdirTemp("", "rankfit-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	box, err := sandbox(ctx, root, c.words)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	names, err := quality.Fill(box.Store, c.docs)
	if err != nil {
		return nil, err
	}
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return nil, err
	}
	asked := c.set
	for _, q := range c.own {
		res, err := put(ctx, box, q)
		if err != nil {
			return nil, err
		}
		j := judged{all: len(c.want[q.ID]), many: recall.ManyWords(len(res.Terms))}
		// The present order must not show: it depends on the curves that are replaced.
		slices.SortFunc(res.Hits, func(a, b *recall.Hit) int { return strings.Compare(string(a.Row.ID), string(b.Row.ID)) })
		for _, h := range res.Hits {
			j.features = append(j.features, append([]float64(nil), h.Features()...))
			j.relevant = append(j.relevant, c.want[q.ID][names[h.Row.ID]])
		}
		asked.questions = append(asked.questions, j)
	}
	asked.trials, err = c.try(ctx, box)
	return &asked, err
}

// put asks one question, without what orders the hits after they were read.
func put(ctx context.Context, box *quality.Sandbox, q quality.Question) (*recall.Result, error) {
	query := recall.Query{Text: q.Text, K: recall.MaxK, NoCache: true, Synthetic: true, NoMMR: true}
	if q.Meta.Group != "" {
		query.Projects = []string{q.Meta.Group}
	}
	res, err := box.Engine.Recall(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(res.Failed) > 0 {
		return nil, errors.New(res.Failed[0])
	}
	return res, nil
}

// sandbox opens a store as the product does, without gate and boosts.
func sandbox(ctx context.Context, root string, words *embed.Static) (*quality.Sandbox, error) {
	cfg := config.Load(config.Environment{
		Lookup: func(string) (string, bool) { return "", false }, UserHome: root, Hostname: "rankfit",
	})
	s, err := store.Open(store.Options{Root: root, Home: root})
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		return nil, err
	}
	ix := index.New(db, s, index.Embedding{Local: words})
	e := recall.New(ix, s, cfg.Recall, recall.Models{Words: words})
	return &quality.Sandbox{Store: s, Index: ix, Engine: e, Close: func() { _ = ix.Close() }}, nil
}

// unpacked returns the path of a file of a set, unpacked.
func unpacked(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	out, err := os.CreateTemp("", "rankfit-*")
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, err = io.Copy(out, z)
	return out.Name(), err
}

func readQrels(name string) (answers, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := make(answers)
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		cells := strings.Fields(scan.Text())
		if len(cells) < 3 || strings.HasPrefix(cells[0], "#") {
			continue
		}
		doc, grade := cells[1], cells[len(cells)-1]
		if len(cells) == 4 {
			doc = cells[2]
		}
		if grade == "0" {
			continue
		}
		if all[cells[0]] == nil {
			all[cells[0]] = make(map[string]bool)
		}
		all[cells[0]][doc] = true
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w: no judgements", name, fs.ErrInvalid)
	}
	return all, scan.Err()
}
