package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions say who may speak to a server over HTTP.
type HTTPOptions struct {
	Token string   // that every request must carry; at least 16 characters
	Hosts []string // names besides the loopback ones under which it may be reached, without a port
}

const (
	minToken    = 16
	idleSession = 30 * time.Minute
)

// loopback lists the names of this machine for itself.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// Handler returns the streamable HTTP variant of the server. A request must name
// an allowed host (a page that makes a browser resolve its own name to this
// machine does not), come from no foreign page, carry the token, and be small.
func (s *Server) Handler(o HTTPOptions) (http.Handler, error) {
	if len(o.Token) < minToken || strings.TrimSpace(o.Token) != o.Token {
		return nil, fmt.Errorf("serve MCP over HTTP: the token has fewer than %d characters; give a longer one", minToken)
	}
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		JSONResponse: true, SessionTimeout: idleSession, MaxRequestBodyBytes: MaxLine, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // it knows no allowed hosts; what follows is stricter
	})
	token := sha256.Sum256([]byte(o.Token))
	hosts := slices.Clone(loopback)
	for _, h := range o.Hosts {
		hosts = append(hosts, strings.ToLower(h))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		bearer := strings.EqualFold(scheme, "Bearer")
		sum := sha256.Sum256([]byte(given))
		switch {
		case !slices.Contains(hosts, hostname(r.Host)):
			http.Error(w, "this host is not served here; name it in the list of allowed hosts", http.StatusForbidden)
		case !sameSite(r, hosts):
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		case !bearer || subtle.ConstantTimeCompare(sum[:], token[:]) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong; send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
		case r.ContentLength > MaxLine:
			http.Error(w, "the request is larger than 4 MiB", http.StatusRequestEntityTooLarge)
		default:
			inner.ServeHTTP(w, r)
		}
	}), nil
}

// hostname is a host without its port and brackets, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// sameSite reports whether a request comes from no page, or from one of ours.
func sameSite(r *http.Request, hosts []string) bool {
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !slices.Contains(hosts, strings.ToLower(u.Hostname())) {
			return false // "null" too: it is what a sandboxed page sends
		}
	}
	return true
}

// Serve answers HTTP requests on a listener until ctx ends; that is no error.
// Requests in flight have Options.Grace to finish.
func (s *Server) Serve(ctx context.Context, l net.Listener, o HTTPOptions) error {
	h, err := s.Handler(o)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve MCP over HTTP: %w", err)
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Grace)
	defer cancel()
	err = srv.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) { // streams stay open as long as their clients do
		err = srv.Close()
	}
	if err != nil {
		return fmt.Errorf("stop MCP over HTTP: %w", err)
	}
	return nil
}
