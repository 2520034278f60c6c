package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Port is where a dashboard is looked for first: a browser keeps an installed page by its
// port.
const Port = "7824"

// ErrOpen says that an address can be reached from elsewhere, and nobody is asked for a
// password.
var ErrOpen = errors.New("it can be reached from elsewhere; give --auth with the hash of a password")

// A Listener is where a dashboard is reached.
type Listener struct {
	net.Listener
	Host string // the name or address by which it is reached, in lower case; "" for this machine alone
	Open bool   // it can be reached from elsewhere
}

// Listen listens on an address, "" for Port of this machine alone, or any free one when
// that is taken. An address that can be reached from elsewhere wants a password.
func Listen(ctx context.Context, address string, password bool) (*Listener, error) {
	var lc net.ListenConfig
	if address == "" {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", Port))
		if err != nil { // another dashboard has it
			l, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
		}
		return &Listener{Listener: l}, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("give an address and a port, such as 127.0.0.1:%s: %w", Port, err)
	}
	ip, err := netip.ParseAddr(host)
	l := &Listener{Open: host != "localhost" && (err != nil || !ip.IsLoopback())}
	if l.Open {
		if !password {
			return nil, ErrOpen
		}
		l.Host = strings.ToLower(host)
	}
	l.Listener, err = lc.Listen(ctx, "tcp", address)
	return l, err
}

// TLS makes the connections private with a certificate and its key.
func (l *Listener) TLS(certFile, keyFile string) error {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("read the certificate %s and its key: %w", certFile, err)
	}
	l.Listener = tls.NewListener(l.Listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return nil
}
