package agent

import (
	"bytes"
	"errors"
	"io"
	"time"

	textform "anamnesis/internal/text"
)

// A lineSource is a SessionSource for an agent that writes a file of JSON lines for
// each session. What the records mean is the business of take, of which there is one
// for each reading.
type lineSource struct {
	files []string
	// main reports whether a file is the session of a person, by its name with slashes
	// and its first bytes; nil means that it is.
	main func(name string, head []byte) bool
	// take returns what reads one record, and reports whether it means anything, and what
	// is called behind the last one; nil for nothing.
	take func(b *builder) (record func(r members, l line) bool, end func())
	// text is take for an agent that writes text instead of JSON: it is given every line.
	text func(b *builder) (line func(l line), end func())
	// ended finds the end of a session in the last bytes of a file that is written late;
	// nil for one that is written before the hooks run.
	ended func(tail []byte) bool
	// folder returns the folder of a file that is named after the working directory, dirFile
	// the file that says it; nil where there is none.
	folder, dirFile func(file string) string
}

// ProjectFolder implements ProjectFolders.
func (s *lineSource) ProjectFolder(file string) string {
	if s.folder == nil {
		return ""
	}
	return s.folder(file)
}

// FolderName implements ProjectFolders.
func (s *lineSource) FolderName(dir string) string { return claude{}.FolderName(dir) }

// DirFile implements DirNoter.
func (s *lineSource) DirFile(file string) string {
	if s.dirFile == nil {
		return ""
	}
	return s.dirFile(file)
}

// Late implements LateWriter.
func (s *lineSource) Late() bool { return s.ended != nil }

// Ended implements LateWriter.
func (s *lineSource) Ended(tail []byte) bool { return s.ended == nil || s.ended(tail) }

// headBytes is how much of a file says whose session it is: the first record of some
// agents holds all that their model is shown.
const headBytes = 256 << 10

// SessionFiles implements SessionSource.
func (s *lineSource) SessionFiles() []string { return s.files }

// SessionsIn implements SessionSource: a file is one session, or none.
func (s *lineSource) SessionsIn(name string, f File) ([]string, error) {
	if s.main != nil {
		head := make([]byte, headBytes)
		read := f.ReadAt
		if Compressed(name) {
			read = func(head []byte, _ int64) (int, error) { return unpackHead(f, head) }
		}
		n, err := read(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !s.main(name, head[:n]) {
			return nil, nil
		}
	}
	return []string{""}, nil
}

// Open implements SessionSource: the records are the file, or what it was compressed from.
func (s *lineSource) Open(f File, _ string) (*io.SectionReader, error) {
	if Compressed(f.Name()) {
		u, err := unpack(f, maxUnpacked)
		if err != nil {
			return nil, err
		}
		return io.NewSectionReader(u, 0, u.size), nil
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f, 0, fi.Size()), nil
}

// ReadSession implements SessionSource.
func (s *lineSource) ReadSession(r io.Reader, limits Limits) (*Session, error) {
	session, err := s.read(r, limits.withDefaults(), nil)
	session.markCopied()
	return session, err
}

// read reads records until the end, or until late says that there is no more time.
func (s *lineSource) read(r io.Reader, limits Limits, late func() bool) (*Session, error) {
	b := newBuilder(limits)
	each, last := s.reader(&b)
	lines := newLineReader(r, b.limits)
	for {
		l, err := lines.read()
		each(l)
		end := errors.Is(err, io.EOF)
		if end || err != nil || late != nil && late() {
			if last != nil {
				last()
			}
			if end {
				err = nil
			}
			return b.finish(), err
		}
	}
}

// reader returns what takes the lines of a file, and what ends them.
func (s *lineSource) reader(b *builder) (each func(line), last func()) {
	if s.text == nil {
		take, last := s.take(b)
		return func(l line) { b.line(l, take) }, last
	}
	take, last := s.text(b)
	return func(l line) {
		if b.session.Next = l.end; l.long {
			b.session.Skipped.Oversized++
			return
		}
		l.text = []byte(textform.Plain(string(l.text)))
		take(l)
	}, last
}

// line takes one line of a file.
func (c *builder) line(l line, take func(members, line) bool) {
	s := &c.session
	text := trimLine(l.text)
	if !l.whole && (l.long || len(text) == 0) {
		if l.long || lost(l.text) {
			s.Skipped.Partial++
		}
		return
	}
	var object bool
	var err error
	var record members
	if len(text) > 0 {
		record, object, err = readMembers(text)
	}
	if err != nil && !l.whole {
		s.Skipped.Partial++
		return
	}
	s.Next = l.end
	if len(text) > 0 && err == nil && lost(l.text) { // what stood before the record
		s.Skipped.NotJSON++
	}
	switch {
	case l.long:
		s.Skipped.Oversized++
	case lost(l.text) && len(text) == 0:
		s.Skipped.NotJSON++
	case len(text) == 0:
		s.Skipped.Blank++
	case err != nil:
		s.Skipped.NotJSON++
	case !object:
		s.Skipped.NotObject++
	case !take(record, l):
		s.Skipped.Other++
	}
}

// Peek implements SessionSource. What fits into the tail is read whole; of a longer
// session the head says what it is and the tail how it ended.
func (s *lineSource) Peek(r io.ReaderAt, size, head, tail int64, deadline time.Time) (*PeekResult, error) {
	if head <= 0 {
		head = headBytes
	}
	if tail <= 0 {
		tail = 2 << 20
	}
	size = max(size, 0)
	var g PeekResult
	n := 0
	late := func() bool {
		if n++; n%64 == 1 && !deadline.IsZero() && time.Now().After(deadline) {
			g.Late = true
		}
		return g.Late
	}
	limits := Limits{}.withDefaults()
	if size <= tail {
		all, err := s.read(io.NewSectionReader(r, 0, size), limits, late)
		g.from(all, all)
		g.Complete = err == nil && !g.Late
		return &g, err
	}
	begin, err := s.read(io.NewSectionReader(r, 0, min(head, size)), limits, late)
	if err != nil {
		return &g, err
	}
	from := size - tail
	if at, err := lineBehind(r, from-1, size); err == nil {
		from = at
	}
	end, err := s.read(io.NewSectionReader(r, from, size-from), limits, late)
	g.from(begin, end)
	return &g, err
}

// lineBehind returns where the first line begins that begins behind a place.
func lineBehind(r io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at := from; at < size; {
		n, err := r.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil {
			return at, err
		}
	}
	return size, nil
}

// from fills a result with what the beginning and the end of a session say.
func (g *PeekResult) from(begin, end *Session) {
	or := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	g.ID, g.Dir, g.Branch = or(begin.ID, end.ID), or(begin.Dir, end.Dir), or(begin.Branch, end.Branch)
	g.Version, g.Title, g.Named = or(begin.Version, end.Version), end.Title, end.Named
	if g.Title == "" || begin.Named && !end.Named {
		g.Title, g.Named = begin.Title, begin.Named
	}
	g.Headless, g.Failed = begin.Headless, begin.Failed || end.Failed
	if g.Started = begin.Started; g.Started.IsZero() {
		g.Started = end.Started
	}
	if g.Ended = end.Ended; g.Ended.IsZero() {
		g.Ended = begin.Ended
	}
	g.FirstPrompt = begin.FirstPrompt()
	g.FilesTouched, g.Dialogue = end.FilesTouched(), end.Dialogue()
	g.moved(end.Dir)
	for i := range end.Turns {
		if w := end.Turns[i].Where; w != nil {
			g.moved(w.Dir)
		}
	}
}

// firstLine returns the first line of a file.
func firstLine(data []byte) []byte {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return trimLine(line)
}
