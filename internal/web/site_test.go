package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/web"
)

// TestMain makes this program do nothing when it is started as the product is: the use
// cases start a background run, and the doctor says hello to the server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(0)
	}
	os.Exit(storetest.Memory{M: m}.Run())
}

// A site is a dashboard that runs, and a browser that was let in.
type site struct {
	*testing.T
	address string
	host    app.Host
	server  *web.Server
	client  *http.Client
	csrf    string
	ended   chan error
	stop    func() // ends it, and waits
}

// serve runs a dashboard of a new store.
func serve(t *testing.T, change func(*web.Options), settings ...string) *site {
	t.Helper()
	return serveHost(t, apptest.Host(t, settings...), change)
}

func serveHost(t *testing.T, h app.Host, change func(*web.Options)) *site {
	t.Helper()
	o := web.Options{Version: "test", Grace: 10 * time.Second, Log: t.Logf}
	if change != nil {
		change(&o)
	}
	s, err := web.New(t.Context(), h, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	st := &site{
		T: t, address: "http://" + l.Addr().String(), host: h, server: s, ended: make(chan error, 1),
		client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { st.ended <- s.Serve(ctx, l) }()
	st.stop = sync.OnceFunc(func() {
		stop()
		st.client.CloseIdleConnections()
		if err := <-st.ended; err != nil {
			t.Errorf("the dashboard ended with %v", err)
		}
		s.Close()
	})
	t.Cleanup(st.stop)
	return st
}

// entered is serve, and the browser is let in.
func entered(t *testing.T, settings ...string) *site {
	t.Helper()
	s := serve(t, nil, settings...)
	s.enter()
	return s
}

var csrfMeta = regexp.MustCompile(`<meta name="csrf" content="([0-9a-f]+)">`)

// enter lets the browser in by the link.
func (s *site) enter() {
	s.Helper()
	if code, _ := s.get(s.server.Link()); code != http.StatusOK {
		s.Fatalf("the link answers %d", code)
	}
	_, text := s.get("/")
	found := csrfMeta.FindStringSubmatch(text)
	if found == nil {
		s.Fatalf("the overview has no token:\n%s", text)
	}
	s.csrf = found[1]
}

// do sends a request and returns the answer's code and text.
func (s *site) do(method, path, body string, head ...string) (code int, text string) {
	s.Helper()
	resp := s.send(method, path, body, head...)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// send sends a request; head are names and values. The host of the request is that of
// a header Host.
func (s *site) send(method, path, body string, head ...string) *http.Response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.address+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == "Host" {
			r.Host = head[i+1]
			continue
		}
		r.Header.Set(head[i], head[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	return resp
}

func (s *site) get(path string) (code int, text string) {
	s.Helper()
	return s.do(http.MethodGet, path, "")
}

// page returns a page that has to be there.
func (s *site) page(path string) string {
	s.Helper()
	code, text := s.get(path)
	if code != http.StatusOK {
		s.Fatalf("GET %s: %d\n%s", path, code, text)
	}
	return text
}

// post sends a form of a page and returns where it leads.
func (s *site) post(path string, fields ...string) (code int, to, text string) {
	s.Helper()
	form := url.Values{"csrf": {s.csrf}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	resp := s.send(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", s.address)
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Location"), string(data)
}

// api calls a twin and reads its answer into v.
func (s *site) api(method, path string, fields any, v any) (code int) {
	s.Helper()
	body := ""
	if fields != nil {
		data, err := json.Marshal(fields)
		if err != nil {
			s.Fatal(err)
		}
		body = string(data)
	}
	code, text := s.do(method, "/api"+path, body, "Content-Type", "application/json", "X-CSRF-Token", s.csrf)
	if v != nil {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			s.Fatalf("%s /api%s: %d: %v\n%s", method, path, code, err, text)
		}
	}
	return code
}

type fields = map[string]any

// add writes a note by the twin and returns its id.
func (s *site) add(title, body string, more ...any) string {
	s.Helper()
	f := fields{"title": title, "body": body, "type": "semantic", "force": "1"}
	for i := 0; i+1 < len(more); i += 2 {
		f[more[i].(string)] = more[i+1]
	}
	var a struct {
		Result struct{ ID string }
		Error  string
	}
	if code := s.api(http.MethodPost, "/notes", f, &a); code != http.StatusCreated {
		s.Fatalf("POST /api/notes: %d %s", code, a.Error)
	}
	return a.Result.ID
}
