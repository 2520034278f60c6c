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

// errOpen says that an address can be reached from elsewhere, and nobody is asked for a
// password.
var errOpen = errors.New("it can be reached from elsewhere; give --auth with the hash of a password")

// A Listener is where a dashboard is reached.
type Listener struct {
	net.Listener
	Host string // the name or address by which it is reached, in lower case; "" for this machine alone
	Open bool   // it can be reached from elsewhere

	any bool // it listens on every address of this machine
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
			return nil, errOpen
		}
		l.Host = strings.ToLower(host)
	}
	network := "tcp"
	if l.any = err == nil && ip.IsUnspecified(); l.any && ip.Is4() {
		network = "tcp4"
	}
	l.Listener, err = lc.Listen(ctx, network, address)
	return l, err
}

// Address returns host and port for a link on this machine. A listener on every address is
// reached by the loopback one.
func (l *Listener) Address() string {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || !l.any {
		return l.Addr().String()
	}
	host := netip.IPv6Loopback()
	if at.Addr().Unmap().Is4() {
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(host, at.Port()).String()
}

// Elsewhere lists host and port by which other machines reach a listener on every address.
func (l *Listener) Elsewhere() (all []string) {
	at, err := netip.ParseAddrPort(l.Addr().String())
	own, ierr := net.InterfaceAddrs()
	if err != nil || ierr != nil || !l.any {
		return nil
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if ip := prefix.Addr(); err == nil && ip.IsGlobalUnicast() && (ip.Is4() || at.Addr().Is6()) {
			all = append(all, netip.AddrPortFrom(ip, at.Port()).String())
		}
	}
	return all
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
