// Package repo offers notes to a repository that a team reviews, and reads what the review
// took in (read.go).
//
// A note goes by its confidence: a sure one to a branch, or to the default branch
// where a setting allows that; a fairly sure one to a separate branch with a draft
// request, opened by the user's own gh or glab; an unsure one nowhere, it waits for
// its owner. What leaves is checked first (route.go): a portable note of one project
// that can be read, is as small as notes are and holds no secret. The file of the
// repository and the note are merged by the note's id, field by field.
//
// The repository is a clone of ours below the store, without a work tree: the user's
// checkout is never touched, and nothing that the repository holds becomes a file.
// Every state can be made again from the remote. Beside the clone stands only the
// form in which each note was last offered (base.go), the common ancestor of the next
// merge; without it both sides are united.
//
// The failure policy: nothing is forced and nothing is overwritten. A branch that
// moved is fetched and merged again, a few times. A note that cannot go is held and
// named while the others go. A run that is killed leaves at most a commit that
// nobody sees or a branch without its request; the next run finds both.
package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
)

// Options are the settings of the team repository.
type Options struct {
	Remote string // its address, empty when there is none
	High   string // where sure notes go: ToBranch, ToDefault, ToRequest or ToQueue
	Medium string // where fairly sure notes go: ToRequest, ToBranch or ToQueue
	Branch string // the branch of ToBranch
	Host   string // who opens requests: HostAuto, HostGitHub, HostGitLab or HostNone
}

// Where a note can go.
const (
	ToBranch  = "branch"  // Options.Branch
	ToDefault = "default" // the default branch, without a review
	ToRequest = "request" // a separate branch, with a draft request
	ToQueue   = "queue"   // nowhere
)

// The programs that open requests.
const (
	HostAuto   = "auto" // by the name of the host
	HostGitHub = "gh"
	HostGitLab = "glab"
	HostNone   = "none"
)

// A Place says where the clone stands, and what is needed to work in it.
type Place struct {
	Dir      string // for the clone and what was offered; made when it is missing
	Env      []string
	Git      string        // the git program, "git" when empty
	Timeout  time.Duration // of one child process, 30 seconds when zero
	Now      func() time.Time
	Redactor *redact.Redactor
}

// A Document is a note as it stands in the files of this machine.
type Document struct {
	Path    string // relative to the root of the store, with slashes
	Data    []byte
	Sidecar []byte // nil when there is none
	Kept    string // why its owner keeps it from travelling, empty when nothing speaks against it

	Reviewed bool // its owner has read it and found it right
}

// A State says what became of a note.
type State string

// The states.
const (
	Planned   State = "planned"   // a dry run: it would go
	Pushed    State = "pushed"    // it is on the branch
	Unchanged State = "unchanged" // the branch has all that it says
	Declined  State = "declined"  // it was offered, and the team did not take it; it goes again when it changes
	Queued    State = "queued"    // it waits for its owner
	Held      State = "held"      // it must not leave; Why says why
	Later     State = "later"     // enough requests were opened at once; the next run goes on
	Failed    State = "failed"    // it could not be pushed; Why says why
)

// An Item is what became of one note.
type Item struct {
	ID         note.ID  `json:"id"`
	Title      string   `json:"title"`
	Project    string   `json:"project"`
	Confidence string   `json:"confidence"` // high, medium or low
	Route      string   `json:"route"`
	State      State    `json:"state"`
	Branch     string   `json:"branch"` // empty when it is the default branch, whose name nobody asked for
	Commit     string   `json:"commit"`
	Request    string   `json:"request"` // address of the request, empty when there is none
	Both       []string `json:"both"`    // fields that the team and this machine both changed; the later change stays
	Why        string   `json:"why"`

	doc  Document
	note *note.Note
}

// A Repo is the repository of a team, as this machine sees it. It is for one
// goroutine, and for one process at a time: the caller holds a lock.
type Repo struct {
	o     Options
	p     Place
	clone *replica.Clone
	who   replica.Author
	signs bool

	standard string            // the default branch
	heads    map[string]string // the newest commits of the branches that matter
}

// maxRequests is how many requests one run opens.
const maxRequests = 20

// tries is how often a run goes after a branch that others move.
const tries = 6

// Open returns the repository that o names. It starts no process and writes
// nothing. An address that is none is replica.ErrRemote.
func Open(p Place, o Options) (*Repo, error) {
	if !replica.BranchName(o.Branch) {
		return nil, fmt.Errorf("open the team repository: %q is no name of a branch; set team.repo.branch", note.Line(o.Branch, 60))
	}
	clone, err := replica.OpenClone(replica.Options{
		Dir: filepath.Join(p.Dir, cloneFolder), Remote: o.Remote, Env: p.Env, Git: p.Git, Timeout: p.Timeout, Now: p.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("open the team repository: %w; set team.repo.address", err)
	}
	return &Repo{o: o, p: p, clone: clone}, nil
}

// Plan says where the notes would go. It asks nobody and writes nothing.
func (r *Repo) Plan(docs []Document) []Item {
	items := make([]Item, len(docs))
	seen := make(map[string]bool, len(docs))
	for i, d := range docs {
		items[i] = r.route(d)
		if key := strings.ToLower(string(items[i].ID)); seen[key] && items[i].State == Planned {
			items[i].State, items[i].Why = Held, "another note has the same id; `anamnesis doctor` names both"
		} else {
			seen[key] = true
		}
		if it := &items[i]; it.State == Planned {
			it.Branch = r.branchOf(it)
		}
	}
	return items
}

// Share offers the notes to the team. What becomes of each is in its Item, failures
// of its branch too; the error is about what concerns all of them, a *replica.LinkError
// when the repository could not be reached.
func (r *Repo) Share(ctx context.Context, docs []Document) ([]Item, error) {
	items := r.Plan(docs)
	targets := r.targets(items)
	if len(targets) == 0 {
		return items, nil
	}
	if err := r.meet(ctx, items); err != nil {
		return items, err
	}
	if err := r.known(ctx, items); err != nil {
		return items, err
	}
	requests := 0
	for _, key := range r.order(items) {
		group := r.targets(items)[key]
		if len(group) == 0 {
			continue
		}
		if key.route == ToRequest {
			if requests >= maxRequests {
				for _, it := range group {
					it.State, it.Why = Later, fmt.Sprintf("%d notes were offered at once; run it again for the next ones", maxRequests)
				}
				continue
			}
		}
		if err := r.publish(ctx, key, group); err != nil {
			return items, err
		}
		if key.route == ToRequest && slices.ContainsFunc(group, func(it *Item) bool { return it.State == Pushed }) {
			requests++
		}
	}
	for i := range items {
		if it := &items[i]; it.State == Planned { // its branch got another name at the same time
			it.State, it.Why = Later, "the repository changed since; run it again"
		}
	}
	return items, ctx.Err()
}

// known takes the notes out of the plan that the default branch has already, whatever their
// way and their id: those that came from there by an import, and those that another wrote, too.
func (r *Repo) known(ctx context.Context, items []Item) error {
	all, err := r.Read(ctx)
	if err != nil {
		return err
	}
	for i := range items {
		it := &items[i]
		if it.State != Planned {
			continue
		}
		if id, has := r.has(&all, it.note, it.doc.Data); has {
			it.State, it.Branch, it.Why = Unchanged, r.standard, "the repository has it"
			if id != it.ID {
				it.Why = "the repository has what it says: " + string(id)
			}
		}
	}
	return nil
}

// A target is a branch and the way to it.
type target struct{ route, branch string }

// targets sorts what is planned by target. A note whose merge needs a look has left
// the default branch for a request since it was planned.
func (r *Repo) targets(items []Item) map[target][]*Item {
	all := make(map[target][]*Item)
	for i := range items {
		if it := &items[i]; it.State == Planned {
			it.Branch = r.branchOf(it)
			key := target{it.Route, it.Branch}
			all[key] = append(all[key], it)
		}
	}
	return all
}

// order returns the targets in the order in which they are served: the default branch
// first, requests last, also those that notes of the first ones may still need.
func (r *Repo) order(items []Item) []target {
	var all []target
	for i := range items {
		it := &items[i]
		if it.State != Planned {
			continue
		}
		keys := []target{{it.Route, r.branchOf(it)}}
		if it.Route == ToDefault {
			keys = append(keys, target{ToRequest, r.requestBranch(it)})
		}
		for _, k := range keys {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	rank := func(t target) int { return slices.Index([]string{ToDefault, ToBranch, ToRequest}, t.route) }
	slices.SortStableFunc(all, func(a, b target) int { return rank(a) - rank(b) })
	return all
}

// meet asks the remote for its branches, and the user's git who they are.
func (r *Repo) meet(ctx context.Context, items []Item) (err error) {
	if r.who, r.signs, err = r.clone.User(ctx); err != nil {
		return err
	}
	if r.who.Name == "" || r.who.Email == "" {
		return errors.New("share: a commit for the team names its author, and git knows none; run `git config --global user.name NAME` and " +
			"`git config --global user.email ADDRESS`")
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	for _, it := range items {
		if it.State == Planned && it.Route == ToBranch && r.o.Branch == r.standard {
			return fmt.Errorf("share: %s is the default branch of the repository; set team.repo.branch to another one, or team.repo.high to "+
				"default if sure notes may go there without a review", r.standard)
		}
	}
	return nil
}

// look asks the remote for its branches.
func (r *Repo) look(ctx context.Context) error {
	heads, standard, err := r.clone.Branches(ctx, r.o.Branch, requestPrefix+"*")
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	if standard == "" {
		return errors.New("share: the repository has no commit on a default branch yet; begin it with a first commit (a README, say), so that " +
			"there is something to review against")
	}
	r.heads, r.standard = heads, standard
	return nil
}
