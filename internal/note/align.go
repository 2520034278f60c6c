package note

import (
	"slices"
	"strings"
)

// The largest problems that are solved exactly: the product of the lengths of
// two lists in align, and of two stretches in likest.
const (
	maxAlign = 1 << 20
	maxLike  = 400
)

// align returns, for each element of a, the index of its equal in b, or -1: in
// ascending order and as many as possible. In very long lists only elements
// that occur once in both are looked at first.
func align(a, b []string) []int {
	match := make([]int, len(a), len(a)+1)
	for i := range match {
		match[i] = -1
	}
	number := make(map[string]int, len(a))
	name := func(list []string) []int {
		out := make([]int, len(list))
		for i, s := range list {
			n, ok := number[s]
			if !ok {
				n = len(number)
				number[s] = n
			}
			out[i] = n
		}
		return out
	}
	x, y := name(a), name(b)
	alignInto(match, x, y, 0, true)
	return match
}

// alignInto fills match for x; at is where y begins.
func alignInto(match, x, y []int, at int, anchors bool) {
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		match[0] = at
		match, x, y, at = match[1:], x[1:], y[1:], at+1
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		match[len(x)-1] = at + len(y) - 1
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x) == 0 || len(y) == 0:
	case len(x) <= maxAlign/len(y):
		longest(match, x, y, at)
	case anchors:
		i, j := 0, 0
		for _, p := range append(unchanged(x, y), [2]int{len(x), len(y)}) {
			alignInto(match[i:p[0]], x[i:p[0]], y[j:p[1]], at+j, false)
			if p[0] < len(x) {
				match[p[0]] = at + p[1]
			}
			i, j = p[0]+1, p[1]+1
		}
	}
}

// longest finds the longest common subsequence of x and y.
func longest(match, x, y []int, at int) {
	width := len(y) + 1
	table := make([]int32, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		row, below := table[i*width:(i+1)*width], table[(i+1)*width:(i+2)*width]
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				row[j] = below[j+1] + 1
			} else {
				row[j] = max(below[j], row[j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			match[i] = at + j
			i, j = i+1, j+1
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// unchanged returns pairs of indexes of elements that occur once in both
// lists, ascending in both: the longest such sequence (patience).
func unchanged(x, y []int) [][2]int {
	times := make(map[int][3]int) // occurrences in x and in y, and where in y
	for _, n := range x {
		t := times[n]
		t[0]++
		times[n] = t
	}
	for j, n := range y {
		t := times[n]
		t[1]++
		t[2] = j
		times[n] = t
	}
	var pairs [][2]int
	var prev, tops []int // piles of indexes into pairs
	for i, n := range x {
		t := times[n]
		if t[0] != 1 || t[1] != 1 {
			continue
		}
		pairs = append(pairs, [2]int{i, t[2]})
		at, _ := slices.BinarySearchFunc(tops, t[2], func(p, j int) int { return pairs[p][1] - j })
		before := -1
		if at > 0 {
			before = tops[at-1]
		}
		prev = append(prev, before)
		tops = append(tops[:at], append([]int{len(pairs) - 1}, tops[min(at+1, len(tops)):]...)...)
	}
	var out [][2]int
	if len(tops) > 0 {
		for p := tops[len(tops)-1]; p >= 0; p = prev[p] {
			out = append(out, pairs[p])
		}
	}
	slices.Reverse(out)
	return out
}

// likest returns the pair of units that share the largest part of their words,
// if that is half of them at least; the first of equals.
func likest(a, b []unit) (p, q int, ok bool) {
	if len(a)*len(b) > maxLike {
		return 0, 0, false
	}
	words := func(all []unit) []map[string]bool {
		out := make([]map[string]bool, len(all))
		for i, u := range all {
			out[i] = setOf(strings.Fields(u.text))
		}
		return out
	}
	wa, wb := words(a), words(b)
	most, of := 1, 2 // the share to reach, as a fraction
	for i := range wa {
		for j := range wb {
			shared := 0
			for w := range wa[i] {
				if wb[j][w] {
					shared++
				}
			}
			all := len(wa[i]) + len(wb[j])
			if all > 0 && (2*shared*of > most*all || !ok && 2*shared*of == most*all) {
				p, q, ok, most, of = i, j, true, 2*shared, all
			}
		}
	}
	return p, q, ok
}

// within reports whether the elements of a are in b, in their order.
func within(a, b []string) bool {
	for _, s := range b {
		if len(a) > 0 && a[0] == s {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// unite returns what two sides inserted at one place: everything, each side's
// in its order, what both have once. Which side comes first at each step is
// decided by the greatest text so far, so that three sides can be united in any
// order.
func unite(a, b []unit) []unit {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	ta, tb := texts(a), texts(b)
	if inB, inA := within(ta, tb), within(tb, ta); inA || inB {
		if inA && inB { // the same, but for blank lines
			out := slices.Clone(a)
			for i := range out {
				out[i].gap = threeGap("", a[i].gap, b[i].gap)
			}
			return out
		}
		if inB {
			return b
		}
		return a
	}
	var out []unit
	gaps := make(map[string]string) // the longest before a text, wherever it comes from
	for _, u := range slices.Concat(a, b) {
		gaps[u.text] = threeGap("", gaps[u.text], u.gap)
	}
	seen := make(map[string][2]int) // how often each side had a text so far
	keyA, keyB := "", ""
	emit := func(side int, u unit) {
		n := seen[u.text]
		n[side]++
		seen[u.text] = n
		if n[side] > n[1-side] {
			out = append(out, unit{gaps[u.text], u.text})
		}
	}
	for len(a) > 0 || len(b) > 0 {
		if len(a) > 0 {
			keyA = max(keyA, a[0].text)
		}
		if len(b) > 0 {
			keyB = max(keyB, b[0].text)
		}
		if len(b) == 0 || len(a) > 0 && (keyA < keyB || keyA == keyB && a[0].text <= b[0].text) {
			emit(0, a[0])
			a = a[1:]
		} else {
			emit(1, b[0])
			b = b[1:]
		}
	}
	return out
}
