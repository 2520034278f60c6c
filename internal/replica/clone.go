package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Clone is a copy of a repository of other people, for rooms that put commits
// together from blobs. Nothing of it is ever checked out: links, filters and names
// that it holds are rows of a list here, and no file. git runs as in a Backend,
// without hooks, prompts or settings of the repository; the user's own settings
// count where a connection is made and where a commit is signed.
//
// A Clone is for one goroutine, and for one process at a time: the caller holds
// the lock.
type Clone struct {
	g        *git
	prepared bool
}

// branchRefs is where the branches of the remote are kept, as last fetched.
const branchRefs = "refs/anamnesis/remote/"

// maxBranches is how many branches of one pattern a remote may list.
const maxBranches = 20_000

// OpenClone returns the clone in the folder o.Dir of the repository at o.Remote. Of
// the options those count that say where it is and how git runs. It starts no
// process and writes nothing. The error is ErrRemote for an address that is none.
func OpenClone(o Options) (*Clone, error) {
	if err := CheckRemote(o.Remote); err != nil {
		return nil, err
	}
	if o.Remote == "" {
		return nil, fmt.Errorf("open clone: %w: it is empty", ErrRemote)
	}
	b, err := openGit(o)
	if err != nil {
		return nil, err
	}
	return &Clone{g: b.(*git)}, nil //nolint:forcetypeassert // it makes no other
}

// Dir is the folder of the clone.
func (c *Clone) Dir() string { return c.g.dir }

// prepare makes the repository, once.
func (c *Clone) prepare(ctx context.Context) error {
	if c.prepared {
		return nil
	}
	if err := os.MkdirAll(c.g.dir, 0o700); err != nil {
		return err
	}
	if err := c.g.ready(ctx); err != nil {
		return err
	}
	if err := c.whole(ctx); err != nil {
		return err
	}
	if err := firstOf(shield(c.g.dir), c.g.shell(ctx)); err != nil {
		return err
	}
	if err := c.sweep(); err != nil {
		return err
	}
	c.prepared = true
	return nil
}

// whole makes the repository when there is none, and again when what is there is none
// any more: all of it comes from the remote.
func (c *Clone) whole(ctx context.Context) error {
	if err := c.g.ensure(ctx); err != nil {
		return err
	}
	_, err := c.g.git(ctx, "", "rev-parse", "--git-dir")
	var failed *gitError
	if !errors.As(err, &failed) || failed.code() != 128 || ctx.Err() != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.g.dir, ".git")); err != nil {
		return fmt.Errorf("remove the damaged clone: %w", err)
	}
	return c.g.ensure(ctx)
}

// sweep removes what a run left that was killed: the locks of refs that are ours
// alone, and indexes. Whoever calls holds the lock, so that nobody uses them.
func (c *Clone) sweep() error {
	refs := filepath.Join(c.g.dir, ".git", filepath.FromSlash(branchRefs))
	err := filepath.WalkDir(refs, func(at string, d os.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case !d.IsDir() && strings.HasSuffix(at, ".lock"):
			return os.Remove(at)
		}
		return nil
	})
	left, _ := filepath.Glob(filepath.Join(c.g.dir, ".git", "anamnesis-index*"))
	for _, at := range left {
		err = errors.Join(err, os.Remove(at))
	}
	return err
}

// Branches asks the remote for its default branch, "" when it has no commit yet, and
// for the branches that the patterns name, which end in * or are whole; each with its
// newest commit. What went wrong is a *LinkError.
func (c *Clone) Branches(ctx context.Context, patterns ...string) (byName map[string]string, standard string, err error) {
	if err := c.prepare(ctx); err != nil {
		return nil, "", err
	}
	args := []string{"ls-remote", "--quiet", "--symref", "--end-of-options", hub, "HEAD"}
	for _, p := range patterns {
		args = append(args, "refs/heads/"+p)
	}
	out := &limited{left: maxBranches * 300}
	_, err = c.g.run(ctx, call{args: args, network: true, out: out})
	if err != nil {
		return nil, "", linked("fetch", HidePassword(c.g.o.Remote), err)
	}
	byName = make(map[string]string)
	for line := range strings.Lines(out.text.String()) {
		line = strings.TrimSuffix(line, "\n")
		if target, ok := strings.CutPrefix(line, "ref: refs/heads/"); ok {
			if name, ok := strings.CutSuffix(target, "\tHEAD"); ok && BranchName(name) {
				standard = name
			}
			continue
		}
		commit, ref, _ := strings.Cut(line, "\t")
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && BranchName(name) && isObject(commit) {
			byName[name] = commit
		}
		if ref == "HEAD" && isObject(commit) && standard != "" {
			byName[standard] = commit
		}
	}
	if byName[standard] == "" {
		standard = ""
	}
	return byName, standard, nil
}

// isObject reports whether a text is the name of an object.
func isObject(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// A limited writer takes so many bytes, and then fails.
type limited struct {
	text bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("the remote lists more than anybody can use")
	}
	return l.text.Write(p)
}

// BranchName reports whether a text is the name of a branch that every git and
// every hoster takes: letters of ASCII, digits, and . _ - / in the places where git
// allows them, at most 200 bytes.
func BranchName(name string) bool {
	if name == "" || len(name) > 200 || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && r != '/' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// Fetch gets branches of the remote, and returns the commits that came. Every tree
// of them is bounded as those of a Backend are. A branch that is gone at the same time is
// an error.
func (c *Clone) Fetch(ctx context.Context, branches ...string) (map[string]string, error) {
	if len(branches) == 0 {
		return nil, nil
	}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=",
		"--end-of-options", hub,
	}
	for _, b := range branches {
		if !BranchName(b) {
			return nil, fmt.Errorf("fetch: %q is no name of a branch", b)
		}
		args = append(args, "+refs/heads/"+b+":"+branchRefs+b)
	}
	if _, err := c.g.git(ctx, "", args...); err != nil {
		return nil, linked("fetch", HidePassword(c.g.o.Remote), err)
	}
	commits := make(map[string]string, len(branches))
	for _, b := range branches {
		out, err := c.g.git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", branchRefs+b+"^{commit}")
		if err != nil {
			return nil, err
		}
		commits[b] = strings.TrimSpace(out)
		if err := c.bounded(ctx, commits[b]); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// bounded refuses a commit whose tree has too many paths or too deep ones.
func (c *Clone) bounded(ctx context.Context, commit string) error {
	out, err := c.g.git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return err
	}
	root := strings.TrimSpace(out)
	folders, err := c.g.folders(ctx, []string{root})
	if err == nil && count(folders, make(map[string]int), root) > maxPaths {
		err = refuse("more than " + strconv.Itoa(maxPaths) + " paths")
	}
	return err
}

// Contains reports whether a commit is among those that another one comes from.
func (c *Clone) Contains(ctx context.Context, later, earlier string) (bool, error) {
	ahead, err := c.g.count(ctx, []string{earlier}, []string{later})
	return ahead == 0, err
}

// List returns the files of a commit below a folder, by path. A folder that is a
// file, a link or another repository there is one row of that mode.
func (c *Clone) List(ctx context.Context, commit, folder string) (map[string]Entry, error) {
	all, err := c.g.List(ctx, commit)
	for name := range all {
		if name != folder && !strings.HasPrefix(name, folder+"/") {
			delete(all, name)
		}
	}
	return all, err
}

// Plain reports whether an entry is a file and no link, folder or repository.
func (e Entry) Plain() bool { return e.plain() }

// Blobs reads blobs; those over MaxFile are left out.
func (c *Clone) Blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	return c.g.Blobs(ctx, ids)
}

// An Author is whose name stands in a commit.
type Author struct{ Name, Email string }

// User returns what the user's git says of them, and whether their commits are
// signed. Nothing there is an empty Author.
func (c *Clone) User(ctx context.Context) (who Author, signs bool, err error) {
	if err := c.prepare(ctx); err != nil {
		return who, false, err
	}
	ask := func(args ...string) string {
		out, failed := c.g.run(ctx, call{args: append([]string{"config", "--includes"}, args...), network: true})
		if failed != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		return strings.TrimSpace(out)
	}
	who = Author{ask("--get", "user.name"), ask("--get", "user.email")}
	// The last value is that of our own settings.
	values := strings.Fields(ask("--type=bool", "--get-all", "commit.gpgSign"))
	signs = len(values) > 1 && values[len(values)-2] == "true"
	return who, signs, err
}

// Commit writes files over those of a commit and returns the new one, whose parent
// that is. Files is by path. A commit that is to be signed and cannot be is an error.
func (c *Clone) Commit(ctx context.Context, parent string, files map[string][]byte, message string, who Author, sign bool) (string, error) {
	at := filepath.Join(c.g.dir, ".git", "anamnesis-index")
	defer func() { _ = os.Remove(at) }()
	env := []string{"GIT_INDEX_FILE=" + at}
	if _, err := c.g.run(ctx, call{args: []string{"read-tree", "--end-of-options", parent}, env: env}); err != nil {
		return "", err
	}
	rows, err := c.write(ctx, files)
	if err != nil {
		return "", err
	}
	if _, err := c.g.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, in: rows, env: env}); err != nil {
		return "", err
	}
	tree, err := c.g.run(ctx, call{args: []string{"write-tree"}, env: env})
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", strings.TrimSpace(tree), "-p", parent, "-F", "-"}
	if sign {
		args = append(args, "-S")
	}
	stamp := "@" + strconv.FormatInt(c.g.o.Now().Unix(), 10) + " +0000"
	out, err := c.g.run(ctx, call{args: args, in: message, network: sign, env: []string{
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email, "GIT_AUTHOR_DATE=" + stamp,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email, "GIT_COMMITTER_DATE=" + stamp,
	}})
	if err != nil && sign && ctx.Err() == nil {
		return "", fmt.Errorf("sign the commit as your git is set to (commit.gpgSign): %w; nothing was pushed", err)
	}
	return strings.TrimSpace(out), err
}

// write makes a blob of each file, and the rows of the index for them.
func (c *Clone) write(ctx context.Context, files map[string][]byte) (rows string, err error) {
	paths := make([]string, 0, len(files))
	var in, out strings.Builder
	for name, data := range files {
		if !fs.ValidPath(name) || !carried(name) || strings.ContainsFunc(name, isUnportable) { // git would leave it out, and say nothing
			return "", fmt.Errorf("commit %q: it is no path of a repository", name)
		}
		paths = append(paths, name)
		fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n%s\n", len(paths), len(data), data)
	}
	for i := range paths {
		fmt.Fprintf(&in, "get-mark :%d\n", i+1)
	}
	in.WriteString("done\n")
	printed, err := c.g.git(ctx, in.String(), "fast-import", "--quiet", "--done")
	ids := strings.Fields(printed)
	if err == nil && len(ids) != len(paths) {
		err = fmt.Errorf("git fast-import: it prints %q", printed)
	}
	if err != nil {
		return "", err
	}
	for i, name := range paths {
		fmt.Fprintf(&out, "100644 %s\t%s\x00", ids[i], name)
	}
	return out.String(), nil
}

// Push offers a commit to the remote as the newest one of a branch. It never forces:
// a branch that moved is a *LinkError of kind LinkMoved.
func (c *Clone) Push(ctx context.Context, commit, branch string) error {
	if !BranchName(branch) {
		return fmt.Errorf("push: %q is no name of a branch", branch)
	}
	_, err := c.g.git(ctx, "", "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
		"--no-force", "--end-of-options", hub, commit+":refs/heads/"+branch)
	return linked("push", HidePassword(c.g.o.Remote), err)
}
