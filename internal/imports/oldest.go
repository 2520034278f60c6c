package imports

// Oldest leaves the oldest n sessions of a plan that are new, and reports whether there
// were more. What is not new is left out.
func (p *Plan) Oldest(n int) (more bool) {
	var kept []Item
	for i := len(p.Items) - 1; i >= 0; i-- { // the newest stand first
		if !p.Items[i].acts() {
			continue
		}
		if len(kept) == n {
			more = true
			break
		}
		kept = append(kept, p.Items[i])
	}
	p.Items = kept
	return more
}
