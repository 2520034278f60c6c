package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxLine is the longest line that is read as a message, in bytes.
const MaxLine = 4 << 20

const (
	maxBatch   = 50   // messages of one line; batches were legal until 2025-06-18
	maxPending = 1000 // calls that wait for their answers

	codeBusy = -32000 // of the range that JSON-RPC leaves to servers
)

// A guard stands between two streams and the SDK. It is the SDK's transport and
// its one connection. The SDK's own ends with the first line that is no message,
// and loses the answers that are due; a guard answers such a line itself and
// goes on. Every message is one line and one write.
type guard struct {
	in    *bufio.Reader
	grace time.Duration

	messages chan jsonrpc.Message
	stopped  chan struct{}
	once     sync.Once

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	pending map[jsonrpc.ID]struct{} // calls without an answer
	idle    chan struct{}           // closed when the client is gone and nothing is pending
	ending  bool
	broken  error // why reading ended, when that is nobody's wish
}

var (
	_ sdk.Transport  = (*guard)(nil)
	_ sdk.Connection = (*guard)(nil)
)

func newGuard(in io.Reader, out io.Writer, grace time.Duration) *guard {
	return &guard{
		in: bufio.NewReaderSize(in, 64<<10), out: out, grace: grace,
		messages: make(chan jsonrpc.Message), stopped: make(chan struct{}),
		pending: make(map[jsonrpc.ID]struct{}), idle: make(chan struct{}),
	}
}

// Connect begins to read.
func (g *guard) Connect(context.Context) (sdk.Connection, error) {
	go g.pump()
	return g, nil
}

// SessionID is empty: there is one session on a pair of streams.
func (g *guard) SessionID() string { return "" }

// Read returns the next message.
func (g *guard) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-g.messages:
		return m, nil
	case <-g.stopped:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message. When that fails there is nobody left to talk to.
func (g *guard) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = g.send(data)
	if r, ok := m.(*jsonrpc.Response); ok {
		g.answered(r.ID)
	}
	return err
}

func (g *guard) send(line []byte) error {
	g.writing.Lock()
	_, err := g.out.Write(append(line, '\n'))
	g.writing.Unlock()
	if err != nil {
		g.stop()
	}
	return err
}

// Close ends the connection. The streams are the caller's.
func (g *guard) Close() error {
	g.stop()
	return nil
}

func (g *guard) stop() { g.once.Do(func() { close(g.stopped) }) }

// failure returns why reading ended, nil when the client closed its end.
func (g *guard) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.broken
}

// pump reads lines until there are no more. Then the calls that were accepted
// have a moment to end: a script that writes its questions and closes the pipe
// gets its answers.
func (g *guard) pump() {
	defer g.stop()
	for {
		line, err := g.line()
		switch {
		case errors.Is(err, errLong):
			g.refuse(nil, jsonrpc.CodeInvalidRequest, "the line is longer than 4 MiB and was skipped")
			continue
		case len(line) > 0:
			g.take(line)
		}
		select {
		case <-g.stopped:
			return
		default:
		}
		if err != nil {
			g.drain(err)
			return
		}
	}
}

// drain waits for the calls in flight.
func (g *guard) drain(why error) {
	g.mu.Lock()
	if g.ending = true; !errors.Is(why, io.EOF) && !errors.Is(why, io.ErrClosedPipe) {
		g.broken = why
	}
	if len(g.pending) == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	select {
	case <-g.idle:
	case <-g.stopped:
	case <-time.After(g.grace):
	}
}

var errLong = errors.New("line too long")

// line returns the next line without the white space around it. Of one that is
// too long it keeps nothing, and reads on to its end.
func (g *guard) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := g.in.ReadSlice('\n')
		switch {
		case long:
		case len(line)+len(part) > MaxLine:
			line, long = nil, true
		case line == nil && err == nil:
			return bytes.TrimSpace(bytes.Clone(part)), nil
		default:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			err = errLong
		}
		return bytes.TrimSpace(line), err
	}
}

// take passes on what a line holds.
func (g *guard) take(line []byte) {
	if !json.Valid(line) {
		g.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON and was skipped")
		return
	}
	if line[0] != '[' {
		g.pass(line)
		return
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 || len(batch) > maxBatch {
		g.refuse(nil, jsonrpc.CodeInvalidRequest, "a batch holds 1 to 50 messages; better send each on a separate line")
		return
	}
	for _, one := range batch { // the answers go out one by one
		g.pass(one)
	}
}

// pass hands a message to the SDK, if it is one.
func (g *guard) pass(data []byte) {
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		g.refuse(idOf(data), jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message; it was skipped")
		return
	}
	// A subscription stays open as long as its client does: nobody waits for it.
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() && call.Method != "subscriptions/listen" && !g.accepted(call.ID) {
		g.refuse(idOf(data), codeBusy, "too many calls at once; wait for answers")
		return
	}
	select {
	case g.messages <- m:
	case <-g.stopped:
	}
}

// accepted notes that an answer is due.
func (g *guard) accepted(id jsonrpc.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) >= maxPending {
		return false
	}
	g.pending[id] = struct{}{}
	return true
}

func (g *guard) answered(id jsonrpc.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.pending[id]; !ok {
		return
	}
	delete(g.pending, id)
	if g.ending && len(g.pending) == 0 {
		close(g.idle)
	}
}

// idOf returns the id of a message that cannot be decoded as a whole, nil when
// it has none that could be answered.
func idOf(data []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	var text string
	var number int64
	if json.Unmarshal(m.ID, &text) == nil || json.Unmarshal(m.ID, &number) == nil {
		return m.ID
	}
	return nil
}

// refuse answers what the SDK never sees.
func (g *guard) refuse(id json.RawMessage, code int, message string) {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", id, failure{code, message}})
	if err == nil {
		_ = g.send(data) // a client that is gone is seen by stop
	}
}
