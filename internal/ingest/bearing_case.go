package ingest

import (
	"regexp"
	"sync"

	"anamnesis/internal/note"
)

// blamed stands before what is wrong with a thing that is called by its name: "clap makes the
// binary too fat". With an article it is the thing at hand, which is to be changed and stays.
var blamed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[,;.:!?。，]\s*|\b(?:because|since|as|weil)\s+)([^\s,;.:!?]+(?:\.\w+)*)\s+` +
		`(?:is|was|makes?|made|takes?|took|gets?|got|turned out|ist|war|macht|es|est)\b[^,;.:!?]{0,40}?\s` +
		`(?:too|zu|trop|demasiado)\s+[\pL]+`)
})

// narrows reports whether a claim is one of fewer cases than another: it begins with a case
// ("with --json", "in tests"), or with things of a kind ("tasks that send payments"), that the
// other does not name.
func narrows(n *note.Note, old claim) bool {
	m := scope().FindStringSubmatch(n.Title)
	if m == nil {
		return false
	}
	words := contentWords(m[1] + m[2])
	for i, w := range words {
		if _, ok := old.words[w.stem]; ok && i < 3 {
			return false
		}
	}
	return len(words) > 0
}

// scope is the case with which a sentence begins: the first word of content behind a
// preposition, or what a relative clause says.
var scope = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:and|but|ok|okay|und|aber|et|mais|y|pero),? )?(?:` +
		`(?:with|for|in|on|at|inside|under|during|when|if|bei|für|beim|pour|dans|chez|en|para)\s+` +
		`(?:the |a |an |our |all |our own )?([^\s,;:!?]+)` +
		`|\S+(?: \S+)? (?:that|which|who)\s+((?:[^\s,;.:!?]+\s+){1,2}[^\s,;.:!?]+))`)
})

// renumbered reports whether two claims have other numbers of the same thing: "Rust 1.70" and
// "Rust 1.82".
func renumbered(a, b claim) bool {
	for w, n := range a.of {
		if m, ok := b.of[w]; ok && m != n {
			return true
		}
	}
	return false
}
