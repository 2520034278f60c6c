package flat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"os"
	"sort"

	"anamnesis/internal/embed/mapped"
)

// Fields is how many fields a text has.
const Fields = 3

// A Text is a passage: what is known of it, and the hashes of its tokens.
type Text struct {
	Key, Note  int64 // below 1<<32
	Start, End int
	Group      uint32
	Class      uint8
	Tokens     [Fields][]uint32
}

// The posting file: a header of 128 bytes, then little-endian, one after the other:
//
//	texts    of each row: for each field its number of tokens, and these by their
//	         numbers, all as varints; a token has the number of its first occurrence
//	lists    of each token: where it occurs, and a CRC-32 of that
//	keys     4 bytes a row, ascending
//	groups   4 bytes a row
//	classes  1 byte a row
//	rows     20 bytes a row: note, start, end, where its text begins, CRC-32 of all that
//	names    4 bytes a token: its hash, by its number
//	buckets  8 bytes each: its first entry, and a CRC-32 of that and of its entries
//	entries  16 bytes a token: hash, number of rows, where its list begins and ends
//
// Entries are in the order of their hashes, and a bucket is those with the same first
// bits. A list has for each row the distance from the row before, shifted by one bit;
// the bit says that the token stands there otherwise than once in the last field, and
// then the numbers for all fields follow.
//
// Keys, groups and classes have a CRC-32 in the header, which Open compares; what is
// read of the rest is compared when it is read.
const (
	postingsMagic   = "ANPF"
	postingsVersion = 1
	postingsHeader  = 128
	rowSize         = 20
	bucketSize      = 8
	entrySize       = 16
	bucketEntries   = 8 // on the average, at most
	columnsSize     = 4 + 4 + 1
)

// A PostingsHeader says what a posting file holds.
type PostingsHeader struct {
	Epoch uint64 // of the index the rows were copied from
	Model uint64 // of most vectors of the rows, 0 when there are none
	Last  int64  // the greatest key that was there when the file was written
	Gone  int64  // up to which the index's list of removed passages was known then
	Rows  int

	tokens       int
	shift        int // of a hash, to get the number of its bucket
	texts, lists int64
	columns      uint32 // CRC-32 of keys, groups and classes
}

func (h *PostingsHeader) encode() []byte {
	b := begin(postingsHeader, postingsMagic, postingsVersion)
	for _, v := range []uint64{
		h.Epoch, h.Model, uint64(h.Last), uint64(h.Gone), uint64(h.Rows), uint64(h.tokens), uint64(h.shift), uint64(h.texts), uint64(h.lists),
		uint64(h.columns),
	} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return seal(b)
}

func decodePostings(b []byte) (h PostingsHeader, err error) {
	if b, err = unseal(b, postingsHeader, postingsMagic, postingsVersion); err != nil {
		return h, err
	}
	var v [10]uint64
	for i := range v {
		v[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	h = PostingsHeader{Epoch: v[0], Model: v[1], Last: int64(v[2]), Gone: int64(v[3])}
	if v[4] > maxRows || v[5] > math.MaxUint32 || v[6] > 32 || v[7] > math.MaxUint32 || v[8] > math.MaxUint32 {
		return h, fmt.Errorf("%w: %d rows with %d tokens", ErrUnusable, v[4], v[5])
	}
	h.Rows, h.tokens, h.shift, h.texts, h.lists, h.columns = int(v[4]), int(v[5]), int(v[6]), int64(v[7]), int64(v[8]), uint32(v[9])
	return h, nil
}

func (h *PostingsHeader) buckets() int { return 1 << (32 - h.shift) }

func (h *PostingsHeader) size() int64 {
	return postingsHeader + h.texts + h.lists + int64(h.Rows)*(columnsSize+rowSize) + int64(h.tokens)*(4+entrySize) +
		int64(h.buckets()+1)*bucketSize
}

// shiftOf returns by how much hashes are shifted where there are so many of them.
func shiftOf(tokens int) int { return 32 - min(24, bits.Len(uint(tokens/bucketEntries))) }

// Postings is an open posting file. It is safe for concurrent use. What it finds
// damaged when it is asked is an ErrUnusable.
type Postings struct {
	PostingsHeader
	unmap                                                              func() error
	texts, lists, keys, groups, classes, rows, names, buckets, entries []byte
}

// OpenPostings maps a file. The error is ErrUnusable, or that of the file system.
func OpenPostings(name string) (*Postings, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, postingsHeader)
	n, _ := f.ReadAt(head, 0)
	h, err := decodePostings(head[:n])
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
	p, err := h.over(data, unmap)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), unmap())
	}
	return p, nil
}

// over cuts what a file holds into its parts.
func (h PostingsHeader) over(data []byte, unmap func() error) (*Postings, error) {
	p := &Postings{PostingsHeader: h, unmap: unmap}
	rest := data[postingsHeader:]
	for _, s := range []struct {
		part *[]byte
		size int
	}{
		{&p.texts, int(h.texts)},
		{&p.lists, int(h.lists)},
		{&p.keys, 4 * h.Rows},
		{&p.groups, 4 * h.Rows},
		{&p.classes, h.Rows},
		{&p.rows, rowSize * h.Rows},
		{&p.names, 4 * h.tokens},
		{&p.buckets, bucketSize * (h.buckets() + 1)},
		{&p.entries, entrySize * h.tokens},
	} {
		*s.part, rest = rest[:s.size:s.size], rest[s.size:]
	}
	err := reading(func() { // the columns are compared and kept: questions read them without further ado
		p.keys, p.groups, p.classes = bytes.Clone(p.keys), bytes.Clone(p.groups), bytes.Clone(p.classes)
	})
	sum := crc32.Update(crc32.ChecksumIEEE(p.keys), crc32.IEEETable, p.groups)
	if err == nil && crc32.Update(sum, crc32.IEEETable, p.classes) != h.columns {
		err = fmt.Errorf("%w: its columns are damaged", ErrUnusable)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close unmaps the file.
func (p *Postings) Close() error { return p.unmap() }

// Key returns the key of a row.
func (p *Postings) Key(row int) int64 { return int64(binary.LittleEndian.Uint32(p.keys[4*row:])) }

// Group returns the group of a row.
func (p *Postings) Group(row int) uint32 { return binary.LittleEndian.Uint32(p.groups[4*row:]) }

// Class returns the class of a row.
func (p *Postings) Class(row int) uint8 { return p.classes[row] }

// Row returns the row of a key.
func (p *Postings) Row(key int64) (row int, ok bool) {
	row = sort.Search(p.Rows, func(i int) bool { return p.Key(i) >= key })
	return row, row < p.Rows && p.Key(row) == key
}

// Text returns a row.
func (p *Postings) Text(row int) (t Text, err error) {
	if gone := reading(func() { t, err = p.text(row) }); gone != nil {
		return Text{}, gone
	}
	return t, err
}

func (p *Postings) text(row int) (t Text, err error) {
	at := p.rows[row*rowSize : (row+1)*rowSize]
	begin, end := binary.LittleEndian.Uint32(at[12:]), uint32(len(p.texts))
	if row+1 < p.Rows {
		end = binary.LittleEndian.Uint32(p.rows[(row+1)*rowSize+12:])
	}
	if begin > end || int(end) > len(p.texts) {
		return t, fmt.Errorf("%w: row %d is damaged", ErrUnusable, row)
	}
	t = Text{
		Key: p.Key(row), Note: int64(binary.LittleEndian.Uint32(at)), Group: p.Group(row), Class: p.Class(row),
		Start: int(binary.LittleEndian.Uint32(at[4:])), End: int(binary.LittleEndian.Uint32(at[8:])),
	}
	if !p.decodeTokens(&t, p.texts[begin:end]) || t.sum() != binary.LittleEndian.Uint32(at[16:]) {
		return t, fmt.Errorf("%w: row %d is damaged", ErrUnusable, row)
	}
	return t, nil
}

func (p *Postings) decodeTokens(t *Text, data []byte) bool {
	all := make([]uint32, 0, len(data)) // a token takes a byte at least
	for f := range t.Tokens {
		count, n := binary.Uvarint(data)
		if n <= 0 || count > uint64(len(data)) {
			return false
		}
		data = data[n:]
		from := len(all)
		for range count {
			if len(data) == 0 {
				return false
			}
			id, n := uint64(data[0]), 1
			if id >= 0x80 {
				id, n = binary.Uvarint(data)
			}
			if n <= 0 || id >= uint64(p.tokens) {
				return false
			}
			data = data[n:]
			all = append(all, binary.LittleEndian.Uint32(p.names[4*id:]))
		}
		t.Tokens[f] = all[from:len(all):len(all)]
	}
	return len(data) == 0
}

// sum is the checksum of a row.
func (t *Text) sum() uint32 {
	b := make([]byte, 0, 1024)
	for _, v := range []uint32{uint32(t.Key), uint32(t.Note), uint32(t.Start), uint32(t.End), t.Group, uint32(t.Class)} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, tokens := range t.Tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(tokens)))
		for _, token := range tokens {
			b = binary.LittleEndian.AppendUint32(b, token)
		}
	}
	return crc32.ChecksumIEEE(b)
}

// A List says where a token occurs. The zero value is that of a token without rows.
type List struct {
	Frequency int // rows
	data      []byte
	rows      int
}

// List returns the list of a token.
func (p *Postings) List(token uint32) (l List, err error) {
	if gone := reading(func() { l, err = p.list(token) }); gone != nil {
		return List{}, gone
	}
	return l, err
}

func (p *Postings) list(token uint32) (l List, err error) {
	bad := func() error { return fmt.Errorf("%w: the list of a token is damaged", ErrUnusable) }
	b := int(uint64(token) >> p.shift)
	bucket := p.buckets[b*bucketSize:]
	from, to := binary.LittleEndian.Uint32(bucket), binary.LittleEndian.Uint32(bucket[bucketSize:])
	if from > to || int64(to) > int64(p.tokens) {
		return l, bad()
	}
	entries := p.entries[int(from)*entrySize : int(to)*entrySize]
	if bucketSum(from, entries) != binary.LittleEndian.Uint32(bucket[4:]) {
		return l, bad()
	}
	for ; len(entries) > 0; entries = entries[entrySize:] {
		if binary.LittleEndian.Uint32(entries) != token {
			continue
		}
		begin, end := int64(binary.LittleEndian.Uint32(entries[8:])), int64(binary.LittleEndian.Uint32(entries[12:]))
		if begin > end-4 || end > int64(len(p.lists)) {
			return l, bad()
		}
		data, sum := bytes.Clone(p.lists[begin:end-4]), binary.LittleEndian.Uint32(p.lists[end-4:])
		if crc32.ChecksumIEEE(data) != sum {
			return l, bad()
		}
		return List{Frequency: int(binary.LittleEndian.Uint32(entries[4:])), data: data, rows: p.Rows}, nil
	}
	return l, nil
}

func bucketSum(from uint32, entries []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(binary.LittleEndian.AppendUint32(nil, from)), crc32.IEEETable, entries)
}

// Each calls f with the rows of a list, ascending, and how often the token stands in
// each field of them, until f returns false.
func (l List) Each(f func(row int, counts [Fields]int) bool) {
	row := -1
	for data := l.data; len(data) > 0; {
		step, n := uint64(data[0]), 1
		if step >= 0x80 {
			step, n = binary.Uvarint(data)
		}
		if n <= 0 || step>>1 > uint64(l.rows) {
			return
		}
		data = data[n:]
		counts := [Fields]int{Fields - 1: 1}
		for i := 0; step&1 == 1 && i < Fields; i++ {
			c, n := binary.Uvarint(data)
			if n <= 0 {
				return
			}
			counts[i], data = int(c&math.MaxInt32), data[n:]
		}
		if row += int(step >> 1); row >= l.rows || !f(row, counts) {
			return
		}
	}
}
