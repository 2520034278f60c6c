package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A lineReader splits at LF only and holds at most one line of at most max bytes.
type lineReader struct {
	r    *bufio.Reader
	max  int
	next int64 // offset of the next line
	long []byte
}

// A line is valid until the next one is read.
type line struct {
	text   []byte // without its LF; nil when it was too long
	offset int64
	end    int64 // offset of the next line
	whole  bool  // ended with LF
	long   bool  // more than max bytes, thrown away
}

func newLineReader(r io.Reader, limits Limits) *lineReader {
	if limits.Bytes > 0 {
		r = io.LimitReader(r, limits.Bytes)
	}
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: limits.Line}
}

// read returns the next line. With an error there may still be a line: the
// bytes that came before it.
func (l *lineReader) read() (line, error) {
	out := line{offset: l.next}
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		out.end = l.next
		if err == nil {
			out.whole = true
			part = part[:len(part)-1]
		}
		switch {
		case out.long: // keep skipping
		case len(l.long)+len(part) > l.max:
			out.long = true
		case err == nil && len(l.long) == 0:
			out.text = part // the common case: no copy
		default:
			l.long = append(l.long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !out.long && out.text == nil {
			out.text = l.long
		}
		return out, err
	}
}

// lost reports whether a line begins with the NUL bytes that a file system wrote in the place of lost ones.
func lost(line []byte) bool { return len(line) > 0 && line[0] == 0 }

// trimLine takes off what damaged or foreign writers leave around a record: a
// byte order mark, CR, and the NUL bytes of a file system that lost power.
func trimLine(b []byte) []byte {
	b = bytes.Trim(b, "\x00 \t\r\n")
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
}
