package capture

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/agent"
)

// maxRelatives is how many files beside a transcript are looked at: those that were written
// nearest to it.
const maxRelatives = 64

// ownTurns takes out of a session what it copied from the sessions that it was forked from,
// so that what was said is counted once. Their files stand beside its own.
func (r *Recorder) ownTurns(q Request, session *agent.Session) {
	if q.Harness.Beginning == nil {
		return
	}
	own, ok := beginningOf(q.Harness, q.Transcript)
	if !ok {
		return
	}
	var mine agent.Copies
	for i, relative := range r.family.of(q, own.First) {
		if i == 0 {
			mine = session.Copies()
		}
		theirs, err := r.family.copies(q.Harness, relative.file)
		if err == nil && mine.From(theirs, own, relative.begins) {
			session.Without(theirs)
			mine = session.Copies()
		}
	}
}

// beginningOf reads how the session in a file begins.
func beginningOf(h *agent.Harness, file string) (b agent.Beginning, ok bool) {
	f, err := openRegular(file)
	if err != nil {
		return b, false
	}
	defer f.Close()
	return h.ReadBeginning(f)
}

// A family remembers what the folders of transcripts hold, so that a run over many sessions
// reads each of them a few times at most and not once for each other one. Several
// goroutines may ask it.
type family struct {
	mu      sync.Mutex
	folders map[folderKey]*folder
	read    []*relatedCopies // the newest last
}

type folderKey struct{ agent, dir, ext string }

// A folder is a list of the transcripts in one.
type folder struct {
	changed time.Time  // the folder's own time, when the list was made
	sure    bool       // nothing can have changed within the same tick of the clock
	files   []*sibling // by time and name
}

// A sibling is a transcript and how it begins.
type sibling struct {
	file   string
	info   fs.FileInfo
	mu     sync.Mutex
	known  bool
	begins agent.Beginning
}

// A relative is a transcript that begins as another one does.
type relative struct {
	file   string
	begins agent.Beginning
}

// tick is how long the time of a folder may stand still while it changes.
const tick = 2 * time.Second

// of lists the transcripts beside that of q that begin with the same record, among those
// that were written nearest to it.
func (f *family) of(q Request, first string) (all []relative) {
	self, err := os.Stat(q.Transcript)
	if err != nil {
		return nil
	}
	for _, s := range f.list(q).near(self, filepath.Base(q.Transcript)) {
		if b, ok := s.beginning(q.Harness); ok && b.First == first {
			all = append(all, relative{s.file, b})
		}
	}
	return all
}

// list returns the folder of a transcript, listed again if it may have changed.
func (f *family) list(q Request) *folder {
	key := folderKey{q.Harness.Name, filepath.Dir(q.Transcript), filepath.Ext(q.Transcript)}
	fi, err := os.Stat(key.dir)
	if err != nil {
		return &folder{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.folders[key]
	if was != nil && was.sure && was.changed.Equal(fi.ModTime()) {
		return was
	}
	now := &folder{changed: fi.ModTime(), sure: time.Since(fi.ModTime()) > tick}
	entries, err := os.ReadDir(key.dir)
	if err != nil {
		return now
	}
	before := make(map[string]*sibling)
	if was != nil {
		for _, s := range was.files {
			before[s.file] = s
		}
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != key.ext || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		s := &sibling{file: filepath.Join(key.dir, e.Name()), info: info}
		if old := before[s.file]; old != nil && same(old.info, info) {
			s = old
		}
		now.files = append(now.files, s)
	}
	slices.SortFunc(now.files, func(a, b *sibling) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.file, b.file))
	})
	if f.folders == nil || len(f.folders) > maxFolders {
		f.folders = make(map[folderKey]*folder)
	}
	f.folders[key] = now
	return now
}

// maxFolders is how many folders are remembered.
const maxFolders = 256

// same reports whether a file is as it was.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// near returns the files, but for the one of the name, that were written nearest to self.
func (f *folder) near(self fs.FileInfo, name string) []*sibling {
	away := func(s *sibling) time.Duration { return s.info.ModTime().Sub(self.ModTime()).Abs() }
	lo, _ := slices.BinarySearchFunc(f.files, self.ModTime(), func(s *sibling, at time.Time) int { return s.info.ModTime().Compare(at) })
	hi := lo
	left := func() bool {
		return lo > 0 && (hi == len(f.files) || away(f.files[lo-1]) <= away(f.files[hi]))
	}
	for hi-lo <= maxRelatives && hi-lo < len(f.files) { // one more, because self is among them
		if left() {
			lo--
		} else {
			hi++
		}
	}
	if lo < hi { // all that are as far away as the last one
		far := max(away(f.files[lo]), away(f.files[hi-1]))
		for lo > 0 && away(f.files[lo-1]) <= far {
			lo--
		}
		for hi < len(f.files) && away(f.files[hi]) <= far {
			hi++
		}
	}
	near := slices.DeleteFunc(slices.Clone(f.files[lo:hi]), func(s *sibling) bool { return filepath.Base(s.file) == name })
	slices.SortStableFunc(near, func(a, b *sibling) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a.file, b.file)) })
	return near[:min(len(near), maxRelatives)]
}

// beginning reads how a transcript begins, once there is something to read.
func (s *sibling) beginning(h *agent.Harness) (agent.Beginning, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.begins, s.known = beginningOf(h, s.file)
	}
	return s.begins, s.known
}

// relatedCopies are the turns of a transcript that others may be forks of.
type relatedCopies struct {
	file   string
	info   fs.FileInfo
	copies agent.Copies
}

// maxCopied is how many turns of transcripts are remembered; one takes some 100 bytes.
const maxCopied = 200_000

// copies reads the turns of a transcript.
func (f *family) copies(h *agent.Harness, file string) (agent.Copies, error) {
	info, err := os.Stat(file)
	if err != nil {
		return agent.Copies{}, err
	}
	f.mu.Lock()
	i := slices.IndexFunc(f.read, func(c *relatedCopies) bool { return c.file == file })
	if i >= 0 {
		c := f.read[i]
		if f.read = slices.Delete(f.read, i, i+1); same(c.info, info) {
			f.read = append(f.read, c)
			f.mu.Unlock()
			return c.copies, nil
		}
	}
	f.mu.Unlock()
	session, err := readAll(Request{Harness: h, Transcript: file})
	if err != nil {
		return agent.Copies{}, err
	}
	c := &relatedCopies{file, info, session.Copies()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = append(f.read, c)
	held := 0
	for k := len(f.read) - 1; k >= 0; k-- {
		if held += f.read[k].copies.Len(); held > maxCopied || len(f.read)-k > 4*maxRelatives {
			f.read = slices.Delete(f.read, 0, k+1)
			break
		}
	}
	return c.copies, nil
}
