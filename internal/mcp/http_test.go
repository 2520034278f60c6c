package mcp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/mcp"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	token    = "a token for tests only"
	discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`
)

// headers makes a good call of a request.
func headers(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "server/discover")
}

func sortedStrings(all []string) []string {
	slices.Sort(all)
	return all
}

func TestHTTP(t *testing.T) {
	w := open(t)
	h, err := w.server.Handler(mcp.HTTPOptions{Token: token, Hosts: []string{"Memory.Example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		body   string
		want   int
	}{
		{"a good call", func(*http.Request) {}, discover, 200},
		{"by name", func(r *http.Request) { r.Host = "memory.example:8443" }, discover, 200},
		{"from its own page", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, discover, 200},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, discover, 401},
		{"a wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") }, discover, 401},
		{"an empty token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, discover, 401},
		{"a token of another kind", func(r *http.Request) { r.Header.Set("Authorization", token) }, discover, 401},
		{"another host", func(r *http.Request) { r.Host = "evil.example" }, discover, 403},
		{"no host", func(r *http.Request) { r.Host = "" }, discover, 403},
		{"another page", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, discover, 403},
		{"a page that hides", func(r *http.Request) { r.Header.Set("Origin", "null") }, discover, 403},
		{"a page with a name like ours", func(r *http.Request) { r.Header.Set("Origin", "https://localhost.evil.example") }, discover, 403},
		{"too large", func(*http.Request) {}, strings.Repeat(" ", mcp.MaxLine+1), 413},
		{"too large, and it does not say so", func(r *http.Request) { r.ContentLength = -1 }, `{"x":"` + strings.Repeat("x", mcp.MaxLine) + `"}`, 413},
		{"no JSON", func(*http.Request) {}, "hello", 400},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(tt.body))
		headers(r)
		tt.change(r)
		out := httptest.NewRecorder()
		h.ServeHTTP(out, r)
		if out.Code != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, out.Code, out.Body, tt.want)
		}
		if out.Code >= 400 && strings.Contains(out.Body.String(), token) {
			t.Errorf("%s: the answer tells the token", tt.name)
		}
	}
	for _, bad := range []string{"", " ", "short", " " + token} {
		if _, err := w.server.Handler(mcp.HTTPOptions{Token: bad}); err == nil {
			t.Errorf("a handler with the token %q was made", bad)
		}
	}
}

// bearer adds the token to every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestServe speaks HTTP with the SDK's client in both eras, then stops the server.
func TestServe(t *testing.T) {
	w := open(t)
	w.add(t, note.Note{Title: "walrus", Body: "it swims"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- w.server.Serve(ctx, l, mcp.HTTPOptions{Token: token, Hosts: []string{"memory.example"}})
	}()
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: "http://" + l.Addr().String(), HTTPClient: &http.Client{Transport: bearer{token}},
		}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if got, _ := call(t, cs, "memory_search", args{"query": "walrus"}); len(result(got)) != 1 {
			t.Errorf("%s: %v", version, got)
		}
		if err := cs.Close(); err != nil {
			t.Errorf("%s: close: %v", version, err)
		}
	}
	named, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), strings.NewReader(discover))
	if err != nil {
		t.Fatal(err)
	}
	named.Host = "memory.example" // as a proxy on this machine passes it on
	headers(named)
	if res, err := http.DefaultClient.Do(named); err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusOK {
		t.Errorf("by an allowed name: %v %v", res, err)
	}
	res, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("without a token: %d %q", res.StatusCode, text)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(long):
		t.Error("Serve did not end")
	}
}
