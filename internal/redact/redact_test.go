package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/redact"
)

// x joins the parts of a token, so that no scanner takes this file for a leak.
func x(parts ...string) string { return strings.Join(parts, "") }

func TestRedact(t *testing.T) {
	r := newRedactor(t)
	pem := x("-----BEGIN RSA PRI", "VATE KEY-----")
	pemEnd := x("-----END RSA PRI", "VATE KEY-----")
	line := strings.Repeat("Abc1", 16)
	for _, tt := range []struct{ in, want string }{
		// What earlier versions of this program masked, and must go on masking.
		{x("use sk", "-ABCD1234abcd5678efgh now"), "use [REDACTED] now"},
		{x("id AK", "IAIOSFODNN7EXAMPLE."), "id [REDACTED]."},
		{x("gh", "p_", strings.Repeat("aB3d", 9)), "[REDACTED]"},
		{x("DEEPSEEK_API_KEY=", "super-secret-value-123456"), "DEEPSEEK_API_KEY=[REDACTED]"},
		{x(`"authorization": "Bearer `, `abcdef0123456789ghij"`), `"authorization": "Bearer [REDACTED]"`},
		{`api_key="x"`, `api_key="[REDACTED]"`},
		{`client-secret: zzz`, `client-secret: [REDACTED]`},
		{`x-api-key: zzz`, `x-api-key: [REDACTED]`},
		{`my_token=zzz`, `my_token=[REDACTED]`},
		{pem + "\n" + line + "\n" + line + "\n" + pemEnd + "\nrest", "[REDACTED]\nrest"},
		// What they missed.
		{`"password": "hunter2"`, `"password": "[REDACTED]"`},
		{`{"api_key": "8fk2kd93"}`, `{"api_key": "[REDACTED]"}`},
		{`{\"password\": \"hunter2\", \"user\": 1}`, `{\"password\": \"[REDACTED]\", \"user\": 1}`},
		{`{\\\"token\\\":\\\"ab12cd34ef56\\\"}`, `{\\\"token\\\":\\\"[REDACTED]\\\"}`},
		{x("AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY1"), "AWS_SECRET_ACCESS_KEY=[REDACTED]"},
		{"ANAMNESIS_REFLECTION_API_KEY=k9", "ANAMNESIS_REFLECTION_API_KEY=k9"}, // two characters are nobody's key
		{"ANAMNESIS_REFLECTION_API_KEY=k9v8", "ANAMNESIS_REFLECTION_API_KEY=[REDACTED]"},
		{"SECRET_KEY=zzz", "SECRET_KEY=[REDACTED]"},
		{"accessToken=zzz12", "accessToken=[REDACTED]"},
		{x("sk-proj", "-a1B2c3D4e5F6g7H8i9J0k1L2"), "[REDACTED]"},
		{x("sk-ant-", "api03-a1B2c3D4-e5F6g7H8_i9J0"), "[REDACTED]"},
		{x("sk_", "live_a1B2c3D4e5F6g7H8"), "[REDACTED]"},
		{x("github", "_pat_11ABCDEFG0a1B2c3D4e5F6g7"), "[REDACTED]"},
		{x("gl", "pat-a1B2c3D4e5F6g7H8i9J0"), "[REDACTED]"},
		{x("AI", "za", strings.Repeat("a1B2c", 7)), "[REDACTED]"},
		{x("AS", "IA", "ABCDEFGH12345678"), "[REDACTED]"},
		{x("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"), "[REDACTED]"},
		{"postgres://u:pL9x@h/db", "postgres://[REDACTED]/db"},
		{"git clone https://me:pL9xq@git.example.org/a", "git clone https://[REDACTED]@git.example.org/a"},
		{"postgres://me:pL9xq@localhost:5432/db", "postgres://[REDACTED]@localhost:5432/db"},
		{"Authorization: Basic dXNlcjpzM2NyM3RQYXNz", "Authorization: Basic [REDACTED]"},
		{pem + "\n" + line + "\n" + line + "\nAb12", "[REDACTED]"},
		{`"key": "` + pem + `\n` + line + `\n` + line, `"key": "[REDACTED]`},
		{line + "\n" + line + "\n" + pemEnd, "[REDACTED]" + pemEnd},
		{x("-----BEGIN PGP PRI", "VATE KEY BLOCK-----\nVersion: 2\n\n", line, "\n=aB3d\n-----END PGP PRI", "VATE KEY BLOCK-----"), "[REDACTED]"},
		{"machine git.x login me password pL9xq", "machine [REDACTED] login [REDACTED] password [REDACTED]"},
		{"Cookie: theme=dark; sessionid=a1b2c3d4e5f6g7h8i9j0", "Cookie: theme=dark; sessionid=[REDACTED]"},
		{"mail.password=njbb fbpr hhwl ikux\nport=25", "mail.password=[REDACTED]\nport=25"}, // as Google gives them to programs
		{"mail.password=njbb is the old one", "mail.password=[REDACTED] is the old one"},
		{"next=%2Fme%3Ftoken%3Da1B2c3D4e5F6g7H8%26x%3D1", "next=%2Fme%3Ftoken%3D[REDACTED]%26x%3D1"},
		{"pass_phrase=x1$stOT930", "pass_phrase=[REDACTED]"},
		{"user mia, initial password mqlj$OmnG487", "user mia, initial password [REDACTED]"},
		{"the root pw is now ThicketWalnut12", "the root pw is now [REDACTED]"},
		{"civo apikey save prod Q8OzxiyAh9isZSP3EgK9umqkaU", "civo apikey save prod [REDACTED]"},
		{"https://x.example/hooks/1234567890/a1B2c3D4e5F6g7H8i9/slack", "https://x.example/hooks/[REDACTED]/slack"},
		// What is kept around a value.
		{`export PASSWORD='pL9xq' # mine`, `export PASSWORD='[REDACTED]' # mine`},
		{`<password>pL9xq</password>`, `<password>[REDACTED]</password>`},
		{`curl -u me:pL9xq https://x`, `curl -u [REDACTED] https://x`},
		{"user = app\npassword = openSesame", "user = [REDACTED]\npassword = [REDACTED]"},
		{`password=[REDACTED]`, `password=[REDACTED]`},
		{`PASSWORD=a!1,b;c)d1`, `PASSWORD=[REDACTED]`},
	} {
		if got := r.Redact(tt.in).String(); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if got := r.Redact(tt.want).String(); got != tt.want {
			t.Errorf("twice: Redact(%q) = %q", tt.want, got)
		}
	}
}

func TestLeavesAlone(t *testing.T) {
	r := newRedactor(t)
	for _, in := range []string{
		"", "the secret: plan", "password = os.environ['PASSWORD']", `password = os.environ["DB"]`, "max_tokens: 100", "max_tokens=4096",
		"We changed internal/store/store.go and docs/format.md.", "token := parser.Next()", "password: str", "api_key=None", "password=$PASSWORD",
		"TOKEN=${TOKEN}", `token: "<your-token>"`, "api_key: your-api-key", "password=xxxxxxxx", `"password": "changeme"`, "secret = ...",
		"def login(user: str, password: str) -> Token:", "if token == nil { return }", "func (p *Parser) token(kind Kind) Token", "self.password = password",
		"connect(password=password, token=self.token)", "pass the token to the next handler", "type Token struct {", "tokens[0], tokens[1]",
		"authToken: ${{ secrets.GITHUB_TOKEN }}", "password: {{ .Values.password }}", `"password": "%s"`, `f"password={password}"`, "Password: required",
		"Enter your password: ", "password is required", "the token is expired", "access_token_url = https://x.org/oauth/token", "public key: ssh-rsa",
		"primary_key=True", "cache_key = user_id", "sort_key: created_at", "the key is to read the file first", "keyboard: us-international",
		"Authorization: Basic authentication", "bearer authentication is required", "Bearer <token>", "https://user:password@example.com/", "https://github.com/a/b",
		"postgres://localhost:5432/db", "git@github.com:a/b.git", "mysql -u root -p", "curl -u user:pass https://x", "docker login -u me --password-stdin",
		"PWD=/home/me", "SSH_AUTH_SOCK=/tmp/agent.1", "GPG_KEY_ID: ABCDEF", "sk-learn and task-runner", "pk-index", "desk-lamp-collection", "risk-free-transactions",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "nginx@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBLh6Ykw=", `"integrity": "sha512-9NET910DNaIPngYnLLPeg+Ogzqsi9uM4mSboU5y6p8S5DzMTVEsJZrawi+BoDNUVBa2DhJqQYUFvMDfgU062LQ=="`,
		"550e8400-e29b-41d4-a716-446655440000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "id: 01HZX3NDEKTSV4RRFFQ69G5FAV", "request_id=550e8400-e29b-41d4-a716-446655440000",
		"![logo](data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 8) + "==)", "/usr/local/lib/python3.11/site-packages/token/keys/secret_store.py",
		"TestSessionTokenProviderRefreshesExpiredAccessTokensBeforeTheyAreUsedByClients", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "key: value", "id-token: write",
		"BEGIN PRIVATE KEY", x("starts with -----BEGIN PRI", "VATE KEY----- and ends"), x("-----BEGIN CERTI", "FICATE-----\n", strings.Repeat("Abc1", 16), "\n-----END CERTI", "FICATE-----"),
		"token, err := jwt.Parse(raw)", "const passwordField = document.querySelector('#password')", "passwordLabel: \"Password:\"", "secretName: db-credentials", "secretKeyRef:\n  name: db",
		"env(\"API_TOKEN\")", "getPassword(\"db\")", "password_file: /run/secrets/db", "--password-file ./pw.txt", "a < b && c > d", "x-request-id: 7f3a", "see commit 1a2b3c4d..5e6f7a8b",
	} {
		if got := r.Redact(in).String(); got != in {
			t.Errorf("Redact(%q) = %q, want it unchanged", in, got)
		}
	}
}

// TestCommitHashes draws hashes of every length in the sentences they stand in.
func TestCommitHashes(t *testing.T) {
	r := newRedactor(t)
	rnd := rand.New(rand.NewPCG(7, 40))
	hash := func() string {
		b := make([]byte, 7+rnd.IntN(34))
		for i := range b {
			b[i] = "0123456789abcdef"[rnd.IntN(16)]
		}
		return string(b)
	}
	sentences := []string{
		"Fixed in commit %s: handle the empty password", "see %s..%[2]s", "- %s add token rotation\n- %s", "https://github.com/a/b/commit/%s", "reverts %s (auth)",
		"Fixed in commit %s: api: key lookup", "(cherry picked from commit %s)", "git show %s", "commit %s\nAuthor: A <a@b>", "The secret was rotated in %s.", "key change: %s",
		"bisect: first bad commit is %s", "`%s`", "[%s](https://x.org/-/commit/%[1]s)", "%s", "datadog agent: pinned at %s", "heroku deploy of %s", "token refresh broke with %s",
		"Merge %s into main", "deps: bump sonarqube to %s", "Fixed in commit %s: session cookies", "index %s..%s 100644", "Fixes: %s (\"auth: check key\")", "HEAD is now at %s secret store",
	}
	for i := range 2000 {
		form := sentences[i%len(sentences)]
		args := []any{hash(), hash()}
		if strings.Count(form, "%") < 2 {
			args = args[:1]
		}
		in := fmt.Sprintf(form, args...)
		if got := r.Redact(in).String(); got != in {
			t.Errorf("Redact(%q) = %q", in, got)
		}
	}
}

func TestPrivate(t *testing.T) {
	r := newRedactor(t)
	for _, tt := range []struct{ in, want string }{
		{"a <private>b</private> c", "a [PRIVATE] c"},
		{"a <PRIVATE>b</Private>c", "a [PRIVATE]c"},
		{"a <private>b <private>c</private> d</private> e", "a [PRIVATE] e"},
		{"a <private>b", "a [PRIVATE]"},
		{"a <private reason=\"x\">b</private >c", "a [PRIVATE]c"},
		{`a \u003cprivate\u003eb\u003c/private\u003e c`, "a [PRIVATE] c"},
		{"<pri<private>x</private>vate>y", "<pri[PRIVATE]vate>y"},
		{"a </private> b", "a </private> b"},
		{"class A { private: int x; } <privateer>", "class A { private: int x; } <privateer>"},
		{"<private>a</private><private>b</private>", "[PRIVATE][PRIVATE]"},
	} {
		if got := r.Redact(tt.in).String(); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if got := r.Redact(tt.want).String(); got != tt.want {
			t.Errorf("twice: Redact(%q) = %q", tt.want, got)
		}
		if got := r.StripPrivate(false).Redact(tt.in).String(); got != tt.in {
			t.Errorf("switched off: Redact(%q) = %q", tt.in, got)
		}
	}
}

func TestFind(t *testing.T) {
	r := newRedactor(t)
	s := x("one gh", "p_", strings.Repeat("aB3d", 9), " two password='pL9xq'")
	got := r.Find(s)
	want := []redact.Finding{{Rule: "github-token", Start: 4, End: 44}, {Rule: "password", Start: 59, End: 64}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Find: (-want +got)\n%s", d)
	}
	if got := r.Find(r.Redact(s).String()); got != nil {
		t.Errorf("Find after Redact = %v, want nothing", got)
	}
}

func TestCut(t *testing.T) {
	r := newRedactor(t).Redact("grüße password='pL9xq' ende")
	for n := -1; n <= r.Len()+1; n++ {
		for _, cut := range []redact.Text{r.Head(n), r.Tail(n)} {
			s := cut.String()
			if len(s) > max(n, 0) && n <= r.Len() {
				t.Errorf("cut to %d gives %d bytes", n, len(s))
			}
			if !utf8.ValidString(s) {
				t.Errorf("cut to %d splits a rune: %q", n, s)
			}
			if strings.Contains(s, "REDA") && !strings.Contains(s, "[REDACTED]") {
				t.Errorf("cut to %d splits the mark: %q", n, s)
			}
		}
	}
}

// TestConcurrent: a redactor masks for many at once as it masks for one.
func TestConcurrent(t *testing.T) {
	alone := newRedactor(t)
	var texts, want []string
	for i, shape := range shapes[:40] {
		text, _ := draw(rand.New(rand.NewPCG(uint64(i), 1)), shape)
		texts, want = append(texts, text), append(want, alone.Redact(text).String())
	}
	r := newRedactor(t) // what it parses at first use, it parses for all of them
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range texts {
				if got := r.Redact(text).String(); got != want[i] {
					t.Errorf("%q at once with others: %q, want %q", text, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}
