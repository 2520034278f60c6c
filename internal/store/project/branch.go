package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// trunks are the names of a default branch that a repository need not declare.
var trunks = []string{"main", "master", "trunk"}

// Trunk returns the default branch of the repository that a folder is in: the
// one that origin says, else main, master or trunk where there is one, else the
// only branch there is. It is "" when nothing tells. Like Identify it reads
// files and starts no process.
func Trunk(dir string) string {
	repo := findRepository(dir)
	common := repo.common
	if common == "" {
		return ""
	}
	const head = "ref: refs/remotes/origin/"
	if name, ok := strings.CutPrefix(strings.TrimSpace(readSmall(filepath.Join(common, "refs", "remotes", "origin", "HEAD"))), head); ok {
		return cleanKey(name)
	}
	names := branches(common)
	for _, t := range trunks {
		if slices.Contains(names, t) {
			return t
		}
	}
	switch len(names) {
	case 0: // nothing is committed yet
		return repo.branch
	case 1:
		return names[0]
	}
	return ""
}

// HasBranch reports whether the repository of dir has a branch, here or at a remote. It is true where there is no repository.
func HasBranch(dir, branch string) bool {
	common := findRepository(dir).common
	if common == "" || branch == "" {
		return true
	}
	if slices.Contains(branches(common), branch) {
		return true
	}
	packed := readSmall(filepath.Join(common, "packed-refs"))
	remotes, _ := os.ReadDir(filepath.Join(common, "refs", "remotes"))
	for _, r := range remotes {
		name := filepath.FromSlash(branch)
		if _, err := os.Lstat(filepath.Join(common, "refs", "remotes", r.Name(), name)); err == nil && filepath.IsLocal(name) {
			return true
		}
	}
	for line := range strings.Lines(packed) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), " refs/remotes/"); ok {
			if _, name, ok := strings.Cut(ref, "/"); ok && name == branch {
				return true
			}
		}
	}
	return false
}

// branches lists the local branches of a repository.
func branches(common string) (names []string) {
	heads := filepath.Join(common, "refs", "heads")
	_ = filepath.WalkDir(heads, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if rel, err := filepath.Rel(heads, path); err == nil {
				names = append(names, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	for line := range strings.Lines(readSmall(filepath.Join(common, "packed-refs"))) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), " refs/heads/"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// BranchScope returns the branch that a note carries which is written on a branch of
// the repository of dir: "" on the trunk, which every branch shares, and where
// no branch is checked out.
func BranchScope(dir, branch string) string {
	trunk := Trunk(dir)
	switch {
	case branch == "HEAD", branch == trunk, trunk == "" && slices.Contains(trunks, branch):
		return ""
	}
	return cleanKey(branch)
}

// Untouched reports whether the repository of dir remembers that nothing was
// committed on a branch since it was made: git calls such a branch merged.
func Untouched(dir, branch string) bool {
	common := findRepository(dir).common
	if common == "" || !filepath.IsLocal(filepath.FromSlash(branch)) {
		return false
	}
	return strings.Count(readSmall(filepath.Join(common, "logs", "refs", "heads", filepath.FromSlash(branch))), "\n") == 1
}
