package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var _ Plumbing = (*git)(nil)

func (g *git) Refs(ctx context.Context) (Refs, error) {
	var r Refs
	if present, err := g.present(); err != nil || !present {
		return r, err
	}
	if err := g.ready(ctx); err != nil {
		return r, err
	}
	out, err := g.git(ctx, "", "for-each-ref", "--format=%(refname) %(objectname) %(objectname:short)",
		"refs/heads/main", "refs/remotes/origin/main", theirRef)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		switch f[0] {
		case "refs/heads/main":
			r.Ours, r.Short = f[1], f[2]
		case "refs/remotes/origin/main":
			r.Known = f[1]
		case theirRef:
			r.Theirs = f[1]
		}
	}
	return r, err
}

func (g *git) Distance(ctx context.Context, ours string, theirs ...string) (ahead, behind int, err error) {
	theirs = slices.DeleteFunc(slices.Clone(theirs), func(commit string) bool { return commit == "" })
	slices.Sort(theirs)
	theirs = slices.Compact(theirs)
	var mine []string
	if ours != "" {
		mine = []string{ours}
	}
	if slices.Equal(mine, theirs) {
		return 0, 0, nil
	}
	if len(mine) == 1 && len(theirs) == 1 {
		out, err := g.git(ctx, "", "rev-list", "--left-right", "--count", "--end-of-options", ours+"..."+theirs[0])
		if err != nil {
			return 0, 0, err
		}
		f := strings.Fields(out)
		if len(f) != 2 {
			return 0, 0, fmt.Errorf("git rev-list: it prints %q", out)
		}
		ahead, err1 := strconv.Atoi(f[0])
		behind, err2 := strconv.Atoi(f[1])
		return ahead, behind, errors.Join(err1, err2)
	}
	if ahead, err = g.count(ctx, mine, theirs); err == nil {
		behind, err = g.count(ctx, theirs, mine)
	}
	return ahead, behind, err
}

// count counts the commits in some, and not in the others.
func (g *git) count(ctx context.Context, some, others []string) (int, error) {
	if len(some) == 0 {
		return 0, nil
	}
	args := append([]string{"rev-list", "--count", "--end-of-options"}, some...)
	for _, commit := range others {
		args = append(args, "^"+commit)
	}
	out, err := g.git(ctx, "", args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

func (g *git) Bases(ctx context.Context, a, b string) ([]string, error) {
	out, err := g.git(ctx, "", "merge-base", "--all", "--end-of-options", a, b)
	var failed *gitError
	if errors.As(err, &failed) && failed.code() == 1 {
		return nil, nil
	}
	list := strings.Fields(out)
	slices.Sort(list)
	return list, err
}

func (g *git) Deltas(ctx context.Context, pairs ...[2]string) ([][]Delta, error) {
	all := make([][]Delta, 0, len(pairs))
	for _, pair := range pairs {
		var list []Delta
		if pair[0] == "" || pair[1] == "" {
			files, err := g.List(ctx, pair[0]+pair[1])
			if err != nil {
				return nil, err
			}
			for name, e := range files {
				d := Delta{Path: name, New: e}
				if pair[1] == "" {
					d.Old, d.New = e, Entry{}
				}
				list = append(list, d)
			}
			all = append(all, list)
			continue
		}
		out, err := g.git(ctx, "", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		rows := split(out)
		for i := 0; i+1 < len(rows); i += 2 {
			f := strings.Fields(strings.TrimPrefix(rows[i], ":"))
			if len(f) != 5 {
				return nil, fmt.Errorf("git diff-tree: it prints %q", rows[i])
			}
			d := Delta{Path: rows[i+1]}
			if f[0] != "000000" {
				d.Old = Entry{f[0], f[2]}
			}
			if f[1] != "000000" {
				d.New = Entry{f[1], f[3]}
			}
			list = append(list, d)
		}
		all = append(all, list)
	}
	return all, nil
}

func (g *git) List(ctx context.Context, commit string) (map[string]Entry, error) {
	if commit == "" {
		return nil, nil
	}
	out, err := g.git(ctx, "", "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	rows := split(out)
	files := make(map[string]Entry, len(rows))
	for _, row := range rows {
		head, name, _ := strings.Cut(row, "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree: it prints %q", row)
		}
		files[name] = Entry{f[0], f[2]}
	}
	return files, nil
}

func (g *git) Blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p := &batch{want: make(map[string][]byte, len(ids)), kind: "blob", most: MaxFile}
	_, err := g.run(ctx, call{args: []string{"cat-file", "--batch", "--buffer"}, in: strings.Join(ids, "\n") + "\n", out: p})
	if p.err != nil {
		return nil, p.err
	}
	if err != nil {
		return nil, err
	}
	return p.want, nil
}

// Record writes the merge with git fast-import: one process, however many
// files, and no index that could be left half-written.
func (g *git) Record(ctx context.Context, ours, theirs string, steps []Step) (string, error) {
	const ref = "refs/anamnesis/merge"
	var b strings.Builder
	mark := 1
	for i := range steps {
		if s := &steps[i]; s.Next.Mode != "" && s.Next.ID == "" {
			mark++
			fmt.Fprintf(&b, "blob\nmark :%d\ndata %d\n%s\n", mark, len(s.Data), s.Data)
			s.Next.ID = ":" + strconv.Itoa(mark)
		}
	}
	message := fmt.Sprintf("anamnesis: merge on %s at %s", g.machine, g.stamp()) + g.trailer()
	at := g.o.Now().Unix()
	fmt.Fprintf(&b, "commit %s\nmark :1\nauthor anamnesis <%s> %d +0000\ncommitter anamnesis <%s> %d +0000\ndata %d\n%s\n",
		ref, g.email, at, g.email, at, len(message), message)
	if ours != "" {
		fmt.Fprintf(&b, "from %s\n", ours)
	}
	fmt.Fprintf(&b, "merge %s\n", theirs)
	// Deletions first: a file may become a folder.
	for _, s := range steps {
		if s.Next == (Entry{}) {
			fmt.Fprintf(&b, "D %s\n", cquote(s.Path))
		}
	}
	for _, s := range steps {
		if s.Next != (Entry{}) {
			fmt.Fprintf(&b, "M %s %s %s\n", s.Next.Mode, s.Next.ID, cquote(s.Path))
		}
	}
	b.WriteString("\n")
	for i := 1; i <= mark; i++ {
		fmt.Fprintf(&b, "get-mark :%d\n", i)
	}
	b.WriteString("done\n")
	out, err := g.git(ctx, b.String(), "fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	if err != nil {
		return "", err
	}
	ids := strings.Fields(out)
	if len(ids) != mark {
		return "", fmt.Errorf("git fast-import: it prints %q", out)
	}
	for i := range steps {
		if n, ok := strings.CutPrefix(steps[i].Next.ID, ":"); ok {
			n, err := strconv.Atoi(n)
			if err != nil {
				return "", err
			}
			steps[i].Next.ID = ids[n-1]
		}
	}
	return ids[0], nil
}

// cquote quotes a path for fast-import.
func cquote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

func (g *git) Stage(ctx context.Context, written []string, rest []Step) error {
	if len(rest) > 0 {
		var set, hide strings.Builder
		zero := strings.Repeat("0", 40)
		for _, s := range rest {
			if s.Next == (Entry{}) {
				fmt.Fprintf(&set, "0 %s\t%s\x00", zero, s.Path)
			}
		}
		for _, s := range rest {
			if s.Next == (Entry{}) {
				continue
			}
			fmt.Fprintf(&set, "%s %s\t%s\x00", s.Next.Mode, s.Next.ID, s.Path)
			if regular, _ := Stands(g.dir, s.Path); s.Hidden && !regular {
				hide.WriteString(s.Path + "\x00")
			}
		}
		if err := g.locked(ctx, set.String(), "update-index", "-z", "--replace", "--index-info"); err != nil {
			return err
		}
		if hide.Len() > 0 {
			if err := g.locked(ctx, hide.String(), "update-index", "-z", "--skip-worktree", "--stdin"); err != nil {
				return err
			}
		}
	}
	if len(written) == 0 {
		return nil
	}
	return g.locked(ctx, strings.Join(written, "\x00")+"\x00", "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
}

func (g *git) Move(ctx context.Context, ours, commit, theirs string) error {
	in := fmt.Sprintf("update refs/heads/main %s %s\n", commit, ours)
	if ours == "" {
		in = fmt.Sprintf("create refs/heads/main %s\n", commit)
	}
	in += fmt.Sprintf("update refs/remotes/origin/main %s\n", theirs)
	if commit != theirs {
		in += "delete refs/anamnesis/merge\n"
	}
	err := g.locked(ctx, in, "update-ref", "-m", "anamnesis: sync", "--no-deref", "--stdin")
	var failed *gitError
	if errors.As(err, &failed) && (strings.Contains(failed.stderr, "but expected") || strings.Contains(failed.stderr, "already exists")) {
		return ErrMoved
	}
	return err
}

func (g *git) Read(path string) ([]byte, error) {
	if regular, _ := Stands(g.dir, path); !regular {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(g.dir, filepath.FromSlash(path)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return append([]byte{}, data...), err
}

func (g *git) Stands(path string) (regular, gone bool) { return Stands(g.dir, path) }

func (g *git) Hidden(ctx context.Context) (map[string]bool, error) {
	out, err := g.git(ctx, "", "ls-files", "-t", "-z")
	hidden := make(map[string]bool)
	for _, row := range split(out) {
		if name, ok := strings.CutPrefix(row, "S "); ok && Known(name) {
			hidden[name] = true
		}
	}
	return hidden, err
}

func (g *git) Apply(changes []Change) ([]string, error) { return ApplyFiles(g.dir, changes) }

func (g *git) SetAttributes(data []byte) error {
	if regular, gone := Stands(g.dir, attributes); !regular && !gone {
		return nil
	}
	return replaceFile(filepath.Join(g.dir, attributes), data)
}
