// Package web is the memory as pages: a dashboard for one person, on this machine.
//
// Pages are made on the server with html/template and can be read without
// JavaScript; small modules of our own add a palette, live updates and keys. Each
// page has a twin below /api/ with the same value as JSON. A page calls use cases of
// package app and shows what they return; a write is the use case of the command
// that does the same.
//
// Who may come: a request names this machine as its host, comes from no foreign page,
// and carries the cookie that the opened link was exchanged for; a write carries a
// token of the page as well (guard.go). Notes are hostile text: everything is escaped,
// markdown without raw HTML, no script or style but our own files.
//
// Failure policy: a request that fails or panics is an answer of that request alone; a
// store that is locked, damaged or gone is said, and the next request tries again.
package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/config"
	"anamnesis/internal/ingest"
)

// Options say how the pages are served.
type Options struct {
	Version  string                           // of this program
	Hosts    []string                         // names besides the loopback ones under which it may be reached, without a port
	Password string                           // the hash of a password (HashPassword); "" when the link is the only way in
	TLS      bool                             // the cookie travels over TLS alone
	Idle     time.Duration                    // without a request after which it ends; 0 means never
	Grace    time.Duration                    // for requests in flight when it ends
	Link     func(path string)                // is shown the path of a new link, when the last one was used
	Now      func() time.Time                 // nil means time.Now
	Log      func(format string, args ...any) // what went wrong beside a request; nil logs nothing
}

// A Server shows one store. It is safe for concurrent use. Close releases the store.
type Server struct {
	opts Options
	keys *keyring

	mu    sync.Mutex // of lent and host
	lent  *lending   // nil when the store is closed
	host  app.Host
	ended sync.WaitGroup // old rooms that somebody still uses

	mux     *http.ServeMux
	pages   templates
	jobs    jobs
	feed    *feed
	flash   flashes
	keeping sync.Mutex
	kept    map[string]keptValue // by what keep was shown
	tries   limiter
	logins  struct{ here, elsewhere turn }
	side    cache[*sidebar]
	fleet   cache[*app.MachinesAnswer]
	week    cache[*week]
	last    atomic.Int64 // the time of the last request, in nanoseconds
	active  atomic.Int64 // requests and streams
}

// New makes a server of a store. The rooms of the store are opened at once, so that
// what is wrong with it is said before a browser opens.
func New(ctx context.Context, h app.Host, o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	s := &Server{opts: o, keys: newKeyring(), host: h, kept: make(map[string]keptValue)}
	s.host.Notify = nil // each request has its own
	s.host.By, s.host.Face = ingest.Person, "dashboard"
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.feed = newFeed(s.version)
	s.side.make, s.week.make, s.fleet.make = makeSidebar, makeWeek, makeFleet
	s.mux = s.routes()
	s.last.Store(o.Now().UnixNano())
	return s, nil
}

// open opens the rooms again; the old ones are closed when nobody uses them. The lock is not held.
func (s *Server) open(ctx context.Context) error {
	s.mu.Lock()
	if s.host.Environ != nil { // the settings may have changed since
		s.host.Config = config.Load(s.host.Environ(s.host.Flags))
	}
	h := s.host
	s.mu.Unlock()
	r, err := app.OpenServed(ctx, h)
	if err != nil {
		return fmt.Errorf("open the store for the dashboard: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.lent = &lending{rooms: r, fresh: hooks.NewRefresher(r)}
	s.lent.folder, err = history.Folder(r)
	return err
}

// A lending is opened rooms and their users: rooms that were replaced are closed when the
// last request is done with them.
type lending struct {
	rooms  *app.Rooms
	fresh  *hooks.Refresher
	folder os.FileInfo // of the store, when it was opened
	users  sync.WaitGroup
}

// retire lets the rooms go. The lock is held.
func (s *Server) retire() {
	if old := s.lent; old != nil {
		s.lent = nil
		s.ended.Go(func() {
			old.users.Wait()
			old.rooms.Close()
		})
	}
}

// lend returns the rooms and what says that they are not used any more; nil when the
// store is closed.
func (s *Server) lend() (l *lending, back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lent == nil {
		return nil, func() {}
	}
	s.lent.users.Add(1)
	return s.lent, s.lent.users.Done
}

// Close stops what runs in the background and releases the store.
func (s *Server) Close() {
	s.jobs.stop()
	s.feed.stop()
	s.side.wait()
	s.week.wait()
	s.fleet.wait()
	s.mu.Lock()
	s.retire()
	s.mu.Unlock()
	s.ended.Wait()
}

// Link returns the path that lets a browser in, once.
func (s *Server) Link() string { return "/enter?key=" + s.keys.link() }

// version changes when anything of the store does that a page shows.
func (s *Server) version(ctx context.Context) string {
	l, back := s.lend()
	defer back()
	if l == nil {
		return ""
	}
	_, _ = l.fresh.Refresh(ctx)
	return history.Version(ctx, l.rooms)
}
