package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Signature is what the user's git says of the signature of a commit: their keyring of gpg, or
// their file of allowed signers (gpg.ssh.allowedSignersFile). The repository's own files and
// settings have no say.
type Signature struct {
	Key    string // fingerprint of the key; of the primary one when a subkey signed
	Signer string // whose key it is, as the user's keyring or file says
}

// signatureBatch is how many commits one git verifies.
const signatureBatch = 100

// Signatures returns for files of a commit below a folder, by path, the signature of the commit that
// last changed each. A file is missing when that commit is not signed, or not by a key that the
// user's git holds to be good. A history that is too long to list is an error.
func (c *Clone) Signatures(ctx context.Context, commit, folder string, files []string) (map[string]Signature, error) {
	changed, err := c.lastChanged(ctx, commit, folder, files)
	if err != nil {
		return nil, err
	}
	var commits []string
	for _, by := range changed {
		commits = append(commits, by)
	}
	slices.Sort(commits)
	good := make(map[string]Signature)
	for some := range slices.Chunk(slices.Compact(commits), signatureBatch) {
		if err := c.verify(ctx, some, good); err != nil {
			return nil, err
		}
	}
	signed := make(map[string]Signature)
	for file, by := range changed {
		if s, ok := good[by]; ok {
			signed[file] = s
		}
	}
	return signed, nil
}

// verify adds the good signatures among those of commits. The name of the signer comes last in a
// row, because it may hold anything.
func (c *Clone) verify(ctx context.Context, commits []string, good map[string]Signature) error {
	out, err := c.g.run(ctx, call{network: true, in: strings.Join(commits, "\n") + "\n", args: []string{
		"log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%x01%G?%x01%GP%x01%GF%x01%GS", "--no-show-signature", "--no-notes",
	}})
	if err != nil {
		return err
	}
	for _, row := range split(out) {
		f := strings.SplitN(row, "\x01", 5)
		if len(f) != 5 {
			return fmt.Errorf("git log: it prints %q", row)
		}
		if key := cmp.Or(f[2], f[3]); f[1] == "G" && key != "" {
			good[f[0]] = Signature{key, f[4]}
		}
	}
	return nil
}

// lastChanged returns the commit that gave each file the form that it has in commit. A merge that
// took over a file as one of its parents has it did not change it. Dates, which anybody can set, do
// not count: a commit is looked at after all that come from it.
func (c *Clone) lastChanged(ctx context.Context, commit, folder string, files []string) (map[string]string, error) {
	steps, err := c.steps(ctx, commit)
	if err == nil {
		err = c.compare(ctx, steps, folder)
	}
	if err != nil {
		return nil, err
	}
	changed := make(map[string]string, len(files))
	for _, f := range files {
		changed[f] = commit
	}
	waiting := map[string][]string{commit: files} // files that a commit has as they are in the first one
	for _, s := range steps {
		var left []string
		for _, f := range waiting[s.commit] {
			if s.parent != "" && !s.differ[f] {
				waiting[s.parent] = append(waiting[s.parent], f)
				changed[f] = s.parent
			} else {
				left = append(left, f)
			}
		}
		waiting[s.commit] = left
	}
	return changed, nil
}

// A historyStep is from a commit to one of its parents, "" for the first commit.
type historyStep struct {
	commit, parent string
	differ         map[string]bool // the files in which the two differ
}

// steps lists the history of a commit: all steps to a commit come before those from it.
func (c *Clone) steps(ctx context.Context, commit string) (all []historyStep, err error) {
	out := &limited{left: maxHistory}
	_, err = c.g.run(ctx, call{out: out, args: []string{"rev-list", "--topo-order", "--parents", "--end-of-options", commit}})
	for row := range strings.Lines(out.text.String()) {
		ids := strings.Fields(row)
		if len(ids) == 1 {
			ids = append(ids, "")
		}
		for _, parent := range ids[1:] {
			all = append(all, historyStep{commit: ids[0], parent: parent})
		}
	}
	return all, err
}

// compare finds out in which files below a folder the commits of each step differ.
func (c *Clone) compare(ctx context.Context, steps []historyStep, folder string) error {
	var in strings.Builder
	for _, s := range steps {
		in.WriteString(strings.TrimSpace(s.commit+" "+s.parent) + "\n")
	}
	out := &limited{left: maxHistory}
	_, err := c.g.run(ctx, call{out: out, in: in.String(), args: []string{
		"diff-tree", "--stdin", "-r", "--root", "--no-renames", "--name-only", "--always", "-z", "--", folder,
	}})
	if err != nil {
		return err
	}
	rows := split(out.text.String())
	for i := range steps {
		s := &steps[i]
		if len(rows) == 0 || rows[0] != s.commit {
			return fmt.Errorf("git diff-tree: it says nothing of commit %s", s.commit)
		}
		s.differ = make(map[string]bool)
		for rows = rows[1:]; len(rows) > 0 && strings.HasPrefix(rows[0], folder); rows = rows[1:] {
			s.differ[rows[0]] = true
		}
	}
	return nil
}
