package session

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// A Query is a question to what is kept.
type Query struct {
	Text     string
	Projects []string  // keys; none for all
	Agent    string    // "" for any
	Since    time.Time // zero for all
	Limit    int
	Any      bool // without the gate: whatever shares words
	named    []uint32
}

// A Hit is an exchange that answers a question.
type Hit struct {
	Session  Session
	Exchange Exchange
	Score    float64
	Coverage float64  // share of the question, by the weight of its words, that stands in the best part
	Lines    []string // of the exchange, in its order, those that match
}

// ID names the exchange of a hit: the key of its session and its number.
func (h *Hit) ID() string { return ExchangeID(h.Session.Key, h.Exchange.N) }

// The bounds of a search and the weights of BM25.
const (
	maxWork      = 20_000 // entries of posting lists that are read for one question
	maxTerms     = 48
	maxRows      = 160 // that are scored whole
	k1, b        = 1.2, 0.6
	weightAsk    = 1.6
	weightAround = 0.5
	again        = 0.7 // what an exchange is worth behind a better one of its session
)

// The gate: the share of a question, by the weight of its words, that the best part of the best
// exchange has to hold, and, once that is so, of every other one. What is not in the index at all
// counts as a rare word.
const (
	gateBest = 0.5
	gateRest = 0.3
)

// A row is a candidate.
type row struct {
	shard    int
	at       int
	score    float64
	coverage float64
	text     flat.Text
}

// Search finds the exchanges that answer a question, best first. Nothing relevant is no error.
func (k *Kept) Search(ctx context.Context, q Query) (hits []Hit, err error) {
	err = k.use(ctx, func(x *catalogue) error {
		found, words, err := x.find(&q)
		if err != nil {
			return err
		}
		hits = k.read(x, found, &q, words)
		return nil
	})
	return hits, err
}

// A term is a word of a question.
type term struct {
	hash   uint32
	df     int
	weight float64
}

// find returns the best rows of a question.
func (x *catalogue) find(q *Query) (best []row, terms []term, err error) {
	var rows int
	for _, p := range x.shards {
		rows += p.Rows
	}
	add := func(h uint32) {
		if !slices.ContainsFunc(terms, func(t term) bool { return t.hash == h }) {
			terms = append(terms, term{hash: h})
		}
	}
	for _, h := range q.named {
		add(h)
	}
	if q.Text != "" {
		tokens := index.Tokens(q.Text)
		for _, t := range tokens[:min(len(tokens), maxTerms)] {
			add(index.TokenHash(t))
		}
	}
	if rows == 0 || len(terms) == 0 {
		return nil, terms, nil
	}
	lists := make(map[int][]flat.List)
	for n, p := range x.shards {
		lists[n] = make([]flat.List, len(terms))
		for i := range terms {
			if lists[n][i], err = p.List(terms[i].hash); err != nil {
				return nil, nil, err
			}
			terms[i].df += lists[n][i].Frequency
		}
	}
	order := make([]int, len(terms))
	for i := range terms {
		terms[i].weight = index.IDF(terms[i].df, rows)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return terms[a].df - terms[b].df })
	work := 0
	for i, at := range order { // the rarest words find; all of them score
		if work += terms[at].df; i > 0 && work > maxWork {
			order = order[:i]
			break
		}
	}
	var all []row
	for n, p := range x.shards {
		all = append(all, x.candidates(n, p, lists[n], terms, order, q)...)
	}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.shard, b.shard), cmp.Compare(a.at, b.at))
	})
	all = all[:min(len(all), maxRows)]
	if err := x.score(all, terms); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.score, a.score) })
	return all, terms, nil
}

// candidates are the rows of a shard that hold some of the terms, with the sum of their weights.
func (x *catalogue) candidates(shard int, p *flat.Postings, lists []flat.List, terms []term, order []int, q *Query) (all []row) {
	sums := make([]float32, p.Rows)
	for _, i := range order {
		w := float32(terms[i].weight)
		lists[i].Each(func(at int, counts [flat.Fields]int) bool {
			share := float32(1)
			if counts[0] == 0 && counts[2] == 0 {
				share = weightAround
			}
			sums[at] += w * share
			return true
		})
	}
	groups := make(map[uint32]bool)
	for _, project := range q.Projects {
		groups[group(project)] = true
	}
	for at, sum := range sums {
		if sum > 0 && (len(groups) == 0 || groups[p.Group(at)]) {
			all = append(all, row{shard: shard, at: at, score: float64(sum)})
		}
	}
	if len(all) > 2*maxRows {
		slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
		all = all[:2*maxRows]
	}
	return all
}

// score gives rows their BM25 over three fields, and says how much of the question they hold.
func (x *catalogue) score(all []row, terms []term) (err error) {
	at := make(map[uint32]int, len(terms))
	total := 0.0
	for i := range terms {
		at[terms[i].hash] = i
		total += terms[i].weight
	}
	const mean = 220.0 // tokens of a row, about
	weights := [flat.Fields]float64{weightAsk, weightAround, 1}
	for i := range all {
		r := &all[i]
		if r.text, err = x.shards[r.shard].Text(r.at); err != nil {
			return err
		}
		tf := make([]float64, len(terms))
		length := 0
		for f, tokens := range r.text.Tokens {
			if f != 1 {
				length += len(tokens)
			}
			for _, t := range tokens {
				if n, ok := at[t]; ok {
					tf[n] += weights[f]
				}
			}
		}
		norm := k1 * (1 - b + b*float64(length)/mean)
		r.score, r.coverage = 0, 0
		for n, f := range tf {
			if f > 0 {
				r.score += terms[n].weight * f * (k1 + 1) / (f + norm)
				r.coverage += terms[n].weight * min(1, f)
			}
		}
		r.coverage /= math.Max(total, 1e-9)
		r.score *= 0.3 + 0.7*r.coverage // a part that holds all of the question answers it
	}
	return nil
}

// wants returns the session of a row, nil when the question is not about it.
func (x *catalogue) wants(r *row, q *Query) *Session {
	s := x.byRow[r.shard][r.text.Note]
	if s == nil || len(q.Projects) > 0 && !slices.Contains(q.Projects, s.Project) || q.Agent != "" && s.Agent != q.Agent ||
		s.Ended.Before(q.Since) || x.hidden != nil && x.hidden(&s.Head) {
		return nil
	}
	return s
}

// read makes hits of rows: the exchanges, each once, of live sessions, within the query.
func (k *Kept) read(x *catalogue, found []row, q *Query, terms []term) (hits []Hit) {
	type exchangeAt struct {
		session *Session
		place
	}
	rowsOf := make(map[exchangeAt][]int)
	var order []exchangeAt
	counts, worth := make(map[*Session]int), make(map[exchangeAt]float64)
	open := q.Any || slices.ContainsFunc(found, func(r row) bool { return r.coverage >= gateBest && x.wants(&r, q) != nil })
	for i := range found {
		if !open {
			break
		}
		r := &found[i]
		s := x.wants(r, q)
		if s == nil || !q.Any && r.coverage < gateRest {
			continue
		}
		at := exchangeAt{s, place{r.text.Start, r.text.End}}
		if rowsOf[at] == nil {
			worth[at] = r.score * math.Pow(again, float64(counts[s]))
			counts[s]++
			order = append(order, at)
		}
		rowsOf[at] = append(rowsOf[at], i)
	}
	slices.SortStableFunc(order, func(a, b exchangeAt) int { return cmp.Compare(worth[b], worth[a]) })
	wanted := make(map[uint32]float64, len(terms))
	for _, t := range terms {
		wanted[t.hash] = t.weight
	}
	for _, at := range order {
		if len(hits) == q.Limit {
			break
		}
		e, err := k.exchange(at.session.Key, at.place)
		if err != nil {
			continue // it changed since; the next Sync knows
		}
		best := &found[rowsOf[at][0]]
		hits = append(hits, Hit{
			Session: *at.session, Exchange: e, Score: best.score, Coverage: best.coverage, Lines: matching(&e, wanted, int(best.text.Class)),
		})
	}
	return hits
}

// The bounds of the lines that are shown of a hit.
const (
	maxLines     = 8
	maxLineChars = 240
	around       = 2 // parts on each side of the one that matched whose lines may be shown
)

// matching returns the lines of an exchange that hold the most of what was asked, in their order: those
// of the part that matched best count more, and a line beside a good one a little.
func matching(e *Exchange, wanted map[uint32]float64, part int) (lines []string) {
	type scored struct {
		at    int
		score float64
	}
	var all []string
	var scores []scored
	pieces := chunks(e.Text())
	for n, piece := range pieces {
		if part < len(pieces) && (n < part-around || n > part+around) && n < len(pieces)-1 {
			continue // far from what matched; the end says what came of it
		}
		for line := range strings.Lines(piece) {
			line = strings.TrimRight(line, "\n")
			seen := make(map[uint32]bool)
			sum := 0.0
			for _, w := range index.Words(line) {
				if h := index.TokenHash(w); !seen[h] {
					seen[h] = true
					sum += wanted[h]
				}
			}
			if n == part {
				sum *= 1.5
			}
			if strings.HasPrefix(line, "> ") {
				sum *= 0.5 // the ask is shown beside
			}
			all, scores = append(all, line), append(scores, scored{len(all), sum})
		}
	}
	near := make([]scored, len(scores))
	for i := range scores {
		near[i] = scores[i]
		if i > 0 {
			near[i].score += scores[i-1].score / 3 // what stands below a line that matches explains it
		}
		if i+1 < len(scores) {
			near[i].score += scores[i+1].score / 4
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var at []int
	for _, s := range near[:min(len(near), maxLines)] {
		if s.score > 0 {
			at = append(at, s.at)
		}
	}
	slices.Sort(at)
	for _, i := range at {
		lines = append(lines, cutText(all[i], maxLineChars))
	}
	return lines
}
