package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/app/apptest"
	"anamnesis/internal/web"
)

// Connections of strangers, more than there may be, do not keep the owner out. (They did for
// a minute.)
func TestStrangersTakeNoPlace(t *testing.T) {
	s := entered(t)
	s.client.CloseIdleConnections()
	host := strings.TrimPrefix(s.address, "http://")
	for range 300 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		fmt.Fprintf(c, "GET /favicon.ico HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // less than an idle connection is kept
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/browse", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatalf("the owner waits: %v", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the owner gets %d", resp.StatusCode)
	}
}

// A connection by which the owner asked is not closed for those of strangers.
func TestOwnersConnectionStays(t *testing.T) {
	s := entered(t)
	host := strings.TrimPrefix(s.address, "http://")
	own, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	read := bufio.NewReader(own)
	ask := func() {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+"/queue", nil)
		for _, c := range s.client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		if err := r.Write(own); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(read, r) //nolint:bodyclose // the connection is closed with the test
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("the owner's connection is gone: %v", err)
		}
		var body strings.Builder
		if err := resp.Write(&body); err != nil { // reads it to its end
			t.Fatal(err)
		}
	}
	ask()
	for range 300 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	ask()
}

// Wrong passwords of one address lock that address out, and neither others nor this machine.
func TestWrongPasswordsLockOnlyThemOut(t *testing.T) {
	const right = "correct horse battery"
	hash, err := web.HashPassword(right)
	if err != nil {
		t.Fatal(err)
	}
	s, err := web.New(t.Context(), apptest.Host(t), web.Options{Password: hash, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	login := func(from, password string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/login", strings.NewReader("password="+password))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = netip.MustParseAddrPort(from).String()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 6 {
		want := 401
		if i == 5 {
			want = 429
		}
		if got := login(fmt.Sprintf("[2001:db8::%d]:1000", i+1), "wrong-password"); got != want { // one network
			t.Fatalf("attempt %d answers %d, want %d", i+1, got, want)
		}
	}
	for from, want := range map[string]int{"192.0.2.7:1000": 200, "127.0.0.1:1000": 200, "[::1]:1000": 200, "[2001:db8::9]:1000": 429} {
		if got := login(from, right); got != want {
			t.Errorf("the right password from %s answers %d, want %d", from, got, want)
		}
	}
}

// A dashboard on every address is linked by one that can be opened, and reached by each.
func TestListenOnEveryAddress(t *testing.T) {
	if _, err := web.Listen(t.Context(), "0.0.0.0:0", false); err == nil {
		t.Error("it listens on every address without a password")
	}
	l, err := web.Listen(t.Context(), "0.0.0.0:0", true)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(l.Address())
	if at.Addr().String() != "127.0.0.1" || !l.Open {
		t.Errorf("the link names %s", l.Address())
	}
	s, err := web.New(t.Context(), apptest.Host(t), web.Options{Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	for _, host := range append(l.Elsewhere(), l.Address(), fmt.Sprintf("127.0.0.2:%d", at.Port())) {
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/favicon.ico", nil)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Logf("%s cannot be reached here: %v", host, err)
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d", host, resp.StatusCode)
		}
		r.Host = "evil.example"
		if resp, err = http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("a name that resolves to %s answers %d", host, resp.StatusCode)
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.Close()
}
