package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// sameID begins the reason why a file whose id another file has is left out.
const sameID = "same id as "

// indexFiles reads the files in todo and writes them, and that others are missing,
// to the backend in chunks, each visible at once. The next chunk is read while
// one is written.
func (ix *Index) indexFiles(ctx context.Context, todo []store.Ref, missing []string, o SyncOptions, late func() bool, rep *Report) error {
	total := len(todo)
	size := chunk
	if o.Budget == 0 {
		size = 4 * chunk // fewer transactions write each page of the database less often
	}
	type read struct {
		refs    []store.Ref
		results []result
	}
	next := make(chan read, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(next)
		for at := 0; at < total && !late(); at += size {
			refs := todo[at:min(at+size, total)]
			select {
			case next <- read{refs, ix.readAll(refs)}:
			case <-stop:
				return
			}
		}
	}()
	done := 0
	b := Batch{Drop: missing, Problems: make(map[string]FileState)}
	dropped := make(map[string]bool, len(missing))
	for _, p := range missing {
		dropped[p] = true
	}
	for r := range next {
		if err := ix.resolve(ctx, r.refs, r.results, dropped, &b); err != nil {
			return err
		}
		if err := ix.Apply(ctx, b); err != nil {
			return err
		}
		done += len(r.refs)
		rep.Indexed += len(b.Put)
		rep.Removed += len(b.Drop)
		b = Batch{Problems: make(map[string]FileState)}
		if o.Progress != nil {
			o.Progress(done, total)
		}
	}
	rep.Stale = total - done
	if len(b.Drop) > 0 {
		rep.Removed += len(b.Drop)
		return ix.Apply(ctx, b)
	}
	return ctx.Err()
}

// Entries reads the files at paths, notes of this store, for another backend than
// its own: the entries of those that came in, and why others did not. A file that
// is gone is in neither.
func (ix *Index) Entries(paths []string) (entries []Entry, refused map[string]FileState) {
	refs := make([]store.Ref, len(paths))
	for i, p := range paths {
		refs[i].Path = p
	}
	refused = make(map[string]FileState)
	for i, r := range ix.readAll(refs) {
		switch {
		case r.problem != nil:
			refused[paths[i]] = *r.problem
		case r.entry != nil:
			entries = append(entries, *r.entry)
		}
	}
	return entries, refused
}

// A result is what became of one file: an entry, or the reason why not.
type result struct {
	entry   *Entry
	problem *FileState
}

func (ix *Index) readAll(refs []store.Ref) []result {
	results := make([]result, len(refs))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(refs))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(refs); i += workers {
				results[i] = ix.readOne(refs[i])
			}
		})
	}
	wg.Wait()
	return results
}

// readOne reads a file. A file that is gone by now has neither entry nor problem.
func (ix *Index) readOne(ref store.Ref) result {
	n, data, now, err := ix.store.Read(ref.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return result{}
	}
	if err != nil {
		return result{problem: &FileState{Size: ref.Size, ModTime: ref.ModTime.UnixNano(), Hash: sha256.Sum256(data), Problem: reason(err)}}
	}
	if ix.refuse != nil {
		if why := ix.refuse(now, n, data); why != "" {
			return result{problem: &FileState{Size: now.Size, ModTime: now.ModTime.UnixNano(), Hash: sha256.Sum256(data), Problem: why}}
		}
	}
	var side *note.Sidecar
	var warnings []note.Warning
	if now.Sidecar {
		side, warnings, err = ix.store.ReadSidecar(ref.Path)
	}
	e := NewEntry(n, now, data, side)
	e.Sidecar = sidecarProblem(warnings, err)
	ix.embed(&e)
	return result{entry: &e}
}

// maxSidecarWarnings is how many things that are wrong with one sidecar are shown.
const maxSidecarWarnings = 3

// sidecarProblem says what is wrong with a sidecar: that it cannot be read, or what of
// it was left out.
func sidecarProblem(warnings []note.Warning, err error) string {
	if err != nil {
		return reason(err) + "; the note is found, but by none of its entities and relations"
	}
	var all []string
	for _, w := range warnings[:min(len(warnings), maxSidecarWarnings)] {
		all = append(all, w.String())
	}
	if more := len(warnings) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more like these", more))
	}
	return strings.Join(all, "; ")
}

// reason is the part of an error that says what is wrong with the file.
func reason(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
		if _, ok := err.(interface{ Unwrap() []error }); ok {
			break
		}
		var field *note.FieldError
		if errors.As(err, &field) {
			return field.Error()
		}
	}
	return err.Error()
}

// resolve puts results into a batch, and decides which file has an id that two claim.
func (ix *Index) resolve(ctx context.Context, refs []store.Ref, results []result, dropped map[string]bool, b *Batch) error {
	known, err := ix.knownIDs(ctx, results)
	if err != nil {
		return err
	}
	claimed := make(map[string]int) // folded id → position in b.Put
	for i, r := range results {
		path := refs[i].Path
		switch {
		case r.problem != nil:
			b.Problems[path] = *r.problem
		case r.entry == nil:
			b.Drop = append(b.Drop, path)
		default:
			id := strings.ToLower(string(r.entry.Note.ID))
			if at, ok := claimed[id]; ok {
				if before(path, b.Put[at].Ref.Path) {
					leaveOut(b, b.Put[at], path)
					b.Put[at] = *r.entry
				} else {
					leaveOut(b, *r.entry, b.Put[at].Ref.Path)
				}
				continue
			}
			if row, ok := known[id]; ok && row.Origin == ix.Origin() && row.Ref.Path != path && !dropped[row.Ref.Path] {
				if _, err := ix.store.Stat(row.Ref.Path); err == nil {
					if before(row.Ref.Path, path) {
						leaveOut(b, *r.entry, row.Ref.Path)
						continue
					}
					if other := ix.readOne(row.Ref); other.entry != nil {
						leaveOut(b, *other.entry, path)
					}
				}
			}
			claimed[id] = len(b.Put)
			b.Put = append(b.Put, *r.entry)
		}
	}
	return nil
}

// knownIDs returns the rows that the index has of the ids of results, by the folded ids.
func (ix *Index) knownIDs(ctx context.Context, results []result) (map[string]Row, error) {
	f := Filter{Dead: true}
	for _, r := range results {
		if r.entry != nil {
			f.Only = append(f.Only, r.entry.Note.ID)
		}
	}
	if len(f.Only) == 0 {
		return nil, nil
	}
	rows, err := ix.Select(ctx, f, 0)
	known := make(map[string]Row, len(rows))
	for _, row := range rows {
		known[strings.ToLower(string(row.ID))] = row
	}
	return known, err
}

func leaveOut(b *Batch, e Entry, to string) {
	b.Problems[e.Ref.Path] = FileState{
		Size: e.Ref.Size, ModTime: e.Ref.ModTime.UnixNano(), Hash: e.Hash,
		Problem: fmt.Sprintf("%s%s (%s); give one of them another id", sameID, to, e.Note.ID),
	}
}

// before reports whether the file at a has a better claim to an id than the one at b.
func before(a, b string) bool {
	al, bl := strings.HasPrefix(a, "local/"), strings.HasPrefix(b, "local/")
	if al != bl {
		return bl
	}
	return a < b
}

// Refresh brings the index into step with the files at paths, notes or their
// sidecars, and looks at no others: after a write of ours, and after a pull, whose paths git tells.
func (ix *Index) Refresh(ctx context.Context, paths ...string) error {
	err := ix.refresh(ctx, paths)
	if errors.Is(err, ErrLost) {
		_, err = ix.sync(ctx, SyncOptions{})
	}
	return err
}

func (ix *Index) refresh(ctx context.Context, paths []string) error {
	b := Batch{Problems: make(map[string]FileState)}
	var refs []store.Ref
	dropped := make(map[string]bool)
	paths = slices.Clone(paths)
	for i, p := range paths {
		if of, ok := layout.NoteOf(p); ok {
			paths[i] = of
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths) // a path that is named twice would claim its own id
	for _, p := range paths {
		ref, err := ix.store.Stat(p)
		if err != nil {
			b.Drop = append(b.Drop, p)
			dropped[p] = true
			continue
		}
		refs = append(refs, ref)
	}
	if err := ix.resolve(ctx, refs, ix.readAll(refs), dropped, &b); err != nil {
		return err
	}
	return ix.Apply(ctx, b)
}
