package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// An Index is a backend joined to the store whose notes it pictures.
type Index struct {
	Backend
	store    *store.Store
	embedder embed.Embedder // nil: no vectors
	asked    lastQuestions
	refuse   func(store.Ref, *note.Note, []byte) string // nil: every note comes in
	guest    func(note.ID) bool                         // nil: the tree of this machine is whole
	believed func() map[string]bool                     // ids of the proofs that the user trusts; nil: none
}

// Refuse sets what says why the note in a file is left out, "" for those that come in.
// A file that is left out is a Problem. It is called before the Index is used, and why
// from several goroutines.
func (ix *Index) Refuse(why func(ref store.Ref, n *note.Note, data []byte) string) { ix.refuse = why }

// OnPurpose begins the reason (Refuse) of a file that is left out and is no Problem.
const OnPurpose = "left out: "

// Problems lists the files that could not be indexed, or not wholly, by path.
func (ix *Index) Problems(ctx context.Context) ([]Problem, error) {
	all, err := ix.Backend.Problems(ctx)
	return slices.DeleteFunc(all, func(p Problem) bool { return strings.HasPrefix(p.Reason, OnPurpose) }), err
}

// Guest says that the origins of the backend are machines of one person, and that this one
// has only the files it wrote: a file that is not here is dropped only when gone says that it
// was forgotten here, and an origin without files is not begun. It is called before the Index is used.
func (ix *Index) Guest(gone func(id note.ID) bool) { ix.guest = gone }

// Theirs reports whether the note of a row is another person's.
func (ix *Index) Theirs(r *Row) bool { return r.Origin != ix.Origin() && ix.guest == nil }

// Believe sets what returns the ids of the proofs (note.Proof) that the user trusts now. It is called
// before the Index is used.
func (ix *Index) Believe(trusted func() map[string]bool) { ix.believed = trusted }

// Believed returns what reports whether the user trusts who shares the note of a row. Whom they
// trust is looked up once, when a row has a proof.
func (ix *Index) Believed() func(*Row) bool {
	trusted := sync.OnceValue(func() map[string]bool {
		if ix.believed == nil {
			return nil
		}
		return ix.believed()
	})
	return func(r *Row) bool { return r.Proof != "" && trusted()[r.Proof.ID()] }
}

// IsGuest reports whether Guest was called.
func (ix *Index) IsGuest() bool { return ix.guest != nil }

// New joins a backend to a store. Texts become vectors as e says.
func New(b Backend, s *store.Store, e Embedding) *Index {
	return &Index{Backend: b, store: s, embedder: e.embedder()}
}

// SyncOptions say how a Sync runs.
type SyncOptions struct {
	Budget   time.Duration         // stop after this long and count what is left; 0 means no end
	All      bool                  // rebuild the picture (reindex)
	Progress func(done, total int) // called now and then; may be nil
}

// A Report says what a Sync found and did.
type Report struct {
	Files    int // notes on the disk
	Indexed  int // read and put into the index
	Removed  int
	Stale    int // files that changed and were left for the next time; -1 when even the walk was cut short
	Problems []Problem
	Unread   []Problem // folders that cannot be read; what the index knows of them stays
	Healed   bool      // the index was lost (ErrLost) and was rebuilt
}

// racy is how much younger than the last walk a file must be to be trusted by
// size and time alone. Within it, a second write can leave both unchanged.
const racy = 2 * time.Second

// chunk is how many files are read before they are written in one transaction
// by a run that must end in time; others take four times as many.
const chunk = 512

// Sync brings the index into step with the files: a walk compared with what the
// index knows. Running it twice changes nothing. An index that was lost is filled again.
func (ix *Index) Sync(ctx context.Context, o SyncOptions) (rep Report, err error) {
	var known map[string]FileState
	if o.All { // for a caller that suspects something
		if err = ix.Check(ctx); err == nil {
			known, err = ix.Files(ctx, nil)
		}
		if err == nil {
			err = ix.Reset(ctx)
		}
	}
	if err == nil {
		rep, err = ix.sync(ctx, o)
	}
	if errors.Is(err, ErrLost) && ctx.Err() == nil {
		rep, err = ix.sync(ctx, o)
		rep.Healed = true
	}
	if err == nil && known != nil {
		rep.Removed, err = ix.countGone(ctx, known)
	}
	return rep, err
}

// countGone returns how many of the notes that the index knew it does not know now.
func (ix *Index) countGone(ctx context.Context, known map[string]FileState) (n int, err error) {
	now, err := ix.Files(ctx, nil)
	for path := range known {
		if _, there := now[path]; !there {
			n++
		}
	}
	return n, err
}

// What edited notes have left in the files of the index goes with the next run that
// may take long. In a store of more than manyNotes it may stay for purgeRest:
// to take it away is to rewrite the full text, a second for every 60,000 notes.
// What was forgotten goes at once (Purge).
const (
	purgeRest = time.Hour
	manyNotes = 20_000
)

// tidy does what may take long, after a run that may. What cannot be done because
// others read or write is left for the next one.
func (ix *Index) tidy(ctx context.Context, o SyncOptions, rep *Report) error {
	if o.Budget > 0 || ix.store.ReadOnly() {
		return nil
	}
	rest := time.Duration(0)
	if rep.Files > manyNotes && !o.All {
		rest = purgeRest
	}
	if err := ix.Purge(ctx, rest); err != nil && !errors.Is(err, ErrBusy) {
		return err
	}
	return ix.Tidy(ctx) // a copy may have been cut, though no note changed
}

func (ix *Index) sync(ctx context.Context, o SyncOptions) (Report, error) {
	began := ix.store.Now()
	started := time.Now() // the store's clock may be a test's
	late := func() bool { return ctx.Err() != nil || o.Budget > 0 && time.Since(started) > o.Budget }
	var rep Report

	fingerprint, files, walked, err := ix.State(ctx)
	if err != nil {
		return rep, err
	}
	var young []store.Ref
	refs := make([]store.Ref, 0, max(0, min(files+files/8, 1<<20)))
	var sum uint64
	cut := false
	stop := func() bool { cut = late(); return cut }
	unread := func(dir string, err error) { rep.Unread = append(rep.Unread, Problem{Path: dir, Reason: reason(err)}) }
	for ref := range store.WalkReporting(ix.store, stop, unread) {
		if len(refs)&255 == 255 && stop() {
			break
		}
		refs = append(refs, ref)
		sum ^= Fingerprint(ref.Path, ref.Size, ref.ModTime.UnixNano())
		if ref.ModTime.After(walked.Add(-racy)) {
			young = append(young, ref)
		}
	}
	if cut {
		rep.Files, rep.Stale = files, -1
		return rep, ctx.Err()
	}
	rep.Files = len(refs)
	same := sum == fingerprint && len(refs) == files
	if same && len(young) == 0 {
		if err = ix.tidy(ctx, o, &rep); err == nil {
			rep.Problems, err = ix.Problems(ctx)
		}
		return rep, err
	}
	todo, missing, err := ix.compare(ctx, refs, young, same)
	if err != nil {
		return rep, err
	}
	missing = slices.DeleteFunc(missing, func(path string) bool {
		return slices.ContainsFunc(rep.Unread, func(p Problem) bool { return strings.HasPrefix(path, p.Path+"/") })
	})
	if ix.guest != nil {
		missing = slices.DeleteFunc(missing, func(path string) bool { return !ix.guest(store.StemID(path)) })
	}
	if walked.IsZero() && o.Budget > 0 { // a new index that may not get ready: what is new matters first
		slices.SortStableFunc(todo, func(a, b store.Ref) int { return b.ModTime.Compare(a.ModTime) })
	}
	if err := ix.indexFiles(ctx, todo, missing, o, late, &rep); err != nil {
		return rep, err
	}
	if err := ix.tidy(ctx, o, &rep); err != nil {
		return rep, err
	}
	news := len(todo) > 0 || len(missing) > 0
	if rep.Stale == 0 && !ix.store.ReadOnly() && (news || ix.guest == nil && (len(young) > 0 || walked.IsZero())) {
		if err := ix.Apply(ctx, Batch{Walked: began}); err != nil {
			return rep, err
		}
	}
	rep.Problems, err = ix.Problems(ctx)
	return rep, err
}

// compare says which files have to be read, and which are gone.
func (ix *Index) compare(ctx context.Context, refs, young []store.Ref, same bool) (todo []store.Ref, missing []string, err error) {
	var paths []string
	if same { // only the young ones can have changed
		refs = young
		for _, r := range young {
			paths = append(paths, r.Path)
		}
	}
	known, err := ix.Files(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	isYoung := make(map[string]bool, len(young))
	for _, r := range young {
		isYoung[r.Path] = true
	}
	var twins []store.Ref
	for _, ref := range refs {
		f, ok := known[ref.Path]
		delete(known, ref.Path)
		switch {
		case !ok || f.Size != ref.Size || f.ModTime != ref.ModTime.UnixNano():
			todo = append(todo, ref)
		case isYoung[ref.Path] && ix.differs(ref, f.Hash):
			todo = append(todo, ref)
		case strings.HasPrefix(f.Problem, sameID):
			twins = append(twins, ref)
		}
	}
	for path := range known {
		missing = append(missing, path)
	}
	slices.Sort(missing)
	if len(missing)+len(todo) > 0 { // the file that had the id may be the one that changed
		todo = append(todo, twins...)
	}
	return todo, missing, nil
}

func (ix *Index) differs(ref store.Ref, hash Digest) bool {
	_, data, _, err := ix.store.Read(ref.Path)
	return data == nil && err != nil || sha256.Sum256(data) != hash
}
