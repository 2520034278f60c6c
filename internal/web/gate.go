package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxClients is how many connections there are at a time.
const maxClients = 256

// A gate counts connections. It lets every one in, and closes another for it when there are
// too many: of the address with the most connections by which nobody who is known has asked
// anything, the oldest of these. So connections of strangers, however many, keep nobody out.
type gate struct {
	net.Listener
	mu   sync.Mutex
	open []*passage // oldest first
}

// A passage is a connection that was let in.
type passage struct {
	net.Conn
	gate  *gate
	from  netip.Addr
	known atomic.Bool // a browser that was let in has asked something by it
	idle  atomic.Bool // no request is being answered
	once  sync.Once
}

func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p := &passage{Conn: c, gate: g, from: addressOf(c.RemoteAddr().String())}
		if g.enter(p) {
			return p, nil
		}
		_ = c.Close()
	}
}

// enter makes room for a connection, and reports whether there was any to make.
func (g *gate) enter(p *passage) bool {
	g.mu.Lock()
	var out *passage
	if len(g.open) >= maxClients {
		if out = g.least(); out == nil {
			g.mu.Unlock()
			return false
		}
	}
	g.open = append(g.open, p)
	g.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
	return true
}

// least returns the connection that goes first, nil when all answer requests of browsers that
// were let in. The lock is held.
func (g *gate) least() *passage {
	strangers := make(map[netip.Addr]int)
	most := 0
	for _, o := range g.open {
		if !o.known.Load() {
			strangers[o.from]++
			most = max(most, strangers[o.from])
		}
	}
	for _, o := range g.open {
		if most > 0 && !o.known.Load() && strangers[o.from] == most || most == 0 && o.idle.Load() {
			return o
		}
	}
	return nil
}

// Close closes the connection, and counts it no more.
func (p *passage) Close() error {
	p.once.Do(func() {
		p.gate.mu.Lock()
		defer p.gate.mu.Unlock()
		p.gate.open = slices.DeleteFunc(p.gate.open, func(o *passage) bool { return o == p })
	})
	return p.Conn.Close()
}

type passageKey struct{}

// withPassage tells the requests of a connection which one it is.
func withPassage(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, passageKey{}, c)
}

// passageState keeps whether a request of a connection is being answered.
func passageState(c net.Conn, s http.ConnState) {
	if p, ok := c.(*passage); ok {
		p.idle.Store(s == http.StateIdle)
	}
}

// admitted says that a browser that was let in asks something by its connection.
func admitted(r *http.Request) {
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		p.known.Store(true)
	}
}

// addressOf returns the address of "ADDRESS:PORT". Of IPv6 it is the network: one machine has
// as many addresses in it as it likes.
func addressOf(hostPort string) netip.Addr {
	at, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() && !ip.IsLoopback() {
		if network, err := ip.Prefix(64); err == nil {
			ip = network.Addr()
		}
	}
	return ip
}

// A limiter lets few wrong passwords of one address in a time through. Each address has its
// own, and so has this machine: whoever guesses elsewhere locks only themselves out.
type limiter struct {
	mu    sync.Mutex
	wrong map[netip.Addr][]time.Time
}

const (
	maxWrong     = 5
	wrongTime    = time.Minute
	maxAddresses = 4096 // that are remembered
)

// wait returns how long an address may not try.
func (l *limiter) wait(from netip.Addr, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := slices.DeleteFunc(l.wrong[from], func(at time.Time) bool { return now.Sub(at) > wrongTime })
	if len(last) == 0 {
		delete(l.wrong, from)
		return 0
	}
	if l.wrong[from] = last; len(last) < maxWrong {
		return 0
	}
	return wrongTime - now.Sub(last[0])
}

func (l *limiter) failed(from netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong == nil || len(l.wrong) >= maxAddresses {
		l.wrong = make(map[netip.Addr][]time.Time) // as many addresses try as one has passwords for; each guess takes its time anyway
	}
	l.wrong[from] = append(l.wrong[from], now)
}
