package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
)

// What the arms found is kept in the index (R9), so that the same question, or one
// of nearly the same words, need not run them again. A kept answer contains keys,
// ranks and scores. Texts of notes and of questions may contain what must not be
// written down: of the question, hashes of its words are kept.
const (
	answerKind = "recall"       // what the arms found, under the question's frame and set of words
	wordsKind  = "recall-words" // the frames and words of questions so long that another one can be near
	maxCached  = 200            // of each kind, and a few
)

// cacheWait bounds how long a recall waits for its answer to be kept.
// It waits for no other process at all, see index.Memos.
const cacheWait = 100 * time.Millisecond

// Questions of fewer words are never taken for one another, and those of more
// are pasted logs.
const (
	leastFuzzy = 2
	mostFuzzy  = 64
)

// A cacheKey is what an answer is kept under.
type cacheKey struct {
	key   string
	text  [8]byte  // hash of the question
	frame [16]byte // hash of everything but its words
	words []uint32 // hashes of its words, sorted
	near  bool     // a question with other words can be near
}

func (e *Engine) cacheKey(q Query, res *Result) cacheKey {
	now := e.store.Now()
	f := e.filter(q)
	f.Now = time.Time{}
	h := sha256.New()
	fmt.Fprintf(h, "%+v\n%s\n%t %t %t\n%#v\n%d %q %d %d\n%s\n", e.opts, e.index.Model(), e.models.Words != nil, e.models.Expand != nil,
		q.OwnWords, f, q.pool(), slices.Sorted(slices.Values(q.Arms)), q.AsOf.UnixNano(), q.KnownAt.UnixNano(), now.Format(time.DateOnly))
	if w := res.Window; w != nil {
		fmt.Fprintf(h, "%d %d\n", w.From.UnixNano(), w.To.UnixNano())
	}
	for _, m := range distinctiveWords(q.Text) {
		fmt.Fprintf(h, "%s\n", m)
	}
	var p cacheKey
	copy(p.frame[:], h.Sum(nil))
	sum := sha256.Sum256([]byte(q.Text))
	copy(p.text[:], sum[:])
	tokens := index.Tokens(q.Text)
	for _, t := range tokens {
		p.words = append(p.words, index.TokenHash(t))
	}
	slices.Sort(p.words)
	p.words = slices.Compact(p.words)
	n, t := float64(len(p.words)), e.opts.FuzzyThreshold
	fuzzy := e.opts.FuzzyCache && t > 0 && len(tokens) >= leastFuzzy && len(tokens) <= mostFuzzy && !index.Stopword(tokens[0])
	p.near = fuzzy && n/(n+1) >= t
	for _, w := range p.words {
		_ = binary.Write(h, binary.LittleEndian, w) // a hash never fails
	}
	if !fuzzy {
		h.Write(sum[:])
	}
	p.key = hex.EncodeToString(h.Sum(nil)[:16])
	return p
}

// turning are words that make another question of the same words.
var negations = []string{
	"after", "before", "cannot", "disable", "disabled", "except", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing",
	"nowhere", "off", "unless", "until", "without", "zero",
}

// distinctiveWords returns what two questions must have in common to be one, however many
// words they share: negations, numbers, and names of things in code.
func distinctiveWords(text string) (all []string) {
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, `.,;:!?()[]{}"'<>“”‘’…`+"`")
		lower := strings.ToLower(w)
		_, turns := slices.BinarySearch(negations, lower)
		if turns || meaningOf(lower).kind == numberWord || strings.HasSuffix(lower, "n't") || strings.HasSuffix(lower, "n’t") {
			all = append(all, lower)
		} else if identifier(w) {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	return all
}

// identifier reports whether a word looks like the name of a thing in code.
func identifier(w string) bool {
	if strings.ContainsAny(w, `0123456789_./\:@#=+$`) || strings.HasPrefix(w, "-") {
		return true
	}
	for i := 1; i < len(w); i++ {
		if 'A' <= w[i] && w[i] <= 'Z' && 'a' <= w[i-1] && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// caches reports whether a query may be answered from memory.
func (e *Engine) caches(q Query) bool {
	return e.opts.CacheTTL > 0 && !q.NoCache && !q.Synthetic && !e.store.ReadOnly()
}

// fromCache returns what the arms found for the same question before, nil when
// they must be asked. It sets what they would have set of the result.
func (e *Engine) fromCache(ctx context.Context, q Query, res *Result) []list {
	if !e.caches(q) {
		return nil
	}
	generation, err := e.index.Generation(ctx)
	if err != nil {
		return nil
	}
	res.generation, res.asked = generation, true
	now := e.store.Now()
	valid := func(m index.Memo) bool {
		age := now.Sub(m.At).Seconds()
		return m.Generation == generation && age >= 0 && age <= e.opts.CacheTTL
	}
	p := e.cacheKey(q, res)
	keys := []string{p.key}
	if p.near {
		keys = append(keys, e.nearest(ctx, p, valid)...)
	}
	for _, key := range keys {
		m, ok, err := e.index.Memo(ctx, answerKind, key)
		if err != nil || !ok || !valid(m) {
			continue
		}
		found, ok := decodeAnswer(m.Value)
		if !ok {
			continue
		}
		if lists := e.restore(ctx, q, res, p, found); lists != nil {
			return lists
		}
	}
	return nil
}

// nearest returns the keys of questions that share enough words with one, the
// nearest first.
func (e *Engine) nearest(ctx context.Context, p cacheKey, valid func(index.Memo) bool) (keys []string) {
	kept, err := e.index.Memos(ctx, wordsKind, maxCached)
	if err != nil {
		return nil
	}
	shares := make(map[string]float64)
	for _, m := range kept {
		if len(m.Value) < len(p.frame) || string(m.Value[:len(p.frame)]) != string(p.frame[:]) || m.Key == p.key || !valid(m) {
			continue
		}
		var words []uint32
		for b := m.Value[len(p.frame):]; len(b) >= 4; b = b[4:] {
			words = append(words, binary.LittleEndian.Uint32(b))
		}
		if s := jaccard(p.words, words); s >= e.opts.FuzzyThreshold {
			keys = append(keys, m.Key)
			shares[m.Key] = s
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		switch {
		case shares[a] > shares[b]:
			return -1
		case shares[a] < shares[b]:
			return 1
		}
		return 0
	})
	return keys
}

// jaccard is the share of two sorted sets that they have in common.
func jaccard[T interface{ ~uint32 | ~string }](a, b []T) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	if len(a)+len(b) == both {
		return 1
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// restore makes lists of a kept answer. Notes whose time has come since are left
// out; nil means that the answer does not hold any more.
func (e *Engine) restore(ctx context.Context, q Query, res *Result, p cacheKey, m cachedAnswer) []list {
	notes, passages, before := make(map[int64]bool), make(map[int64]bool), make(map[int64]bool)
	for _, a := range m.arms {
		for _, h := range a.hits {
			notes[h.note] = true
			for _, k := range h.passages {
				passages[k] = true
			}
			for _, k := range h.before {
				before[k] = true
			}
		}
	}
	keys := slices.Sorted(maps.Keys(notes))
	described, err := e.index.Rows(ctx, keys)
	if err != nil || len(described) != len(keys) {
		return nil
	}
	f := e.filter(q)
	fetched, err := e.index.Passages(ctx, slices.Sorted(maps.Keys(passages)), f)
	if err != nil {
		return nil
	}
	var replaced []index.Candidate
	if len(before) > 0 {
		f.Dead = true
		if replaced, err = e.index.Passages(ctx, slices.Sorted(maps.Keys(before)), f); err != nil {
			return nil
		}
	}
	rows := make(map[int64]index.Row, len(described))
	for _, r := range described {
		rows[r.Key] = r
	}
	there, gone := byPassage(fetched), byPassage(replaced)
	terms, ok := e.restoreTerms(ctx, q.Text, m)
	if !ok {
		return nil
	}
	cached := "exact"
	if m.text != p.text {
		cached = "fuzzy"
	}
	s := newScorer(e.opts, index.Matches{Terms: terms}, nil, nil)
	lists := make([]list, 0, len(m.arms))
	for _, a := range m.arms {
		at := slices.IndexFunc(arms, func(b arm) bool { return b.name == a.name })
		if at < 0 {
			return nil
		}
		l := list{arm: arms[at]}
		for _, r := range a.hits {
			h := &Hit{
				Row: rows[r.note], Start: r.start, End: r.end, Coverage: r.coverage, Cosine: r.cosine, score: r.found.Score,
				Found: map[string]Found{a.name: r.found},
			}
			for _, k := range r.passages {
				if c := there[k]; c != nil {
					h.passages = append(h.passages, *c)
				}
			}
			for _, k := range r.before {
				if c := gone[k]; c != nil {
					h.before = append(h.before, *c)
				}
			}
			if len(h.passages) == 0 { // forgotten by now
				continue
			}
			if cached == "fuzzy" {
				h.Coverage, h.Cosine = 0, 0 // the gate is about this question; whoever reads the passages compares them again
				for _, c := range slices.Concat(h.passages, h.before) {
					h.Coverage = max(h.Coverage, s.countTerms(&c))
				}
			}
			l.hits = append(l.hits, h)
		}
		lists = append(lists, l)
		res.Arms = append(res.Arms, ArmReport{Name: a.name, Candidates: len(l.hits)})
	}
	res.Terms, res.Searched, res.Cached = terms, m.searched, cached
	return lists
}

func byPassage(all []index.Candidate) map[int64]*index.Candidate {
	got := make(map[int64]*index.Candidate, len(all))
	for i := range all {
		got[all[i].Passage] = &all[i]
	}
	return got
}

// restoreTerms returns the terms of a question with what a kept answer contains of them.
func (e *Engine) restoreTerms(ctx context.Context, question string, m cachedAnswer) ([]index.Term, bool) {
	if len(m.terms) == 0 { // the lexical arm was not asked
		return nil, true
	}
	known := make(map[uint32]term, len(m.terms))
	for _, t := range m.terms {
		known[t.hash] = t
	}
	tokens := index.Tokens(question)
	tokens = tokens[:min(len(tokens), len(m.terms)+mostFuzzy)]
	terms := make([]index.Term, 0, len(tokens))
	var fresh []string
	for _, t := range tokens {
		k, ok := known[index.TokenHash(t)]
		if !ok && len(tokens) > mostFuzzy { // it was beyond what a question may hold
			continue
		}
		if !ok {
			fresh = append(fresh, t)
		}
		terms = append(terms, index.Term{Token: t, Frequency: k.frequency, Weight: k.weight})
	}
	if len(fresh) == 0 {
		return terms, true
	}
	counted, err := e.index.Frequencies(ctx, fresh)
	if err != nil {
		return nil, false
	}
	st, err := e.index.Statistics(ctx)
	for i := range counted {
		counted[i].Weight = index.IDF(counted[i].Frequency, st.Passages)
	}
	for i, t := range fresh {
		at := slices.IndexFunc(terms, func(x index.Term) bool { return x.Token == t })
		terms[at].Frequency, terms[at].Weight = counted[i].Frequency, counted[i].Weight
	}
	return terms, err == nil
}

// toCache keeps what the arms found, unless one of them failed or could not see
// all there is. That it cannot be kept does not matter.
func (e *Engine) toCache(ctx context.Context, q Query, res *Result, lists []list) {
	if !res.asked || len(res.Failed) > 0 || res.WithoutVector > 0 {
		return
	}
	p := e.cacheKey(q, res)
	value := encodeAnswer(p, res, lists)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(cmp.Or(e.opts.Patience, 1)*float64(cacheWait)))
	defer cancel()
	m := index.Memo{Value: value, Generation: res.generation, At: e.store.Now()}
	keep := 0 // to look for what is too old costs half as much as the rest
	if p.key[0] == '0' || p.key[0] == '8' {
		keep = maxCached
	}
	if e.index.SetMemo(ctx, answerKind, p.key, m, keep) != nil || !p.near {
		return
	}
	m.Value = p.frame[:]
	for _, w := range p.words {
		m.Value = binary.LittleEndian.AppendUint32(m.Value, w)
	}
	_ = e.index.SetMemo(ctx, wordsKind, p.key, m, keep) // best effort, as above
}
