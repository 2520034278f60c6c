package replica

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The bounds of what is asked of a stranger's repository.
const (
	maxCommits = 200
	maxReverts = 200
)

// Commits says which of some ids are commits of the repository at dir, by one process of
// git. It is nil when git cannot say before ctx ends: there is no repository, or it has
// not all of its commits and misses one of these.
func Commits(ctx context.Context, dir string, env, ids []string) map[string]bool {
	if len(ids) == 0 || len(ids) > maxCommits {
		return nil
	}
	s := openStranger(dir)
	if s == nil {
		return nil
	}
	var in strings.Builder
	for _, id := range ids {
		if strings.Trim(id, "0123456789abcdef") != "" {
			return nil
		}
		in.WriteString(id + "^{commit}\n")
	}
	out, ok := s.ask(ctx, env, question{args: []string{"cat-file", "--batch-check=%(objecttype)"}, in: in.String()})
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if !ok || len(lines) != len(ids) {
		return nil
	}
	known, missing := make(map[string]bool, len(ids)), false
	for i, line := range lines {
		known[ids[i]] = line == "commit" || strings.HasSuffix(line, " ambiguous")
		missing = missing || !known[ids[i]]
	}
	if missing && !s.whole() {
		return nil
	}
	return known
}

// LineCommit returns the commit that wrote a line of a file at the commit that is checked out, and the
// path of the file in its repository. Both are "" where git does not say before ctx ends.
func LineCommit(ctx context.Context, file string, env []string, line int) (commit, inside string) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", ""
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(dir, filepath.Base(file))
	}
	s := openStranger(filepath.Dir(file))
	if s == nil || s.tree == "" {
		return "", ""
	}
	inside, err = filepath.Rel(s.tree, file)
	if err != nil || !filepath.IsLocal(inside) {
		return "", ""
	}
	inside = filepath.ToSlash(inside)
	if s.head == "" || line < 1 {
		return "", inside
	}
	at := strconv.Itoa(line)
	out, ok := s.ask(ctx, env, question{args: []string{"blame", "--porcelain", "-L", at + "," + at, "HEAD", "--", inside}})
	if id, _, _ := strings.Cut(out, " "); ok && isObject(id) {
		return id, inside
	}
	return "", inside
}

// A Reverted is a commit that another one took back.
type Reverted struct{ Commit, By string }

// Reverts returns the commits that were taken back on the branch that is checked out at
// dir, since a time: git writes "This reverts commit …" into such a commit. It is nil when
// git does not say before ctx ends.
func Reverts(ctx context.Context, dir string, env []string, since time.Time) (all []Reverted) {
	const mark = "This reverts commit "
	s := openStranger(dir)
	if s == nil || s.head == "" {
		return nil
	}
	out, _ := s.ask(ctx, env, question{args: []string{
		"log", "-n", strconv.Itoa(maxReverts), "--fixed-strings", "--grep=" + mark,
		"--since=" + strconv.FormatInt(since.Unix(), 10), "--format=%H%n%B", "-z",
	}})
	for entry := range strings.SplitSeq(out, "\x00") {
		by, body, _ := strings.Cut(entry, "\n")
		for line := range strings.Lines(body) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if !ok {
				continue
			}
			id := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789abcdef"))]
			if len(id) >= 7 && len(id) <= 40 && len(all) < maxReverts {
				all = append(all, Reverted{id, by})
			}
		}
	}
	return all
}
