package capture

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxParts is how many files of one session are read.
const maxParts = 64

// parts are the files of one session, the oldest first, read as one.
type parts struct {
	readers []*io.SectionReader
	files   []*os.File // to close
	size    int64
	earlier int64 // size of those before the one that was asked for
	later   bool  // there are some behind it
}

// partsOf opens the other files of the session whose records are given. One that cannot be read is left out.
func partsOf(q Request, own *io.SectionReader) *parts {
	p := &parts{}
	for _, name := range otherParts(q) {
		if name == q.Transcript {
			p.earlier, p.later = p.size, false
			p.add(own)
			continue
		}
		f, err := openRegular(name)
		if err != nil {
			continue
		}
		records, err := q.Harness.Sessions.Open(f, q.Session)
		if err != nil {
			f.Close()
			continue
		}
		p.files = append(p.files, f)
		p.add(records)
		p.later = true
	}
	return p
}

func (p *parts) add(r *io.SectionReader) {
	p.readers = append(p.readers, r)
	p.size += r.Size()
}

// upTo is how much of the records is read when the file that was asked for is read up to an offset; 0 means
// all. When the session went on in a later file, that file is whole.
func (p *parts) upTo(offset int64) int64 {
	if offset <= 0 || p.later {
		return p.size
	}
	return min(p.earlier+offset, p.size)
}

func (p *parts) close() {
	for _, f := range p.files {
		f.Close()
	}
}

// ReadAt implements io.ReaderAt.
func (p *parts) ReadAt(buf []byte, offset int64) (n int, err error) {
	for _, r := range p.readers {
		if offset >= r.Size() {
			offset -= r.Size()
			continue
		}
		k, err := r.ReadAt(buf[n:], offset)
		if n += k; n == len(buf) {
			return n, nil
		}
		if err != nil && int64(k) != r.Size()-offset { // it was cut since it was opened
			return n, err
		}
		offset = 0
	}
	return n, io.EOF
}

// otherParts lists the files of a session by time, the one that was asked for among them.
func otherParts(q Request) []string {
	only := []string{q.Transcript}
	if q.Harness.Parts == nil {
		return only
	}
	folders, thread, ok := q.Harness.Parts(q.Transcript)
	if !ok {
		return only
	}
	all := threads.of(q.Transcript, folders, thread, q.Harness.Parts)
	if !slices.Contains(all, q.Transcript) || len(all) > maxParts {
		return only
	}
	return all
}

// threads remembers for a moment which files there are, so that an import lists the folders once and not for
// each session.
var threads threadList

// listedFor is how long such a list is used.
const listedFor = 2 * time.Second

type threadList struct {
	mu      sync.Mutex
	folders string
	read    time.Time
	files   map[string][]string // by thread; of those that a rewind divided
}

func (t *threadList) of(name, folders, thread string, partsOf func(string) (string, string, bool)) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	isNew := isLater(name) && !slices.Contains(t.files[thread], name)
	if isNew || t.folders != folders || time.Since(t.read) > listedFor {
		t.folders, t.read, t.files = folders, time.Now(), make(map[string][]string)
		names, _ := filepath.Glob(filepath.Join(folders, "*")) // the pattern is good
		for _, name := range names {
			plain, _ := strings.CutSuffix(name, ".zst") // names are sorted: a plain file comes before its compressed one
			if _, of, ok := partsOf(name); ok && (plain == name || !slices.Contains(t.files[of], plain)) {
				t.files[of] = append(t.files[of], name)
			}
		}
		for of, names := range t.files {
			slices.SortFunc(names, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) })
			if !slices.ContainsFunc(names, isLater) {
				delete(t.files, of)
			}
		}
	}
	return t.files[thread]
}

// isLater reports whether a file is one that a rewind began.
func isLater(name string) bool { return strings.Contains(filepath.Base(name), "_") }
