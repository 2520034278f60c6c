package redact_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/redact"
)

var large = flag.Bool("large", false, "feed TestLinear ten megabytes of each text rather than one")

// long is how many seconds something may take that takes none on a machine with
// nothing else to do.
const long = 120

// TestLinear feeds texts that are all beginning and no end, and wants an answer:
// what looks at a megabyte for each of its bytes takes a quarter of an hour.
func TestLinear(t *testing.T) {
	size := 1 << 20
	if *large {
		size = 10 << 20
	}
	r := newRedactor(t)
	for _, unit := range []string{
		"a=", "=", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\x00", "\xff\xfe", "a", "key=", "password=", "password=\"", "password='", `key=\"`,
		"token: ", "sk-", "eyJ", "eyJ.", "-eyJ-", "://", "a://b:c@", "@tcp(", ":::", ":AA", "AZDO", "-us1", "heroku=", "datadog_", "Bearer ", "Authorization: ", "Cookie: a=b;", "machine a login b ",
		"<private>", "<private ", "</private>", "curl -u ", "mysql -p ", "networkcredential(", "[REDACTED]", "password=[REDACTED]", "\\", "\\\"", "password=\\", "secret,", "\"key\",", "token\n", "user=a\npassword=b1cd\n",
		"ghp_0123456789abcdefghij ", "a.b.", "A1", "key", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "$6$a$", "net use ", "mail->password='", "private-lines: ", "pass\tpass ", "%22key%22:", "&quot;",
		"AKIA", "AKIA0123456789ABCDEF ", "https://a/hooks/", "/hooks/", "gotify://a", "client('a',", "client(", "user=a:", "a:b1cdef@10.", "<(echo ",
		"pass_phrase ", "http-basic.", "api key a ", "token%3D", "AES.new(", "2fa seed ", "-b a=b;",
	} {
		text := strings.Repeat(unit, size/len(unit))
		start := time.Now()
		r.Redact(text)
		if took := time.Since(start); took > long*time.Second {
			t.Errorf("%d bytes of %q took %v", len(text), unit, took)
		} else if took > 2*time.Second {
			t.Logf("%d bytes of %q took %v", len(text), unit, took)
		}
	}
}

// clean draws n bytes of the text that passes the border all day: prose, code
// and transcripts without a secret in them.
func clean(n int) string {
	rnd := rand.New(rand.NewPCG(3, 5))
	words := strings.Fields("the index was brought into step with files and a walk compares what it knows by path size time then content hash key token value session password reader writer store note recall capture error return nothing branch merge commit test build config handler request response")
	pick := func() string { return words[rnd.IntN(len(words))] }
	var b strings.Builder
	for b.Len() < n {
		switch rnd.IntN(4) {
		case 0:
			for range 60 {
				b.WriteString(pick() + " ")
			}
			b.WriteString("\n\n")
		case 1:
			fmt.Fprintf(&b, "func (s *Store) %s%s(ctx context.Context, %s string) (int, error) {\n\t%s, err := s.%s(ctx, %q)\n\tif err != nil {\n\t\treturn 0, fmt.Errorf(\"%s %%s: %%w\", %s, err)\n\t}\n\treturn len(%s), nil\n}\n", pick(), pick(), pick(), pick(), pick(), pick(), pick(), pick(), pick())
		case 2:
			fmt.Fprintf(&b, `{"type":"assistant","uuid":"%08x-1111-4222-8333-%012x","message":{"role":"assistant","content":[{"type":"text","text":"%s %s %s\n%s %s"}],"usage":{"input_tokens":%d}}}`+"\n", rnd.Uint32(), rnd.Uint32(), pick(), pick(), pick(), pick(), pick(), rnd.IntN(5000))
		default:
			fmt.Fprintf(&b, "%s/%s/%s.go:%d: %s %s (%x)\n", pick(), pick(), pick(), rnd.IntN(900), pick(), pick(), rnd.Uint32())
		}
	}
	return b.String()[:n]
}

func BenchmarkRedactClean(b *testing.B) {
	r := newRedactor(b)
	text := clean(4 << 20)
	if found := r.Find(text); len(found) > 0 {
		b.Fatalf("the clean text is not: %q", text[max(0, found[0].Start-40):found[0].End])
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}

// BenchmarkRedactSecrets measures text full of secrets.
func BenchmarkRedactSecrets(b *testing.B) {
	r := newRedactor(b)
	rnd := rand.New(rand.NewPCG(3, 5))
	var all strings.Builder
	for range 4 {
		for _, shape := range shapes {
			text, _ := draw(rnd, shape)
			all.WriteString(text + "\n")
		}
	}
	b.SetBytes(int64(all.Len()))
	for b.Loop() {
		r.Redact(all.String())
	}
}

func BenchmarkNewRedactor(b *testing.B) {
	for b.Loop() {
		if _, err := redact.New(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstRedact measures what a cold process pays for one short text.
func BenchmarkFirstRedact(b *testing.B) {
	for b.Loop() {
		newRedactor(b).Redact("Fixed the parser; see docs.")
	}
}
