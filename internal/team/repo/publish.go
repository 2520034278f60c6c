package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/layout"
)

// publish brings the notes of a group to their branch: it merges them into what the
// branch has, commits, and pushes; when somebody was faster it begins again. A note
// that both sides changed leaves the default branch for a request.
func (r *Repo) publish(ctx context.Context, to target, group []*Item) error {
	for range tries {
		err := r.attempt(ctx, to, group)
		var link *replica.LinkError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &link) && link.Kind == replica.LinkMoved:
			if err := r.look(ctx); err != nil {
				return err
			}
			continue
		case errors.As(err, &link) && link.Kind == replica.LinkDown:
			return fmt.Errorf("share: %w; what was not pushed yet goes with the next run", err)
		}
		r.fail(group, err)
		return nil
	}
	r.fail(group, fmt.Errorf("branch %s changed %d times during the publish; run it again", to.branch, tries))
	return nil
}

// fail says of every note of a group that it could not be pushed.
func (r *Repo) fail(group []*Item, err error) {
	for _, it := range group {
		if it.State == Planned {
			it.State, it.Why = Failed, note.Line(err.Error(), 400)
		}
	}
}

// A step is what one note adds to a commit.
type step struct {
	it   *Item
	path string
	ours form // as it stands here
	theirs,
	next form
}

// attempt makes one commit of a group and pushes it.
func (r *Repo) attempt(ctx context.Context, to target, group []*Item) error {
	parent, own, err := r.parent(ctx, to)
	if err != nil {
		return err
	}
	steps, err := r.steps(ctx, parent, to, group)
	if err != nil {
		return err
	}
	files := make(map[string][]byte)
	var going []*step
	for i := range steps {
		s := &steps[i]
		if s.next.equal(s.theirs) {
			continue
		}
		files[s.path], files[layout.SidecarOf(s.path)] = s.next.note, s.next.sidecar
		going = append(going, s)
	}
	if len(going) > 0 {
		commit, err := r.clone.Commit(ctx, parent, files, message(to, going), r.who, r.signs)
		if err != nil {
			return err
		}
		if err := r.clone.Push(ctx, commit, to.branch); err != nil {
			return err
		}
		r.heads[to.branch], own = commit, true
		for _, s := range going {
			s.it.State, s.it.Commit = Pushed, commit
		}
	}
	for i := range steps {
		s := &steps[i]
		if s.it.State == Planned && s.it.Route == to.route {
			s.it.State = Unchanged
		}
		if s.it.State != Pushed && s.it.State != Unchanged {
			continue
		}
		if err := r.remember(to, s.it.ID, s.ours); err != nil {
			return err
		}
	}
	if own {
		r.request(ctx, to, group)
	}
	return nil
}

// parent returns the commit to build on: the newest one of the branch, or that of the
// default branch when there is none yet or all of it was taken in. Own says that the
// branch has something that the default branch does not have.
func (r *Repo) parent(ctx context.Context, to target) (commit string, own bool, err error) {
	if to.branch == r.standard && to.route != ToDefault {
		return "", false, fmt.Errorf("%s is the default branch of the repository now; nothing goes there without a review", to.branch)
	}
	names := []string{r.standard}
	if r.heads[to.branch] != "" && to.branch != r.standard {
		names = append(names, to.branch)
	}
	commits, err := r.clone.Fetch(ctx, names...)
	if err != nil {
		return "", false, err
	}
	base, branch := commits[r.standard], commits[to.branch]
	if branch == "" || to.branch == r.standard {
		return base, false, nil
	}
	taken, err := r.clone.Contains(ctx, base, branch)
	if err != nil {
		return "", false, err
	}
	if taken {
		return base, false, nil
	}
	return branch, true, nil
}

// steps merges the notes of a group into a commit. Those that cannot be merged are
// held; those that both sides changed leave the default branch.
func (r *Repo) steps(ctx context.Context, parent string, to target, group []*Item) ([]step, error) {
	files, err := r.clone.List(ctx, parent, folder)
	if err != nil {
		return nil, err
	}
	shelf := shelve(files)
	var steps []step
	var ids []string
	for _, it := range group {
		if it.State != Planned {
			continue
		}
		at, why := shelf.at(it.ID)
		if why != "" {
			it.State, it.Why = Held, why
			continue
		}
		steps = append(steps, step{it: it, path: at, ours: formOf(it.doc, it.note)})
		for _, name := range []string{at, layout.SidecarOf(at)} {
			if e, ok := files[name]; ok {
				ids = append(ids, e.ID)
			}
		}
	}
	slices.Sort(ids)
	blobs, err := r.clone.Blobs(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for i := range steps {
		steps[i].read(files, blobs)
	}
	return steps, r.merge(ctx, parent, to, steps)
}

// read takes over what the repository has of a note.
func (s *step) read(files map[string]replica.Entry, blobs map[string][]byte) {
	for name, data := range map[string]*[]byte{s.path: &s.theirs.note, layout.SidecarOf(s.path): &s.theirs.sidecar} {
		e, there := files[name]
		if !there {
			continue
		}
		text, read := blobs[e.ID]
		if !read {
			s.it.State, s.it.Why = Held, fmt.Sprintf("what the repository has of it is larger than %d MiB", replica.MaxFile>>20)
		}
		*data = append([]byte{}, text...)
	}
}

// merge fills in what the steps come to.
func (r *Repo) merge(ctx context.Context, parent string, to target, steps []step) error {
	before := past{r: r, commit: parent}
	for i := range steps {
		s := &steps[i]
		if s.it.State != Planned {
			s.next = s.theirs
			continue
		}
		base, err := r.offered(to, s.it.ID)
		guessed := base.note == nil && s.theirs.note != nil
		if err == nil && guessed {
			base, err = before.ancestor(ctx, s.it.ID, s.ours)
		}
		if err != nil {
			return err
		}
		j := join(s.it.ID, base, s.ours, s.theirs)
		s.next, s.it.Both = j.form, append([]string{}, j.both...)
		switch {
		case j.why != "":
			s.it.State, s.it.Why, s.next = Held, j.why, s.theirs
		case j.declined:
			s.it.State, s.it.Why = Declined, "it was offered, and the team did not take it; it is offered again when it changes"
		case to.route == ToDefault && (len(j.both) > 0 || guessed && !s.next.equal(s.theirs)):
			s.it.Route, s.next = ToRequest, s.theirs // served with the requests
		}
	}
	return nil
}

// requestPrefix begins the branch of a request.
const requestPrefix = "knowledge/"

// maxSlug is how many bytes of a branch tell the note.
const maxSlug = 60

// branchOf returns the branch to which a note goes.
func (r *Repo) branchOf(it *Item) string {
	switch it.Route {
	case ToDefault:
		return r.standard
	case ToRequest:
		return r.requestBranch(it)
	}
	return r.o.Branch
}

// requestBranch returns the branch of a note's own request: the title, so that people
// know it, and what tells the note from all others, so that it stays the same branch
// when the title changes.
func (r *Repo) requestBranch(it *Item) string {
	sum := sha256.Sum256([]byte(it.ID))
	tail := "-" + hex.EncodeToString(sum[:4])
	var known []string
	for name := range r.heads {
		if strings.HasPrefix(name, requestPrefix) && strings.HasSuffix(name, tail) {
			known = append(known, name)
		}
	}
	if len(known) > 0 {
		return slices.Min(known)
	}
	return requestPrefix + slug(it.Title, maxSlug-len(tail)) + tail
}

// slug returns what of a title can stand in the name of a branch, "note" when nothing can.
func slug(title string, most int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case '0' <= r && r <= '9', 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := b.String()
	if s = strings.Trim(s[:min(len(s), most)], "-"); s == "" {
		return "note"
	}
	return s
}

// message is that of a commit: what is offered, how sure it is, and what both changed.
func message(to target, steps []*step) string {
	kind := "docs"
	if to.route != ToRequest {
		kind = "feat"
	}
	marks := map[string]string{"high": "HIGH", "medium": "MED", "low": "LOW"}
	what := plural(len(steps), "note")
	mark := marks[steps[0].it.Confidence]
	if len(steps) == 1 {
		what = note.Line(steps[0].it.Title, 60)
	}
	for _, s := range steps {
		if marks[s.it.Confidence] != mark {
			mark = "HIGH, MED"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s(knowledge): %s [%s]\n", kind, what, mark)
	for _, s := range steps {
		fmt.Fprintf(&b, "\n%s %s", s.it.ID, note.Line(s.it.Title, 100))
		if len(s.it.Both) > 0 {
			fmt.Fprintf(&b, "\n  Both sides changed: %s. The later change stands; the other one is in the history.",
				note.Line(strings.Join(s.it.Both, ", "), 200))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
