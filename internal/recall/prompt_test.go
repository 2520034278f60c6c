package recall_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/recall"
)

func TestPlanPrompt(t *testing.T) {
	const trace = "Traceback (most recent call last):\n  File \"app/main.py\", line 3, in <module>\nModuleNotFoundError: No module named 'yaml'\n"
	for _, c := range []struct {
		prompt, silent string
		parts          []recall.Part
	}{
		{"", "nothing was said", nil},
		{"  \x00\n", "nothing was said", nil},
		{"/compact", "a command of the agent", nil},
		{"/anamnesis:recall nginx", "a command of the agent", nil},
		{"!git status", "a command of the shell", nil},
		{"thanks, looks good", "no subject", nil},
		{"yes, do that one too", "no subject", nil},
		{"👍", "no subject", nil},
		{"/srv/www/site/index.html", "a path alone", nil},
		{"@src/cart.ts src/tax.ts", "a path alone", nil},
		{"README.md", "a path alone", nil},
		{"2026-11-22T10:00:00 INFO started\n2026-11-22T10:00:01 INFO 0 errors\n", "pasted text without a question or an error", nil},
		{"how do we roll?", "", []recall.Part{{recall.Prose, "how do we roll?"}}},
		{"how do we deploy?", "", []recall.Part{
			{recall.Prose, "how do we deploy?"}, {recall.Sense, "deploy rollout production apply"},
		}},
		{"die Spalte fehlt", "", []recall.Part{{recall.Prose, "die Spalte fehlt"}, {recall.Translation, "column table field"}}},
		{"no, that is wrong", "no subject", nil},
		{"no, the heap is too small", "a correction of what was done", nil},
		{"ok, reindex over night", "a reply to what was proposed", nil},
		{"and now?\n> Resolved x which is not part of the lock state", "", []recall.Part{{recall.Fault, "> Resolved x which is not part of the lock state"}}},
		{"why does recalcTax round in cart.go?", "", []recall.Part{
			{recall.Prose, "why does recalcTax round in cart.go?"}, {recall.Names, "recalcTax cart.go"},
		}},
		{trace, "", []recall.Part{{recall.Fault, "ModuleNotFoundError: No module named 'yaml'"}}},
		{"what is this?\n```\n" + trace + "```", "", []recall.Part{
			{recall.Fault, "ModuleNotFoundError: No module named 'yaml'"},
		}},
		{"why does the import fail?\n```\n" + trace + "```", "", []recall.Part{
			{recall.Prose, "why does the import fail?"}, {recall.Sense, "load rows bulk insert batch"}, {recall.Fault, "ModuleNotFoundError: No module named 'yaml'"},
		}},
		{"the retry budget\n~~~\nx := 1\n```\n~~~\nis too small", "", []recall.Part{
			{recall.Prose, "the retry budget\nis too small"}, {recall.Sense, "flaky retry rerun"}, {recall.Fault, "x := 1"},
		}},
		{"10:00:01 ERROR connection refused to db:5432\n", "", []recall.Part{{recall.Fault, "ERROR connection refused to db:5432"}}},
	} {
		p := recall.PlanPrompt(c.prompt)
		if p.Silent != c.silent || !slices.Equal(p.Parts, c.parts) {
			t.Errorf("%q:\n%+v", c.prompt, p)
		}
	}
}

// A prompt of any length and any bytes makes few and short questions.
func FuzzPlanPrompt(f *testing.F) {
	for _, s := range []string{"", "```\nerror: x\n```", "/x", "~~~", "a\x00b", "\xff\xfe", strings.Repeat("panic: no such file ", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		p := recall.PlanPrompt(prompt)
		if (p.Silent == "") == (len(p.Parts) == 0) || len(p.Parts) > 6 {
			t.Errorf("%+v", p)
		}
		for _, part := range p.Parts {
			if part.Text == "" || len(part.Text) > 4<<10 || !utf8.ValidString(part.Text) || strings.Contains(part.Text, "\x00") {
				t.Errorf("%+v", part)
			}
		}
	})
}
