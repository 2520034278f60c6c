package index

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// An EntityKey names a thing that notes speak of: the hash of its words, so
// that "Gateway timeout", "gateway-timeout" and "gateway timeouts" are one.
type EntityKey int64

// An Edge is a typed relation between two entities that a note tells.
type Edge struct {
	From, To         EntityKey
	FromName, ToName string
	Relation         note.Relation
	Strength         int       // note.MinStrength to note.MaxStrength
	Committed        time.Time // when it was learnt; zero when nobody knows
	Valid, ValidEnd  time.Time // from when to when it was so; zero is open
	Note             int64     // the note that tells it; set by the backend
}

// Holds reports whether the edge was so at a time, or at some time between two.
func (e *Edge) Holds(from, to time.Time) bool {
	return !e.Valid.After(to) && (e.ValidEnd.IsZero() || !e.ValidEnd.Before(from))
}

// entityWords cuts a name into the words that make its key.
func entityWords(name string, stem *stemmer) []string {
	var words []string
	for _, w := range strings.FieldsFunc(fold(name), func(r rune) bool { return !wordRune(r) }) {
		for w != "" {
			n := len(w)
			if ascii(w) {
				n = camelPart(w)
			}
			part := strings.ToLower(w[:n])
			w = w[n:]
			words = append(words, stem.stem(part))
		}
	}
	return words
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// entityKey is the key of a name, 0 for a name without words.
func entityKey(words []string) EntityKey {
	if len(words) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{' '})
	}
	return EntityKey(h.Sum64())
}

// maxEntityWords is the longest name that is looked for in a question.
const maxEntityWords = 5

// A Named entity stands in a question under this name.
type Named struct {
	Key   EntityKey
	Name  string
	Words int
}

// QuestionEntities returns the entities a question may name: every run of at
// most five of its words that is not a stop word alone. Longer names come
// first. Most of them name nothing; Mentions and Edges tell.
func QuestionEntities(question string) []Named {
	stem := acquireStemmer()
	defer stem.release()
	question = question[:min(len(question), 2<<10)]
	words := entityWords(strings.ToValidUTF8(question, ""), stem)
	var all []Named
	seen := make(map[EntityKey]bool)
	for n := min(maxEntityWords, len(words)); n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			if stopword(words[i]) || stopword(words[i+n-1]) {
				continue
			}
			if k := entityKey(words[i : i+n]); !seen[k] {
				seen[k] = true
				all = append(all, Named{k, strings.Join(words[i:i+n], " "), n})
			}
		}
	}
	return all
}

// maxEntities bounds what is kept of one note.
const maxEntities = 12

// addGraph fills in the entities and edges of an entry: what the sidecar says,
// and then what stands in the text.
func (e *Entry) addGraph(side *note.Sidecar, stem *stemmer) {
	add := func(name string) EntityKey {
		k := entityKey(entityWords(name, stem))
		if k != 0 && !slices.Contains(e.Entities, k) {
			e.Entities = append(e.Entities, k)
		}
		return k
	}
	if side != nil {
		learnt := side.ExtractedAt
		for _, r := range side.Edges[:min(len(side.Edges), 4*maxEntities)] {
			if r.Superseded != "" { // it says nothing any more, nor that the note speaks of its ends
				continue
			}
			from, to := add(r.Source), add(r.Target)
			if from == 0 || to == 0 || from == to {
				continue
			}
			edge := Edge{From: from, To: to, FromName: r.Source, ToName: r.Target, Relation: r.Relation, Strength: r.Strength}
			if r.Committed == "" {
				r.Committed = learnt
			}
			edge.Committed, _ = r.Committed.Time()
			if r.Valid == "" {
				r.Valid = r.Committed
			}
			edge.Valid, _ = r.Valid.Time()
			edge.ValidEnd, _ = r.ValidEnd.Time()
			e.Edges = append(e.Edges, edge)
		}
		for _, x := range side.Entities[:min(len(side.Entities), 4*maxEntities)] {
			add(x.Name)
		}
	}
	e.Declared = len(e.Entities)
	for _, name := range Identifiers(e.Note.Title+"\n"+e.Note.Body, maxEntities) {
		if len(e.Entities) >= 4*maxEntities {
			break
		}
		add(name)
	}
}
