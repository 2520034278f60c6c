package note

// Sessions returns the number of distinct sessions in the evidence of n: what
// its proof_count should be.
func (n *Note) Sessions() int {
	var seen []string
	for _, e := range n.Evidence {
		seen = appendNew(seen, e.Session)
	}
	return len(seen)
}

// Said is in how many sessions the user typed what n says, and when last ("" when no session is dated).
func Said(n *Note) (times int, last Stamp) {
	var sessions []string
	for _, e := range n.Evidence {
		if e.Chunk == "" { // nothing shows that it was typed
			continue
		}
		sessions = appendNew(sessions, e.Session)
		last = Later(last, e.At)
	}
	return len(sessions), last
}

// HeldTo is the git branch that n holds for, "" for all. What a person wrote or reviewed,
// and what was learnt from a person's words, holds everywhere, whatever Branch says.
func (n *Note) HeldTo() string {
	if n.Provenance.Source == Human || n.Learnt() || n.IsReviewed() {
		return ""
	}
	return n.Branch
}

// Quoted reports whether the user typed the title of n in a session, and has not read its body, which an
// agent or a model wrote.
func (n *Note) Quoted() bool { return n.Provenance.Source == User && !n.IsReviewed() }

// RuleOf returns what n lays down, in words that its author vouches for: of a quoted note its title, because an agent
// or a model worded the rule.
func RuleOf(n *Note) string {
	if n.Rule == "" || n.Quoted() {
		return n.Title
	}
	return n.Rule
}

// TypedWords are the words of the user that the agent or model that wrote n quoted, "" for none.
func TypedWords(n *Note) string {
	if n.Provenance.Source != Agent && (n.Provenance.Source != Learning || n.LearningType != "rule") {
		return ""
	}
	for _, e := range n.Evidence {
		if e.Chunk != "" { // it was found, and is not what an agent said of it
			return e.Quote
		}
	}
	return ""
}
