package capture

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/agent"
)

// maxRelatives is how many files beside a transcript are looked at: those that were written
// nearest to it.
const maxRelatives = 64

// dropForkedTurns takes out of a session what it copied from the sessions that it was forked
// from, so that what was said is counted once. Their files stand beside its own. They are read, and
// not what the store holds: it has no turn of a private session, and none that was forgotten, and a
// fork may be captured first.
func dropForkedTurns(q Request, s *agent.Session) {
	if q.Harness.Beginning == nil {
		return
	}
	own, ok := beginningOf(q.Harness, q.Transcript)
	if !ok {
		return
	}
	for _, file := range beside(q.Transcript) {
		theirs, ok := beginningOf(q.Harness, file)
		if !ok || theirs.First != own.First {
			continue
		}
		other, err := readAll(Request{Harness: q.Harness, Transcript: file})
		if err != nil {
			continue
		}
		if copies := other.Copies(); s.Copies().From(copies, own, theirs) {
			s.Without(copies)
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

// beside lists the transcripts in the folder of one that were written nearest to it, the nearest first.
func beside(transcript string) (files []string) {
	self, err := os.Stat(transcript)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(transcript))
	type sibling struct {
		name string
		away time.Duration
	}
	var all []sibling
	for _, e := range entries {
		if e.Name() == filepath.Base(transcript) || filepath.Ext(e.Name()) != filepath.Ext(transcript) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, sibling{e.Name(), info.ModTime().Sub(self.ModTime()).Abs()})
		}
	}
	slices.SortFunc(all, func(a, b sibling) int { return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.name, b.name)) })
	for _, s := range all[:min(len(all), maxRelatives)] {
		files = append(files, filepath.Join(filepath.Dir(transcript), s.name))
	}
	return files
}
