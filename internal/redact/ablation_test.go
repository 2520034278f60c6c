package redact_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/redact"
)

// TestAblation switches off each row of the table, and wants that a secret of a case comes through
// that did not before: a row that masks nothing is none of ours.
func TestAblation(t *testing.T) {
	type hidden struct {
		text, low string
		secrets   []string
	}
	var cases []hidden
	all := newRedactor(t)
	add := func(text string, secrets []string) {
		out := all.Redact(text).String()
		if secrets = slices.DeleteFunc(secrets, func(s string) bool { return strings.Contains(out, s) }); len(secrets) > 0 {
			cases = append(cases, hidden{text, strings.ToLower(text), secrets})
		}
	}
	for seed := range uint64(3) {
		for _, file := range []string{"secrets.txt", "secrets-more.txt"} {
			for _, c := range readCases(t, file, seed) {
				add(c.text, c.values)
			}
		}
		for _, l := range readLines(t, seed) {
			add(l.text, l.secrets)
		}
		for _, shape := range shapes {
			add(draw(rand.New(rand.NewPCG(seed, 8)), shape))
		}
	}
	for row := range redact.Rows() {
		about, keys, without := redact.Without(row)
		if !slices.ContainsFunc(cases, func(c hidden) bool {
			if !containsAny(c.low, keys...) {
				return false
			}
			out := without.Redact(c.text).String()
			return containsAny(out, c.secrets...)
		}) {
			t.Errorf("no case needs %s", about)
		}
	}
}
