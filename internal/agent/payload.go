package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"
	"time"
)

// A Payload is what an agent wrote to a hook, read once: it may be megabytes long, and
// every agent of which it may be is asked for it.
type Payload struct {
	all    members // those before an error, too
	object bool
	empty  bool  // there was nothing at all
	err    error // why it is no JSON
}

// NewPayload reads a payload. It keeps parts of data.
func NewPayload(data []byte) Payload {
	data = trimLine(data)
	p := Payload{empty: len(data) == 0}
	p.all, p.object, p.err = readMembers(data)
	return p
}

// whole returns why a payload is no event, nil when it may be one.
func (p Payload) whole() error {
	if p.err == nil && !p.object {
		return errors.New("not a JSON object")
	}
	return p.err
}

// readPayload reads one JSON object. The error says why it stopped before the end.
func readPayload(r io.Reader, max int64, timeout time.Duration) (Payload, error) {
	in := incoming{max: max}
	type end struct {
		p   Payload
		err error
	}
	done := make(chan end, 1)
	go func() {
		p, err := in.read(r)
		done <- end{p, err}
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		return NewPayload(in.come()), fmt.Errorf("read hook event: no end after %v", timeout)
	case e := <-done:
		return e.p, e.err
	}
}

// A pipe hands over pieces of 64 KB at most.
const pieceBytes = 64 << 10

// incoming is a payload that is being read. What has come stays as it is; the reader
// writes behind it.
type incoming struct {
	max int64

	mu   sync.Mutex
	data []byte
}

// come returns what has come by now.
func (in *incoming) come() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.data
}

// read reads one object, or up to an error or the end.
func (in *incoming) read(r io.Reader) (Payload, error) {
	data := make([]byte, 0, pieceBytes)
	var ends ending
	for {
		if len(data) == cap(data) { // there is room for the most at once: what is not written to costs nothing
			data = append(make([]byte, 0, max(in.max, pieceBytes)+pieceBytes), data...)
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+pieceBytes)])
		closed := ends.read(data[len(data) : len(data)+n])
		data = data[:len(data)+n]
		in.mu.Lock()
		in.data = data[:min(int64(len(data)), in.max)]
		in.mu.Unlock()
		switch {
		case int64(len(data)) > in.max:
			return NewPayload(data[:in.max]), fmt.Errorf("read hook event: longer than %d bytes", in.max)
		case errors.Is(err, io.EOF):
			return NewPayload(data), nil
		case err != nil:
			return NewPayload(data), fmt.Errorf("read hook event: %w", err)
		case closed:
			if p := NewPayload(data); p.object && p.err == nil {
				return p, nil
			}
		}
	}
}

// An ending sees, piece by piece, where a JSON object may end. It knows strings and
// brackets and nothing else: whoever asks it looks at the whole once it says yes.
type ending struct {
	depth           int
	quoted, escaped bool
}

// read takes in the next piece, and reports whether all that was opened is closed with
// it, but for blanks.
func (e *ending) read(piece []byte) (closed bool) {
	for i := 0; i < len(piece); i++ {
		if e.quoted && !e.escaped {
			if i = skipPlain(piece, i); i == len(piece) {
				return false
			}
		}
		c := piece[i]
		switch {
		case e.escaped:
			e.escaped = false
		case e.quoted && c == '\\':
			e.escaped = true
		case c == '"':
			e.quoted = !e.quoted
		case e.quoted:
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
			closed = e.depth <= 0
		}
	}
	return closed && !e.quoted
}

// skipPlain returns where, from i on, the first byte stands that is not plain in a string
// of JSON: a quote, a backslash or a control character. It is len(d) when there is none.
// It looks at eight bytes at a time: in transcripts and events nearly everything is inside
// strings.
func skipPlain(d []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i+8 <= len(d) {
		w := binary.LittleEndian.Uint64(d[i:])
		q, b := w^ones*'"', w^ones*'\\'
		// A high bit for each byte that is a quote, a backslash or below
		// space; the lowest one is exact, those above it may be borrowed.
		m := ((q-ones)&^q | (b-ones)&^b | (w-ones*' ')&^w) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(d) && d[i] != '"' && d[i] != '\\' && d[i] >= ' ' {
		i++
	}
	return i
}
