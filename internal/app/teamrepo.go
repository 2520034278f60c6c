package app

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/team"
	"anamnesis/internal/team/repo"
)

// A RepoTaken says what was read from the team's repository.
type RepoTaken struct {
	team.Taken
	Home []note.ID `json:"home"` // own notes that the review changed, and that were changed here
}

func newRepoTaken() RepoTaken {
	return RepoTaken{team.Taken{Left: []team.Held{}, Members: []string{}}, []note.ID{}}
}

// repoOrigin is the origin of the notes of the team's repository in the local index. The
// name of no machine has a space.
const repoOrigin = "team repository"

// The memo that says that the index has notes of a repository.
const (
	repoMemoKind = "team-repository"
	repoMemoKey  = "mirror"
)

// hasTeam reports whether notes of others are, or may be, in the index.
func hasTeam(r *Rooms) bool { return teamOn(r) || r.Config.TeamRepo.Remote != "" && !Away(r) }

// teamOn reports whether notes are exchanged over a team's database.
func teamOn(r *Rooms) bool { return r.Config.Team.On() && !Away(r) }

// sharedFrom returns the address of the team's repository, without a password, for a note
// that came from there, and "" for others.
func sharedFrom(r *Rooms, row *index.Row) string {
	if row.Origin != repoOrigin {
		return ""
	}
	return replica.HidePassword(r.Config.TeamRepo.Remote)
}

// readRepo takes in what the team's repository holds, or takes away what is left of a former
// one. A repository that cannot be reached is no failure: what is known of it stays. When
// another process works with the clone, the next run reads it.
func readRepo(ctx context.Context, r *Rooms) (t RepoTaken, err error) {
	t = newRepoTaken()
	if Away(r) {
		return t, nil
	}
	if r.Config.TeamRepo.Remote == "" || !r.Config.Team.Mirror {
		return t, leaveRepo(ctx, r)
	}
	clone, err := teamRepo(r)
	if err != nil {
		return t, err
	}
	unlock, ok, err := r.Store.TryLock("share")
	if err != nil || !ok {
		return t, err
	}
	defer unlock()
	t, err = takeReviewed(ctx, r, clone)
	var link *replica.LinkError
	if errors.As(err, &link) && link.Kind == replica.LinkDown {
		r.Notify("the team's repository cannot be reached now; notes of others are shown as they were read last")
		return t, nil
	}
	return t, err
}

// takeReviewed brings the mirror of the repository into step, and the edits of reviews home
// into the own notes. The caller holds the lock "share".
func takeReviewed(ctx context.Context, r *Rooms, clone *repo.Repo) (t RepoTaken, err error) {
	t = newRepoTaken()
	if !r.Config.Team.Mirror {
		return t, nil
	}
	all, err := clone.Read(ctx)
	if err != nil {
		return t, err
	}
	var changes []index.Change
	proofs := make(map[string]note.Proof)
	for i := range all.Notes {
		n := &all.Notes[i]
		row, own, err := r.Index.Lookup(ctx, n.ID)
		if err != nil {
			return t, err
		}
		if !own {
			path := fmt.Sprintf("memory/%s/%s.md", n.Note.Type, n.ID)
			proofs[path] = n.Proof
			changes = append(changes, index.Change{
				Member: n.Author, Path: path, Text: n.Data, Size: int64(len(n.Data)),
			})
			continue
		}
		why, err := bringHome(ctx, r, clone, &all, row, &t)
		if err != nil {
			return t, err
		}
		if why != "" {
			t.Left = append(t.Left, team.Held{ID: n.ID, Why: why})
		}
	}
	receiver := receiver(r)
	receiver.Reserved = ""
	receiver.Proof = func(c index.Change) note.Proof { return proofs[c.Path] }
	home, left := t.Home, t.Left
	if err := markRepo(ctx, r, true); err != nil {
		return t, err
	}
	t.Taken, err = receiver.Replace(ctx, repoOrigin, changes)
	t.Home, t.Left = home, append(left, t.Left...)
	for _, f := range all.Refused {
		t.Left = append(t.Left, team.Held{ID: note.ID(f.Name), Why: f.Why})
	}
	return t, err
}

// bringHome changes an own note as the review left it, or says why it stays as it is.
func bringHome(ctx context.Context, r *Rooms, clone *repo.Repo, all *repo.Reading, row index.Row, t *RepoTaken) (why string, err error) {
	docs, err := documents(r, []index.Row{row})
	if err != nil || len(docs) == 0 {
		return "", err
	}
	merged, why, err := clone.Home(ctx, all, row.ID, docs[0].Data)
	if why != "" || err != nil {
		return why, err
	}
	if merged == nil {
		return "", clone.Took(all, row.ID, nil)
	}
	n, err := note.Parse(merged)
	if err != nil {
		return note.Line(err.Error(), 200), nil
	}
	if _, forgotten := r.door.Forgotten(note.Portable, n); forgotten {
		return "what the review made of it was forgotten here", nil
	}
	if why := confidential(r, row.Ref.Path, merged); why != "" {
		return why, nil
	}
	if _, err := r.Ingester.Edit(ctx, ingest.Teammate, row.ID, docs[0].Data, merged, ingest.KeepRival); err != nil {
		return note.Line(err.Error(), 200), nil
	}
	t.Home = append(t.Home, row.ID)
	if docs, err = documents(r, []index.Row{row}); err != nil || len(docs) == 0 {
		return "", err
	}
	return "", clone.Took(all, row.ID, docs[0].Data)
}

// leaveRepo takes the notes of a repository out of the index that is none of ours any more.
func leaveRepo(ctx context.Context, r *Rooms) error {
	if m, there, err := r.All.Memo(ctx, repoMemoKind, repoMemoKey); err != nil || !there || string(m.Value) != "1" {
		return err
	}
	receiver := receiver(r)
	receiver.Reserved = ""
	if _, err := receiver.Replace(ctx, repoOrigin, nil); err != nil {
		return err
	}
	return markRepo(ctx, r, false)
}

// markRepo writes down whether the index has notes of a repository.
func markRepo(ctx context.Context, r *Rooms, has bool) error {
	value := map[bool]string{true: "1", false: "0"}[has]
	if m, there, err := r.All.Memo(ctx, repoMemoKind, repoMemoKey); err != nil || there && string(m.Value) == value {
		return err
	}
	return r.All.SetMemo(ctx, repoMemoKind, repoMemoKey, index.Memo{Value: []byte(value), At: r.Store.Now()}, 1)
}
