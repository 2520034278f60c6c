package index

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// stemmers are reused, for the words they remember. A sync.Pool would forget
// them at every garbage collection.
var stemmers = make(chan *stemmer, 4)

func acquireStemmer() *stemmer {
	select {
	case s := <-stemmers:
		return s
	default:
		return newStemmer()
	}
}

func (s *stemmer) release() {
	select {
	case stemmers <- s:
	default:
	}
}

// NewEntry makes the entry of a note from its file. side is its sidecar, nil
// when it has none.
func NewEntry(n *note.Note, ref store.Ref, data []byte, side *note.Sidecar) Entry {
	stem := acquireStemmer()
	defer stem.release()
	normalized := note.Normalize(n.Statement())
	words := strings.Fields(normalized)
	e := Entry{Ref: ref, Hash: sha256.Sum256(data), Note: n, Text: data, Simhash: SimhashWords(words), Words: len(words)}
	e.Statement = StatementHash(normalized)
	e.Created, e.Updated = timesOf(n, ref)
	if letters := n.SaidLetters(); letters != "" {
		e.Said = hash64(letters)
	}
	title := tokens(n.Title, true, stem)
	tags := tokens(strings.Join(n.Tags, " ")+" "+extras(n), true, stem)
	for _, s := range passages(n.Body) {
		e.Passages = append(e.Passages, Passage{
			Start: s.start, End: s.end,
			Fields: [NumFields][]string{Title: title, Tags: tags, Body: tokens(n.Body[s.start:s.end], true, stem)},
		})
	}
	e.addGraph(side, stem)
	return e
}

// ahead is how far the clock of the machine that wrote a note may be ahead of the one that wrote its file here.
const ahead = 24 * time.Hour

// timesOf returns when a note was made and changed, in Unix seconds; 0 for a time that it does not give. A time later than the
// note's file, or of before there were agents, is one of a wrong clock: the other one counts, or else the time of the file, so
// that the note grows old like others.
func timesOf(n *note.Note, ref store.Ref) (created, updated int64) {
	read := func(s note.Stamp) (unix int64, wrong bool) {
		t, ok := s.Time()
		if !ok {
			return 0, false
		}
		return t.Unix(), !ref.ModTime.IsZero() && (t.Year() < 2000 || t.After(ref.ModTime.Add(ahead)))
	}
	file := ref.ModTime.Add(time.Second - 1).Unix() // not before what was done in the same second
	created, wrong := read(n.CreatedAt)
	updated, also := read(n.UpdatedAt)
	switch {
	case wrong && (also || updated == 0):
		return file, file
	case wrong:
		return updated, updated
	case also && created != 0:
		return created, created
	case also:
		return 0, file
	}
	return created, updated
}

// SidecarFacts are what the sidecar of a note says of it, as the index of the machine took
// it in on which the note was written.
type SidecarFacts struct {
	Entities []EntityKey
	Declared int // how many of them, from the first, the sidecar names
	Edges    []Edge
}

// Foreign makes the entry of a note that stands in the tree of another machine. Its
// sidecar does not travel: shown is what that machine's index made of it.
func (ix *Index) Foreign(n *note.Note, ref store.Ref, data []byte, facts SidecarFacts) Entry {
	e := NewEntry(n, ref, data, nil)
	said := e.Entities
	e.Entities = nil
	add := func(k EntityKey) {
		if k != 0 && !slices.Contains(e.Entities, k) {
			e.Entities = append(e.Entities, k)
		}
	}
	for _, k := range facts.Entities[:max(0, min(facts.Declared, len(facts.Entities), 4*maxEntities))] {
		add(k)
	}
	e.Declared = len(e.Entities)
	for _, k := range said {
		add(k)
	}
	e.Edges = facts.Edges[:min(len(facts.Edges), 4*maxEntities)]
	ix.embed(&e)
	return e
}

// StatementHash is the hash of a normalised statement.
func StatementHash(normalized string) (h [16]byte) {
	sum := sha256.Sum256([]byte(normalized))
	copy(h[:], sum[:])
	return h
}

// SimhashWords is the simhash of the words of a normalised statement.
func SimhashWords(words []string) uint64 {
	return note.Simhash(words, hash64)
}

// extras is the searchable text of a note that stands in neither title nor body.
func extras(n *note.Note) string {
	parts := []string{n.About, n.Category, n.Problem, n.RootCause, n.Fix, n.Rule, n.KeyInsight, n.HowToApply}
	return strings.TrimSpace(strings.Join(slices.Concat(parts, n.Symptoms, n.Anchors, n.When, n.Asks), " "))
}

// tokens analyses text as a document or as a question.
func tokens(text string, document bool, stem *stemmer) []string {
	var all []string
	a := analyzer{document: document, stem: stem, emit: func(t string) { all = append(all, t) }}
	a.analyze(text)
	return all
}

// Tokens analyses a question: its tokens, each once, without stop words unless
// there is nothing else.
func Tokens(question string) []string {
	stem := acquireStemmer()
	defer stem.release()
	var rare, common []string
	seen := make(map[string]bool)
	for _, t := range tokens(question, false, stem) {
		switch {
		case seen[t]:
		case stopword(t):
			common = append(common, t)
		default:
			rare = append(rare, t)
		}
		seen[t] = true
	}
	if len(rare) == 0 {
		return common
	}
	return rare
}
