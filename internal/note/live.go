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

// HeldTo is the git branch that n holds for, "" for all. What a person wrote or reviewed,
// and what was learnt from a person's words, holds everywhere, whatever Branch says.
func (n *Note) HeldTo() string {
	if n.Provenance.Source == Human || n.Learnt() || n.IsReviewed() {
		return ""
	}
	return n.Branch
}
