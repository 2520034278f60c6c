package note

import "strings"

// A unit is a piece of a body that is merged as one: lines up to a blank one.
// The blank lines in a code fence belong to it.
type unit struct {
	gap  string // the blank lines before it, each with its line feed; empty for the first
	text string // without the final line feed
}

// units are a body, cut.
type units struct {
	lead, tail string // the blank lines before the first and behind the last unit
	all        []unit
}

// cutUnits cuts a body. String puts it together again.
func cutUnits(body string) units {
	var u units
	all := strings.Split(body, "\n")
	unclosed := make(map[byte]int) // the shortest fence of a kind that nothing closes
	var gap strings.Builder
	for i := 0; i < len(all); {
		if strings.TrimSpace(all[i]) == "" {
			gap.WriteString(all[i] + "\n")
			i++
			continue
		}
		from := i
		for i < len(all) && strings.TrimSpace(all[i]) != "" {
			if fence := fenceOf(all[i]); fence != "" && (unclosed[fence[0]] == 0 || len(fence) < unclosed[fence[0]]) {
				if end := closing(all, i+1, fence); end > 0 {
					i = end
				} else {
					unclosed[fence[0]] = len(fence)
				}
			}
			i++
		}
		next := unit{gap.String(), strings.Join(all[from:i], "\n")}
		if len(u.all) == 0 {
			u.lead, next.gap = next.gap, ""
		}
		u.all = append(u.all, next)
		gap.Reset()
	}
	u.tail = gap.String()
	return u
}

// fenceOf returns the marks of a line that begins a block of code, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return line[:n]
		}
	}
	return ""
}

// closing returns the line that closes a fence, 0 when there is none.
func closing(all []string, from int, fence string) int {
	for i := from; i < len(all); i++ {
		line := strings.Trim(all[i], " \t\r>")
		if len(line) >= len(fence) && line[0] == fence[0] && strings.Trim(line, fence[:1]) == "" {
			return i
		}
	}
	return 0
}

// String returns the body.
func (u units) String() string {
	var b strings.Builder
	line := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	b.WriteString(u.lead)
	for i, x := range u.all {
		switch {
		case i == 0:
			b.WriteString(x.text)
			continue
		case x.gap == "":
			x.gap = "\n"
		}
		line(x.gap + x.text)
	}
	tail := strings.TrimSuffix(u.tail, "\n")
	switch {
	case u.tail == "":
	case len(u.all) > 0:
		line(tail)
	default:
		b.WriteString(tail)
	}
	return b.String()
}

func (u units) texts() []string { return texts(u.all) }

func texts(all []unit) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].text
	}
	return out
}

func lineUnits(text string) []unit {
	var all []unit
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, unit{text: line})
	}
	return all
}

// threeGap merges the blank lines at one place. None says nothing, as where a
// unit is the first of its body.
func threeGap(was, a, b string) string {
	switch {
	case a == b, b == "", b == was && a != "":
		return a
	case a == "", a == was:
		return b
	case len(a) > len(b) || len(a) == len(b) && a > b:
		return a
	}
	return b
}

// changes are what one side made of the units of a base.
type changes struct {
	now    []*unit  // for each unit of the base what it has become, nil when it is gone
	before [][]unit // what was inserted before each unit, and behind the last one
}

// changesOf compares the units of a side with those of the base. Where a
// stretch has changed, units that resemble each other are taken for the old and
// the new form of one, if like says so, and the rest in turn.
func changesOf(base, side []unit, like bool) changes {
	c := changes{now: make([]*unit, len(base)), before: make([][]unit, len(base)+1)}
	match := align(texts(base), texts(side))
	i, j := 0, 0
	for k, to := range append(match, len(side)) {
		if to < 0 {
			continue
		}
		c.stretch(base, side, i, k, j, to, like)
		if k < len(base) {
			c.now[k] = &side[to]
		}
		i, j = k+1, to+1
	}
	return c
}

// stretch compares base[i:k] with side[j:to], which have nothing in common.
func (c *changes) stretch(base, side []unit, i, k, j, to int, like bool) {
	if like && k-i > 0 && to-j > 0 && (k-i > 1 || to-j > 1) {
		if p, q, ok := likest(base[i:k], side[j:to]); ok {
			c.now[i+p] = &side[j+q]
			c.stretch(base, side, i, i+p, j, j+q, like)
			c.stretch(base, side, i+p+1, k, j+q+1, to, like)
			return
		}
	}
	for i < k && j < to {
		c.now[i] = &side[j]
		i, j = i+1, j+1
	}
	c.before[i] = append(c.before[i], side[j:to]...)
}
