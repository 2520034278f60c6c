package replica

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// maxHistory is how many bytes the history of a folder may be listed in.
const maxHistory = 64 << 20

// History returns for the files below a folder, by their last name, the blobs that
// they were in the commits up to one, the newest first. A history that is too long to
// list is an error.
func (c *Clone) History(ctx context.Context, commit, folder string) (map[string][]string, error) {
	out := &limited{left: maxHistory}
	_, err := c.g.run(ctx, call{out: out, args: []string{
		"log", "--format=", "--raw", "-z", "--full-history", "--no-renames", "--no-abbrev", "--no-show-signature", "--end-of-options",
		commit, "--", folder,
	}})
	if err != nil {
		return nil, err
	}
	all := make(map[string][]string)
	rows := split(out.text.String())
	for i := 0; i+1 < len(rows); i += 2 {
		f := strings.Fields(strings.TrimLeft(rows[i], ":\n"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git log: it prints %q", rows[i])
		}
		if e := (Entry{f[1], f[3]}); e.plain() {
			name := path.Base(rows[i+1])
			all[name] = append(all[name], e.ID)
		}
	}
	return all, nil
}

// Authors returns who wrote the first commit of each file below a folder, by the last
// name of the file, as their git called them. A history that is too long to list is an error.
func (c *Clone) Authors(ctx context.Context, commit, folder string) (map[string]string, error) {
	out := &limited{left: maxHistory}
	_, err := c.g.run(ctx, call{out: out, args: []string{
		"log", "--format=%x01%an", "--name-only", "-z", "--full-history", "--no-renames", "--diff-filter=AMT", "--no-show-signature",
		"--end-of-options", commit, "--", folder,
	}})
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for part := range strings.SplitSeq(out.text.String(), "\x01") {
		names := strings.Split(part, "\x00")
		for _, name := range names[1:] {
			if name = strings.Trim(name, "\n"); name != "" {
				all[path.Base(name)] = names[0] // the oldest is the last one
			}
		}
	}
	return all, nil
}
