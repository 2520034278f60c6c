package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxBody is the size of a request's body, in bytes, at most.
const maxBody = 2 << 20

// policy is what a page may load: files of ours, nothing inline, nothing of others.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types anamnesis"

// maxSessions is how many browsers are let in at a time; the oldest goes.
const maxSessions = 64

// A keyring holds what lets a browser in: a link that works once, and the sessions
// that links and passwords were exchanged for. It is safe for concurrent use.
type keyring struct {
	mu       sync.Mutex
	key      string   // of the link
	sessions []string // oldest first
	secret   []byte   // that the tokens of pages are made with
}

func newKeyring() *keyring {
	return &keyring{key: rand.Text(), secret: []byte(rand.Text())}
}

func (k *keyring) link() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key
}

// enter exchanges the key of a link for a session; the link is another one then.
func (k *keyring) enter(key string) (session string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !same(key, k.key) {
		return "", false
	}
	k.key = rand.Text()
	return k.begin(), true
}

// admit begins a session for somebody who knew the password.
func (k *keyring) admit() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.begin()
}

// begin begins a session. The lock is held.
func (k *keyring) begin() string {
	session := rand.Text() + rand.Text()
	k.sessions = append(k.sessions, session)
	if len(k.sessions) > maxSessions {
		k.sessions = k.sessions[1:]
	}
	return session
}

func (k *keyring) knows(session string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := false
	for _, s := range k.sessions {
		found = same(s, session) || found
	}
	return found
}

// token is what the pages of a session prove themselves with when they write.
func (k *keyring) token(session string) string {
	m := hmac.New(sha256.New, k.secret)
	m.Write([]byte(session))
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// same compares two secrets in a time that tells nothing of them.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// loopback lists the names of this machine for itself.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// knownHost reports whether a request names a host under which we are served: by name, or by
// the address of this machine that it came to, which no name can be made to stand for.
func (s *Server) knownHost(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		at, err := netip.ParseAddrPort(local.String())
		if ip, perr := netip.ParseAddr(host); err == nil && perr == nil && ip.Unmap() == at.Addr().Unmap() {
			return true
		}
	}
	return host != "" && slices.ContainsFunc(slices.Concat(s.opts.Hosts, loopback), func(h string) bool { return strings.EqualFold(h, host) })
}

// ownOrigin reports whether a request comes from no page, or from one of ours.
func (s *Server) ownOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return false // "null" too: it is what a sandboxed page sends
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// Somebody followed a link to us. The cookie does not come along with that.
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// cookieName names the cookie of this server: cookies do not know ports, and two
// dashboards may run at once.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "0"
	}
	return "anamnesis-" + port
}

func session(r *http.Request) string {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return c.Value
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: cookieName(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.opts.TLS}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// open paths are those that say nothing of the store, so that nobody has to be known.
func isOpen(path string) bool {
	open := []string{"/enter", "/login", "/favicon.ico"}
	return strings.HasPrefix(path, "/assets/") || slices.Contains(open, path)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.last.Store(s.opts.Now().UnixNano())
	s.active.Add(1)
	defer s.active.Add(-1)
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http compares it
				panic(p)
			}
			s.opts.Log("%s %s: %v", r.Method, r.URL.Path, p)
			http.Error(w, "this page failed; the terminal of the dashboard says why", http.StatusInternalServerError)
		}
	}()
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, our own forms would come from the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	switch {
	case !s.knownHost(r):
		http.Error(w, "this host is not served here; open the link that `anamnesis dashboard` printed", http.StatusForbidden)
		return
	case !s.ownOrigin(r):
		http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		return
	case r.ContentLength > maxBody:
		http.Error(w, "the request is larger than 2 MiB", http.StatusRequestEntityTooLarge)
		return
	}
	known := s.keys.knows(session(r))
	if known {
		admitted(r)
	} else {
		h.Set("Connection", "close") // a stranger's connection is not kept
	}
	if !known && !isOpen(r.URL.Path) {
		s.refuse(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// refuse answers somebody who is not known.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	const why = "this browser is not let in: open the link that `anamnesis dashboard` printed"
	switch {
	case wantsJSON(r):
		writeJSON(w, http.StatusUnauthorized, failure{Error: why, Code: "unauthorized"})
	case s.opts.Password != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		http.Redirect(w, r, "/login", http.StatusSeeOther)
	default:
		s.plain(w, http.StatusUnauthorized, "closed", nil)
	}
}

// enter exchanges the key of a link for a cookie.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	begun, ok := s.keys.enter(r.URL.Query().Get("key"))
	if !ok {
		if s.keys.knows(session(r)) { // the link was opened twice in one browser
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		s.plain(w, http.StatusUnauthorized, "closed", nil)
		return
	}
	s.setCookie(w, r, begun)
	if s.opts.Link != nil {
		s.opts.Link(s.Link())
	}
	// A page of ours that goes on on its own: behind a redirect the browser would take
	// the next request for one of the site that the link stood on, and keep the cookie.
	s.plain(w, http.StatusOK, "entered", nil)
}

// mayWrite reports whether a request that writes carries the token of a page.
func (s *Server) mayWrite(r *http.Request, form url.Values) bool {
	want := s.keys.token(session(r))
	given := r.Header.Get("X-CSRF-Token")
	if given == "" {
		given = form.Get("csrf")
	}
	return same(given, want)
}
