package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"anamnesis/internal/redact"
)

// TestEcho: a secret that one place gives away is masked everywhere in the text.
func TestEcho(t *testing.T) {
	r := newRedactor(t)
	for _, tt := range []struct{ in, want string }{
		{"postgres://admin:hunter2secret@db/app\nI used the password hunter2secret.", "postgres://[REDACTED]/app\nI used the password [REDACTED]"},
		{"hunter2secret it is\nDB_PASSWORD=hunter2secret", "[REDACTED] it is\nDB_PASSWORD=[REDACTED]"},
		{"PASSWORD=dragonfly\nthe dragonflys and a dragonfly", "PASSWORD=[REDACTED]\nthe dragonflys and a [REDACTED]"},
		{"curl -u bob:pw9xQz https://a\nssh bob@a, then pw9xQz", "curl -u [REDACTED] https://a\nssh bob@a, then [REDACTED]"},
		{"https://u:p%40ss9w@h.org/ and p@ss9w", "https://[REDACTED]@h.org/ and [REDACTED]"},
		// Too short, or the name of what it stands beside.
		{"pin: 4711\nin 4711 steps", "pin: [REDACTED]\nin 4711 steps"},
		{"PASSWORD=main\nthe main branch", "PASSWORD=[REDACTED]\nthe main branch"},
	} {
		if got := r.Redact(tt.in).String(); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestKnowing: texts that belong together are redacted with what each of them gives away.
func TestKnowing(t *testing.T) {
	r := newRedactor(t)
	title, body := "Login with hunter2secret works", "export DB_PASSWORD=hunter2secret"
	knowing := r.Knowing(title, body)
	if got := knowing.Redact(title).String(); got != "Login with [REDACTED] works" {
		t.Errorf("title: %q", got)
	}
	if got := r.Redact(title).String(); got != title {
		t.Errorf("the title alone: %q", got)
	}
	if found := knowing.Find(title); len(found) != 1 || title[found[0].Start:found[0].End] != "hunter2secret" {
		t.Errorf("Find: %v", found)
	}
	if got := knowing.StripPrivate(false).Redact(title).String(); strings.Contains(got, "hunter2secret") {
		t.Errorf("without private spans: %q", got)
	}
	rules, err := redact.ParseRules("redact.toml", []byte("[allowlist]\nstopwords = ['hunter2secret']\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := newRedactor(t, rules...).Knowing(title, body).Redact(title).String(); got != title {
		t.Errorf("what the user allows is masked as an echo: %q", got)
	}
}

// TestManySecrets: a text of nothing but secrets is masked in time, and whole.
func TestManySecrets(t *testing.T) {
	r := newRedactor(t)
	rnd := rand.New(rand.NewPCG(5, 8))
	var b strings.Builder
	var values []string
	for i := range 5000 {
		v := drawValue(rnd, "weak", "") + fmt.Sprint(i)
		values = append(values, v)
		fmt.Fprintf(&b, "export DB%d_PASSWORD=%s\n", i, v)
	}
	out := r.Redact(b.String()).String()
	for _, v := range values {
		if strings.Contains(out, "="+v+"\n") {
			t.Fatalf("%s is left", v)
		}
	}
}

// TestColours: what a terminal shows in colours is read as people read it, and the colours stay.
func TestColours(t *testing.T) {
	r := newRedactor(t)
	for _, tt := range []struct{ in, want string }{
		{"\x1b[1mpassword\x1b[0m: \x1b[33mdragon77\x1b[0m", "\x1b[1mpassword\x1b[0m: \x1b[33m[REDACTED]\x1b[0m"},
		{"TOKEN=drag\x1b[32mon77\x1b[0m ok", "TOKEN=[REDACTED]\x1b[0m ok"},
		{`"out":"PASSWORD=\u001b[32mdragon77\u001b[0m\n"`, `"out":"PASSWORD=\u001b[32m[REDACTED]\u001b[0m\n"`},
		{"\x1b]0;title\atoken=dragon77", "\x1b]0;title\atoken=[REDACTED]"},
		{"\x1b[31mred\x1b[0m and \\e[0m plain", "\x1b[31mred\x1b[0m and \\e[0m plain"},
		{"\x1b]0;token=dragon77\a in the title", "\x1b]0;token=[REDACTED]\a in the title"},
		{"\x1b]8;;https://ada:dragon77@example.com\x1b\\here", "\x1b]8;;https://[REDACTED]@example.com\x1b\\here"},
		{"a\x1b", "a\x1b"},
	} {
		got := r.Redact(tt.in).String()
		if got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if again := r.Redact(got).String(); again != got {
			t.Errorf("%q becomes %q, then %q", tt.in, got, again)
		}
	}
}
