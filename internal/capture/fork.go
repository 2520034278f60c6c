package capture

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/agent"
)

// maxRelatives is how many files beside a transcript are looked at: those that were written
// nearest to it.
const maxRelatives = 64

// ownTurns takes out of a session what it copied from the sessions that it was forked from,
// so that what was said is counted once. Their files stand beside its own.
func ownTurns(q Request, session *agent.Session) {
	source := q.Harness.Sessions
	own, ok := beginningOf(source, q.Transcript)
	if !ok {
		return
	}
	for _, file := range relatives(q.Transcript) {
		theirs, ok := beginningOf(source, file)
		if !ok || theirs.First != own.First {
			continue
		}
		other, err := readAll(Request{Harness: q.Harness, Transcript: file})
		if err == nil && session.CopiedFrom(other, own, theirs) {
			session.Without(other)
		}
	}
}

// beginningOf reads how the session in a file begins.
func beginningOf(source agent.SessionSource, file string) (b agent.Beginning, ok bool) {
	if _, ok := source.(agent.CopyingSource); !ok {
		return b, false
	}
	f, err := openRegular(file)
	if err != nil {
		return b, false
	}
	defer f.Close()
	return agent.ReadBeginning(source, f)
}

// relatives lists the files beside a transcript with its extension.
func relatives(transcript string) (files []string) {
	self, err := os.Stat(transcript)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(transcript))
	if err != nil {
		return nil
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if e.Name() == filepath.Base(transcript) || filepath.Ext(e.Name()) != filepath.Ext(transcript) || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil {
			all = append(all, fi)
		}
	}
	away := func(fi fs.FileInfo) int64 { return int64(fi.ModTime().Sub(self.ModTime()).Abs()) }
	slices.SortFunc(all, func(a, b fs.FileInfo) int {
		return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a.Name(), b.Name()))
	})
	for _, fi := range all[:min(len(all), maxRelatives)] {
		files = append(files, filepath.Join(filepath.Dir(transcript), fi.Name()))
	}
	return files
}
