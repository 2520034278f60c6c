package cli

import (
	"fmt"
	"io"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"

	"github.com/spf13/pflag"
)

// selectionFlags are the flags with which commands say which notes they are about.
func selectionFlags(f *pflag.FlagSet, s *app.Selection) {
	f.StringVar(&s.Project, "project", "", "notes of one project: its `KEY`, or . for the one of this folder (default: all projects)")
	f.StringSliceVar(&s.Types, "type", nil, "procedural, semantic or episodic (may be repeated)")
	f.StringVar(&s.Scope, "scope", "", "portable or machine-local")
	f.StringSliceVar(&s.Tags, "tags", nil, "notes that carry all of these `TAGS`")
	f.BoolVar(&s.All, "all", false, "superseded, archived and expired notes too")
}

// questionFlags are the flags with which commands say which notes they ask, and how.
func questionFlags(f *pflag.FlagSet, q *app.Question) {
	selectionFlags(f, &q.Selection)
	f.Lookup("project").Usage = "notes of one project and nothing else: its `KEY`, or . for the one of this folder"
	f.BoolVar(&q.Global, "global", false, "notes of all projects (default: of this folder's project, and those for every project)")
	f.StringVar(&q.Branch, "branch", "", "as if the branch `NAME` were checked out; - is the trunk")
	f.BoolVar(&q.AllBranches, "all-branches", false, "notes of all branches")
	f.VarPF(sameAs{f, "all"}, "include-superseded", "", "the same as --all").NoOptDefVal = "true"
	f.VarPF(sameAs{f, "all"}, "include-quarantined", "", "the same as --all").NoOptDefVal = "true"
	f.StringVar(&q.Confidence, "confidence", "", "notes of at least this confidence: HIGH (0.8), MEDIUM (0.5), LOW, or a number such as 0.7")
	f.StringVar(&q.Corpus, "corpus", "", "only notes of the corpus `NAME`")
	f.StringSliceVar(&q.Boost, "boost-tags", nil, "raise notes that carry these `TAGS` a little")
	f.StringSliceVar(&q.Arms, "arms", nil, "ask only these arms: "+strings.Join(recall.Sources(), ", "))
	f.StringVar(&q.Mode, "mode", app.Modes[0].Name, "which arms: hybrid are all of them, naive is meaning alone, local the graph alone")
	f.BoolVar(&q.Gate, "gate", false, "say nothing rather than something irrelevant")
	f.Float64Var(&q.MinOverlap, "min-overlap", 0, "say nothing unless the best note holds this share of the question's words, by weight")
	f.StringVar(&q.AsOf, "as-of", "", "what was so on `DATE`, such as 2026-03-31 (relations between things)")
	f.StringVar(&q.KnownAt, "known-at", "", "what was known on `DATE` (likewise)")
	f.BoolVar(&q.NoMMR, "no-mmr", false, "do not diversify")
	f.Float64Var(&q.Lambda, "mmr-lambda", app.Unset, "1 ranks by relevance alone, 0 by difference alone (default: 0.7)")
	f.BoolVar(&q.NoGapLog, "no-gap-log", false, "do not write down that there was no answer")
	f.BoolVar(&q.NoCache, "no-cache", false, "do not use what was found before")
	f.StringVar(&q.Session, "session", "", "`ID` of the session that asks, for the list of gaps")
}

// sameAs is a flag that is another name of a switch.
type sameAs struct {
	flags *pflag.FlagSet
	name  string
}

func (s sameAs) String() string { return "false" }
func (s sameAs) Type() string   { return "bool" }
func (s sameAs) Set(v string) error {
	return s.flags.Set(s.name, v)
}

// question returns the text of a query; - stands for standard input.
func (p *program) question(command, text string) (string, error) {
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(p.stdin, 1<<20))
		if err != nil {
			return "", fmt.Errorf("read the query: %w", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usage("%s: the question is empty; `anamnesis list` shows all notes", command)
	}
	return text, nil
}
