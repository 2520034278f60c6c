package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// How often the store is looked at while a page is open, and a stream says that it is alive.
const (
	lookEvery  = time.Second
	aliveEvery = 20 * time.Second
	writeTime  = 10 * time.Second // for one message
	maxStreams = 64
)

// A feed tells open pages that something changed. It looks at the store only while a
// page listens. It is safe for concurrent use.
type feed struct {
	version func(context.Context) string

	mu      sync.Mutex
	ears    map[chan string]bool
	ctx     context.Context //nolint:containedctx // of the work behind it, which ends with stop
	cancel  context.CancelFunc
	looking bool
	poked   chan struct{}
	done    sync.WaitGroup
}

func newFeed(version func(context.Context) string) *feed {
	f := &feed{version: version, ears: make(map[chan string]bool), poked: make(chan struct{}, 1)}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// listen returns a channel of messages and what ends it; nil when too many listen.
func (f *feed) listen() (messages chan string, end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ears) >= maxStreams || f.ctx.Err() != nil {
		return nil, nil
	}
	messages = make(chan string, 8)
	f.ears[messages] = true
	if !f.looking {
		f.looking = true
		f.done.Go(f.look)
	}
	return messages, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ears, messages)
	}
}

// look says when the store changed, until nobody listens.
func (f *feed) look() {
	last := f.version(f.ctx)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
		case <-f.poked:
		}
		if now := f.version(f.ctx); now != last {
			last = now
			f.send("change", map[string]string{"version": now})
		}
		f.mu.Lock()
		if len(f.ears) == 0 {
			f.looking = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
	}
}

// poke makes the feed look at once.
func (f *feed) poke() {
	select {
	case f.poked <- struct{}{}:
	default:
	}
}

// send tells all pages something. A page that does not read misses it.
func (f *feed) send(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	message := fmt.Sprintf("event: %s\ndata: %s\n\n", event, data)
	f.mu.Lock()
	defer f.mu.Unlock()
	for ear := range f.ears {
		select {
		case ear <- message:
		default:
		}
	}
}

func (f *feed) stop() {
	f.cancel()
	f.done.Wait()
}

// events is the stream of an open page.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	messages, end := s.feed.listen()
	if messages == nil {
		http.Error(w, "too many pages listen", http.StatusServiceUnavailable)
		return
	}
	defer end()
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for message := ": hello\n\n"; ; {
		if c.SetWriteDeadline(time.Now().Add(writeTime)) != nil {
			return
		}
		if _, err := w.Write([]byte(message)); err != nil || c.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.feed.ctx.Done():
			return
		case message = <-messages:
		case <-alive.C:
			message = ": alive\n\n"
		}
	}
}
