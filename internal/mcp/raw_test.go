package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A raw client speaks bytes.
type raw struct {
	tb    testing.TB
	in    io.WriteCloser
	lines *bufio.Scanner
	ended chan error
}

func (w *world) raw(tb testing.TB) *raw {
	tb.Helper()
	in, out, ended := w.pipes(tb)
	s := bufio.NewScanner(out)
	s.Buffer(nil, 16<<20)
	return &raw{tb, in, s, ended}
}

func (r *raw) send(format string, a ...any) {
	r.tb.Helper()
	if _, err := fmt.Fprintf(r.in, format+"\n", a...); err != nil {
		r.tb.Fatal(err)
	}
}

// A reply is a line of the server.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (r *raw) next() reply {
	r.tb.Helper()
	if !r.lines.Scan() {
		r.tb.Fatalf("the server is silent: %v", r.lines.Err())
	}
	var p reply
	if err := json.Unmarshal(r.lines.Bytes(), &p); err != nil || p.Version != "2.0" {
		r.tb.Fatalf("%q is no message: %v", r.lines.Text(), err)
	}
	return p
}

// code is the error code of the next line, 0 for a result.
func (r *raw) code() int {
	r.tb.Helper()
	if p := r.next(); p.Error != nil {
		return p.Error.Code
	}
	return 0
}

// initialize makes the handshake of a version of the protocol.
func (r *raw) initialize(version string) reply {
	r.tb.Helper()
	r.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, version)
	p := r.next()
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// connect connects the SDK's own client, which speaks a version of the protocol
// and works in some folders.
func (w *world) connect(tb testing.TB, version string, dirs ...string) *sdk.ClientSession {
	tb.Helper()
	in, out, _ := w.pipes(tb)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for _, d := range dirs {
		uri := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(d), "/")}
		c.AddRoots(&sdk.Root{URI: uri.String()}) //nolint:staticcheck // deprecated from 2026-07-28 on, and what older clients have
	}
	cs, err := c.Connect(tb.Context(), &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatal(err)
	}
	return cs
}

// client connects the newest client.
func (w *world) client(tb testing.TB) *sdk.ClientSession {
	tb.Helper()
	return w.connect(tb, "")
}
