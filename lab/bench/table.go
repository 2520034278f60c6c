package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A limit is a budget, below which a figure is a defect, and an aim.
type limit struct{ budget, aim float64 }

// every, as a size in row.limits, stands for all sizes.
const every = 0

// A row is one figure.
type row struct {
	id, what, unit string
	versus         string        // what it is compared with, "" for nothing
	limits         map[int]limit // by size
	ratio          bool          // the limits are about the ratio
	more           bool          // more is better
	digits         int
}

// at are the limits at one size.
func at(size int, budget, aim float64) map[int]limit { return map[int]limit{size: {budget, aim}} }

// rows lists the figures, with the budgets and aims of the design.
var rows = append([]row{
	{id: "start", what: "process start (`version`)", unit: "ms", versus: "hello-world", ratio: true, limits: at(every, 3, 2), digits: 2},
	{id: "init", what: "package initialisation, all packages", unit: "ms", digits: 2},
	{
		id: "inject p50", what: "session-start inject, cold process, p50", unit: "ms", versus: "hello-world",
		limits: at(10000, 15, 8), digits: 1,
	},
	{
		id: "inject p95", what: "session-start inject, cold process, p95", unit: "ms", versus: "hello-world",
		limits: at(10000, 30, 15), digits: 1,
	},
	{
		id: "prompt p50", what: "prompt hook, cold process, p50", unit: "ms", versus: "hello-world",
		limits: map[int]limit{10000: {12, 8}, 100000: {20, 12}}, digits: 1,
	},
	{
		id: "prompt p95", what: "prompt hook, cold process, p95", unit: "ms", versus: "hello-world",
		limits: map[int]limit{10000: {20, 12}, 100000: {35, 20}}, digits: 1,
	},
	{id: "prompt cpu", what: "prompt hook, cold process, processor time, p50", unit: "ms", versus: "hello-world", digits: 1},
	{id: "capture", what: "capture hook, transcript of 2 MB, p95", unit: "ms", versus: "hello-world", limits: at(every, 15, 10), digits: 1},
	{
		id: "capture absent", what: "capture hook, transcript absent, p95", unit: "ms", versus: "hello-world",
		limits: at(every, 15, 10), digits: 1,
	},
	{
		id: "capture hanging", what: "capture hook, transcript hangs, p95", unit: "ms", versus: "hello-world",
		limits: at(every, 15, 10), digits: 1,
	},
	{
		id: "search p50", what: "hybrid search in process, p50", unit: "ms", versus: "naive",
		limits: map[int]limit{10000: {3, 1}, 100000: {5, 2}}, digits: 2,
	},
	{id: "search p95", what: "hybrid search in process, p95", unit: "ms", versus: "naive", digits: 2},
	{
		id: "search p99", what: "hybrid search in process, p99", unit: "ms", versus: "naive",
		limits: map[int]limit{10000: {40, 4}, 100000: {80, 8}}, digits: 2,
	},
	{
		id: "lexical p50", what: "search by the lexical arm alone, reranked, p50", unit: "ms", versus: "naive",
		limits: at(10000, 4, 1), digits: 2,
	},
	{
		id: "lexical p99", what: "search by the lexical arm alone, reranked, p99", unit: "ms", versus: "naive",
		limits: at(10000, 20, 4), digits: 2,
	},
	{id: "again p50", what: "the same questions, remembered, p50", unit: "ms", versus: "naive", digits: 2},
	{id: "project p50", what: "search of one project in process, p50", unit: "ms", digits: 2},
	{id: "project p99", what: "search of one project in process, p99", unit: "ms", digits: 2},
	{id: "cold p50", what: "`search`, cold process, p50", unit: "ms", versus: "naive", digits: 1},
	{id: "cold p95", what: "`search`, cold process, p95", unit: "ms", versus: "naive", digits: 1},
	{id: "write", what: "one write until a search finds it, p50", unit: "ms", versus: "two fsyncs", digits: 2},
	{id: "write p95", what: "one write until a search finds it, p95", unit: "ms", versus: "two fsyncs", digits: 2},
	{id: "write above", what: "one write, above its two fsyncs, p50", unit: "ms", limits: at(every, 5, 2), digits: 2},
	{id: "index", what: "index from nothing, with vectors", unit: "files/s", versus: "naive", more: true, limits: at(every, 6000, 8000)},
	{id: "walk", what: "walk, nothing changed", unit: "ms", versus: "`git status`", ratio: true, limits: at(100000, 2, 1.3), digits: 1},
	{id: "bytes", what: "index, bytes a note", unit: "B", versus: "naive", limits: at(100000, 2500, 2000)},
	{id: "bytes copies", what: "copies of its vectors and of its full text, bytes a note", unit: "B"},
	{id: "memory search", what: "peak memory of one cold search", unit: "MB", versus: "naive", limits: at(100000, 120, 40), digits: 1},
	{id: "memory reindex", what: "peak memory of `reindex`", unit: "MB", digits: 1},
	{
		id: "mcp", what: "`memory_search` over MCP, round trip, p50", unit: "ms", versus: "in process", ratio: true,
		limits: at(10000, 2, 1.5), digits: 2,
	},
	{id: "mcp start", what: "server over MCP, start to first answer, p50", unit: "ms", limits: at(10000, 60, 30), digits: 1},
	{id: "status line", what: "`status --line`, p50", unit: "ms", digits: 1},
	{id: "doctor", what: "`doctor`, p50", unit: "ms", limits: at(10000, 300, 150)},
	{id: "reflect", what: "`reflect`, dry run, p50", unit: "ms", limits: at(10000, 1000, 200)},
	{id: "import", what: "`import transcripts`", unit: "MB/s", more: true, limits: at(every, 50, 200)},
	{id: "drain 1", what: "`drain` of 1 spooled session", unit: "ms"},
	{id: "drain 20", what: "`drain` of 20 spooled sessions", unit: "ms"},
	{id: "redact clean", what: "redaction of clean text", unit: "MB/s", more: true, limits: at(every, 50, 200)},
	{id: "redact secrets", what: "redaction of text full of secrets", unit: "MB/s", more: true},
	{id: "binary", what: "binary, stripped", unit: "MB", limits: at(every, 45, 25), digits: 1},
	{id: "binary naive", what: "the naive program, stripped", unit: "MB", digits: 1},
}, append(payloadRows(), tokenRows()...)...)

// A cell is a figure at one size; base is that of the yardstick, 0 for none.
type cell struct{ value, base float64 }

type cellKey struct {
	id   string
	size int
}

// A table holds what was measured. Size 0 stands for figures that no store changes.
type table struct{ cells map[cellKey]cell }

func newTable() *table { return &table{make(map[cellKey]cell)} }

func (t *table) put(id string, size int, value, base float64) {
	t.cells[cellKey{id, size}] = cell{value, base}
}

// A verdict is what a budget says of a figure.
type verdict struct {
	size     int
	met, aim bool
	got      float64
	limit    limit
}

func (v verdict) String() string {
	switch {
	case !v.met:
		return "MISSED"
	case v.aim:
		return "met, aim met"
	}
	return "met"
}

// judge compares what was measured with the limits of a row.
func (t *table) judge(r row) []verdict {
	var all []verdict
	for _, size := range t.sizes() {
		c, measured := t.cells[cellKey{r.id, size}]
		l, limited := r.limits[size]
		if !limited {
			l, limited = r.limits[every]
		}
		if !measured || !limited {
			continue
		}
		got := c.value
		if r.ratio {
			got = c.value / c.base
		}
		v := verdict{size: size, met: got <= l.budget, aim: got <= l.aim, got: got, limit: l}
		if r.more {
			v.met, v.aim = got >= l.budget, got >= l.aim
		}
		all = append(all, v)
	}
	return all
}

func (t *table) sizes() []int {
	seen := make(map[int]bool)
	var all []int
	for k := range t.cells {
		if !seen[k.size] {
			seen[k.size] = true
			all = append(all, k.size)
		}
	}
	slices.Sort(all)
	return all
}

func sizeName(n int) string {
	switch {
	case n == every:
		return "any"
	case n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// verdicts joins what a row's verdicts say, size by size where they differ.
func verdicts(all []verdict) string {
	var parts []string
	same := true
	for _, v := range all {
		same = same && v.String() == all[0].String()
		parts = append(parts, v.String()+" at "+sizeName(v.size))
	}
	if same && len(all) > 0 {
		return all[0].String()
	}
	return strings.Join(parts, "; ")
}

// limitText writes the budgets or the aims of a row.
func (r row) limitText(of func(limit) float64) string {
	sign := "≤ "
	if r.more {
		sign = "≥ "
	}
	unit := " " + r.unit
	if r.ratio {
		unit = "×"
	}
	var parts []string
	for _, size := range slices.Sorted(func(yield func(int) bool) {
		for size := range r.limits {
			if !yield(size) {
				return
			}
		}
	}) {
		text := sign + strings.TrimSuffix(fmt.Sprintf("%.1f", of(r.limits[size])), ".0") + unit
		if size != every {
			text += " at " + sizeName(size)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// lines returns the table as fields of text, the head first.
func (t *table) lines(sizes []int) [][]string {
	head := []string{"figure", "budget", "aim"}
	for _, n := range sizes {
		head = append(head, sizeName(n)+" notes")
	}
	all := [][]string{append(head, "ratio", "verdict")}
	for _, r := range rows {
		line := []string{r.what, r.limitText(func(l limit) float64 { return l.budget }), r.limitText(func(l limit) float64 { return l.aim })}
		var ratios []string
		found := false
		for i, n := range sizes {
			c, ok := t.cells[cellKey{r.id, n}]
			if !ok && i == len(sizes)-1 {
				c, ok = t.cells[cellKey{r.id, every}]
			}
			if found = found || ok; !ok {
				line = append(line, "")
				continue
			}
			line = append(line, fmt.Sprintf("%.*f %s", r.digits, c.value, r.unit))
			if c.base != 0 {
				ratios = append(ratios, fmt.Sprintf("%.2g", c.value/c.base))
			}
		}
		ratio := strings.Join(ratios, " / ")
		if ratio != "" {
			ratio += "× " + r.versus
		}
		if found {
			all = append(all, append(line, ratio, verdicts(t.judge(r))))
		}
	}
	return all
}

// text writes the table for a terminal.
func (t *table) text(sizes []int) string {
	lines := t.lines(sizes)
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, f := range l {
			width[i] = max(width[i], utf8.RuneCountInString(f))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		for i, f := range l {
			b.WriteString(f + strings.Repeat(" ", width[i]-utf8.RuneCountInString(f)+2))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
