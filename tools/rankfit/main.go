// Rankfit fits the constants of the built-in reranker (internal/recall,
// features.go) on sets of notes and questions with judgements. Each set is a
// folder with corpus.jsonl, queries.jsonl and qrels.tsv (query, document,
// relevance; a .gz of either is read too).
//
//	go run ./tools/rankfit -fit DIR,DIR [-check DIR,DIR]
//
// Of each question the best 100 hits are read; the weights are those that put a
// relevant one before the second, the fifth and the tenth best of the others
// (logistic loss, L2), by gradient descent from the present weights. The figures
// of the fitted sets are of three folds, each ranked with the weights of the others.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	fit := flag.String("fit", "", "sets to fit on, between commas")
	check := flag.String("check", "", "sets that are only checked")
	l2 := flag.Float64("l2", 0.0005, "how strongly the present weights hold")
	settings := flag.String("set", "", "settings, as key=value between commas")
	flag.Parse()
	if *fit == "" && *check == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, split(*fit), split(*check), split(*settings), *l2); err != nil {
		fmt.Fprintln(os.Stderr, "rankfit:", err)
		os.Exit(1)
	}
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
