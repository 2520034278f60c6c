package flat

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/store/layout"
)

// A PostingsWriter makes a posting file beside the one there is, and puts it in its
// place when it is finished.
type PostingsWriter struct {
	h    PostingsHeader
	name string
	file *os.File // nil for one in memory
	out  *bufio.Writer
	mem  bytes.Buffer
	err  error

	tokens                      map[uint32]*tokenList
	names                       []uint32
	keys, groups, classes, rows []byte
	buf                         []byte
	seen                        []*tokenList // of one text
}

// A tokenList is the list of a token that is being made.
type tokenList struct {
	id        uint32
	last      int // row
	frequency uint32
	counts    [Fields]uint32 // in the row that is added
	data      []byte
}

// WritePostings begins a file. Rows and Last of its header come from what is added.
func WritePostings(name string, h PostingsHeader) (*PostingsWriter, error) {
	f, err := os.CreateTemp(filepath.Dir(name), layout.TempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("write postings: %w", err)
	}
	w := &PostingsWriter{name: name, file: f, out: bufio.NewWriterSize(f, 1<<20)}
	return w.begin(h), nil
}

// NewPostings begins what WritePostings begins in memory: Take ends it.
func NewPostings(h PostingsHeader) *PostingsWriter {
	w := &PostingsWriter{}
	w.out = bufio.NewWriter(&w.mem)
	return w.begin(h)
}

func (w *PostingsWriter) begin(h PostingsHeader) *PostingsWriter {
	h.Rows, h.Last = 0, 0
	w.h, w.tokens = h, make(map[uint32]*tokenList)
	w.write(make([]byte, postingsHeader))
	return w
}

func (w *PostingsWriter) write(data []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(data)
	}
}

// Add adds a text; keys ascend. Finish returns what went wrong.
func (w *PostingsWriter) Add(t *Text) {
	if w.err != nil {
		return
	}
	const most = math.MaxUint32
	if t.Key > most || t.Note > most || t.Key < 0 || t.Note < 0 || w.h.texts > most-(1<<24) || w.h.Rows >= maxRows ||
		w.h.Rows > 0 && t.Key <= w.h.Last {
		w.err = fmt.Errorf("text %d cannot be kept in such a file", t.Key)
		return
	}
	row := w.h.Rows
	w.h.Rows, w.h.Last = row+1, t.Key
	buf := w.buf[:0]
	for f, tokens := range t.Tokens {
		buf = binary.AppendUvarint(buf, uint64(len(tokens)))
		for _, token := range tokens {
			l := w.tokens[token]
			if l == nil {
				l = &tokenList{id: uint32(len(w.names)), last: -1}
				w.tokens[token], w.names = l, append(w.names, token)
			}
			if l.counts == ([Fields]uint32{}) {
				w.seen = append(w.seen, l)
			}
			l.counts[f]++
			buf = binary.AppendUvarint(buf, uint64(l.id))
		}
	}
	w.write(buf)
	for _, l := range w.seen {
		l.add(row)
	}
	w.seen = w.seen[:0]
	w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(t.Key))
	w.groups = binary.LittleEndian.AppendUint32(w.groups, t.Group)
	w.classes = append(w.classes, t.Class)
	for _, v := range []uint32{uint32(t.Note), uint32(t.Start), uint32(t.End), uint32(w.h.texts), t.sum()} {
		w.rows = binary.LittleEndian.AppendUint32(w.rows, v)
	}
	w.h.texts += int64(len(buf))
	w.buf = buf
}

// add writes the counts of a row.
func (l *tokenList) add(row int) {
	step := uint64(row-l.last) << 1
	if once := [Fields]uint32{Fields - 1: 1}; l.counts == once {
		l.data = binary.AppendUvarint(l.data, step)
	} else {
		l.data = binary.AppendUvarint(l.data, step|1)
		for _, c := range l.counts {
			l.data = binary.AppendUvarint(l.data, uint64(c))
		}
	}
	l.last, l.counts = row, [Fields]uint32{}
	l.frequency++
}

// Finish writes what is left and puts the file in its place.
func (w *PostingsWriter) Finish() error {
	w.rest()
	return w.place()
}

// Take returns what was made in memory.
func (w *PostingsWriter) Take() (*Postings, error) {
	w.rest()
	if err := cmp.Or(w.err, w.out.Flush()); err != nil {
		return nil, err
	}
	copy(w.mem.Bytes(), w.h.encode())
	return w.h.over(w.mem.Bytes(), func() error { return nil })
}

// rest writes what follows the texts.
func (w *PostingsWriter) rest() {
	hashes := slices.Clone(w.names)
	slices.SortFunc(hashes, cmp.Compare[uint32])
	w.h.tokens, w.h.shift = len(hashes), shiftOf(len(hashes))
	var entries []byte
	for _, hash := range hashes {
		l, begin := w.tokens[hash], w.h.lists
		w.write(l.data)
		w.write(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(l.data)))
		if w.h.lists += int64(len(l.data)) + 4; w.h.lists > math.MaxUint32 && w.err == nil {
			w.err = fmt.Errorf("the lists are larger than %d bytes", math.MaxUint32)
		}
		for _, v := range []uint32{hash, l.frequency, uint32(begin), uint32(w.h.lists)} {
			entries = binary.LittleEndian.AppendUint32(entries, v)
		}
	}
	for _, part := range [][]byte{w.keys, w.groups, w.classes, w.rows} {
		w.write(part)
	}
	for _, hash := range w.names {
		w.write(binary.LittleEndian.AppendUint32(nil, hash))
	}
	w.write(w.bucketsOf(hashes, entries))
	w.write(entries)
	sum := crc32.Update(crc32.ChecksumIEEE(w.keys), crc32.IEEETable, w.groups)
	w.h.columns = crc32.Update(sum, crc32.IEEETable, w.classes)
}

func (w *PostingsWriter) bucketsOf(hashes []uint32, entries []byte) (buckets []byte) {
	from := 0
	for b := range w.h.buckets() {
		to := from
		for to < len(hashes) && int(uint64(hashes[to])>>w.h.shift) == b {
			to++
		}
		buckets = binary.LittleEndian.AppendUint32(buckets, uint32(from))
		buckets = binary.LittleEndian.AppendUint32(buckets, bucketSum(uint32(from), entries[from*entrySize:to*entrySize]))
		from = to
	}
	return append(binary.LittleEndian.AppendUint32(buckets, uint32(from)), 0, 0, 0, 0)
}

// place writes the header and renames the file.
func (w *PostingsWriter) place() (err error) {
	if err = w.err; err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		_, err = w.file.WriteAt(w.h.encode(), 0)
	}
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		_ = os.Remove(w.file.Name())
		return fmt.Errorf("write postings %s: %w", w.name, err)
	}
	return nil
}

// Abandon leaves everything as it was.
func (w *PostingsWriter) Abandon() {
	if w.file == nil {
		return
	}
	_ = w.file.Close()
	_ = os.Remove(w.file.Name())
}
