package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/web"
)

// TestNobodyElse says who is not let in.
func TestNobodyElse(t *testing.T) {
	s := entered(t)
	id := s.add("A secret of the house", "It stands under the mat.")
	own := s.address
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(own, "http://"))
	for _, tt := range []struct {
		what, method, path, body string
		head                     []string
		want                     int
	}{
		{"a foreign name that resolves to us", "GET", "/", "", []string{"Host", "evil.example:" + port}, 403},
		{"a foreign name that looks like ours", "GET", "/", "", []string{"Host", "localhost.evil.example:" + port}, 403},
		{"a foreign page reads", "GET", "/api/notes", "", []string{"Origin", "https://evil.example"}, 403},
		{"a sandboxed page reads", "GET", "/api/notes", "", []string{"Origin", "null"}, 403},
		{"another port of this machine", "GET", "/api/notes", "", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a picture of a foreign page", "GET", "/", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"a frame of a foreign page", "GET", "/", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"a form of a foreign page", "POST", "/notes/" + id + "/archive", "csrf=" + s.csrf, []string{
			"Origin", "https://evil.example", "Content-Type", "application/x-www-form-urlencoded",
		}, 403},
		{"a form of a foreign page, by what the browser says", "POST", "/notes/" + id + "/archive", "csrf=" + s.csrf, []string{
			"Sec-Fetch-Site", "cross-site", "Content-Type", "application/x-www-form-urlencoded",
		}, 403},
		{"no token of a page", "POST", "/notes/" + id + "/archive", "reason=x", []string{
			"Origin", own, "Content-Type", "application/x-www-form-urlencoded",
		}, 403},
		{"a wrong token", "POST", "/notes/" + id + "/archive", "csrf=" + strings.Repeat("0", len(s.csrf)), []string{
			"Origin", own, "Content-Type", "application/x-www-form-urlencoded",
		}, 403},
		{"JSON without a token", "DELETE", "/api/notes/" + id, `{"apply":"1"}`, []string{"Content-Type", "application/json"}, 403},
		{"text that is taken for JSON", "DELETE", "/api/notes/" + id, `{"apply":"1"}`, []string{"Content-Type", "text/plain", "X-CSRF-Token", s.csrf}, 415},
		{"half a JSON", "PUT", "/api/notes/" + id, `{"title":`, []string{"Content-Type", "application/json", "X-CSRF-Token", s.csrf}, 400},
		{"a method that is none", "PATCH", "/notes/" + id, "", nil, 405},
		{"a large body", "PUT", "/api/notes/" + id, strings.Repeat("x", 3<<20), []string{"Content-Type", "application/json", "X-CSRF-Token", s.csrf}, 413},
		{"a page that is none", "GET", "/nothing", "", nil, 404},
		{"our own page", "GET", "/notes/" + id, "", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"localhost by its name", "GET", "/favicon.ico", "", []string{"Host", "localhost:" + port}, 200},
	} {
		if code, text := s.do(tt.method, tt.path, tt.body, tt.head...); code != tt.want {
			t.Errorf("%s: %d, want %d\n%.200s", tt.what, code, tt.want, text)
		}
	}
	s.page("/notes/" + id) // nothing of all that did anything

	jar, _ := cookiejar.New(nil)
	own2 := s.client.Jar
	s.client.Jar = jar
	for _, path := range []string{"/", "/notes/" + id, "/api/notes", "/api/notes/" + id, "/events", "/enter?key=", "/enter?key=AAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if code, text := s.get(path); code != 401 || strings.Contains(text, "secret") {
			t.Errorf("GET %s by nobody: %d\n%.200s", path, code, text)
		}
	}
	u, _ := url.Parse(s.address)
	jar.SetCookies(u, []*http.Cookie{{Name: "anamnesis-" + port, Value: "guessed"}})
	if code, _ := s.get("/"); code != 401 {
		t.Errorf("a guessed cookie is let in: %d", code)
	}
	s.client.Jar = own2
}

// TestLinkWorksOnce says what a link that somebody else saw is worth.
func TestLinkWorksOnce(t *testing.T) {
	var told []string
	s := serve(t, func(o *web.Options) { o.Link = func(path string) { told = append(told, path) } })
	link := s.server.Link()
	s.enter()
	resp := s.send(http.MethodGet, link, "")
	resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		t.Errorf("the same browser opens its link again: %d, want to be sent on", resp.StatusCode)
	}
	s.client.Jar, _ = cookiejar.New(nil)
	if code, _ := s.get(link); code != http.StatusUnauthorized {
		t.Errorf("another browser opens a used link: %d", code)
	}
	if len(told) != 1 || told[0] == link {
		t.Fatalf("the new link: %q", told)
	}
	resp = s.send(http.MethodGet, told[0], "")
	resp.Body.Close()
	c := resp.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(c, want) {
			t.Errorf("the cookie %q is not %s", c, want)
		}
	}
}

// TestHeaders says what every answer forbids a browser.
func TestHeaders(t *testing.T) {
	s := entered(t)
	for _, path := range []string{"/", "/api/overview", "/assets/app.js", "/nothing", "/favicon.ico"} {
		resp := s.send(http.MethodGet, path, "")
		resp.Body.Close()
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// TestPaths asks for ids and files that lead elsewhere.
func TestPaths(t *testing.T) {
	s := entered(t)
	for _, id := range []string{
		"..%2f..%2fconfig.json", "%2e%2e%2fconfig", "..%5c..%5cconfig", "%00", "--output=x", "-rf", "a%2fb", "con", strings.Repeat("A", 3000), "%ff%fe",
	} {
		for _, path := range []string{"/notes/" + id, "/notes/" + id + "/history", "/notes/" + id + "/edit", "/notes/" + id + "/forget", "/api/notes/" + id} {
			if code, text := s.get(path); code < 400 || code >= 500 || strings.Contains(text, "machine_id") {
				t.Errorf("GET %s: %d\n%.300s", path, code, text)
			}
		}
	}
	for _, path := range []string{"/assets/..%2fweb.go", "/assets/%2e%2e%2ftemplates%2fframe.html", "/assets/nothing.css", "/assets/"} {
		if code, _ := s.get(path); code != 404 {
			t.Errorf("GET %s: %d", path, code)
		}
	}
	id := s.add("Where revisions stand", "first")
	for _, rev := range []string{"--output=/tmp/x", "-p", "..", "HEAD:config", "%00", "../../x"} {
		if code, _ := s.get("/notes/" + id + "/diff?from=" + rev); code < 400 || code >= 500 {
			t.Errorf("the form %q: %d", rev, code)
		}
	}
}

// TestParallel asks for pages from many tabs at once while notes are written.
func TestParallel(t *testing.T) {
	s := entered(t)
	id := s.add("The deploy needs a tag", "Push the tag first.")
	var all sync.WaitGroup
	wrong := make(chan string, 400)
	for i := range 200 {
		all.Go(func() {
			path := []string{"/", "/browse?q=deploy", "/notes/" + id, "/api/notes", "/api/overview"}[i%5]
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+path, nil)
			resp, err := s.client.Do(r)
			if err != nil {
				wrong <- err.Error()
				return
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusOK {
				wrong <- fmt.Sprintf("%s: %d %.200s", path, resp.StatusCode, text)
			}
		})
		if i%20 == 0 {
			all.Go(func() { s.add(fmt.Sprintf("Written meanwhile, number %d", i), "Among many.") })
		}
	}
	all.Wait()
	close(wrong)
	for w := range wrong {
		t.Error(w)
	}
}

// TestSlowClients lets clients begin a request and say no more: others are answered.
func TestSlowClients(t *testing.T) {
	s := entered(t)
	for range 100 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
	}
	s.page("/")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := bufio.NewReader(c).ReadString('!'); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("a client that says no more is not left: %v", err)
	}
}

// TestIdle checks that an unused dashboard ends, and a used one does not. The clock is the test's: on a
// busy machine a request may come later than a short time allows.
func TestIdle(t *testing.T) {
	var passed atomic.Int64 // of the clock
	start := time.Now()
	s := serve(t, func(o *web.Options) {
		o.Idle = 150 * time.Millisecond
		o.Now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	})
	s.enter()
	resp := s.send(http.MethodGet, "/events", "") // an open page
	passed.Add(int64(time.Hour))
	select {
	case err := <-s.ended:
		t.Fatalf("it ended while a page was open: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	resp.Body.Close()
	for end := time.Now().Add(time.Minute); len(s.ended) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		passed.Add(int64(time.Hour)) // until the server has noticed that the page is closed
	}
	select {
	case err := <-s.ended:
		if !errors.Is(err, web.ErrIdle) {
			t.Fatalf("it ended with %v", err)
		}
	default:
		t.Fatal("it did not end")
	}
	s.ended <- nil
}

// TestPassword lets in who knows it, and not who guesses.
func TestPassword(t *testing.T) {
	if _, err := web.HashPassword("short"); err == nil {
		t.Error("a short password is taken")
	}
	hash, err := web.HashPassword("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "x", "pbkdf2-sha256$1$AAAA$AAAA", strings.Replace(hash, "$600000$", "$99999999999$", 1), hash + "$"} {
		if web.CheckHash(bad) == nil {
			t.Errorf("the hash %q is taken", bad)
		}
	}
	var later atomic.Int64 // the server asks for the time, too
	s := serve(t, func(o *web.Options) {
		o.Password, o.Now = hash, func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	resp := s.send(http.MethodGet, "/", "")
	resp.Body.Close()
	if resp.Header.Get("Location") != "/login" {
		t.Errorf("who is not known is sent to %q", resp.Header.Get("Location"))
	}
	try := func(password string) int {
		code, _, _ := s.post("/login", "password", password)
		return code
	}
	for i := range 5 {
		if code := try(fmt.Sprint("wrong", i)); code != http.StatusUnauthorized {
			t.Errorf("wrong password %d: %d", i, code)
		}
	}
	if code := try("correct horse battery"); code != http.StatusTooManyRequests {
		t.Errorf("after five wrong ones: %d", code)
	}
	later.Store(int64(2 * time.Minute))
	if code := try("correct horse battery"); code != http.StatusOK {
		t.Errorf("the password: %d", code)
	}
	s.page("/")
}
