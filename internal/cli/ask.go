package cli

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"

	"github.com/spf13/pflag"
)

// askOptions are the flags with which commands say what they ask memory, and
// about which notes.
type askOptions struct {
	filterOptions
	global, allBranches     bool
	superseded, quarantined bool
	branch                  string
	confidence              string
	corpus                  string
	asOf, knownAt           string
	session                 string

	arms, boost          []string
	mode                 string
	noMMR, noCache, gate bool
	noGapLog             bool
	minOverlap, lambda   float64
}

// addFlags adds the flags that say which notes are asked, and how.
func (o *askOptions) addFlags(f *pflag.FlagSet) {
	o.filterOptions.addFlags(f)
	f.Lookup("project").Usage = "notes of one project and nothing else: its `KEY`, or . for the one of this folder"
	f.BoolVar(&o.global, "global", false, "notes of all projects (default: of this folder's project, and those for every project)")
	f.StringVar(&o.branch, "branch", "", "as if the branch `NAME` were checked out; - is the trunk")
	f.BoolVar(&o.allBranches, "all-branches", false, "notes of all branches")
	f.BoolVar(&o.superseded, "include-superseded", false, "the same as --all")
	f.BoolVar(&o.quarantined, "include-quarantined", false, "the same as --all")
	f.StringVar(&o.confidence, "confidence", "", "notes of at least this confidence: HIGH (0.8), MEDIUM (0.5), LOW, or a number such as 0.7")
	f.StringVar(&o.corpus, "corpus", "", "only notes of the corpus `NAME`")
	f.StringSliceVar(&o.boost, "boost-tags", nil, "raise notes that carry these `TAGS` a little")
	f.StringSliceVar(&o.arms, "arms", nil, "ask only these arms: "+strings.Join(recall.Sources(), ", "))
	f.StringVar(&o.mode, "mode", modes[0].name, "which arms: hybrid are all of them, naive is meaning alone, local the graph alone")
	f.BoolVar(&o.gate, "gate", false, "say nothing rather than something irrelevant")
	f.Float64Var(&o.minOverlap, "min-overlap", 0, "say nothing unless the best note holds this share of the question's words, by weight")
	f.StringVar(&o.asOf, "as-of", "", "what was so on `DATE`, such as 2026-03-31 (relations between things)")
	f.StringVar(&o.knownAt, "known-at", "", "what was known on `DATE` (likewise)")
	f.BoolVar(&o.noMMR, "no-mmr", false, "do not diversify")
	f.Float64Var(&o.lambda, "mmr-lambda", unset, "1 ranks by relevance alone, 0 by difference alone (default: the setting recall.mmr.lambda)")
	f.BoolVar(&o.noGapLog, "no-gap-log", false, "do not write down that there was no answer")
	f.BoolVar(&o.noCache, "no-cache", false, "do not use what was found before")
	f.StringVar(&o.session, "session", "", "`ID` of the session that asks, for the list of gaps")
}

// modes are names for sets of arms.
var modes = []struct {
	name string
	arms []string // none means all
}{
	{"hybrid", nil},
	{"naive", []string{"semantic"}},
	{"local", []string{"graph"}},
}

// unset is the value of a flag that was not given.
const unset = -1

// settle gives the flags that stand for settings their effect, before the
// engine is made of these.
func (o *askOptions) settle(p *program) error {
	switch {
	case o.lambda > 1 || o.lambda < 0 && o.lambda != unset:
		return usage("--mmr-lambda %g: give a share from 0 to 1", o.lambda)
	case o.lambda >= 0:
		p.cfg.Recall.MMRLambda = o.lambda
	}
	if o.noGapLog {
		p.cfg.Recall.GapLog = false
	}
	o.mode = cmp.Or(o.mode, modes[0].name)
	for _, m := range modes {
		if m.name != o.mode {
			continue
		}
		if len(o.arms) > 0 && len(m.arms) > 0 {
			return usage("--mode %s and --arms exclude each other", o.mode)
		}
		o.arms = append(o.arms, m.arms...)
		return nil
	}
	return usage("--mode %q: there are hybrid, naive and local", o.mode)
}

// query makes a query of the flags. It tells people when it is about something
// else than they may think.
func (o *askOptions) query(ctx context.Context, m *memory, text string) (recall.Query, recall.Scope, error) {
	q := recall.Query{
		Text: text, Tags: o.tags, Boost: o.boost, Corpus: o.corpus, Arms: o.arms, Gate: o.gate || o.minOverlap > 0,
		MinOverlap: o.minOverlap, NoMMR: o.noMMR, NoCache: o.noCache, Session: o.session,
	}
	o.all = o.all || o.superseded || o.quarantined
	f, err := o.filter(m)
	if err != nil {
		return q, recall.Scope{}, err
	}
	q.Types, q.Scope, q.Dead = f.Types, f.Scope, f.Dead
	if m.p.cfg.Recall.MinOverlap > 0 && o.minOverlap == 0 {
		q.Gate = true
	}
	if o.minOverlap < 0 || o.minOverlap > 1 {
		return q, recall.Scope{}, usage("--min-overlap %g: give a share from 0 to 1", o.minOverlap)
	}
	for _, a := range o.arms {
		if !slices.Contains(recall.Sources(), a) {
			return q, recall.Scope{}, usage("--arms %q: there are %s", a, strings.Join(recall.Sources(), ", "))
		}
	}
	if q.Confidence, err = confidence(o.confidence); err != nil {
		return q, recall.Scope{}, err
	}
	if q.AsOf, err = day("--as-of", o.asOf, m.Store.Now()); err != nil {
		return q, recall.Scope{}, err
	}
	if q.KnownAt, err = day("--known-at", o.knownAt, m.Store.Now()); err != nil {
		return q, recall.Scope{}, err
	}
	scope, err := o.scope(ctx, m)
	scope.Apply(&q)
	return q, scope, err
}

// scope works out which projects and branches are asked.
func (o *askOptions) scope(ctx context.Context, m *memory) (recall.Scope, error) {
	opts := m.p.cfg.Recall
	reach := recall.Reach{Global: o.global || opts.Global && o.project == "", AllBranches: o.allBranches || opts.AllBranches, Only: o.project != ""}
	if o.global && o.project != "" {
		return recall.Scope{}, usage("--global and --project exclude each other")
	}
	id := m.p.project(m.Store, o.project)
	branch, dir := "", ""
	if id.Source != "flag" { // of another project's branches nothing is known here
		dir, _ = os.Getwd()
		branch = store.Side(dir, id.Branch)
	}
	for _, b := range []string{opts.Branch, o.branch} {
		if b != "" {
			branch = strings.TrimPrefix(b, "-")
		}
	}
	place, err := m.Engine.Place(ctx, id, branch, func(some []string) []string { return app.MergedBranches(ctx, m.Rooms, dir, some) })
	if err != nil {
		return recall.Scope{}, err
	}
	s := recall.ScopeOf(place, reach)
	if s.Fallback != "" {
		m.p.note("%s; --global searches all projects", s.Fallback)
	}
	return s, nil
}

// confidence reads what people write for how sure a note must be.
func confidence(text string) (float64, error) {
	switch strings.ToUpper(text) {
	case "":
		return 0, nil
	case "HIGH":
		return 0.8, nil
	case "MEDIUM", "MED":
		return 0.5, nil
	case "LOW":
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	c, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		c /= 100
	}
	if err != nil || !(c >= 0 && c <= 1) { // the negation catches NaN
		return 0, usage("--confidence %q: use HIGH, MEDIUM, LOW, or a number from 0 to 1", text)
	}
	return c, nil
}

// day reads a date: the end of that day, as one who looks back sees it.
func day(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, usage("%s %q: give a date such as 2026-03-31", flag, text)
}
