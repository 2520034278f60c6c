package replica

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The bounds of what is read of a stranger's repository, in bytes.
const (
	maxGitFile = 1 << 20  // a file that holds a ref, a path or the edge of a shallow clone
	maxPacked  = 64 << 20 // packed-refs
	maxAnswer  = 16 << 20 // what git prints
)

// A stranger is a repository that is not ours. Its configuration names programs (filters,
// pagers, hooks, signers, helpers), and git has no switch against all of them. So git never
// sees that repository: it runs in a folder made for this one call, with a configuration
// of ours, which has nothing of the stranger's but the objects, the commit that is checked
// out, and the index where it is asked for.
type stranger struct {
	tree   string // the working tree's folder, "" in a bare repository
	dir    string // git's data of this working tree
	common string // git's data that all working trees share
	head   string // the commit that is checked out, "" before the first one
}

// openStranger reads the repository that holds dir. It is nil where there is none, and
// where its files do not say what is checked out (a broken or reftable repository).
func openStranger(dir string) *stranger {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		s := &stranger{tree: d, dir: filepath.Join(d, ".git")}
		if target, ok := strings.CutPrefix(readGit(s.dir), "gitdir:"); ok {
			if s.dir = strings.TrimSpace(target); !filepath.IsAbs(s.dir) {
				s.dir = filepath.Join(d, s.dir)
			}
		}
		switch {
		case s.holds():
			return s
		case isDir(s.dir): // broken, or another kind
			return nil
		}
		if s = (&stranger{dir: d}); s.holds() {
			return s
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

// holds reads what is checked out, and reports whether s is a repository.
func (s *stranger) holds() bool {
	head := strings.TrimSpace(readGit(filepath.Join(s.dir, "HEAD")))
	if head == "" {
		return false
	}
	s.common = s.dir
	if c := strings.TrimSpace(readGit(filepath.Join(s.dir, "commondir"))); c != "" {
		if s.common = c; !filepath.IsAbs(c) {
			s.common = filepath.Join(s.dir, c)
		}
	}
	if !isDir(filepath.Join(s.common, "objects")) {
		return false
	}
	name, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		s.head = head
		return isObject(head)
	}
	if name == "refs/heads/.invalid" {
		return false
	}
	s.head = s.refs(name)[name]
	return true
}

// refs returns the objects that some refs name, without those that are not there.
func (s *stranger) refs(names ...string) map[string]string {
	found := make(map[string]string, len(names))
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		if !isRef(name) {
			continue
		}
		if id := strings.TrimSpace(readGit(filepath.Join(s.common, filepath.FromSlash(name)))); isObject(id) {
			found[name] = id
		} else {
			wanted[name] = true
		}
	}
	if len(wanted) == 0 {
		return found
	}
	f := openPlain(filepath.Join(s.common, "packed-refs"), maxPacked)
	if f == nil {
		return found
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && wanted[name] && isObject(id) {
			found[name] = id
		}
	}
	return found
}

// isRef reports whether a text is the name of a ref that git takes and that is a path
// below its folder.
func isRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) || filepath.ToSlash(filepath.Clean(name)) != name {
		return false
	}
	if strings.ContainsAny(name, "\\ ~^:?*[\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return true
}

// A question is one run of git about a stranger's repository.
type question struct {
	args  []string
	in    string            // its standard input
	refs  map[string]string // what git sees of the refs, besides HEAD
	index bool              // it sees the index and the working tree too
	most  int               // bytes of its answer; 0 means maxAnswer
}

// ask runs git apart from the repository and its configuration. What it returns is what
// git printed; false when it failed, or did not end before ctx.
func (s *stranger) ask(ctx context.Context, env []string, q question) (string, bool) {
	apart, err := s.apart(q.refs)
	if err != nil {
		return "", false
	}
	defer func() { _ = os.RemoveAll(apart) }()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "--no-replace-objects", "-c", "core.fsmonitor=false"}, q.args...)...)
	cmd.Dir = apart
	cmd.Env = childEnv(env, false,
		"HOME="+apart, "XDG_CONFIG_HOME="+apart, "GIT_DIR="+apart, "GIT_OBJECT_DIRECTORY="+filepath.Join(s.common, "objects"),
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	if q.index {
		index := filepath.Join(s.dir, "index")
		if fi, err := os.Stat(index); err != nil || !fi.Mode().IsRegular() || s.tree == "" {
			return "", false
		}
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+s.tree)
	}
	cmd.WaitDelay = time.Second // it runs from the end of git as well, when a busy machine may not have copied the answer yet
	if q.most > 0 {             // so much may still be on its way when git has ended
		cmd.WaitDelay = 10 * time.Second
	}
	cmd.Stdin = strings.NewReader(q.in)
	out := &limited{left: cmp.Or(q.most, maxAnswer)}
	cmd.Stdout = out
	if cmd.Run() != nil || ctx.Err() != nil {
		return "", false
	}
	return out.text.String(), true
}

// apart makes the folder that git takes for its repository.
func (s *stranger) apart(refs map[string]string) (dir string, err error) {
	head, format := "ref: refs/heads/none", "\trepositoryformatversion = 0\n"
	if s.head != "" {
		head = s.head
	}
	if len(s.head) == 64 {
		format = "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		packed.WriteString(refs[name] + " " + name + "\n")
	}
	files := map[string]string{
		"HEAD":        head + "\n",
		"config":      "[core]\n\tfilemode = false\n\tprecomposeunicode = true\n" + format,
		"packed-refs": packed.String(),
		"shallow":     readGit(filepath.Join(s.common, "shallow")),
	}
	if dir, err = os.MkdirTemp("", "anamnesis-git-"); err != nil {
		return "", err
	}
	err = os.Mkdir(filepath.Join(dir, "refs"), 0o700)
	for name, text := range files {
		if err == nil && text != "" {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		_ = os.RemoveAll(dir)
	}
	return dir, err
}

// whole reports whether all commits are there, and not only the latest.
func (s *stranger) whole() bool {
	_, err := os.Lstat(filepath.Join(s.common, "shallow"))
	return os.IsNotExist(err)
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// readGit returns the text of a small file, "" for what is none.
func readGit(path string) string {
	f := openPlain(path, maxGitFile)
	if f == nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	var text bytes.Buffer
	if _, err := io.Copy(&text, io.LimitReader(f, maxGitFile)); err != nil {
		return ""
	}
	return text.String()
}

// openPlain opens a regular file of at most some bytes, nil for what is none. A pipe in its
// place keeps nobody waiting.
func openPlain(path string, most int64) *os.File {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > most {
		_ = f.Close()
		return nil
	}
	return f
}
