package index

import (
	"strings"
	"sync"
)

// stopwords are the English words that carry no topic. They are indexed, so
// that a question made of nothing else can still be answered, and left out of
// every other question. Kept short on purpose: in this field "if", "then",
// "which", "at" and "who" are commands as well, and document frequency prunes
// what is common in a store anyway.
const stopwords = `a about am an and any are as be been being but by can could did does doing for from get
got had has have having he her here him his how i in into is it its just let like me my of on or our please
she should so some such than that the their them there these they this those to too us use used using was
we were what when where why will with would you your`

// stems holds the stopwords as the analyzer makes them.
var stems = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	stem := newStemmer()
	for _, w := range strings.Fields(stopwords) {
		set[stem.stem(w)] = true
	}
	return set
})

func stopword(token string) bool { return stems()[token] }
