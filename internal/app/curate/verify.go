package curate

import (
	"context"
	"os"
	"slices"

	"anamnesis/internal/anchor"
	"anamnesis/internal/app"
	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/store/project"
)

// VerifyOptions say which notes are looked at.
type VerifyOptions struct {
	Dir string // in the clone; "" for the current folder
	All bool   // list those too whose code is as it was
}

// VerifyAnswer lists the notes of a project that name code, and what became of it.
type VerifyAnswer struct {
	Project string         `json:"project"`
	Clone   string         `json:"clone"`
	Looked  int            `json:"looked"` // notes that name code
	Moved   int            `json:"moved"`  // of them, whose code is not as it was
	Notes   []VerifiedNote `json:"notes"`
}

// A VerifiedNote is a note that names code.
type VerifiedNote struct {
	app.NoteHead
	State    anchor.State `json:"state"`    // the worst of them; gone only when nothing is left
	Findings []Finding    `json:"findings"` // of what is not as it was; with All, of everything
}

// A Finding is one thing that a note names, and what became of it.
type Finding struct {
	About string       `json:"about"` // FILE or FILE#NAME
	State anchor.State `json:"state"`
	Where string       `json:"where,omitempty"` // of what moved
}

// verifyEntries is how many files and folders of a clone are looked at for what moved.
const verifyEntries = 200_000

// Verify looks in a clone whether the code that the notes of its project name is as it
// was when they were written. It reads files and changes nothing.
func Verify(ctx context.Context, r *app.Rooms, o VerifyOptions) (a VerifyAnswer, err error) {
	a.Notes = []VerifiedNote{}
	clone, id, err := cloneAt(r, o.Dir)
	if err != nil {
		return a, err
	}
	defer clone.Close()
	a.Project, a.Clone = id.Key, clone.Root()
	rows, err := r.Index.Select(ctx, index.Filter{Projects: project.Names(r.Store, id)}, 0)
	if err != nil {
		return a, err
	}
	for i, c := range r.Engine.Contents(ctx, rows) {
		if c.Err != nil || c.Note.ID != rows[i].ID || len(c.Note.AnchorHashes) == 0 {
			continue
		}
		a.Looked++
		look, err := anchor.Open(a.Clone, verifyEntries) // one for each note: how much one reads is bounded
		if err != nil {
			return a, err
		}
		found := look.Check(ctx, anchor.ParseAll(c.Note.AnchorHashes))
		look.Close()
		v := VerifiedNote{NoteHead: app.HeadOf(c.Note), State: anchor.Worst(found)}
		for _, f := range found {
			if o.All || f.State != anchor.Same {
				v.Findings = append(v.Findings, Finding{f.About(), f.State, f.Where})
			}
		}
		if v.State != anchor.Same {
			a.Moved++
		}
		if o.All || v.State != anchor.Same {
			a.Notes = append(a.Notes, v)
		}
	}
	slices.SortStableFunc(a.Notes, func(x, y VerifiedNote) int { return stateOrder(x.State) - stateOrder(y.State) })
	return a, ctx.Err()
}

func stateOrder(s anchor.State) int {
	return slices.Index([]anchor.State{anchor.Gone, anchor.Changed, anchor.Moved, anchor.Same}, s)
}

// cloneAt opens the git working tree that holds a folder.
func cloneAt(r *app.Rooms, dir string) (*anchor.Clone, project.Identity, error) {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	top := project.Top(dir)
	if top == "" {
		return nil, project.Identity{}, app.Usagef("verify: %s is in no git working tree; go to the clone whose notes you want to verify, "+
			"or name it with --dir", dir)
	}
	clone, err := anchor.Open(top, verifyEntries)
	return clone, project.Identify(r.Store, dir), err
}

// VerifyKept names the notes that hold although the code changed.
type VerifyKept struct {
	Kept []VerifiedNote `json:"kept"`
}

// KeepVerified says that notes hold for the code as it is in a clone now: what they name
// is looked up there again, and what is not there any more is not looked for again.
func KeepVerified(ctx context.Context, r *app.Rooms, dir string, names []string) (a VerifyKept, err error) {
	clone, _, err := cloneAt(r, dir)
	if err != nil {
		return a, err
	}
	defer clone.Close()
	for _, name := range names {
		e, err := app.ReadEditable(ctx, r, name)
		if err != nil {
			return a, err
		}
		subject := capture.SubjectOf(e.Note)
		for _, f := range clone.Check(ctx, anchor.ParseAll(e.Note.AnchorHashes)) {
			subject.Anchors = append(subject.Anchors, f.File, f.Where)
		}
		n := e.Note.Clone()
		n.AnchorHashes = nil
		kept := VerifiedNote{State: anchor.Same, Findings: []Finding{}}
		for _, s := range clone.Stamps(subject) {
			n.AnchorHashes = append(n.AnchorHashes, s.String())
			kept.Findings = append(kept.Findings, Finding{About: s.About(), State: anchor.Same})
		}
		edited, err := n.Rewrite(e.File)
		if err == nil {
			_, err = app.ApplyEdit(ctx, r, e, edited)
		}
		if err != nil {
			return a, err
		}
		kept.NoteHead = app.HeadOf(n)
		a.Kept = append(a.Kept, kept)
	}
	return a, nil
}
