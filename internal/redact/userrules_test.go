package redact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/redact"
)

const ruleText = `# rules of ours
title = "acme"

[extend]
useDefault = true

[[rules]]
id = "acme-token"   # the shop
description = "Token of the \"Acme\" shop"
regex = '''acme_([a-z0-9]{8})'''
keywords = [
  "acme_", # in a comment: ]
  'ACME',
]
tags = ["x", "y"]
secretGroup = 1

[[rules]]
id = 'ticket'
regex = "TCK-[0-9]{6}"
entropy = 2

[rules.allowlist]
paths = ["go.sum"]

[allowlist]
regexes = ['''^acme_test''', "999"]
stopwords = ["example"]
`

func TestParseRules(t *testing.T) {
	rules, err := redact.ParseRules("redact.toml", []byte(ruleText))
	if err != nil {
		t.Fatal(err)
	}
	r := newRedactor(t, rules...)
	for _, tt := range []struct{ in, want string }{
		{"an acme_abcd1234 here", "an acme_[REDACTED] here"},
		{"an ACME acme_abcd1234", "an ACME acme_[REDACTED]"},
		{"see TCK-123456.", "see [REDACTED]."},
		{"see TCK-111111.", "see TCK-111111."}, // too regular
		{"see TCK-199923.", "see TCK-199923."}, // allowed by regex
		{"an acme_example1", "an acme_example1"},
	} {
		if got := r.Redact(tt.in).String(); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	want := []redact.Finding{{Rule: "ticket", Start: 4, End: 14}}
	if d := cmp.Diff(want, r.Find("see TCK-123456.")); d != "" {
		t.Errorf("Find: (-want +got)\n%s", d)
	}
}

func TestParseRulesErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"[[rules]]\nid = \"a\"\nregex = '''('''", "redact.toml:1: rule \"a\": the regex does not compile"},
		{"[[rules]]\nid = \"a\"\nregex = '(?=x)'", "no look-around"},
		{"[[rules]]\nid = \"a\"", "redact.toml:1: rule \"a\" has no regex"},
		{"[[rules]]\nregex = 'a'", "rule without an id"},
		{"[[rules]]\nid = \"a", "redact.toml:2: unterminated basic string"},
		{"[[rules]]\nid = a", "redact.toml:2: "},
		{"\n[[rules\n", "redact.toml:2: "},
		{"[[rules]]\nid = \"a\"\nregex = 'x*'", "matches the empty text"},
		{"[[rules]]\nid = \"a\"\nregex = '((a{30}){30}){30}'", "redact.toml:1"},
		{"[[rules]]\nid = \"a\"\nregex = '" + strings.Repeat("a", 5000) + "'", "at most 4096"},
		{"[[rules]]\nid = \"a\"\nregex = 'a'\nsecretGroup = 2", "secretGroup is 2"},
		{"[[rules]]\nkeywords = [1]", "redact.toml:2: keywords has a value of the wrong kind"},
		{"[[rules]]\nkeywords = ['a'", "redact.toml:2: "},
		{"[[rules]]\nid = \"\\q\"", "redact.toml:2: invalid escape character"},
		{"nonsense", "redact.toml:1: expected '=' after key"},
		{"rules = 3", "redact.toml:1: rules has a value of the wrong kind"},
		{"[[rules]]\nid = 'a'\nregex = 'a'\nentropy = nan", "redact.toml:1: rule \"a\": entropy is NaN"},
		{"[allowlist]\nstopwords = [1]", "redact.toml:1: stopwords has a value of the wrong kind"},
		{"\xff", "not UTF-8"},
	} {
		_, err := redact.ParseRules("redact.toml", []byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseRules(%.40q) = %v, want it to say %q", tt.in, err, tt.want)
		}
	}
}

// TestGreedyRule has a rule that matches what Redact leaves behind.
func TestGreedyRule(t *testing.T) {
	for _, expr := range []string{`\w+`, `REDACTED`, `.`, `\[`, `[^x]+$`, `D\] .`} {
		r := newRedactor(t, redact.Rule{ID: "greedy", Regex: expr})
		for _, in := range []string{"a b c", "[REDACTED] a", "x [RED", strings.Repeat("ab ", 50)} {
			once := r.Redact(in).String()
			if twice := r.Redact(once).String(); twice != once {
				t.Errorf("%q: %q becomes %q, then %q", expr, in, once, twice)
			}
		}
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte(ruleText))
	f.Add([]byte("[[rules]]\nid=\"\\u00e9\"\nregex=\"\"\"a\nb\"\"\"\nkeywords=[[],[1_0,true]]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := redact.ParseRules("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		if _, err := redact.New(rules...); err != nil {
			t.Errorf("rules that were read cannot be used: %v", err)
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, s := range shapes {
		f.Add(s, "next")
	}
	f.Add("<private>", "</private>")
	f.Add("{\"a\":\"", "\"}")
	r, err := redact.New()
	if err != nil {
		f.Fatal(err)
	}
	planted := x("gh", "p_", strings.Repeat("aB3d", 9))
	f.Fuzz(func(t *testing.T, before, after string) {
		in := before + " " + planted + " " + after
		got := r.Redact(in).String()
		if strings.Contains(got, planted) {
			t.Errorf("the planted token survives in %q", got)
		}
		if again := r.Redact(got).String(); again != got {
			t.Errorf("%q becomes %q, then %q", in, got, again)
		}
		if found := r.Find(got); found != nil {
			t.Errorf("Find(%q) = %v after Redact", got, found)
		}
		if strings.ToValidUTF8(in, "") == in && strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q becomes invalid: %q", in, got)
		}
	})
}
