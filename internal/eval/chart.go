package eval

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// bars are the heights of a bar.
const bars = "▁▂▃▄▅▆▇█"

// minBars is how many measurements a chart shows however narrow it is to be.
const minBars = 8

// A series is one figure over time.
type series struct {
	name   string
	values []float64 // NaN where a measurement has none
	form   func(float64) string
}

// Chart draws a history, one line for each figure: a bar for each of the newest
// measurements, each line on a separate scale from its lowest to its highest
// value. width is in columns; the same rows and width give the same text. Under a
// measurement that cannot be compared with the one before it, because the
// program, its settings or the number of cases changed, stands a mark.
func Chart(rows []Past, width int) string {
	if len(rows) == 0 {
		return "no measurements yet; `anamnesis eval run` makes one\n"
	}
	const label, figures = 12, 48 // columns beside the bars
	rows = rows[max(0, len(rows)-max(minBars, width-label-figures)):]
	var b strings.Builder
	for _, s := range figuresOf(rows) {
		known := slices.DeleteFunc(slices.Clone(s.values), math.IsNaN)
		if len(known) == 0 {
			continue
		}
		low, high := slices.Min(known), slices.Max(known)
		fmt.Fprintf(&b, "%-*s%s  first %s  last %s  min %s  max %s\n", label, s.name, spark(s.values, low, high),
			s.form(known[0]), s.form(known[len(known)-1]), s.form(low), s.form(high))
	}
	if marks := changes(rows); strings.Contains(marks, "^") {
		fmt.Fprintf(&b, "%-*s%s  ^ other settings, version or number of cases\n", label, "changed", marks)
	}
	fmt.Fprintf(&b, "%d measurement(s), %.10s to %.10s\n", len(rows), rows[0].At, rows[len(rows)-1].At)
	return b.String()
}

// figuresOf takes the figures out of rows.
func figuresOf(rows []Past) []series {
	share := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	ks := make(map[int]bool)
	for _, r := range rows {
		for k := range r.RecallAt {
			ks[k] = true
		}
	}
	take := func(name string, form func(float64) string, of func(Past) float64) series {
		s := series{name: name, form: form}
		for _, r := range rows {
			s.values = append(s.values, of(r))
		}
		return s
	}
	var all []series
	for _, k := range slices.Sorted(maps.Keys(ks)) {
		all = append(all, take("recall@"+strconv.Itoa(k), share, func(p Past) float64 {
			if v, ok := p.RecallAt[k]; ok {
				return v
			}
			return math.NaN()
		}))
	}
	return append(all,
		take("mrr", share, func(p Past) float64 { return p.MRR }),
		take("inject tok", whole, func(p Past) float64 { return p.MeanTokens }),
		take("notes", whole, func(p Past) float64 { return float64(p.Notes) }),
	)
}

// spark draws values between low and high.
func spark(values []float64, low, high float64) string {
	heights := []rune(bars)
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case high <= low:
			b.WriteRune(heights[len(heights)/2-1])
		default:
			at := int((v - low) / (high - low) * float64(len(heights)))
			b.WriteRune(heights[max(0, min(at, len(heights)-1))])
		}
	}
	return b.String()
}

// changes marks the rows that were measured otherwise than the one before.
func changes(rows []Past) string {
	marks := []byte(strings.Repeat(" ", len(rows)))
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if a.Version != b.Version || a.Settings != b.Settings || a.Cases != b.Cases {
			marks[i] = '^'
		}
	}
	return string(marks)
}
