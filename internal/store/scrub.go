package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Scrub takes text out of the event log. It calls change for every record, oldest
// first, which may empty fields and reports whether it did; a record can only lose
// text by it. A line keeps its place and its length, filled with blanks, because
// readers remember how far they came and other processes append at the same time. It
// returns how many records changed.
func (e *Events) Scrub(change func(*Record) bool) (n int, err error) {
	if e.s.unwritable != nil {
		return 0, e.s.unwritable
	}
	files, err := e.Files()
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		done, err := e.scrubFile(e.s.Path("events/"+name), change)
		if n += done; err != nil {
			return n, fmt.Errorf("take forgotten text out of %s: %w", e.s.Path("events/"+name), err)
		}
	}
	return n, nil
}

func (e *Events) scrubFile(name string, change func(*Record) bool) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for at := int64(0); ; {
		line, err := r.ReadSlice('\n')
		length := len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // no record is that long
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		default:
			var rec Record
			if json.Unmarshal(line, &rec) != nil || rec.Kind == "" || !change(&rec) {
				break
			}
			short, err := json.Marshal(rec)
			if err != nil || len(short) >= length {
				return n, errors.Join(err, fmt.Errorf("the record at byte %d would grow", at))
			}
			if err := e.s.disk.Overwrite(name, at, append(short, bytes.Repeat([]byte{' '}, length-1-len(short))...)); err != nil {
				return n, err
			}
			n++
		}
		at += int64(length)
	}
}
