package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
)

// What the arms found is kept in the index (R9), so that the same question, or one
// of nearly the same words, need not run them again. A kept answer contains keys,
// ranks and scores. Texts of notes and of questions may contain what must not be
// written down: of the question, hashes of its words are kept. What models elsewhere
// said about a question is kept likewise, as numbers.
const (
	answerKind = "recall"       // what the arms found, under the question's frame and set of words
	wordsKind  = "recall-words" // the frames and words of questions so long that another one can be near
	logitsKind = "recall-logits"
	vectorKind = "recall-vector"
	maxCached  = 200 // of each kind, and a few
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
	generation int64    // of the index when it was asked
	key        string   // of everything but the order of the words
	text       [8]byte  // hash of the question
	frame      [16]byte // hash of everything but its words
	words      []uint32 // hashes of its words, sorted
	near       bool     // a question with other words can be near
}

func (e *Engine) cacheKey(q Query, res *Result) cacheKey {
	f := e.filter(q)
	f.Now = time.Time{}
	h := sha256.New()
	fmt.Fprintf(h, "%+v\n%s\n%t %t %t\n%#v\n%d %q %d %d\n%s\n", e.opts, e.index.Model(), e.models.Words != nil, e.models.Expand != nil,
		q.OwnWords, f, q.pool(), slices.Sorted(slices.Values(q.Arms)), q.AsOf.UnixNano(), q.KnownAt.UnixNano(),
		e.store.Now().Format(time.DateOnly))
	if w := res.Window; w != nil {
		fmt.Fprintf(h, "%d %d\n", w.From.UnixNano(), w.To.UnixNano())
	}
	fmt.Fprintf(h, "%q\n", distinctiveWords(q.Text))
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
	fmt.Fprint(h, p.words)
	if !fuzzy {
		h.Write(sum[:])
	}
	p.key = hex.EncodeToString(h.Sum(nil)[:16])
	return p
}

// negations are words that make another question of the same words.
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

// holds reports whether what was kept still counts: nothing was written since, and it is not old.
func (e *Engine) holds(m index.Memo, generation int64) bool {
	age := e.store.Now().Sub(m.At).Seconds()
	return m.Generation == generation && age >= 0 && age <= e.opts.CacheTTL
}

// memo returns a value that was kept and still holds.
func (e *Engine) memo(ctx context.Context, res *Result, kind, key string) ([]byte, bool) {
	m, ok, err := e.index.Memo(ctx, kind, key)
	return m.Value, err == nil && ok && e.holds(m, res.key.generation)
}

// setMemo keeps a value. That it cannot be kept does not matter.
func (e *Engine) setMemo(ctx context.Context, res *Result, kind, key string, value []byte) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(cmp.Or(e.opts.Patience, 1)*float64(cacheWait)))
	defer cancel()
	keep := 0 // to look for what is too old costs half as much as the rest
	if key[0] == '0' || key[0] == '8' {
		keep = maxCached
	}
	_ = e.index.SetMemo(ctx, kind, key, index.Memo{Value: value, Generation: res.key.generation, At: e.store.Now()}, keep)
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
	p := e.cacheKey(q, res)
	p.generation, res.key = generation, &p
	for _, find := range []func() string{func() string { return p.key }, func() string { return e.nearest(ctx, p) }} {
		value, ok := e.memo(ctx, res, answerKind, find())
		if !ok {
			continue
		}
		if found, ok := decodeAnswer(value); ok {
			if lists := e.restore(ctx, q, res, found); lists != nil {
				return lists
			}
		}
	}
	return nil
}

// nearest returns the key of the question that shares most words with one, "" when none shares enough.
func (e *Engine) nearest(ctx context.Context, p cacheKey) (key string) {
	if !p.near {
		return ""
	}
	kept, err := e.index.Memos(ctx, wordsKind, maxCached)
	if err != nil {
		return ""
	}
	best := 0.0
	for _, m := range kept {
		words := make([]uint32, max(0, len(m.Value)-len(p.frame))/4)
		if !strings.HasPrefix(string(m.Value), string(p.frame[:])) || m.Key == p.key || !e.holds(m, p.generation) {
			continue
		}
		_, _ = binary.Decode(m.Value[len(p.frame):], binary.LittleEndian, words) // it is long enough
		if s := jaccard(p.words, words); s >= e.opts.FuzzyThreshold && s > best {
			best, key = s, m.Key
		}
	}
	return key
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
func (e *Engine) restore(ctx context.Context, q Query, res *Result, a cachedAnswer) []list {
	rows, err := e.index.Rows(ctx, uniqueKeys(a.notes))
	if err != nil || len(rows) != len(uniqueKeys(a.notes)) {
		return nil
	}
	byKey := make(map[int64]index.Row, len(rows))
	for _, r := range rows {
		byKey[r.Key] = r
	}
	there := make(map[int64]index.Candidate)
	f := e.filter(q)
	for _, keys := range [][]int64{a.passages, a.before} {
		found, err := e.index.Passages(ctx, uniqueKeys(keys), f)
		if err != nil {
			return nil
		}
		for _, c := range found {
			there[c.Passage] = c
		}
		f.Dead = true // of former forms
	}
	m, err := e.index.Terms(ctx, q.Text)
	if err != nil {
		return nil
	}
	res.Cached = "exact"
	if a.Text != res.key.text {
		res.Cached = "fuzzy"
	}
	s := newScorer(e.opts, m, nil, nil)
	lists := make([]list, 0, len(arms))
	for _, k := range a.Arms[:a.Lists] {
		if arms[k].name == "lexical" {
			res.Terms, res.Searched, res.statistics = m.Terms, m.Statistics.Notes, m.Statistics
		}
		lists = append(lists, list{arm: arms[k]})
	}
	take := func(from *[]int64, n uint16) (all []index.Candidate) {
		for _, k := range (*from)[:n] {
			if c, ok := there[k]; ok {
				all = append(all, c)
			}
		}
		*from = (*from)[n:]
		return all
	}
	for i, c := range a.hits {
		l := &lists[c.List]
		h := &Hit{Row: byKey[a.notes[i]], Start: int(c.Start), End: int(c.End), Coverage: c.Coverage, Cosine: c.Cosine, score: c.Score}
		h.Found = map[string]Found{l.name: {Rank: int(c.Rank), Score: c.Score, Norm: c.Norm, Why: a.why[i]}}
		h.passages, h.before = take(&a.passages, c.Passages), take(&a.before, c.Before)
		if len(h.passages) == 0 { // forgotten by now
			continue
		}
		if res.Cached == "fuzzy" {
			h.Coverage, h.Cosine = 0, 0 // the gate is about this question; whoever reads the passages compares them again
			for _, c := range slices.Concat(h.passages, h.before) {
				h.Coverage = max(h.Coverage, s.countTerms(&c))
			}
		}
		l.hits = append(l.hits, h)
	}
	for _, l := range lists {
		res.Arms = append(res.Arms, ArmReport{Name: l.name, Candidates: len(l.hits)})
	}
	return lists
}

// uniqueKeys returns keys in order, each once.
func uniqueKeys(keys []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(keys))) }

// toCache keeps what the arms found, unless one of them failed or could not see
// all there is.
func (e *Engine) toCache(ctx context.Context, res *Result, lists []list) {
	p := res.key
	if p == nil || len(res.Failed) > 0 || res.WithoutVector > 0 || len(lists) > len(cachedHead{}.Arms) {
		return
	}
	if value, err := encodeAnswer(p, lists); err == nil {
		e.setMemo(ctx, res, answerKind, p.key, value)
	}
	if p.near {
		value, _ := binary.Append(p.frame[:], binary.LittleEndian, p.words) // numbers always fit
		e.setMemo(ctx, res, wordsKind, p.key, value)
	}
}

// numbers returns what a model said about a question: what is kept of it, else what ask
// returns. These are n numbers, or any number of them when n is 0.
func (e *Engine) numbers(
	ctx context.Context, q Query, res *Result, kind, key string, n int, ask func() ([]float64, error),
) ([]float64, error) {
	keeps := e.caches(q) && res.key != nil
	if keeps {
		if value, ok := e.memo(ctx, res, kind, key); ok {
			kept := make([]float64, len(value)/8)
			if _, err := binary.Decode(value, binary.LittleEndian, kept); err == nil && len(kept) > 0 && (n == 0 || n == len(kept)) {
				return kept, nil
			}
		}
	}
	got, err := ask()
	if keeps && err == nil && len(got) > 0 && ctx.Err() == nil {
		value, _ := binary.Append(nil, binary.LittleEndian, got)
		e.setMemo(ctx, res, kind, key, value)
	}
	return got, err
}

// A cachedAnswer is what the arms found, as it is kept: the head, then each of the slices in the order in which they stand here.
type cachedAnswer struct {
	cachedHead
	hits                    []cachedHit
	notes, passages, before []int64 // the keys of the hits, of their passages, and of passages of former forms
	why                     []string
}

type cachedHead struct {
	Form                   uint8
	Text                   [8]byte  // hash of the question
	Lists                  uint8    // how many of Arms count
	Arms                   [8]uint8 // which arm each list is of
	Hits, Passages, Before uint32
}

type cachedHit struct {
	List                          uint8
	Passages, Before              uint16
	Rank, Start, End              int32
	Coverage, Cosine, Score, Norm float64
}

// cacheForm is the first byte of a written answer; another layout has another one.
const cacheForm = 3

func encodeAnswer(p *cacheKey, lists []list) ([]byte, error) {
	a := cachedAnswer{cachedHead: cachedHead{Form: cacheForm, Text: p.text, Lists: uint8(len(lists))}}
	for i, l := range lists {
		a.Arms[i] = uint8(slices.IndexFunc(arms, func(b arm) bool { return b.name == l.name }))
		for _, h := range l.hits {
			f := h.Found[l.name]
			a.hits = append(a.hits, cachedHit{
				uint8(i), uint16(len(h.passages)), uint16(len(h.before)), int32(f.Rank), int32(h.Start), int32(h.End),
				h.Coverage, h.Cosine, f.Score, f.Norm,
			})
			a.notes, a.why = append(a.notes, h.Row.Key), append(a.why, strings.ReplaceAll(f.Why, "\n", " "))
			for k := range h.passages {
				a.passages = append(a.passages, h.passages[k].Passage)
			}
			for k := range h.before {
				a.before = append(a.before, h.before[k].Passage)
			}
		}
	}
	a.Hits, a.Passages, a.Before = uint32(len(a.hits)), uint32(len(a.passages)), uint32(len(a.before))
	var b []byte
	for _, part := range []any{a.cachedHead, a.hits, a.notes, a.passages, a.before} {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return append(b, strings.Join(a.why, "\n")+"\n"...), nil
}

// decodeAnswer reads what encodeAnswer wrote, and reports whether it was that.
func decodeAnswer(b []byte) (a cachedAnswer, ok bool) {
	n, err := binary.Decode(b, binary.LittleEndian, &a.cachedHead)
	keys := uint64(a.Hits) + uint64(a.Passages) + uint64(a.Before)
	if err != nil || a.Form != cacheForm || int(a.Lists) > len(a.Arms) || keys > uint64(len(b)) {
		return a, false
	}
	a.hits, a.notes = make([]cachedHit, a.Hits), make([]int64, a.Hits)
	a.passages, a.before = make([]int64, a.Passages), make([]int64, a.Before)
	for _, part := range []any{a.hits, a.notes, a.passages, a.before} {
		b = b[n:]
		if n, err = binary.Decode(b, binary.LittleEndian, part); err != nil {
			return a, false
		}
	}
	why, ended := strings.CutSuffix(string(b[n:]), "\n")
	a.why = strings.Split(why, "\n")
	passages, before := 0, 0
	for _, h := range a.hits {
		passages, before = passages+int(h.Passages), before+int(h.Before)
		ok = h.List < a.Lists && h.Start >= 0 && h.Start <= h.End
		if !ok {
			return a, false
		}
	}
	arm := slices.Max(a.Arms[:])
	return a, ended && int(arm) < len(arms) && len(a.why) == max(1, len(a.hits)) && passages == len(a.passages) && before == len(a.before)
}
