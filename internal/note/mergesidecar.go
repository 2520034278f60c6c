package note

import (
	"cmp"
	"slices"
	"strings"
)

// ReconcileSidecars brings two forms of a sidecar together, as Reconcile does
// with notes. Entities are one when name and type are, edges when source,
// target, type and tvalid are. What both sides changed in one of them is
// decided by its kind: the longer description, the greater strength, the
// earlier tcommit, the earlier end. A sidecar of which something has to be left
// out in reading (see ParseSidecar) is in Other too.
func ReconcileSidecars(base, a, b []byte) Merged {
	if data, ok := unopposed(base, a, b); ok {
		return Merged{Data: data}
	}
	if compareHash(string(a), string(b)) < 0 {
		a, b = b, a
	}
	sa, warna, erra := ParseSidecar(a)
	sb, warnb, errb := ParseSidecar(b)
	switch {
	case errb != nil:
		return whole(a, b)
	case erra != nil:
		return whole(b, a)
	}
	was, _, err := ParseSidecar(base)
	if base == nil || err != nil {
		was = nil
	}
	res := Merged{Data: FormatSidecar(mergeSidecars(was, sa, sb))}
	for _, side := range []struct {
		data  []byte
		warns []Warning
	}{{b, warnb}, {a, warna}} {
		if len(side.warns) > 0 {
			res.Other = side.data
			res.Lost = append(res.Lost, Loss{WholeFile, string(res.Data), string(side.data)})
		}
	}
	return res
}

func mergeSidecars(was, a, b *Sidecar) *Sidecar {
	has := was != nil
	if !has {
		was = new(Sidecar)
	}
	out := &Sidecar{
		DocumentID:  pick(has, was.DocumentID, a.DocumentID, b.DocumentID, greater),
		ExtractedAt: pick(has, was.ExtractedAt, a.ExtractedAt, b.ExtractedAt, Later),
	}
	type name struct {
		name string
		kind EntityType
	}
	out.Entities = mergeKeyed(was.Entities, a.Entities, b.Entities,
		func(e Entity) name { return name{e.Name, e.Type} },
		func(x, y Entity) int {
			return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(string(x.Type), string(y.Type)))
		},
		func(has bool, was, x, y Entity) Entity {
			x.Description = pick(has, was.Description, x.Description, y.Description, longer)
			return x
		})
	out.Edges = mergeKeyed(was.Edges, a.Edges, b.Edges,
		func(e Edge) Edge {
			return Edge{Source: e.Source, Target: e.Target, Relation: e.Relation, Valid: e.Valid}
		},
		func(x, y Edge) int {
			return cmp.Or(strings.Compare(x.Source, y.Source), strings.Compare(x.Target, y.Target),
				strings.Compare(string(x.Relation), string(y.Relation)), x.Valid.compare(y.Valid))
		},
		func(has bool, was, x, y Edge) Edge {
			x.Description = pick(has, was.Description, x.Description, y.Description, longer)
			x.Strength = pick(has, was.Strength, x.Strength, y.Strength, greater)
			x.Committed = pick(has, was.Committed, x.Committed, y.Committed, sooner)
			x.ValidEnd = pick(has, was.ValidEnd, x.ValidEnd, y.ValidEnd, sooner)
			x.Superseded = pick(has, was.Superseded, x.Superseded, y.Superseded, longer)
			return x
		})
	return out
}

// mergeKeyed merges lists whose elements have an identity: as mergeSets does,
// and join merges two forms of one element.
func mergeKeyed[T any, K comparable](was, a, b []T, key func(T) K, order func(x, y T) int, join func(has bool, was, x, y T) T) []T {
	var none T
	collect := func(list []T) map[K]T {
		m := make(map[K]T, len(list))
		for _, x := range list {
			if old, twice := m[key(x)]; twice {
				x = join(false, none, old, x)
			}
			m[key(x)] = x
		}
		return m
	}
	inWas, inA, inB := collect(was), collect(a), collect(b)
	var out []T
	done := make(map[K]bool)
	add := func(x T) {
		k := key(x)
		old, has := inWas[k]
		p, okA := inA[k]
		q, okB := inB[k]
		switch {
		case done[k]:
		case okA && okB:
			out = append(out, join(has, old, p, q))
		case okA && !has:
			out = append(out, p)
		case okB && !has:
			out = append(out, q)
		}
		done[k] = true
	}
	for _, x := range was {
		add(x)
	}
	from := len(out)
	for _, x := range slices.Concat(a, b) {
		add(x)
	}
	slices.SortFunc(out[from:], order)
	return out
}

// pick merges one value: the side that changed it, and choose when both did.
func pick[T comparable](has bool, was, a, b T, choose func(a, b T) T) T {
	switch {
	case a == b, has && b == was:
		return a
	case has && a == was:
		return b
	}
	return choose(a, b)
}

func greater[T cmp.Ordered](a, b T) T { return max(a, b) }

func longer(a, b string) string {
	if len(a) > len(b) || len(a) == len(b) && a > b {
		return a
	}
	return b
}

// sooner returns the earlier stamp; one that is not set says nothing.
func sooner(a, b Stamp) Stamp {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return earlier(a, b)
}
