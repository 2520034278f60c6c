package redact_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/redact"
)

var update = flag.Bool("update", false, "rewrite docs/secrets.md")

// TestDocs compares docs/secrets.md with the table.
func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What the redactor finds\n\n<!-- Generated from internal/redact by `make generate`. Do not edit. -->\n\n" +
		"`anamnesis config redact FILE` names the rule of each secret that it masks. Rules of your own stand in `redact.toml`;\n" +
		"[SECURITY.md](../SECURITY.md#the-redactor-and-its-limits) says what is not found.\n\n| rule | what it finds |\n|---|---|\n")
	for _, row := range redact.Table() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", row[0], strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", `\|`).Replace(row[1]))
	}
	file := filepath.Join("..", "..", "docs", "secrets.md")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != b.String() {
		t.Errorf("docs/secrets.md is stale (%v); run `make generate`", err)
	}
}

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
