package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/project"
)

// Here returns the project of a folder, and enters it in the table of this machine (ingest.Here).
func Here(ctx context.Context, r *Rooms, dir string) project.Identity {
	id, err := ingest.Here(ctx, r.Ingester, dir)
	if err != nil {
		r.Notify("%v", err)
	}
	return id
}

// NamedOrHere returns the project that a command names, or that of the folder the process runs in for "" and ".".
func NamedOrHere(ctx context.Context, r *Rooms, name string) project.Identity {
	dir, err := os.Getwd()
	if name != "" && name != "." || err != nil {
		return PlaceProject(r.Store, name)
	}
	return Here(ctx, r, dir)
}

// LookAtNewPlaces records the root commits of clones in the table that lack them: a few in one run.
func LookAtNewPlaces(ctx context.Context, r *Rooms) error {
	var errs []error
	looked := 0
	for _, p := range project.Places(r.Store) {
		if p.Looked || p.Clone == "" || looked == placesARun || project.Top(p.Dir) != p.Dir { // not there any more
			continue
		}
		looked++
		errs = append(errs, LookAtRoots(ctx, r, p.Dir, rootsTime))
	}
	return errors.Join(errs...)
}

// placesARun is at how many clones one background run looks.
const placesARun = 3

// How long git may take to say where a history begins: in the background, and while a person waits.
const (
	rootsTime     = 20 * time.Second
	rootsTimeHere = 150 * time.Millisecond
)

// LookAtRoots enters the root commits of the repository of a folder in the table, if they are not there. A clone that is made again
// later is recognised by them.
func LookAtRoots(ctx context.Context, r *Rooms, dir string, most time.Duration) error {
	id := project.Identify(r.Store, dir)
	if p := id.Place(r.Store); p == nil || p.Looked || project.Top(dir) == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(most))
	defer cancel()
	roots := replica.Roots(ctx, project.Top(dir), config.Environ())
	if ctx.Err() != nil {
		return nil
	}
	return project.ChangePlace(r.Store, id, func(p *project.Place) { p.Roots, p.Looked = roots, true })
}

// An Offer is a project that a folder may be, and why: the user decides.
type Offer struct {
	Key   string `json:"project"`
	Why   string `json:"why"`
	Notes int    `json:"notes"`
	Into  string `json:"into,omitempty"` // the project of the folder, of which Key becomes another name; "" joins the folder to Key
}

// Line is the offer in one line.
func (o *Offer) Line() string {
	notes := ""
	if o.Notes > 0 {
		notes = fmt.Sprintf(" (%s)", Plural(o.Notes, "note"))
	}
	command := "anamnesis project join " + o.Key
	if o.Into != "" {
		command = "anamnesis project alias " + o.Key + " " + o.Into
	}
	return fmt.Sprintf("%s%s: %s. Join it: %s", o.Key, notes, o.Why, command)
}

// OfferOf returns the project that a folder probably is, while its own project has no notes; nil where nothing says so. Nothing is joined:
// the same root commits may be of a fork, and the same name of another project. It runs no git: a hook calls it.
func OfferOf(ctx context.Context, r *Rooms, dir string) (*Offer, error) {
	return offerOf(ctx, r, dir, func([]string, map[string]int) (*Offer, error) { return nil, nil }) //nolint:nilnil // nobody is asked
}

// offerOf is OfferOf. byHistory looks for what the history of a clone says, among projects of other names with notes.
func offerOf(
	ctx context.Context, r *Rooms, dir string, byHistory func(names []string, counts map[string]int) (*Offer, error),
) (*Offer, error) {
	id := Here(ctx, r, dir)
	if id.Source == "joined" || id.Source == "flag" {
		return nil, nil //nolint:nilnil // nothing to offer is an answer
	}
	names := project.Names(r.Store, id)
	if some, err := r.Index.Select(ctx, index.Filter{Projects: []string{id.Key}, Now: r.Store.Now()}, 1); err != nil || len(some) > 0 {
		return nil, err
	}
	counts, err := r.Index.PerProject(ctx, index.Filter{Now: r.Store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Skill}})
	if err != nil {
		return nil, err
	}
	if id.Asks != id.Key && offers(id.Asks) {
		return &Offer{Key: id.Asks, Why: "the file .anamnesis/project, which came with this clone, names it", Notes: counts[id.Asks]}, nil
	}
	places := project.Places(r.Store)
	own := id.Place(r.Store)
	if own != nil {
		was := own.Before
		if own.Key != id.Key && own.By == "remote" {
			was = own.Key
		}
		if counts[was] > 0 && offers(was) && !slices.Contains(names, was) {
			return &Offer{Key: was, Why: "the remote of this clone had that address before", Notes: counts[was]}, nil
		}
	}
	if o := sameHistory(places, own, names, counts); o != nil {
		return o, nil
	}
	if o, err := byHistory(names, counts); err != nil || o != nil {
		return o, err
	}
	last := func(key string) string { return path.Base(strings.ReplaceAll(key, ":", "/")) }
	var found []string
	for key := range counts {
		claimed := slices.ContainsFunc(places, func(p project.Place) bool {
			return slices.Contains([]string{p.Key, p.Joined}, key) && (own == nil || p.Dir != own.Dir)
		})
		same := slices.Contains([]string{last(id.Key), last(id.Name())}, last(key))
		if same && key != note.Global && counts[key] > 0 && offers(key) && !claimed {
			found = append(found, key)
		}
	}
	if slices.Sort(found); len(found) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	o := &Offer{Key: found[0], Why: "its name is the same, and no other folder of this machine is that project", Notes: counts[found[0]]}
	if id.Source == "remote" { // the address says the same on every machine
		o.Into = id.Key
	}
	return o, nil
}

// LookForOffer is OfferOf for a command, which may wait for git.
func LookForOffer(ctx context.Context, r *Rooms, dir string) (*Offer, error) {
	Here(ctx, r, dir)
	if err := LookAtRoots(ctx, r, dir, rootsTimeHere); err != nil {
		return nil, err
	}
	return offerOf(ctx, r, dir, func(names []string, counts map[string]int) (*Offer, error) {
		return sameCommits(ctx, r, dir, names, counts)
	})
}

// The bounds of sameCommits.
const (
	commitNotes = 400 // of sessions and what they taught, the newest
	commitsEach = 3   // of one project
	commitsMost = 60
)

// sameCommits offers a project whose notes name commits that the clone in dir has: notes travel, and so this finds the clone of
// another machine, from whatever address. A project counts if the clone has more of its commits than it lacks.
func sameCommits(ctx context.Context, r *Rooms, dir string, names []string, counts map[string]int) (*Offer, error) {
	if project.Top(dir) == "" {
		return nil, nil //nolint:nilnil // nothing to offer is an answer
	}
	rows, err := r.Index.Select(ctx, index.Filter{
		Sources: []string{note.User, note.Learning, note.SessionEnd}, Now: r.Store.Now(),
	}, commitNotes)
	if err != nil {
		return nil, err
	}
	of, ids := make(map[string][]string), []string{}
	for i := range rows {
		key := project.Canonical(r.Store, rows[i].Project)
		if counts[key] == 0 || !offers(key) || slices.Contains(names, key) || len(of[key]) == commitsEach || len(ids) >= commitsMost {
			continue
		}
		n, _, _, err := r.Store.Read(rows[i].Ref.Path)
		if err != nil {
			continue // or the index is behind
		}
		for _, id := range n.Commits {
			if len(id) >= 7 && strings.Trim(id, "0123456789abcdef") == "" && len(of[key]) < commitsEach && !slices.Contains(ids, id) {
				of[key], ids = append(of[key], id), append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(rootsTimeHere))
	defer cancel()
	has := replica.Commits(ctx, dir, config.Environ(), ids)
	for _, key := range slices.Sorted(maps.Keys(of)) {
		n := 0
		for _, id := range of[key] {
			if has[id] {
				n++
			}
		}
		if 2*n > len(of[key]) {
			return &Offer{Key: key, Why: "this clone has the commits that its notes name", Notes: counts[key]}, nil
		}
	}
	return nil, nil //nolint:nilnil // see above
}

// maxOffered is the length of a key that is offered at most, in bytes.
const maxOffered = 120

// offers reports whether a key may be offered. The line goes to a terminal and to an agent, and the key may come from a file of a
// clone: one that is more than a name, such as a command or a sentence, is not offered.
func offers(key string) bool {
	name := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._/:@+~-", r)
	}
	return key != "" && len(key) <= maxOffered && key[0] != '-' && strings.IndexFunc(key, func(r rune) bool { return !name(r) }) < 0
}

// sameHistory offers a project with notes whose clone in the table shares a root commit with own; nil if there is none.
func sameHistory(places []project.Place, own *project.Place, names []string, counts map[string]int) *Offer {
	if own == nil {
		return nil
	}
	for i := range slices.Backward(places) {
		p := &places[i]
		if p.Dir == own.Dir || !slices.ContainsFunc(p.Roots, func(root string) bool { return slices.Contains(own.Roots, root) }) {
			continue
		}
		for _, key := range append([]string{p.Joined, p.Key, p.Before}, p.Former...) {
			if counts[key] > 0 && offers(key) && !slices.Contains(names, key) {
				return &Offer{Key: key, Why: "the clone in " + p.Dir + " has the same first commit", Notes: counts[key]}
			}
		}
	}
	return nil
}

// Take does what an offer proposes for a folder.
func (o *Offer) Take(ctx context.Context, r *Rooms, dir string) (ProjectAnswer, error) {
	if o.Into == "" {
		return Join(r, dir, o.Key)
	}
	if _, err := AddAlias(ctx, r.Store, r.Host.Face, o.Key, o.Into); err != nil {
		return ProjectAnswer{}, err
	}
	return projectOf(r, dir), nil
}

// Join makes a folder a part of a project, because the user says so; with "" the evidence decides again.
func Join(r *Rooms, dir, key string) (ProjectAnswer, error) {
	if key == note.Global || key == project.Unknown {
		return ProjectAnswer{}, Usagef("project join: cannot join %q", key)
	}
	if key != "" {
		key = project.Canonical(r.Store, key)
	}
	if err := project.Join(r.Store, dir, key); err != nil {
		return ProjectAnswer{}, err
	}
	return projectOf(r, dir), nil
}

func projectOf(r *Rooms, dir string) ProjectAnswer {
	id := project.Identify(r.Store, dir)
	return ProjectAnswer{id.Key, id.Source, id.From, id.Branch, project.Names(r.Store, id), id.Asks}
}

// offerHere says to a person who found nothing which project this folder may be.
func offerHere(ctx context.Context, r *Rooms) {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	if o, err := LookForOffer(ctx, r, dir); err == nil && o != nil {
		r.Notify("this folder may be %s", o.Line())
	}
}
