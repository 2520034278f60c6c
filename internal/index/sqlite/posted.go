package sqlite

import (
	"context"
	"errors"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
)

// holds reports whether a text holds a token, and how often in each field.
func holds(t *flat.Text, token uint32) (counts [flat.Fields]int, ok bool) {
	for f, tokens := range t.Tokens {
		for _, x := range tokens {
			if x == token {
				counts[f]++
				ok = true
			}
		}
	}
	return counts, ok
}

// frequencies counts the passages that hold tokens.
func (p *posted) frequencies(tokens []string) ([]index.Term, error) {
	terms := make([]index.Term, len(tokens))
	for i, token := range tokens {
		hash := index.TokenHash(token)
		l, err := p.List(hash)
		if err != nil {
			return nil, err
		}
		n := l.Frequency
		for j := range p.goneTexts {
			if _, ok := holds(&p.goneTexts[j], hash); ok {
				n--
			}
		}
		for j := range p.newer {
			if _, ok := holds(&p.newer[j].Text, hash); ok {
				n++
			}
		}
		terms[i] = index.Term{Token: token, Frequency: n}
	}
	return terms, nil
}

// A prefilter lets passages through that a filter may let through.
type prefilter struct {
	groups  []uint32
	classes uint64 // a bit each
}

func prefilterOf(f index.Filter) prefilter {
	var p prefilter
	for _, project := range f.Projects {
		p.groups = append(p.groups, index.ProjectGroup(project))
	}
	for class := range uint64(64) {
		kind, local := int(class/2)-1, class%2 == 1
		byType := len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(t note.Type) bool { return slices.Index(note.Types, t) == kind })
		if byType && (f.Scope == "" || local == (f.Scope == note.Local)) {
			p.classes |= 1 << class
		}
	}
	return p
}

func (p *prefilter) lets(group uint32, class uint8) bool {
	return p.classes>>class&1 == 1 && (len(p.groups) == 0 || slices.Contains(p.groups, group))
}

// score scores the passages that hold terms and that a filter may let through.
func (p *posted) score(terms []index.Term, f index.Filter) ([]flat.Scored, error) {
	r := &ranking{slots: make([]uint32, p.Rows+len(p.newer))}
	lets := prefilterOf(f)
	for _, t := range terms {
		hash, left := index.TokenHash(t.Token), maxOccurrences
		l, err := p.List(hash)
		if err != nil {
			return nil, err
		}
		gone := p.gone
		l.Each(func(row int, counts [flat.Fields]int) bool {
			for len(gone) > 0 && gone[0] < row {
				gone = gone[1:]
			}
			if len(gone) > 0 && gone[0] == row {
				return true
			}
			if worth := worthOf(counts, &left); worth > 0 && lets.lets(p.Group(row), p.Class(row)) {
				r.add(row, p.Key(row), t.Weight*worth/(worth+1))
			}
			return left > 0
		})
		for i := range p.newer {
			n := &p.newer[i]
			counts, ok := holds(&n.Text, hash)
			if !ok || left <= 0 {
				continue
			}
			if worth := worthOf(counts, &left); worth > 0 && lets.lets(n.Group, n.Class) {
				r.add(p.Rows+i, n.Key, t.Weight*worth/(worth+1))
			}
		}
	}
	return r.all, nil
}

// maxOccurrences bounds what is read of one term. A term that occurs more often
// says little, and a question has others.
const maxOccurrences = 20000

// fieldWeight is what an occurrence in a field is worth when candidates are
// chosen; the final score has its own weights.
var fieldWeight = [index.NumFields]float64{index.Title: 3, index.Tags: 2, index.Body: 1}

// worthOf is what the occurrences in a passage are worth, of those that are left to be read.
func worthOf(counts [flat.Fields]int, left *int) (worth float64) {
	for f, n := range counts {
		n = min(n, *left)
		*left -= n
		worth += float64(n) * fieldWeight[f]
	}
	return worth
}

// A ranking gathers the scores of passages.
type ranking struct {
	slots []uint32 // where a row stands in all, plus one
	all   []flat.Scored
}

func (r *ranking) add(row int, key int64, score float64) {
	if r.slots[row] == 0 {
		r.all = append(r.all, flat.Scored{Passage: key})
		r.slots[row] = uint32(len(r.all))
	}
	r.all[r.slots[row]-1].Score += score
}

// text returns a passage by its key; false when it is not there any more.
func (p *posted) text(key int64) (t newText, inFile, ok bool, err error) {
	if key > p.Last {
		i, ok := slices.BinarySearchFunc(p.newer, key, func(n newText, key int64) int { return int(n.Key - key) })
		if !ok {
			return t, false, false, nil
		}
		return p.newer[i], false, true, nil
	}
	row, ok := p.Row(key)
	if _, gone := slices.BinarySearch(p.gone, row); !ok || gone {
		return t, true, false, nil
	}
	t.Text, err = p.Text(row)
	return t, true, err == nil, err
}

// letsSQL asks which of some notes a condition lets through, by their places in a list,
// and whether that is so of an epoch and of a generation of the index.
const letsSQL = "SELECT j.key, " + sameSQL + " FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value WHERE "

// fetchPosted is fetchCandidates by way of the file. ok is false when the index has
// changed since.
func (d *conn) fetchPosted(ctx context.Context, p *posted, passages []int64, cond string,
	args []any,
) (got []index.Candidate, ok bool, err error) {
	texts := make([]newText, 0, len(passages))
	notes := make([]int64, 0, len(passages))
	filed := make([]bool, 0, len(passages))
	for _, key := range passages {
		t, inFile, found, err := p.text(key)
		if err != nil {
			return nil, false, err
		}
		if found {
			texts, notes, filed = append(texts, t), append(notes, t.Note), append(filed, inFile)
		}
	}
	rows, err := d.queryBounded(ctx, letsSQL+cond, append([]any{p.epoch, p.generation, list(notes)}, args...)...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	got = make([]index.Candidate, 0, len(texts))
	var fromFile []int // places in got
	var groups []uint32
	for rows.Next() {
		var at int
		var same bool
		if err := rows.Scan(&at, &same); err != nil {
			return nil, false, err
		}
		if !same {
			return nil, false, nil
		}
		t := &texts[at]
		c := index.Candidate{Key: t.Note, Passage: t.Key, Start: t.Start, End: t.End, Tokens: t.Tokens}
		if t.model.Valid {
			c.Model, c.Vector = uint64(t.model.Int64), t.vector
		}
		if got = append(got, c); filed[at] {
			fromFile, groups = append(fromFile, len(got)-1), append(groups, t.Group)
		}
	}
	if err := errors.Join(rows.err(), rows.Close()); err != nil {
		return nil, false, err
	}
	return got, true, d.fillVectors(ctx, p, got, fromFile, groups)
}

// fillVectors gives candidates at some places their vectors: from the copy of those of
// the model that most have, and else from the table.
func (d *conn) fillVectors(ctx context.Context, p *posted, got []index.Candidate, at []int, groups []uint32) error {
	var missing []int64
	places := map[int64]int{}
	var copied *flat.Vectors
	if p.Model != 0 {
		copied = d.flatOf(p.Model, uint64(p.epoch))
	}
	var room []byte
	if copied != nil {
		room = make([]byte, 0, len(at)*(4+copied.Dim))
	}
	for i, place := range at {
		c := &got[place]
		if copied != nil {
			from := len(room)
			all, ok, err := copied.AppendVector(room, c.Passage, groups[i])
			if room = all; ok {
				c.Model, c.Vector = p.Model, room[from:len(room):len(room)]
				continue
			}
			if err != nil { // the table has them all
				d.dropFlat(copied)
				copied = nil
			}
		}
		missing, places[c.Passage] = append(missing, c.Passage), place
	}
	if len(missing) == 0 {
		return nil
	}
	rows, err := d.queryBounded(ctx, "SELECT v.passage, v.model, v.vector FROM json_each(?) j CROSS JOIN vectors v "+
		"ON v.passage = j.value", list(missing))
	return each(rows, err, func() error {
		var key, model int64
		var vector []byte
		err := rows.Scan(&key, &model, &vector)
		c := &got[places[key]]
		c.Model, c.Vector = uint64(model), vector
		return err
	})
}

// askPosted calls f until the index does not change at the same time. ok is false when it changes
// all the time.
func (d *conn) askPosted(ctx context.Context, f func(*posted) (ok bool, err error)) (ok bool, err error) {
	for range 3 {
		var p *posted
		if p, err = d.posted(ctx); err != nil {
			return false, err
		}
		ok, err = f(p)
		switch {
		case errors.Is(err, flat.ErrUnusable): // somebody cut it, or a part of it is damaged
			d.dropPostings()
		case ok || err != nil:
			return ok, err
		default:
			d.forgetPosted()
		}
	}
	return false, err
}

// forgetPosted lets the next question look for what changed since the file was made.
func (d *conn) forgetPosted() {
	d.mu.Lock()
	d.full.posted = nil
	d.mu.Unlock()
}

// near compares the vectors of passages behind one, which the file does not have.
func (p *posted) near(model uint64, question []float32, groups []uint32, after int64) (near []flat.Near) {
	for i := range p.newer {
		t := &p.newer[i]
		if t.Key <= after || !t.model.Valid || uint64(t.model.Int64) != model || len(groups) > 0 && !slices.Contains(groups, t.Group) {
			continue
		}
		near = append(near, flat.Near{Key: t.Key, Cosine: float32(t.vector.Cosine(question))})
	}
	return near
}
