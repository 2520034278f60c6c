package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// The graph arm starts from the entities that the question names and those of
// the best notes of the other arms, walks at most two edges, and finds the
// notes that speak of where it came to (R1). An entity that is everywhere
// conducts nothing.
const (
	graphHops    = 2
	graphDecay   = 0.6 // of what is handed on at an edge
	graphSeeds   = 5   // notes of each other arm whose entities are seeds
	graphVisited = 200 // entities
	graphNotes   = 20  // of one entity
	hubShare     = 0.25
	hubLeast     = 10 // notes that an entity may always have
)

// A step from a note to another that speaks of the same thing, without a
// relation. What no sidecar declares and was found in the text must be rarer and
// counts less, and it leads to nothing that is among the first without it: so
// it adds to what is found, and orders none of it again (docs/retrieval.md).
const (
	mentionShare = 0.02
	mentionLeast = 3
	mentionDecay = 0.5
	namedMost    = 3 // notes, however many there are
	namedDecay   = 0.2
)

// relationWeight is the factor by which a step along a relation counts.
var relationWeight = map[note.Relation]float64{
	note.CausedBy: 1, note.Causes: 1, note.Prevents: 1, note.Solves: 1, note.Supersedes: 1,
	note.Enables: 0.8, note.Requires: 0.8, note.Triggers: 0.8, note.Contradicts: 0.8,
	note.Uses: 0.6, note.Implements: 0.6, note.Configures: 0.6, note.PartOf: 0.6,
	note.RelatesTo: 0.4,
}

// A node is an entity the walk came to.
type node struct {
	strength float64
	path     string
	hops     int
	named    bool     // it stands in the question
	of       []source // the best notes that speak of it

	holding, ended []index.Edge // edges where the walk began, and whether they conduct
}

// A source is a note that another arm found, from which the walk begins.
type source struct {
	note int64
	id   note.ID
	rank int // from 0, the best of its places
}

// strength is what a note hands on to the things it speaks of.
func (s source) strength() float64 { return 0.5 / float64(s.rank+1) }

// supported reports whether something the walk began with may itself lead to notes
// that speak of it. It may not when a relation that does not hold is all that
// ties it to the question, or to each of the notes it comes from: that would
// bring yesterday's cause back as something that is just spoken of.
func (s *node) supported(nodes map[index.EntityKey]node) bool {
	asked := func(x index.Edge) bool { return nodes[x.From].named || nodes[x.To].named }
	if slices.ContainsFunc(s.ended, asked) && !slices.ContainsFunc(s.holding, asked) {
		return false
	}
	return slices.ContainsFunc(s.of, func(n source) bool {
		tells := func(x index.Edge) bool { return x.Note == n.note }
		return !slices.ContainsFunc(s.ended, tells) || slices.ContainsFunc(s.holding, tells)
	})
}

func (e *Engine) graph(ctx context.Context, q Query, res *Result, found []list) ([]*Hit, error) {
	f := e.filter(q)
	nodes, err := e.seeds(ctx, q, found)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	if err := e.walk(ctx, q, f, res, nodes); err != nil {
		return nil, err
	}
	return e.hitsOfNodes(ctx, q, f, res, nodes)
}

// seeds returns where the walk begins: what the question names counts whole,
// what the best notes speak of counts half and less.
func (e *Engine) seeds(ctx context.Context, q Query, found []list) (map[index.EntityKey]node, error) {
	nodes := make(map[index.EntityKey]node)
	for _, n := range index.QuestionEntities(q.Text) {
		nodes[n.Key] = node{strength: 1, path: n.Name, named: true}
	}
	var notes []int64
	best := make(map[int64]source)
	for _, l := range found {
		for i, h := range l.hits[:min(len(l.hits), graphSeeds)] {
			of, ok := best[h.Row.Key]
			if !ok {
				notes = append(notes, h.Row.Key)
			}
			if !ok || i < of.rank {
				best[h.Row.Key] = source{h.Row.Key, h.Row.ID, i}
			}
		}
	}
	mentioned, err := e.index.Entities(ctx, notes)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		for _, k := range mentioned[n] {
			s := nodes[k]
			s.strength = max(s.strength, best[n].strength())
			s.of = append(s.of, best[n])
			nodes[k] = s
		}
	}
	return nodes, nil
}

// addEdge adds an edge to the nodes at both of its ends.
func addEdge(nodes map[index.EntityKey]node, x index.Edge, applies bool) {
	for _, k := range []index.EntityKey{x.From, x.To} {
		s, ok := nodes[k]
		switch {
		case !ok:
			continue
		case applies:
			s.holding = append(s.holding, x)
		default:
			s.ended = append(s.ended, x)
		}
		nodes[k] = s
	}
}

// walk spreads the strength of the nodes along edges.
func (e *Engine) walk(ctx context.Context, q Query, f index.Filter, res *Result, nodes map[index.EntityKey]node) error {
	at := make([]index.EntityKey, 0, len(nodes))
	for k := range nodes {
		at = append(at, k)
	}
	slices.Sort(at)
	for hop := 1; hop <= graphHops && len(at) > 0; hop++ {
		edges, err := e.index.Edges(ctx, at, f)
		if err != nil {
			return err
		}
		edges = slices.DeleteFunc(edges, func(x index.Edge) bool {
			applies := e.edgeApplies(&x, q, res)
			if hop == 1 {
				addEdge(nodes, x, applies)
			}
			return !applies
		})
		degree := make(map[index.EntityKey]int)
		for _, x := range edges {
			degree[x.From]++
			degree[x.To]++
		}
		gained := make(map[index.EntityKey]node)
		for _, x := range edges {
			for _, d := range []struct {
				from, to index.EntityKey
				arrow    string
				name     string
				start    string
			}{{x.From, x.To, "—%s→", x.ToName, x.FromName}, {x.To, x.From, "←%s—", x.FromName, x.ToName}} {
				source, ok := nodes[d.from]
				if !ok || !slices.Contains(at, d.from) {
					continue
				}
				strength := source.strength * graphDecay * relationWeight[x.Relation] * float64(x.Strength) / note.MaxStrength /
					math.Sqrt(float64(degree[d.from]))
				path := source.path
				if path == "" || source.hops == 0 {
					path = d.start
				}
				path += " " + fmt.Sprintf(d.arrow, x.Relation) + " " + d.name
				if g, ok := gained[d.to]; !ok || strength > g.strength || strength == g.strength && path < g.path {
					gained[d.to] = node{strength: strength, path: path, hops: source.hops + 1}
				}
			}
		}
		at = at[:0]
		for k, g := range gained {
			if s, ok := nodes[k]; ok && s.strength >= g.strength || len(nodes) >= graphVisited {
				continue
			}
			g.named = nodes[k].named
			nodes[k] = g
			at = append(at, k)
		}
		slices.Sort(at)
	}
	return nil
}

// edgeApplies reports whether an edge counts for a question: it held at the time
// asked about, and it was known by the time asked for (A2).
func (e *Engine) edgeApplies(x *index.Edge, q Query, res *Result) bool {
	if !e.opts.BitemporalEdges {
		return true
	}
	if !q.KnownAt.IsZero() && x.Committed.After(q.KnownAt) {
		return false
	}
	from, to := e.store.Now(), e.store.Now()
	switch {
	case !q.AsOf.IsZero():
		from, to = q.AsOf, q.AsOf
	case res.Window != nil:
		from, to = res.Window.From, res.Window.To
	}
	if x.Valid.IsZero() && x.ValidEnd.IsZero() {
		return true
	}
	return x.Holds(from, to)
}

// A visit is a node from which notes are looked up.
type visit struct {
	key index.EntityKey
	node
	inText bool // no relation led to it, and no sidecar declares it
}

// limit is how many of all notes may speak of the thing: what is everywhere tells nothing.
func (v *visit) limit(all int) int {
	switch {
	case v.hops > 0:
		return max(hubLeast, int(hubShare*float64(all)))
	case v.inText:
		return namedMost
	}
	return max(mentionLeast, int(mentionShare*float64(all)))
}

// found returns how strongly the visit speaks for a note, and why; 0 when not at all.
func (v *visit) found(n int64) (strength float64, why string) {
	switch {
	case v.hops > 0:
		return v.strength, v.path
	case !v.inText:
		return v.strength * mentionDecay, "speaks of the same thing"
	}
	for _, s := range v.of {
		switch {
		case s.note == n:
			return 0, ""
		case s.strength() > strength:
			strength, why = s.strength(), "names the same thing as "+string(s.id)
		}
	}
	return strength * namedDecay, why
}

// visits returns the nodes that lead to notes, the strongest first: those that a
// relation led to, and of those where the walk began what the question does not
// name itself and other notes speak of as well.
func (e *Engine) visits(ctx context.Context, nodes map[index.EntityKey]node) ([]visit, error) {
	visits := make([]visit, 0, len(nodes))
	for k, s := range nodes {
		visits = append(visits, visit{key: k, node: s})
	}
	slices.SortFunc(visits, func(a, b visit) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.key, b.key))
	})
	visits = visits[:min(len(visits), graphVisited)]
	var resting []index.EntityKey // where the walk began and did not move
	for _, v := range visits {
		if v.hops == 0 && !v.named && v.supported(nodes) {
			resting = append(resting, v.key)
		}
	}
	declared, err := e.index.Declared(ctx, resting)
	if err != nil {
		return nil, err
	}
	resting = slices.DeleteFunc(resting, func(k index.EntityKey) bool { return slices.Contains(declared, k) })
	shared, err := e.index.Shared(ctx, resting, namedMost)
	if err != nil {
		return nil, err
	}
	kept := visits[:0]
	for _, v := range visits {
		v.inText = v.hops == 0 && slices.Contains(shared, v.key)
		if v.hops > 0 || v.inText || slices.Contains(declared, v.key) {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

// hitsOfNodes makes hits of the notes that name the nodes. A note that names
// of nothing but what the question names itself is found by the other arms.
func (e *Engine) hitsOfNodes(ctx context.Context, q Query, f index.Filter, res *Result, nodes map[index.EntityKey]node) ([]*Hit, error) {
	total := res.Searched
	if total == 0 {
		if st, err := e.index.Statistics(ctx); err == nil {
			total = st.Notes
		}
	}
	visits, err := e.visits(ctx, nodes)
	if err != nil {
		return nil, err
	}
	hits := make(map[int64]*Hit)
	spread := make(map[int64]int)
	for i := range visits {
		v := &visits[i]
		notes, all, err := e.index.Mentions(ctx, v.key, v.hops == 0 && !v.inText, f, graphNotes)
		if err != nil {
			return nil, err
		}
		if all > v.limit(total) {
			continue
		}
		for _, n := range notes {
			strength, why := v.found(n)
			if strength == 0 {
				continue
			}
			h := hits[n]
			if h == nil {
				h = &Hit{Row: index.Row{Key: n}}
				hits[n] = h
			}
			spread[n]++
			if strength > h.score {
				h.score = strength
				h.Found = map[string]Found{"graph": {Score: strength, Norm: min(1, strength), Why: why}}
			}
		}
	}
	var list []*Hit
	for n, h := range hits {
		if h.score > 0 {
			h.score += 0.1 * h.score * math.Log1p(float64(spread[n]-1))
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b *Hit) int { return cmp.Compare(a.Row.Key, b.Row.Key) })
	list = topByScore(list, q.pool())
	list, err = e.fillRows(ctx, list)
	if err != nil {
		return nil, err
	}
	for i, h := range list {
		g := h.Found["graph"]
		g.Rank = i + 1
		h.Found["graph"] = g
		h.Reasons = []Reason{{"graph: " + g.Why, h.score}}
	}
	return list, e.firstPassages(ctx, list, f)
}
