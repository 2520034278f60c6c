package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Errors of Listen.
var (
	ErrAddress     = errors.New("not an address with a port, such as 127.0.0.1:7823")
	ErrOpenAddress = errors.New("other machines could reach it")
)

// Listen serves on an address of this machine until ctx ends. An address that
// other machines can reach is refused (ErrOpenAddress) unless o names the hosts
// under which they may come. shown is called with the address it listens on.
func (s *Server) Listen(ctx context.Context, address string, o HTTPOptions, ready func(address string)) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q: %w", address, ErrAddress)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && len(o.Hosts) == 0 {
		return fmt.Errorf("%s: %w", address, ErrOpenAddress)
	}
	if _, err := s.Handler(o); err != nil { // before anybody is let in
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready(l.Addr().String())
	return s.Serve(ctx, l, o)
}
