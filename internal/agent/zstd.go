package agent

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packedExt is the end of the name of a session file that its agent compressed.
const packedExt = ".zst"

// The bounds of a compressed session. Whoever wrote the file may want to fill the memory or take all the time.
const (
	maxUnpacked   = 1 << 30  // bytes of text
	maxWindow     = 32 << 20 // bytes that a decoder keeps; Codex writes 2 MB, `zstd -19` 8 MB
	unpackedStart = 1 << 20  // bytes at the beginning that stay in memory
)

var errUnpacked = fmt.Errorf("it holds more than %d MB of text", maxUnpacked>>20)

// An unpacked file is the text of a compressed one. It implements io.ReaderAt for readers that mostly go
// forward: a step back behind the first bytes decompresses the file again from its beginning, because a copy
// of a large session would take too much memory. It needs no closing: its decoder starts no goroutine.
type unpacked struct {
	packed *io.SectionReader
	name   string
	size   int64
	start  []byte // the first bytes

	mu   sync.Mutex // guards the rest
	text *zstd.Decoder
	at   int64 // where text goes on
}

// unpack opens the text of a compressed file. It decompresses the file once, to find its size and its errors.
func unpack(f File, limit int64) (*unpacked, error) {
	u, err := startUnpacking(f)
	if err != nil {
		return nil, err
	}
	if u.start, err = io.ReadAll(io.LimitReader(u.text, min(unpackedStart, limit+1))); err == nil {
		u.size, err = io.Copy(io.Discard, io.LimitReader(u.text, limit+1-int64(len(u.start))))
	}
	if u.size += int64(len(u.start)); err == nil && u.size > limit {
		err = errUnpacked
	}
	if u.at = u.size; err != nil {
		return nil, u.failed(err)
	}
	return u, nil
}

// unpackHead returns the first bytes of the text of a compressed file.
func unpackHead(f File, head []byte) (n int, err error) {
	u, err := startUnpacking(f)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(io.LimitReader(u.text, int64(len(head)))) // ReadFull hides whether a text is short or cut
	if n = copy(head, text); err != nil {
		err = u.failed(err)
	}
	return n, err
}

func startUnpacking(f File) (*unpacked, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	u := &unpacked{packed: io.NewSectionReader(f, 0, fi.Size()), name: f.Name()}
	u.text, err = zstd.NewReader(u.packed,
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, u.failed(err)
	}
	return u, nil
}

func (u *unpacked) failed(err error) error {
	return fmt.Errorf("decompress %s: %w; check it with `zstd -t`; a decompressed copy in the same folder is read instead", u.name, err)
}

// ReadAt implements io.ReaderAt.
func (u *unpacked) ReadAt(buf []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	if offset < int64(len(u.start)) {
		n = copy(buf, u.start[offset:])
	}
	want := int(min(int64(len(buf)), max(u.size-offset, 0)))
	if n < want {
		m, err := u.read(buf[n:want], offset+int64(n))
		if n += m; err != nil {
			return n, u.failed(err)
		}
	}
	if n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

// read reads text that is not in memory.
func (u *unpacked) read(buf []byte, offset int64) (n int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if offset < u.at {
		if _, err := u.packed.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if err := u.text.Reset(u.packed); err != nil {
			return 0, err
		}
		u.at = 0
	}
	skipped, err := io.CopyN(io.Discard, u.text, offset-u.at)
	if u.at += skipped; err == nil {
		n, err = io.ReadFull(u.text, buf)
		u.at += int64(n)
	}
	if errors.Is(err, io.EOF) { // the file was cut since it was opened
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Compressed reports whether the name of a file is that of a compressed session. Its size says nothing about
// its records.
func Compressed(name string) bool { return strings.HasSuffix(name, ".jsonl"+packedExt) }

// FileStem returns the name of the file of a session without its folders and its extension.
func FileStem(file string) string {
	base := filepath.Base(file)
	if Compressed(base) {
		base = strings.TrimSuffix(base, packedExt)
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// codexOther is the OtherName of Codex.
func codexOther(file string) string {
	if !isRollout(file) {
		return ""
	}
	if plain, packed := strings.CutSuffix(file, packedExt); packed {
		return plain
	}
	return file + packedExt
}
