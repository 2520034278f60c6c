package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A folderSource is a folder of this machine. Links are not followed.
type folderSource struct{ root *os.Root }

func newFolder(dir string) (*folderSource, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the model: %w", err)
	}
	return &folderSource{root}, nil
}

func (s *folderSource) close() { _ = s.root.Close() } // nothing was written

func (s *folderSource) size(_ context.Context, name string) (int64, error) {
	fi, err := s.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return 0, err
	}
	if !fi.Mode().IsRegular() {
		return 0, fmt.Errorf("%s in %s is a link or no file, and is not followed; copy the folder with its files first (cp -rL)",
			name, s.root.Name())
	}
	return fi.Size(), nil
}

func (s *folderSource) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if _, err := s.size(ctx, name); err != nil {
		return nil, err
	}
	return s.root.Open(filepath.FromSlash(name))
}

// A webSource is an address below which the files are. It sends nothing but the names
// of files, and goes where it is sent only by the same rules.
type webSource struct {
	base   *url.URL
	client *http.Client
}

const (
	maxRedirects = 5
	headerTime   = 30 * time.Second // to the first byte
	stallTime    = time.Minute      // without a byte
)

func newWeb(address, proxy string) (*webSource, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("the address of the model cannot be read; write it as https://host/path")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address of the model must hold no user, no password, no ? and no #")
	}
	if err := fetchable(u); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: headerTime,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true, IdleConnTimeout: 30 * time.Second,
	}
	if proxy != "" && !loopback(u.Hostname()) {
		p, err := url.Parse(proxy)
		if err != nil {
			return nil, errors.New("models.proxy is no address")
		}
		transport.Proxy = http.ProxyURL(p)
	}
	return &webSource{u, &http.Client{
		Transport: transport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("it sends from one place to the next more than %d times", maxRedirects)
			}
			return fetchable(r.URL)
		},
	}}, nil
}

// fetchable returns why nothing is fetched from an address.
func fetchable(u *url.URL) error {
	switch {
	case u.Hostname() == "":
		return errors.New("the address of the model names no host")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("models come over https, or over http from this machine itself; %s is neither", clean(u.Scheme+"://"+u.Host))
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

func (s *webSource) close() { s.client.CloseIdleConnections() }

func (s *webSource) size(ctx context.Context, name string) (int64, error) {
	resp, err := s.ask(ctx, http.MethodHead, name)
	var refused *statusError
	if errors.As(err, &refused) && (refused.code == http.StatusMethodNotAllowed || refused.code == http.StatusNotImplemented) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	return resp.ContentLength, resp.Body.Close()
}

func (s *webSource) open(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &patient{cancel: cancel, ctx: ctx}
	r.timer = time.AfterFunc(headerTime+stallTime, func() { cancel(fmt.Errorf("nothing came for %v", stallTime)) })
	resp, err := s.ask(ctx, http.MethodGet, name) //nolint:bodyclose // patient.Close closes it
	if err != nil {
		r.timer.Stop()
		cancel(nil)
		return nil, err
	}
	r.body = resp.Body
	return r, nil
}

// A statusError is a server's refusal.
type statusError struct {
	name, host string
	code       int
}

func (e *statusError) Error() string {
	hint := ""
	if e.code == http.StatusUnauthorized || e.code == http.StatusForbidden {
		hint = "; where a login is needed, fetch the files yourself and add their folder"
	}
	return fmt.Sprintf("%s answers HTTP %d for %s%s", e.host, e.code, e.name, hint)
}

func (e *statusError) Is(target error) bool {
	return target == fs.ErrNotExist && (e.code == http.StatusNotFound || e.code == http.StatusGone)
}

// ask sends a request. No error repeats an address, which may hold a signature once
// the server has sent us elsewhere.
func (s *webSource) ask(ctx context.Context, method, name string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(name).String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("get %s from %s: %w", name, s.base.Host, err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("get %s from %s: %w", name, s.base.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // it was refused
		return nil, &statusError{name, s.base.Host, resp.StatusCode}
	}
	return resp, nil
}

// A patient reader waits for bytes as long as some come.
type patient struct {
	body   io.ReadCloser
	timer  *time.Timer
	ctx    context.Context //nolint:containedctx // it ends with the body
	cancel context.CancelCauseFunc
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	p.timer.Reset(stallTime)
	if err != nil && !errors.Is(err, io.EOF) && p.ctx.Err() != nil {
		err = context.Cause(p.ctx)
	}
	return n, err
}

func (p *patient) Close() error {
	p.timer.Stop()
	p.cancel(nil)
	return p.body.Close()
}
