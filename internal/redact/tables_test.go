package redact

import (
	"regexp"
	"strings"
	"testing"
)

// TestTable checks what the table promises: patterns that compile, keys that the filter can find,
// rules with names, a sentence each.
func TestTable(t *testing.T) {
	rows := detectors()
	if len(rows) < 200 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.rule == "" || strings.ToLower(r.rule) != r.rule || !strings.HasSuffix(r.about, ".") {
			t.Errorf("%q: want a lower-case name and a sentence, got %q", r.rule, r.about)
		}
		for k := range strings.SplitSeq(r.keys, "|") {
			if len(k) < 3 || !r.exact && lowerASCII(k) != k {
				t.Errorf("%s: key %q is shorter than three bytes, or not in lower case", r.rule, k)
			}
		}
		p := r.pattern
		if p == nil {
			continue
		}
		if _, err := regexp.Compile(p.whole()); err != nil {
			t.Errorf("%s: %v", r.rule, err)
		}
		if p.expr == "" || (p.back > 0) != (p.kind == "inside") || p.kind != "token" && p.kind != "inside" && p.kind != "context" {
			t.Errorf("%s: kind %q, %d bytes back, pattern %q", r.rule, p.kind, p.back, p.expr)
		}
	}
}

// TestWords checks that each list is there and holds lower-case words once.
func TestWords(t *testing.T) {
	files, err := wordFiles.ReadDir("words")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".txt")
		words := wordList(name)()
		if len(words) < 10 || len(wordSet(name)()) != len(words) {
			t.Errorf("%s: %d words, %d of them once", name, len(words), len(wordSet(name)()))
		}
	}
	for name, n := range map[string]int{
		"password names": len(passwordNames()), "other tokens": len(otherTokens()), "weak names": len(weakNames()), "plain keys": len(plainKeys()),
		"secret keys": len(secretKeys()), "qualifiers": len(qualifiers()), "attributes": len(attributes()), "verbs": len(verbs()),
		"stopwords": len(stopwords()), "password endings": len(passwordEndings()), "secret endings": len(secretEndings()),
		"references": len(references()), "placeholders": len(wordList("placeholders")()),
	} {
		if n == 0 {
			t.Errorf("there are no %s", name)
		}
	}
}
