package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	maxRedirects = 5
	headerTime   = 30 * time.Second
	wholeTime    = 15 * time.Minute
)

// A web is the folder of a release. It is sent the names of files and nothing else.
type web struct {
	base   *url.URL
	client *http.Client
}

func newWeb(s Source) (*web, error) {
	if s.Address == "" {
		return nil, errors.New("where releases are is not known: this program was built without an address of them; give one with --from")
	}
	u, err := url.Parse(s.Address)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the address of releases is no plain one; write it as https://host/path")
	}
	if err := fetchable(u); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: headerTime,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
	if s.Proxy != "" && !loopback(u.Hostname()) {
		p, err := url.Parse(s.Proxy)
		if err != nil {
			return nil, errors.New("models.proxy is no address")
		}
		transport.Proxy = http.ProxyURL(p)
	}
	return &web{u, &http.Client{
		Transport: transport, Timeout: wholeTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("it sends from one place to the next more than %d times", maxRedirects)
			}
			return fetchable(r.URL)
		},
	}}, nil
}

func (w *web) close() { w.client.CloseIdleConnections() }

func (w *web) host() string { return w.base.Host }

// fetchable returns why nothing is fetched from an address.
func fetchable(u *url.URL) error {
	if u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("releases come over https, or over http from this machine itself; %q is neither", u.Scheme+"://"+u.Host)
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// get reads a file of at most so many bytes.
func (w *web) get(ctx context.Context, name string, most int64) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		var at *url.Error // its address may hold a signature, once the server has sent us elsewhere
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("get %s from %s: %w", name, w.host(), err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base.JoinPath(name).String(), http.NoBody)
	if err != nil {
		return fail(err)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = resp.Body.Close() }() // what was read counts
	if resp.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("the server answers HTTP %d", resp.StatusCode))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return fail(err)
	}
	if int64(len(data)) > most {
		return fail(fmt.Errorf("it is larger than %d MB", most>>20))
	}
	return data, nil
}
