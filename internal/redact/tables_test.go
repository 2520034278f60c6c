package redact

import (
	"regexp"
	"strings"
	"testing"
)

// TestTables checks what the tables promise: patterns that compile, keywords
// that the filter can find, ids that name one rule, a sentence each.
func TestTables(t *testing.T) {
	check := func(id, about, keys, pattern string) {
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if id == "" || strings.ToLower(id) != id || !strings.HasSuffix(about, ".") {
			t.Errorf("%q: want a lower-case id and a sentence, got %q", id, about)
		}
		for k := range strings.FieldsSeq(keys) {
			if len(k) < 3 {
				t.Errorf("%s: keyword %q is shorter than three bytes", id, k)
			}
		}
	}
	rules := readRules(rulesText)
	if len(rules) < 150 {
		t.Errorf("%d rules", len(rules))
	}
	for _, r := range rules {
		check(r.id, r.about, strings.Join(r.keys, " "), r.expr())
		if len(r.keys) == 0 || r.pattern == "" || (r.back > 0) != (r.kind == "inside") {
			t.Errorf("%s: kind %q, %d bytes back, %d keys, pattern %q", r.id, r.kind, r.back, len(r.keys), r.pattern)
		}
		switch r.kind {
		case "token", "inside":
		case "context":
			if keys := strings.Join(r.keys, " "); strings.ToLower(keys) != keys {
				t.Errorf("%s: keywords of contexts are lower case: %q", r.id, keys)
			}
		default:
			t.Errorf("%s: there is no kind %q", r.id, r.kind)
		}
	}
	for _, k := range newFilter(nil).words {
		if len(k.text) < 3 || lowerASCII(k.text) != k.text {
			t.Errorf("keyword %q", k.text)
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
