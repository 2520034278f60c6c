package ingest

import (
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/text"
)

// texts lists every field of n that holds free text.
func texts(n *note.Note) []*string {
	all := []*string{
		&n.Title, &n.Body, &n.Category, &n.Problem, &n.RootCause, &n.Fix, &n.Rule, &n.KeyInsight, &n.HowToApply, &n.StatusReason,
	}
	for _, list := range [][]string{n.Symptoms, n.Tags, n.Anchors, n.When, n.Asks} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	for i := range n.Evidence {
		all = append(all, &n.Evidence[i].Quote)
	}
	return all
}

// plain takes out of every text of n what is for a terminal, whoever wrote it. A carriage return alone ends a line.
func plain(n *note.Note) {
	changed := false
	for _, t := range texts(n) {
		clean := text.Plain(*t)
		if lines := strings.ReplaceAll(clean, "\r\n", "\n"); strings.Contains(lines, "\r") {
			clean = strings.ReplaceAll(lines, "\r", "\n")
		}
		if clean != *t {
			*t, changed = clean, true
		}
	}
	if changed && n.ImportHash != "" && n.Type == note.Episodic {
		n.ImportHash = SummaryHash(n.Title, n.Body)
	}
}

// redact masks the secrets in every text of n, what one of them gives away in all of
// them, and reports whether there were any.
func (g *Ingester) redact(n *note.Note) bool {
	plain(n) // a sequence can split a secret
	masked := false
	knowing := g.redactor.Knowing(contents(texts(n))...)
	for _, t := range texts(n) {
		if clean := knowing.Redact(*t).String(); clean != *t {
			*t, masked = clean, true
		}
	}
	if masked && n.ImportHash != "" && n.Type == note.Episodic {
		n.ImportHash = SummaryHash(n.Title, n.Body)
	}
	return masked
}

// contents returns what texts hold.
func contents(texts []*string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = *t
	}
	return out
}

// secrets names the rules that find a secret in n. A person may write one down
// on purpose; sync holds such a note back.
func (g *Ingester) secrets(n *note.Note) []string {
	var rules []string
	for _, t := range texts(n) {
		for _, f := range g.redactor.Find(*t) {
			if !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
	}
	return rules
}
