package redact

import (
	"slices"
	"strings"
)

// Table returns the rule of each row and what it finds.
func Table() (rows [][2]string) {
	for _, d := range detectors() {
		rows = append(rows, [2]string{d.rule, d.about})
	}
	return rows
}

// Rows returns how many rows the table has.
func Rows() int { return len(detectors()) }

// Without returns what a row of the table is for, its keys, and a Redactor that lacks it.
func Without(row int) (about string, keys []string, r *Redactor) {
	off := &detectors()[row]
	words := slices.DeleteFunc(slices.Clone(builtinKeywords()), func(k keyword) bool { return k.row == off })
	f := filterOf(words)
	return off.rule + ": " + off.about, strings.Split(strings.ToLower(off.keys), "|"), &Redactor{filter: func() *filter { return f }}
}
