package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// A Network says how servers are reached. The zero value connects directly, and
// speaks plain HTTP with private hosts only.
type Network struct {
	PlainHTTP bool   // with every host
	Proxy     string // an HTTP proxy for hosts that are not private; "" connects directly
}

// A StatusError is a server's refusal.
type StatusError struct {
	Status int    // of HTTP
	Reason string // what the server says, in one line
}

func (e *StatusError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("HTTP %d", e.Status)
	}
	return fmt.Sprintf("HTTP %d: %s", e.Status, e.Reason)
}

// OfText reports whether it is about what was sent, so that another text may do.
func (e *StatusError) OfText() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusRequestEntityTooLarge || e.Status == http.StatusUnprocessableEntity
}

// The limits of one call.
const (
	maxTries     = 3
	firstWait    = 300 * time.Millisecond // doubles with each try
	maxWait      = 15 * time.Second       // a server that wants more is asked another time
	maxAnswer    = 32 << 20               // bytes
	maxReason    = 200                    // bytes of a server's own words
	defaultWhole = 60 * time.Second
)

// A server is a model behind HTTP. It sends its key to its own address only,
// and follows no redirect: a POST does not survive most of them, and the others
// would take what was sent somewhere else.
type server struct {
	host   string   // with the port, if it has one
	routes []string // where it may answer
	route  atomic.Int32
	key    string
	try    time.Duration // one request
	whole  time.Duration // all tries and waits
	client *http.Client
	tryErr error
	limits func([]Limit) // shown what headers say about quotas; may be nil
}

// newServer makes a server of an address and an endpoint such as "/embeddings".
func newServer(address, key string, n Network, at func(*url.URL) []string, try, whole time.Duration) (*server, error) {
	u, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	local := private(u.Hostname())
	if u.Scheme == "http" && !local && !n.PlainHTTP {
		return nil, fmt.Errorf("%s is outside of private networks, and http is not encrypted; use https", u.Host)
	}
	for _, c := range key {
		if c <= ' ' || c > '~' {
			return nil, errors.New("its key holds a blank, or another character that no key has")
		}
	}
	transport := &http.Transport{
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    2,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if n.Proxy != "" && !local {
		proxy, err := parseAddress(n.Proxy)
		if err != nil {
			return nil, fmt.Errorf("its proxy %w", err)
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &server{
		host: strings.ToLower(u.Host), routes: at(u), key: key, try: try, whole: whole,
		tryErr: fmt.Errorf("no answer within %v", try),
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// seconds makes a time of a setting.
func seconds(s float64, otherwise time.Duration) time.Duration {
	if s <= 0 {
		return otherwise
	}
	return time.Duration(s * float64(time.Second))
}

// ask posts a request and reads the answer, again when that may help. What it
// returns names the host and the reason, never the key.
func (s *server) ask(ctx context.Context, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.host, err)
	}
	whole, cancel := context.WithTimeoutCause(ctx, s.whole, fmt.Errorf("no answer within %v", s.whole))
	defer cancel()
	for try := 1; ; try++ {
		wait, err := s.post(whole, body, answer)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("ask %s: %w", s.host, context.Cause(ctx))
		}
		if whole.Err() != nil {
			return fmt.Errorf("ask %s: %w", s.host, context.Cause(whole))
		}
		deadline, _ := whole.Deadline()
		if wait < 0 || wait > maxWait || try == maxTries || time.Until(deadline) <= wait {
			return fmt.Errorf("ask %s: %w", s.host, err)
		}
		if wait == 0 {
			wait = time.Duration((0.5 + rand.Float64()/2) * float64(firstWait<<(try-1)))
		}
		timer := time.NewTimer(wait)
		select {
		case <-whole.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// never says that asking again is of no use.
const never = time.Duration(-1)

// post asks once, at the first route that the server knows. With an error comes
// how long to wait before the next try: 0 when the server did not say.
func (s *server) post(ctx context.Context, body []byte, answer any) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.try, s.tryErr)
	defer cancel()
	at := int(s.route.Load())
	wait, err := s.postTo(ctx, s.routes[at], body, answer)
	for i := range s.routes {
		var refused *StatusError
		if !errors.As(err, &refused) || refused.Status != http.StatusNotFound && refused.Status != http.StatusMethodNotAllowed {
			break
		}
		if i == at {
			continue
		}
		if w, other := s.postTo(ctx, s.routes[i], body, answer); !errors.As(other, &refused) || refused.Status != http.StatusNotFound {
			s.route.Store(int32(i))
			return w, other
		}
	}
	return wait, err
}

func (s *server) postTo(ctx context.Context, address string, body []byte, answer any) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return never, errors.New("the address cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "anamnesis")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, s.unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is given up
	if limits := headerLimits(resp, time.Now()); s.limits != nil && len(limits) > 0 {
		s.limits(limits)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if len(data) > maxAnswer {
		return never, fmt.Errorf("its answer is longer than %d MB", maxAnswer>>20)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		to := "another address"
		if u, err := resp.Location(); err == nil {
			to = s.clean(u.Scheme + "://" + u.Host)
		}
		return never, fmt.Errorf("it redirects to %s, and redirects are not followed", to)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return after(resp), &StatusError{resp.StatusCode, s.clean(reason(data))}
	}
	if err != nil {
		return 0, s.unreachable(ctx, err)
	}
	if why, failed := failure(data); failed {
		return never, fmt.Errorf("it answers with an error: %s", s.clean(why))
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return never, fmt.Errorf("its answer cannot be read: %s", s.clean(err.Error()))
	}
	return 0, nil
}

// unreachable says why there was no answer, or no whole one.
func (s *server) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the host is named by ask
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("cannot be reached: %s", s.clean(dial.Err.Error()))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection was cut")
	}
	return errors.New(s.clean(err.Error()))
}

// after returns how long a server that refuses wants to be left alone: 0 when
// it does not say, never when asking again is of no use.
func after(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529: // 529 is what overloaded vendors say
	default:
		return never
	}
	value := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if n, err := strconv.Atoi(value); err == nil && n >= 0 {
		return time.Duration(min(n, 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// failure finds the error in an answer that claims to be none.
func failure(data []byte) (why string, failed bool) {
	var a struct {
		Error  json.RawMessage `json:"error"`
		Object json.RawMessage `json:"object"`
	}
	if json.Unmarshal(data, &a) != nil {
		return "", false
	}
	if len(a.Error) > 0 && string(a.Error) != "null" || string(a.Object) == `"error"` {
		return reason(data), true
	}
	return "", false
}

// reason finds what a server says in the shapes that servers use.
func reason(data []byte) string {
	var tree map[string]any
	if json.Unmarshal(data, &tree) == nil {
		for _, name := range []string{"error", "message", "detail"} {
			switch v := tree[name].(type) {
			case string:
				return v
			case map[string]any:
				if m, ok := v["message"].(string); ok {
					return m
				}
			}
		}
	}
	return string(data[:min(len(data), 4*maxReason)])
}

// clean makes one short line of somebody else's words, and takes out the key,
// which some servers repeat.
func (s *server) clean(text string) string {
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "[key]")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
