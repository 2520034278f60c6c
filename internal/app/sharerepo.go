package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
	"anamnesis/internal/team/repo"
)

// A ShareRepoAnswer says what became of the notes that were offered to the team.
type ShareRepoAnswer struct {
	Repository string      `json:"repository"` // without a password
	DryRun     bool        `json:"dry_run"`
	Notes      []repo.Item `json:"notes"`
	Taken      RepoTaken   `json:"taken"` // from the repository; a dry run takes nothing
}

// Count returns how many notes are in one of the states.
func (a *ShareRepoAnswer) Count(states ...repo.State) (n int) {
	for _, it := range a.Notes {
		if slices.Contains(states, it.State) {
			n++
		}
	}
	return n
}

// ShareRepo offers notes to the repository of the team: those of the projects or with
// the ids that names name, or of the current folder's project. With dry it says what
// it would do, asks nobody and writes nothing. The error is of kind Conflict when notes
// are held, Degraded when some could not be pushed.
func ShareRepo(ctx context.Context, r *Rooms, names []string, dry bool) (a ShareRepoAnswer, err error) {
	o := r.Config.TeamRepo
	a = ShareRepoAnswer{Repository: replica.HidePassword(o.Remote), DryRun: dry, Notes: []repo.Item{}, Taken: newRepoTaken()}
	if o.Remote == "" {
		return a, Usagef("share --repo: no repository is set; `anamnesis config set team.repo.address ADDRESS`")
	}
	if err := r.MayRedact(); err != nil {
		return a, err
	}
	clone, err := teamRepo(r)
	if err != nil {
		return a, &Error{Kind: Usage, Err: err}
	}
	if dry {
		docs, err := offered(ctx, r, names)
		a.Notes = clone.Plan(docs)
		return a, err
	}
	unlock, ok, err := r.Store.TryLock("share")
	if err != nil {
		return a, err
	}
	if !ok {
		return a, Errorf(Locked, "share --repo: another one is at work; run it again when it is done")
	}
	defer unlock()
	var terr error
	a.Taken, terr = takeReviewed(ctx, r, clone)
	docs, err := offered(ctx, r, names) // as the review left them
	if err != nil {
		return a, err
	}
	if err = terr; err == nil {
		a.Notes, err = clone.Share(ctx, docs)
	}
	if err == nil {
		err = keepQueue(r, a.Notes)
	}
	var link *replica.LinkError
	switch {
	case errors.As(err, &link) && link.Kind == replica.LinkDown:
		return a, &Error{Kind: Degraded, Err: err, Answered: a.Count(repo.Pushed) > 0}
	case err != nil:
		return a, &Error{Kind: Failed, Err: err, Answered: a.Count(repo.Pushed) > 0}
	case a.Count(repo.Failed) > 0:
		return a, &Error{Kind: Degraded}
	case a.Count(repo.Held) > 0:
		return a, &Error{Kind: Conflict}
	}
	return a, nil
}

// teamRepo opens the team's repository.
func teamRepo(r *Rooms) (*repo.Repo, error) {
	return repo.Open(repo.Place{
		Dir: teamFolder(r), Env: config.Environ(), Redactor: r.Redactor, Now: r.Store.Now,
		Timeout: time.Duration(r.Config.Sync.Timeout * float64(time.Second)),
	}, r.Config.TeamRepo)
}

// teamFolder is where the clone of the team's repository stands, one for each address.
// It can be deleted at any moment.
func teamFolder(r *Rooms) string {
	sum := sha256.Sum256([]byte(r.Config.TeamRepo.Remote))
	return r.Store.Path("cache/team/" + hex.EncodeToString(sum[:8]))
}

// offered reads the notes to offer. Of a project they are the portable ones that last:
// what happened in a session is offered only when its id is named.
func offered(ctx context.Context, r *Rooms, names []string) ([]repo.Document, error) {
	var rows []index.Row
	if len(names) == 0 {
		names = []string{"."}
	}
	seen := make(map[note.ID]bool)
	for _, name := range names {
		keys := project.Names(r.Store, PlaceProject(r.Store, name))
		if slices.Contains(keys, note.Global) || name == note.Global {
			return nil, Usagef("share %s: global notes are not shared; name a project or the id of a note", note.Global)
		}
		found, err := r.Index.Select(ctx, index.Filter{
			Projects: keys, Types: []note.Type{note.Procedural, note.Semantic}, Scope: note.Portable, Now: r.Store.Now(),
		}, 0)
		if err != nil {
			return nil, err
		}
		of, err := r.All.PerProject(ctx, index.Filter{Projects: keys, Dead: true})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && name != "." && len(of) == 0 { // notes of others alone are a project with nothing to offer
			row, err := Resolve(ctx, r, name)
			if err != nil {
				return nil, noSuchShare(name, err)
			}
			found = []index.Row{row}
		}
		for _, row := range found {
			if !seen[row.ID] {
				seen[row.ID] = true
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b index.Row) int { return cmp.Compare(a.ID, b.ID) })
	return documents(r, rows)
}

// noSuchShare says that a name is neither a project with notes nor a note.
func noSuchShare(name string, err error) error {
	var kinded *Error
	if errors.As(err, &kinded) && kinded.Kind == NotFound {
		return Errorf(NotFound, "share: no project %s has notes that last, and there is no note of that id; `anamnesis list` names them",
			note.Printable(name))
	}
	return err
}

// documents reads the notes of rows as they stand in their files.
func documents(r *Rooms, rows []index.Row) (docs []repo.Document, err error) {
	for _, row := range rows {
		d := repo.Document{Path: row.Ref.Path}
		if d.Data, err = r.Store.ReadFile(d.Path, store.MaxNoteSize); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it went since the index was asked
			}
			return nil, fmt.Errorf("share: read %s: %w", r.Store.Path(d.Path), err)
		}
		n, perr := note.Parse(d.Data)
		d.Reviewed = perr == nil && n.Reviewed != "" && store.Trusts(r.Store, n)
		d.Data = note.ForOthers(d.Data)
		d.Sidecar, err = r.Store.ReadFile(layout.SidecarOf(d.Path), store.MaxNoteSize)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("share: read the entities of %s: %w", r.Store.Path(d.Path), err)
		}
		if rest, ok := strings.CutPrefix(d.Path, layout.Memory+"/"); ok {
			d.Kept = returnedWhy(r, rest, d.Data)
		}
		docs = append(docs, d)
	}
	return docs, nil
}
