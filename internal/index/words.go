package index

// Words analyses text as the body of a note is analysed: its tokens in their
// order, stop words and repetitions among them. Whoever makes tables keyed by
// TokenHash, or vectors of texts, cuts text with it.
func Words(text string) []string {
	stem := acquireStemmer()
	defer stem.release()
	return tokens(text, true, stem)
}

// Stopword reports whether a token of Words carries no topic.
func Stopword(token string) bool { return stopword(token) }
