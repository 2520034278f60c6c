package index

// Analyze exposes the tokens of a document to tests.
func Analyze(text string) []string { return tokens(text, true, newStemmer()) }

// Passages exposes the spans of a body to tests.
func Passages(body string) (texts []string) {
	for _, s := range passages(body) {
		texts = append(texts, body[s.start:s.end])
	}
	return texts
}

// Prune exposes the choice of terms to tests.
func Prune(terms []Term) []Term { return prune(terms) }
