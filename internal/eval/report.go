package eval

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// String is the report as people read it.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "recall: %d case(s)\n", r.Recall.Cases)
	for _, k := range slices.Sorted(maps.Keys(r.Recall.At)) {
		fmt.Fprintf(&b, "  recall@%d: %.3f\n", k, r.Recall.At[k])
	}
	fmt.Fprintf(&b, "  mrr: %.3f\n", r.Recall.MRR)
	ws := &r.WorkingSet
	fmt.Fprintf(&b, "working set: mean=%.0f median=%.0f tok/project over %d project(s); corpus=%d tok (a session injects ~%.1f%% of "+
		"the corpus)\n",
		ws.MeanTokens, ws.MedianTokens, len(ws.PerProject), ws.CorpusTokens, 100*ws.share())
	return b.String()
}

// String is the experiment as people read it.
func (x *Experiment) String() string {
	title, what := "eval experiment: reflection on a copy of the store; the store is unchanged", "reflection"
	if x.Kind == Merging {
		title, what = "eval experiment: merge on a copy of the store; the store is unchanged", "merge"
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	was, is := x.Before.WorkingSet.MeanTokens, x.After.WorkingSet.MeanTokens
	change := 0.0
	if was > 0 {
		change = 100 * (is - was) / was
	}
	fmt.Fprintf(&b, "inject tokens (mean/project): %.0f -> %.0f (%+.1f%%)\n", was, is, change)
	b.WriteString("recall:\n")
	line := func(name string, before, after float64) {
		fmt.Fprintf(&b, "  %s: %.3f -> %.3f", name, before, after)
		if after < before {
			b.WriteString(" REGRESSION")
		}
		b.WriteByte('\n')
	}
	for _, k := range slices.Sorted(maps.Keys(x.Before.Recall.At)) {
		line("recall@"+strconv.Itoa(k), x.Before.Recall.At[k], x.After.Recall.At[k])
	}
	line("mrr", x.Before.Recall.MRR, x.After.Recall.MRR)
	if x.Kind == Merging {
		fmt.Fprintf(&b, "merged: %d project(s), %d group(s) applied; skipped %d below-threshold project(s)\n", x.Projects, x.Groups, x.Skipped)
		if x.Refused > 0 {
			fmt.Fprintf(&b, "refused: %d group(s)\n", x.Refused)
		}
	} else {
		fmt.Fprintf(&b, "reflected: %d project(s), %d note(s) written; skipped %d below-threshold project(s)\n", x.Projects, x.Notes, x.Skipped)
	}
	for _, f := range x.Failed {
		fmt.Fprintf(&b, "failed: %s: %s\n", f.Project, f.Error)
	}
	if x.Regressed {
		fmt.Fprintf(&b, "WARNING: recall regressed after %s\n", what)
	}
	if len(x.Regressions) > 0 {
		fmt.Fprintf(&b, "per-case regressions (%d):\n", len(x.Regressions))
		for _, r := range x.Regressions {
			r.write(&b, x.deepest)
		}
	}
	return b.String()
}

// write writes a case that got worse. k is the rank to which the report counts.
func (r *Regression) write(b *strings.Builder, k int) {
	fmt.Fprintf(b, "- %s\n", strconv.Quote(r.Query))
	for _, e := range r.Expected {
		switch {
		case e.Superseder != "" && e.Rank > 0:
			fmt.Fprintf(b, "    expected %s  superseded -> %s [retrieved @rank %d]\n", e.ID, e.Superseder, e.Rank)
		case e.Superseder != "":
			fmt.Fprintf(b, "    expected %s  superseded -> %s [not retrieved]\n", e.ID, e.Superseder)
		case e.Rank > k:
			fmt.Fprintf(b, "    expected %s  NOT superseded, after-rank %d (>%d)\n", e.ID, e.Rank, k)
		case e.Rank > 0:
			fmt.Fprintf(b, "    expected %s  NOT superseded, after-rank %d (was %d)\n", e.ID, e.Rank, e.Was)
		default:
			fmt.Fprintf(b, "    expected %s  NOT superseded, not in top-%d\n", e.ID, depth)
		}
	}
	if r.Artifact {
		b.WriteString("    => ARTIFACT (info moved; re-key eval to the superseder)\n")
	} else {
		b.WriteString("    => REAL LOSS (recall genuinely degraded)\n")
	}
}
