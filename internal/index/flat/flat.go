// Package flat keeps the vectors of many passages in one memory-mapped file
// that is scanned whole, without an index structure: all sign bits, and then the
// values of the rows that differ least. On vectors of texts, which come in
// clusters, that finds what comparing everything finds; on vectors without any
// direction it can miss one in thirty of the nearest ten.
//
// The file is a copy of what a backend holds, made again at any time. It is
// written beside the old one and renamed, so that a reader has one or the
// other. A file that is cut short, foreign or of another model is refused by
// Open; the caller then reads the vectors from where they are kept.
//
// Postings is another such file: the full text of the passages (postings.go). What the
// databases write and read in columns alike is here, too (columns.go).
package flat

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"anamnesis/internal/embed/mapped"
	"anamnesis/internal/store/layout"
)

// The file: a header of 64 bytes, then for n rows of d dimensions, each part
// for all rows, little-endian: sign bits (d/8 bytes), groups (4), keys (8),
// scales (4), values (d). The rows of a group stand together, in the order of
// the groups: whoever asks about one project reads no others.
const (
	magic      = "ANVF"
	version    = 2
	headerSize = 64
	maxRows    = 1 << 28
)

// ErrUnusable says that a file is no file of this package, or not the one asked for.
var ErrUnusable = errors.New("unusable flat file")

// A Header says what a file holds.
type Header struct {
	Model uint64 // hash of the name of the model that made the vectors
	Epoch uint64 // of the index the rows were copied from
	Last  int64  // the greatest key that was there when the file was written
	Dim   int    // a multiple of 64
	Rows  int
}

// A Row is the vector of one passage.
type Row struct {
	Key    int64
	Group  uint32  // of its project; see Vectors.Nearest
	Scale  float32 // the vector is Scale times Values
	Values []int8
}

// Write writes a file with rows, whose Values have h.Dim elements. It puts rows
// in the order of their groups.
func Write(name string, h Header, rows []Row) (err error) {
	if h.Dim <= 0 || h.Dim%64 != 0 {
		return fmt.Errorf("write %s: %d dimensions are not a multiple of 64", name, h.Dim)
	}
	f, err := os.CreateTemp(filepath.Dir(name), layout.TempPrefix+"*")
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	writeRows(w, h, rows) // Flush returns the error of any of these
	if err = w.Flush(); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write vectors %s: %w", name, err)
	}
	return nil
}

// writeRows writes what a file holds. Whoever keeps w looks for its errors.
func writeRows(w io.Writer, h Header, rows []Row) {
	h.Rows = len(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Group, b.Group) })
	_, _ = w.Write(h.encode())
	var buf []byte
	part := func(put func(buf []byte, r *Row) []byte) {
		for i := range rows {
			buf = put(buf[:0], &rows[i])
			_, _ = w.Write(buf)
		}
	}
	part(func(buf []byte, r *Row) []byte { return appendSigns(buf, r.Values) })
	part(func(buf []byte, r *Row) []byte { return binary.LittleEndian.AppendUint32(buf, r.Group) })
	part(func(buf []byte, r *Row) []byte { return binary.LittleEndian.AppendUint64(buf, uint64(r.Key)) })
	part(func(buf []byte, r *Row) []byte {
		return binary.LittleEndian.AppendUint32(buf, math.Float32bits(r.Scale))
	})
	part(func(buf []byte, r *Row) []byte {
		for _, v := range r.Values {
			buf = append(buf, byte(v))
		}
		return buf
	})
}

func (h Header) encode() []byte {
	b := begin(headerSize, magic, version)
	b = binary.LittleEndian.AppendUint64(b, h.Model)
	b = binary.LittleEndian.AppendUint64(b, h.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Last))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Dim))
	return seal(binary.LittleEndian.AppendUint64(b, uint64(h.Rows)))
}

// begin returns the beginning of a header of size bytes, which seal ends.
func begin(size int, magic string, version uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(make([]byte, 0, size), magic...), version)
}

// seal fills a header up and ends it with a CRC-32 of what stands before.
func seal(b []byte) []byte {
	b = append(b, make([]byte, cap(b)-4-len(b))...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// unseal returns the fields of a header of size bytes that begin and seal made.
func unseal(b []byte, size int, magic string, version uint32) ([]byte, error) {
	if len(b) < size || string(b[:4]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrUnusable)
	}
	if crc32.ChecksumIEEE(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return nil, fmt.Errorf("%w: its header is damaged", ErrUnusable)
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != version {
		return nil, fmt.Errorf("%w: version %d", ErrUnusable, v)
	}
	return b[8 : size-4], nil
}

func decode(b []byte) (h Header, err error) {
	if b, err = unseal(b, headerSize, magic, version); err != nil {
		return h, err
	}
	h.Model = binary.LittleEndian.Uint64(b)
	h.Epoch = binary.LittleEndian.Uint64(b[8:])
	h.Last = int64(binary.LittleEndian.Uint64(b[16:]))
	dim, rows := binary.LittleEndian.Uint32(b[24:]), binary.LittleEndian.Uint64(b[28:])
	if dim == 0 || dim%64 != 0 || dim > 1<<16 || rows > maxRows {
		return h, fmt.Errorf("%w: %d rows of %d dimensions", ErrUnusable, rows, dim)
	}
	h.Dim, h.Rows = int(dim), int(rows)
	return h, nil
}

// size is the length of the whole file.
func (h Header) size() int64 {
	return headerSize + int64(h.Rows)*int64(h.Dim/8+4+8+4+h.Dim)
}

// Vectors is an open file. It is safe for concurrent use.
type Vectors struct {
	Header
	data   []byte
	unmap  func() error
	signs  []byte
	groups []byte
	keys   []byte
	scales []byte
	values []byte
}

// Open maps a file. The error is ErrUnusable, or that of the file system.
func Open(name string) (*Vectors, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, fmt.Errorf("%s: %w: it is too short", name, ErrUnusable)
	}
	h, err := decode(head)
	if err == nil && fi.Size() != h.size() {
		err = fmt.Errorf("%w: %d bytes where %d are due", ErrUnusable, fi.Size(), h.size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, unmap, err := mapped.File(f, int(h.size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	return h.over(data, unmap), nil
}

// over cuts what a file holds into its parts.
func (h Header) over(data []byte, unmap func() error) *Vectors {
	v := &Vectors{Header: h, data: data, unmap: unmap}
	rest := v.data[headerSize:]
	for _, p := range []struct {
		part *[]byte
		size int
	}{{&v.signs, h.Dim / 8}, {&v.groups, 4}, {&v.keys, 8}, {&v.scales, 4}, {&v.values, h.Dim}} {
		*p.part, rest = rest[:h.Rows*p.size:h.Rows*p.size], rest[h.Rows*p.size:]
	}
	return v
}

// AppendVector appends the vector of a row to b: its scale, and its values. ok is false when
// there is no such row. The error is ErrUnusable.
func (v *Vectors) AppendVector(b []byte, key int64, group uint32) (all []byte, ok bool, err error) {
	all = b
	err = reading(func() {
		for _, s := range v.spans([]uint32{group}) {
			row := s.from + sort.Search(s.to-s.from, func(i int) bool { return v.key(s.from+i) >= key })
			if row < s.to && v.key(row) == key {
				all, ok = append(append(b, v.scales[4*row:4*row+4]...), v.values[row*v.Dim:(row+1)*v.Dim]...), true
				return
			}
		}
	})
	if err != nil {
		return b, false, err
	}
	return all, ok, nil
}

func (v *Vectors) key(row int) int64 { return int64(binary.LittleEndian.Uint64(v.keys[8*row:])) }

// reading calls f, which reads a file that is mapped. One that was truncated is an
// ErrUnusable.
func reading(f func()) error {
	if err := mapped.Read(f); err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return nil
}

// Close unmaps the file.
func (v *Vectors) Close() error { return v.unmap() }

func appendSigns(buf []byte, values []int8) []byte {
	for i := 0; i < len(values); i += 64 {
		var word uint64
		for j, v := range values[i : i+64] {
			if v < 0 {
				word |= 1 << j
			}
		}
		buf = binary.LittleEndian.AppendUint64(buf, word)
	}
	return buf
}
