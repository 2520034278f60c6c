package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Times after which a client that is slow is left.
const (
	headerTime = 5 * time.Second
	readTime   = 30 * time.Second
	answerTime = 2 * time.Minute
	keepTime   = time.Minute // an idle connection
	maxHeader  = 64 << 10    // bytes
)

// ErrIdle says that nobody asked for anything for Options.Idle.
var ErrIdle = errors.New("nobody used the dashboard")

// Serve answers requests on a listener until ctx ends, which is no error, or until
// nobody has used it for Options.Idle (ErrIdle). Requests in flight have Options.Grace.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: answerTime, IdleTimeout: keepTime,
		MaxHeaderBytes: maxHeader, ErrorLog: nil,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: withPassage, ConnState: passageState,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(&gate{Listener: l}) }()
	end := s.wait(ctx, failed)
	s.feed.cancel() // the streams end
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Grace)
	defer cancel()
	err := srv.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if end == nil && err != nil {
		end = fmt.Errorf("stop the dashboard: %w", err)
	}
	return end
}

// wait returns when the server is to end.
func (s *Server) wait(ctx context.Context, failed <-chan error) error {
	look := time.NewTicker(max(min(s.opts.Idle/10, 10*time.Second), 10*time.Millisecond))
	defer look.Stop()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("serve the dashboard: %w", err)
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		if s.active.Load() > 0 {
			s.last.Store(s.opts.Now().UnixNano())
		} else if s.opts.Idle > 0 && s.opts.Now().Sub(time.Unix(0, s.last.Load())) > s.opts.Idle && !s.jobs.running() {
			return ErrIdle
		}
	}
}
