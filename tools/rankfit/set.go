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
	"strings"

	"anamnesis/internal/config"
	"anamnesis/internal/embed"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// most is how many questions of a set are asked, about.
const most = 700

// A judged question: its hits and which of them are relevant.
type judged struct {
	id       string
	features [][]float64
	relevant []bool
	all      int // relevant documents, found or not
	names    []string
}

// read opens a file of a set, unpacked.
func open(dir, name string) (string, error) {
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

// load asks the questions of a set.
func load(ctx context.Context, dir string, settings []string) ([]judged, error) {
	corpus, err := open(dir, "corpus.jsonl")
	if err != nil {
		return nil, err
	}
	docs, err := eval.ReadCorpus(corpus)
	if err != nil {
		return nil, err
	}
	queries, err := open(dir, "queries.jsonl")
	if err != nil {
		return nil, err
	}
	questions, err := eval.ReadQuestions(queries)
	if err != nil {
		return nil, err
	}
	qrels, err := readQrels(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "rankfit-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	box, err := sandbox(ctx, root, settings)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	names, err := eval.Fill(box.Store, docs)
	if err != nil {
		return nil, err
	}
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return nil, err
	}
	var all []judged
	for i, q := range questions {
		want := qrels[q.ID]
		if len(want) == 0 || len(questions) > most && i%(len(questions)/most+1) != 0 {
			continue
		}
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
		j := judged{id: q.ID, all: len(want)}
		for _, h := range res.Hits {
			j.features = append(j.features, append([]float64(nil), h.Features()...))
			j.relevant = append(j.relevant, want[names[h.Row.ID]])
			j.names = append(j.names, names[h.Row.ID])
		}
		all = append(all, j)
	}
	return all, nil
}

// sandbox opens a store as the product does, without gate and boosts.
func sandbox(ctx context.Context, root string, settings []string) (*eval.Sandbox, error) {
	cfg := config.Load(config.Environment{
		Lookup: func(string) (string, bool) { return "", false }, UserHome: root, Hostname: "rankfit", Flags: settings,
	})
	s, err := store.Open(store.Options{Root: root, Home: root})
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		return nil, err
	}
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return nil, err
	}
	ix := index.New(db, s, index.Embedding{Local: words})
	e := recall.New(ix, s, cfg.Recall, recall.Models{Words: words})
	return &eval.Sandbox{Store: s, Index: ix, Engine: e, Close: func() { _ = ix.Close() }}, nil
}

func readQrels(name string) (map[string]map[string]bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := make(map[string]map[string]bool)
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
