package replica

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// An OutgoingCommit is a file as a commit that no sync made brings it.
type OutgoingCommit struct {
	Commit string // its short name
	Path   string
	File   Entry
}

// withhold returns the files that keep a commit from being pushed. What a sync
// commits was looked at when it did; what somebody committed with git was not,
// and a push takes every commit along, also one whose files were changed since.
func (c *cycle) withhold(ctx context.Context, commit, theirs string) (held []WithheldFile, err error) {
	if held, err = c.notYet(ctx, commit, theirs); len(held) > 0 || err != nil {
		return held, err
	}
	if c.o.Hold == nil {
		return nil, nil
	}
	all, err := c.p.Outgoing(ctx, commit, theirs)
	if err != nil {
		return nil, fmt.Errorf("look at what would be pushed: %w; nothing was pushed", err)
	}
	err = c.each(ctx, all, func(d OutgoingCommit, data []byte) error {
		why := ""
		if data == nil {
			why = fmt.Sprintf("it is larger than %d MiB", MaxFile>>20)
		} else {
			why = c.o.Hold(d.Path, data)
		}
		if why != "" && !slices.ContainsFunc(held, func(h WithheldFile) bool { return h.Path == d.Path }) {
			held = append(held, WithheldFile{Path: d.Path, Why: fmt.Sprintf("%s; it is so in the commit %s, made with git: while that is "+
				"here nothing "+
				"is pushed", why, d.Commit)})
		}
		return nil
	})
	slices.SortStableFunc(held, func(a, b WithheldFile) int { return strings.Compare(a.Path, b.Path) })
	return held, err
}

// notYet returns the files of commits made here that stay behind for a while (Options.NotYet).
func (c *cycle) notYet(ctx context.Context, commit, theirs string) (held []WithheldFile, err error) {
	if c.o.NotYet == nil {
		return nil, nil
	}
	diffs, err := c.p.Deltas(ctx, [2]string{theirs, commit})
	if err != nil {
		return nil, fmt.Errorf("look at what would be pushed: %w; nothing was pushed", err)
	}
	var all []OutgoingCommit
	for _, d := range diffs[0] {
		all = append(all, OutgoingCommit{commit, d.Path, d.New})
	}
	err = c.each(ctx, all, func(d OutgoingCommit, data []byte) error {
		if data == nil {
			return nil
		}
		if until := c.o.NotYet(d.Path, data); until != "" {
			held = append(held, WithheldFile{Path: d.Path, Why: until + "; it is committed here, so that nothing is pushed before"})
		}
		return nil
	})
	return held, err
}

// each calls see with each outgoing file and its bytes, nil for a file that is too large to be read.
func (c *cycle) each(ctx context.Context, all []OutgoingCommit, see func(d OutgoingCommit, data []byte) error) error {
	all = slices.DeleteFunc(all, func(d OutgoingCommit) bool { return !Known(d.Path) || d.Path == attributes || !d.File.plain() })
	const atOnce = 256 // files in memory
	for part := range slices.Chunk(all, atOnce) {
		ids := make([]string, len(part))
		for i, d := range part {
			ids[i] = d.File.ID
		}
		slices.Sort(ids)
		read, err := c.p.Blobs(ctx, slices.Compact(ids))
		for i := 0; i < len(part) && err == nil; i++ {
			err = see(part[i], read[part[i].File.ID])
		}
		if err != nil {
			return fmt.Errorf("look at what would be pushed: %w; nothing was pushed", err)
		}
	}
	return nil
}

// unconfirmed returns the files of a commit that keep it from being pushed because of what they claim
// (Options.Claims): the other machines would believe it. Who made the commit does not count, because
// git lets everybody write any name. What the remote has, or had when it was last in step, they have met.
//
// A file that somebody changed during the sync is committed when the cycle begins again.
func (c *cycle) unconfirmed(ctx context.Context, commit string, r Refs) (held []WithheldFile, again string, err error) {
	if c.o.Claims == nil {
		return nil, "", nil
	}
	diffs, err := c.p.Deltas(ctx, [2]string{r.Theirs, commit}, [2]string{r.Known, commit})
	if err != nil {
		return nil, "", fmt.Errorf("look at what would be pushed: %w; nothing was pushed", err)
	}
	fresh := make(map[string]Entry, len(diffs[1]))
	for _, d := range diffs[1] {
		fresh[d.Path] = d.New
	}
	var all []OutgoingCommit
	for _, d := range diffs[0] {
		if fresh[d.Path] == d.New {
			all = append(all, OutgoingCommit{commit, d.Path, d.New})
		}
	}
	err = c.each(ctx, all, func(d OutgoingCommit, data []byte) error {
		why := ""
		if data != nil {
			why = c.o.Claims(d.Path, data)
		}
		if why == "" {
			return nil
		}
		now, err := c.p.Read(d.Path)
		if err != nil {
			return err
		}
		waits := slices.ContainsFunc(c.out.HeldFiles, func(h WithheldFile) bool { return h.Path == d.Path })
		if !waits && now != nil && !same(now, data) {
			again = d.Path + " was edited during the sync"
		}
		c.out.HeldFiles = slices.DeleteFunc(c.out.HeldFiles, func(h WithheldFile) bool { return h.Path == d.Path && h.Why == why })
		held = append(held, WithheldFile{Path: d.Path, Why: why + "; while it is so in the newest commit nothing is pushed"})
		return nil
	})
	slices.SortFunc(held, func(a, b WithheldFile) int { return strings.Compare(a.Path, b.Path) })
	return held, again, err
}

func (g *git) Outgoing(ctx context.Context, commit, theirs string) ([]OutgoingCommit, error) {
	args := []string{"log", "-z", "--no-show-signature", "--format=%H %ae %ce %at %ct %s", "--end-of-options", commit}
	if theirs != "" {
		args = append(args, "^"+theirs)
	}
	out, err := g.git(ctx, "", append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var by strings.Builder // commits that no sync made
	for _, row := range split(out) {
		if id, ours := madeBySync(row); !ours {
			by.WriteString(id + "\n")
		}
	}
	if by.Len() == 0 {
		return nil, nil
	}
	// Of a merge only what it has from none of its parents: those are looked at themselves.
	out, err = g.git(ctx, by.String(), "diff-tree", "--stdin", "-r", "-c", "--root", "-z", "--raw", "--no-renames", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	return readOutgoing(out)
}

// madeBySync reads a line of the log, and reports whether the commit is as a
// sync left it: one that was amended or moved has another committer or time.
func madeBySync(row string) (id string, ours bool) {
	f := strings.SplitN(row, " ", 6)
	if len(f) != 6 {
		return f[0], false
	}
	return f[0], machineOf(f[1]) != "" && f[1] == f[2] && f[3] == f[4] &&
		(strings.HasPrefix(f[5], "anamnesis: sync from ") || strings.HasPrefix(f[5], "anamnesis: merge on "))
}

// readOutgoing reads what git diff-tree --stdin -c -z --raw prints: the name of
// a commit, and for each file a colon for every parent, the modes and names of
// all its versions, the last one that of the commit, and then the path.
func readOutgoing(out string) (all []OutgoingCommit, err error) {
	commit := ""
	rows := split(out)
	for i := 0; i < len(rows); i++ {
		colons := len(rows[i]) - len(strings.TrimLeft(rows[i], ":"))
		if colons == 0 {
			commit = rows[i][:min(len(rows[i]), 7)]
			continue
		}
		f := strings.Fields(rows[i][colons:])
		if i++; len(f) != 2*colons+3 || i == len(rows) {
			return nil, fmt.Errorf("git diff-tree: it prints %q", rows[i-1])
		}
		if mode := f[colons]; mode != "000000" {
			all = append(all, OutgoingCommit{commit, rows[i], Entry{mode, f[2*colons+1]}})
		}
	}
	return all, nil
}
