package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
// said about a question is kept likewise, as numbers. Each is kept as JSON.
const (
	answerKind = "recall"       // what the arms found, under the question's frame and set of words
	wordsKind  = "recall-words" // the words of questions so long that another one can be near
	modelKind  = "recall-model" // what a model said: vectors and logits
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
	generation int64    // of the index when it was asked
	frame      string   // hash of everything but the words of the question
	key        string   // the frame, and a hash of the words in any order
	text       string   // hash of the question
	words      []uint32 // hashes of its words, sorted
	near       bool     // a question with other words can be near
}

// hashKey returns the hexadecimal hash of what is written as format says.
func hashKey(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:16])
}

func (e *Engine) cacheKey(q Query, res *Result, generation int64) *cacheKey {
	f := e.filter(q)
	f.Now = time.Time{}
	window := ""
	if w := res.Window; w != nil {
		window = fmt.Sprint(w.From.UnixNano(), w.To.UnixNano())
	}
	p := cacheKey{generation: generation, text: hashKey("%s", q.Text)}
	p.frame = hashKey("%+v\n%s\n%t %t %t\n%#v\n%d %q %d %d\n%s\n%s\n%q", e.opts, e.index.Model(), e.models.Words != nil,
		e.models.Expand != nil, q.OwnWords, f, q.pool(), slices.Sorted(slices.Values(q.Arms)), q.AsOf.UnixNano(), q.KnownAt.UnixNano(),
		e.store.Now().Format(time.DateOnly), window, distinctiveWords(q.Text))
	tokens := index.Tokens(q.Text)
	for _, t := range tokens {
		p.words = append(p.words, index.TokenHash(t))
	}
	slices.Sort(p.words)
	p.words = slices.Compact(p.words)
	n, t := float64(len(p.words)), e.opts.FuzzyThreshold
	fuzzy := e.opts.FuzzyCache && t > 0 && len(tokens) >= leastFuzzy && len(tokens) <= mostFuzzy && !index.Stopword(tokens[0])
	p.near = fuzzy && n/(n+1) >= t
	p.key = p.frame + hashKey("%d", p.words)
	if !fuzzy {
		p.key = p.frame + p.text
	}
	return &p
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

// memo reads a value that was kept and still holds, and reports whether there is one.
func (e *Engine) memo(ctx context.Context, res *Result, kind, key string, value any) bool {
	m, ok, err := e.index.Memo(ctx, kind, key)
	return err == nil && ok && e.holds(m, res.key.generation) && json.Unmarshal(m.Value, value) == nil
}

// setMemo keeps a value. That it cannot be kept does not matter.
func (e *Engine) setMemo(ctx context.Context, res *Result, kind, key string, value any) {
	data, err := json.Marshal(value)
	if err != nil { // a score that is no number
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(cmp.Or(e.opts.Patience, 1)*float64(cacheWait)))
	defer cancel()
	keep := 0 // to look for what is too old costs half as much as the rest
	if last := key[len(key)-1]; last == '0' || last == '8' {
		keep = maxCached
	}
	_ = e.index.SetMemo(ctx, kind, key, index.Memo{Value: data, Generation: res.key.generation, At: e.store.Now()}, keep)
}

// modelSaid returns what a model said about a question: what is kept of it, else what ask returns.
func modelSaid[T float32 | float64](
	ctx context.Context, e *Engine, q Query, res *Result, key string, ask func() ([]T, error),
) (said []T, err error) {
	keeps := e.caches(q) && res.key != nil
	if keeps && e.memo(ctx, res, modelKind, key, &said) {
		return said, nil
	}
	said, err = ask()
	if keeps && err == nil && len(said) > 0 && ctx.Err() == nil {
		e.setMemo(ctx, res, modelKind, key, said)
	}
	return said, err
}

// A keptAnswer is what the arms found.
type keptAnswer struct {
	Text  string // hash of the question
	Lists []keptList
}

type keptList struct {
	Arm  string
	Hits []keptHit
}

type keptHit struct {
	Note             int64
	Found            Found
	Start, End       int
	Coverage, Cosine float64
	Passages         []int64
	Before           []int64 `json:",omitempty"` // passages of the note it took the place of
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
	p := e.cacheKey(q, res, generation)
	res.key = p
	if lists := e.restore(ctx, q, res, p.key); lists != nil || !p.near {
		return lists
	}
	return e.restore(ctx, q, res, e.nearest(ctx, p))
}

// nearest returns the key of the question that shares most words with one, "" when none shares enough.
func (e *Engine) nearest(ctx context.Context, p *cacheKey) (key string) {
	kept, err := e.index.Memos(ctx, wordsKind, maxCached)
	if err != nil {
		return ""
	}
	best := 0.0
	for _, m := range kept {
		var words []uint32
		if !strings.HasPrefix(m.Key, p.frame) || m.Key == p.key || !e.holds(m, p.generation) || json.Unmarshal(m.Value, &words) != nil {
			continue
		}
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

// restore makes lists of the answer that is kept under a key. Notes whose time has come
// since are left out; nil means that there is none, or that it does not hold any more.
func (e *Engine) restore(ctx context.Context, q Query, res *Result, key string) []list {
	var a keptAnswer
	if !e.memo(ctx, res, answerKind, key, &a) {
		return nil
	}
	var notes, passages, before []int64
	for _, l := range a.Lists {
		if !slices.Contains(Arms(), l.Arm) { // another program wrote it
			return nil
		}
		for _, h := range l.Hits {
			notes, passages, before = append(notes, h.Note), append(passages, h.Passages...), append(before, h.Before...)
		}
	}
	rows, err := e.index.Rows(ctx, uniqueKeys(notes))
	if err != nil || len(rows) != len(uniqueKeys(notes)) {
		return nil
	}
	byKey := make(map[int64]index.Row, len(rows))
	for _, r := range rows {
		byKey[r.Key] = r
	}
	there := make(map[int64]index.Candidate)
	f := e.filter(q)
	for _, keys := range [][]int64{passages, before} {
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
	for _, kept := range a.Lists {
		l := list{arm: arms[slices.IndexFunc(arms, func(a arm) bool { return a.name == kept.Arm })]}
		if l.name == "lexical" {
			res.Terms, res.Searched, res.statistics = m.Terms, m.Statistics.Notes, m.Statistics
		}
		for _, k := range kept.Hits {
			h := &Hit{
				Row: byKey[k.Note], Start: k.Start, End: k.End, Coverage: k.Coverage, Cosine: k.Cosine, score: k.Found.Score,
				Found: map[string]Found{l.name: k.Found}, passages: pick(there, k.Passages), before: pick(there, k.Before),
			}
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
		lists = append(lists, l)
		res.Arms = append(res.Arms, ArmReport{Name: l.name, Candidates: len(l.hits)})
	}
	return lists
}

// pick returns the passages of some keys that are there.
func pick(there map[int64]index.Candidate, keys []int64) (all []index.Candidate) {
	for _, k := range keys {
		if c, ok := there[k]; ok {
			all = append(all, c)
		}
	}
	return all
}

// uniqueKeys returns keys in order, each once.
func uniqueKeys(keys []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(keys))) }

// toCache keeps what the arms found, unless one of them failed or could not see
// all there is.
func (e *Engine) toCache(ctx context.Context, res *Result, lists []list) {
	p := res.key
	if p == nil || len(res.Failed) > 0 || res.WithoutVector > 0 {
		return
	}
	a := keptAnswer{Text: p.text}
	for _, l := range lists {
		kept := keptList{Arm: l.name}
		for _, h := range l.hits {
			kept.Hits = append(kept.Hits, keptHit{
				h.Row.Key, h.Found[l.name], h.Start, h.End, h.Coverage, h.Cosine, passageKeys(h.passages), passageKeys(h.before),
			})
		}
		a.Lists = append(a.Lists, kept)
	}
	e.setMemo(ctx, res, answerKind, p.key, a)
	if p.near {
		e.setMemo(ctx, res, wordsKind, p.key, p.words)
	}
}

func passageKeys(all []index.Candidate) []int64 {
	keys := make([]int64, len(all))
	for i := range all {
		keys[i] = all[i].Passage
	}
	return keys
}
