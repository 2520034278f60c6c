package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Historian tells what a tree was. The git backend is one. Revisions are what
// git takes for one, such as a name of a Commit, HEAD~3 or main@{yesterday};
// paths are relative to the tree, with slashes. Neither may begin with a hyphen.
type Historian interface {
	// Log lists the newest commits, at most limit of them, all when limit is not
	// positive. A path that is not empty leaves those that did not change it out.
	Log(ctx context.Context, path string, limit int) ([]Commit, error)

	// Show returns a file as it was at a revision. ErrNoRevision says that there
	// is no such revision, or no such file in it.
	Show(ctx context.Context, rev, path string) ([]byte, error)

	// Diff returns the change from one revision to another as unified text, of
	// one path, or of all when it is empty. An empty second revision is the tree
	// as it stands.
	Diff(ctx context.Context, fromRev, toRev, path string) (string, error)

	// Machines lists who has committed, the latest first.
	Machines(ctx context.Context) ([]Machine, error)
}

var _ Historian = (*git)(nil)

// ErrNoRevision means that the history does not hold what was asked for.
var ErrNoRevision = errors.New("not in the history")

// A Commit is one entry of the history.
type Commit struct {
	ID      string
	At      time.Time // when it was committed, in UTC
	Author  string
	Machine string // which committed it, empty when it was not one of ours
	Subject string
	Merge   bool
	Paths   []string // that it changed, in order; of a merge none
}

// A Machine is one that has committed to the tree.
type Machine struct {
	Name string // as it stands in the e-mail address of its commits
	// Installation tells machines of one name apart; "" for commits of older versions.
	Installation string
	Last         time.Time
	Commits      int
	Here         bool // this one
	// Waiting counts the commits of the machine that the remote did not have when
	// it was last asked; Known is false when there was never a remote.
	Waiting int
	Known   bool
}

// checkRevision refuses what git could take for something else than a revision.
func checkRevision(rev string) error {
	switch {
	case rev == "":
		return fmt.Errorf("%w: the revision is empty", ErrNoRevision)
	case len(rev) > 200, strings.HasPrefix(rev, "-"), strings.Contains(rev, ".."), strings.HasPrefix(rev, "^"), strings.HasPrefix(rev, ":"),
		!utf8.ValidString(rev), strings.ContainsAny(rev, "\\*?[\x7f"), strings.ContainsFunc(rev, func(r rune) bool { return r <= ' ' }):
		return fmt.Errorf("%w: %q is no revision; take one of the names that the log prints", ErrNoRevision, rev)
	}
	return nil
}

// checkPath refuses what is no path in the tree.
func checkPath(name string) error {
	if !utf8.ValidString(name) || name == "" || path.Clean(name) != name || path.IsAbs(name) || name == ".." ||
		strings.HasPrefix(name, "../") || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, isUnportable) || !carried(name) {
		return fmt.Errorf("%q is no path of the tree; give one like semantic/name.md", name)
	}
	return nil
}

// recorded reports whether there is a history to ask.
func (g *git) recorded(ctx context.Context) (Refs, error) {
	r, err := g.Refs(ctx)
	if err == nil && r.Ours == "" {
		err = fmt.Errorf("%w: nothing was committed yet", ErrNoRevision)
	}
	return r, err
}

func (g *git) Log(ctx context.Context, name string, limit int) ([]Commit, error) {
	if name != "" {
		if err := checkPath(name); err != nil {
			return nil, err
		}
	}
	if _, err := g.recorded(ctx); errors.Is(err, ErrNoRevision) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	args := []string{
		"log", "-z", "--date-order", "--no-show-signature", "--no-renames", "--no-ext-diff", "--name-only",
		"--format=%x01%H%x00%ct%x00%an%x00%ae%x00%P%x00%s",
	}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	args = append(args, "--end-of-options", "refs/heads/main", "--")
	if name != "" {
		args = append(args, name)
	}
	out, err := g.git(ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	var list []Commit
	for row := range strings.SplitSeq(out, "\x01") {
		f := strings.Split(row, "\x00")
		if len(f) < 6 {
			continue
		}
		seconds, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the history: git log prints %q", row)
		}
		c := Commit{
			ID: f[0], At: time.Unix(seconds, 0).UTC(), Author: printable(f[2]), Machine: machineOf(f[3]), Subject: printable(f[5]),
			Merge: strings.Contains(f[4], " "),
		}
		for _, p := range f[6:] {
			if p = strings.TrimLeft(p, "\n"); p != "" {
				c.Paths = append(c.Paths, p)
			}
		}
		slices.Sort(c.Paths)
		list = append(list, c)
	}
	return list, nil
}

// machineOf reads a machine out of the address of an author.
func machineOf(email string) string {
	host, ok := strings.CutPrefix(email, "anamnesis@")
	if !ok {
		return ""
	}
	return printable(host)
}

func (g *git) Show(ctx context.Context, rev, name string) ([]byte, error) {
	if err := cmp.Or(checkRevision(rev), checkPath(name)); err != nil {
		return nil, err
	}
	if _, err := g.recorded(ctx); err != nil {
		return nil, err
	}
	id, err := g.resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	out, err := g.git(ctx, "", "ls-tree", "-z", "--full-tree", "--end-of-options", id, name)
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", name, rev, err)
	}
	head, _, _ := strings.Cut(out, "\t")
	f := strings.Fields(head)
	if len(f) != 3 || f[1] != "blob" {
		return nil, fmt.Errorf("%w: %s has no file %s", ErrNoRevision, rev, name)
	}
	blobs, err := g.Blobs(ctx, []string{f[2]})
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", name, rev, err)
	}
	data, ok := blobs[f[2]]
	if !ok {
		return nil, fmt.Errorf("read %s at %s: it is larger than %d MiB", name, rev, MaxFile>>20)
	}
	return data, nil
}

// resolve returns the commit that a revision stands for.
func (g *git) resolve(ctx context.Context, rev string) (string, error) {
	if err := checkRevision(rev); err != nil {
		return "", err
	}
	out, err := g.git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	id := strings.TrimSpace(strings.TrimPrefix(out, "--end-of-options")) // old ones print it
	var failed *gitError
	switch {
	case errors.As(err, &failed) && failed.code() > 0, err == nil && id == "":
		return "", fmt.Errorf("%w: there is no revision %s; take one of the names that the log prints", ErrNoRevision, rev)
	case err != nil:
		return "", fmt.Errorf("find the revision %s: %w", rev, err)
	}
	return id, nil
}

func (g *git) Diff(ctx context.Context, fromRev, toRev, name string) (string, error) {
	if name != "" {
		if err := checkPath(name); err != nil {
			return "", err
		}
	}
	if err := checkRevision(fromRev); err != nil {
		return "", err
	}
	if _, err := g.recorded(ctx); err != nil {
		return "", err
	}
	args := []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all",
		"--src-prefix=a/", "--dst-prefix=b/",
	}
	from, err := g.resolve(ctx, fromRev)
	if err != nil {
		return "", err
	}
	args = append(args, "--end-of-options", from)
	if toRev != "" {
		to, err := g.resolve(ctx, toRev)
		if err != nil {
			return "", err
		}
		args = append(args, to)
	}
	if args = append(args, "--"); name != "" {
		args = append(args, name)
	}
	out, err := g.git(ctx, "", args...)
	if err != nil {
		return "", fmt.Errorf("compare %s with %s: %w", fromRev, cmp.Or(toRev, "the tree"), err)
	}
	return out, nil
}

func (g *git) Machines(ctx context.Context) ([]Machine, error) {
	r, err := g.recorded(ctx)
	if errors.Is(err, ErrNoRevision) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if g.o.Remote != "" {
		r = g.about(r)
	}
	all := make(map[string]*Machine)
	read := func(visit func(m *Machine, at time.Time), args ...string) error {
		format := "--format=%ct %ae %(trailers:key=" + installationKey + ",valueonly,separator=%x20)"
		out, err := g.git(ctx, "", append([]string{"log", "--no-show-signature", format, "--end-of-options"}, args...)...)
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		for line := range strings.Lines(out) {
			at, who, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
			email, installation, _ := strings.Cut(who, " ")
			installation = printable(installation[:min(len(installation), 64)])
			if installation == "unknown" {
				installation = ""
			}
			seconds, err := strconv.ParseInt(at, 10, 64)
			name := machineOf(email)
			if err != nil || name == "" {
				continue
			}
			key := name + "\x00" + installation
			m := all[key]
			if m == nil {
				here := email == g.email && (installation == "" || installation == g.o.Installation)
				m = &Machine{Name: name, Installation: installation, Here: here, Known: r.Known != ""}
				all[key] = m
			}
			visit(m, time.Unix(seconds, 0).UTC())
		}
		return nil
	}
	err = read(func(m *Machine, at time.Time) {
		m.Commits++
		if at.After(m.Last) {
			m.Last = at
		}
	}, "refs/heads/main", "--")
	if err == nil && r.Known != "" && r.Known != r.Ours {
		err = read(func(m *Machine, _ time.Time) { m.Waiting++ }, "refs/heads/main", "^"+r.Known, "--")
	}
	adopt(all, g.o.Installation)
	list := make([]Machine, 0, len(all))
	for _, m := range all {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Machine) int { return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Name, b.Name)) })
	return list, err
}

// adopt counts commits of older versions, which name no installation, to the one
// installation of that name; to ours when there are several.
func adopt(all map[string]*Machine, ours string) {
	for key, m := range all {
		if m.Installation != "" {
			continue
		}
		var heir *Machine
		for _, other := range all {
			if other.Name == m.Name && other.Installation != "" && (heir == nil || other.Installation == ours) {
				heir = other
			}
		}
		if heir == nil {
			continue
		}
		heir.Commits, heir.Waiting = heir.Commits+m.Commits, heir.Waiting+m.Waiting
		if m.Last.After(heir.Last) {
			heir.Last = m.Last
		}
		delete(all, key)
	}
}
