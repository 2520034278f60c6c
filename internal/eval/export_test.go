package eval

// Rewrite reads the text of a file of cases and returns its cases and the text
// with another case behind it, as Append would write it.
func Rewrite(text string, c Case) (cases []Case, after string, err error) {
	f := parseCases("set.jsonl", []byte(text))
	data, _, err := f.with([]Case{c})
	return f.cases, string(data), err
}

// CheckAsked is checkAsked of an answer with a query.
func CheckAsked(query string) (put string, wrong []string) {
	a := asked{Query: query}
	wrong = checkAsked(&a)
	return a.Query, wrong
}

// Baseline is recall@k of the store as it stood before the last proposal.
func (g *MergeGate) Baseline() float64 { return g.base }

// K is the k of recall@k.
func (g *MergeGate) K() int { return g.k }

// OpenCopy is openCopy.
var OpenCopy = openCopy
