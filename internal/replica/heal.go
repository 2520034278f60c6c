package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// damagedIndex reports whether git says that it cannot read its index, as after a power loss.
func damagedIndex(err error) bool {
	var failed *gitError
	if !errors.As(err, &failed) {
		return false
	}
	text := strings.ToLower(failed.stderr)
	for _, s := range []string{
		"index file smaller than expected", "index file corrupt", "bad signature", "bad index file",
		"cache entry has null sha1", "unknown index entry format", "malformed name field",
	} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// healIndex rebuilds the index of git from the last commit; it holds nothing
// but which files of the commit do not stand in the tree. Those that do not now are
// taken for such: nothing is deleted because of a damaged file.
func (g *git) healIndex(ctx context.Context) error {
	at := filepath.Join(g.dir, ".git", "index")
	if err := os.Rename(at, at+".damaged"); err != nil {
		return fmt.Errorf("set the damaged index of git aside: %w", err)
	}
	r, err := g.Refs(ctx)
	if err != nil || r.Ours == "" {
		return err
	}
	if err := g.locked(ctx, "", "read-tree", "HEAD"); err != nil {
		return fmt.Errorf("rebuild the index of git: %w", err)
	}
	gone, err := g.git(ctx, "", "ls-files", "-d", "-z")
	if err == nil && gone != "" {
		err = g.locked(ctx, gone, "update-index", "-z", "--skip-worktree", "--stdin")
	}
	if err != nil {
		return fmt.Errorf("rebuild the index of git: %w", err)
	}
	return nil
}

// exclude keeps what killed writes left out of what git shows people.
func exclude(dir string) error {
	const line = ".tmp-anamnesis-*"
	at := filepath.Join(dir, ".git", "info", "exclude")
	data, err := os.ReadFile(at)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // it is for people only
	}
	for have := range strings.Lines(string(data)) {
		if strings.TrimSpace(have) == line {
			return nil
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return replaceFile(at, append(data, line+"\n"...))
}
