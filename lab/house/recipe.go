package house

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The worked examples of CONTRIBUTING.md, by the titles of their sections.
const (
	Setting = "Example: a setting"
	Command = "Example: a command"
)

// A Recipe is a worked example of CONTRIBUTING.md.
type Recipe struct {
	Files    []string // that the example names, sorted
	edits    []edit
	generate [][]string // commands that write the generated files among Files
	Try      [][]string // commands that show that the change works
}

// An edit is one block of code of an example.
type edit struct {
	file string
	text string
	diff bool // text is a diff; otherwise it is the whole file
}

var (
	// item matches the text of a step up to the colon: the files that the step changes, in backquotes.
	item  = regexp.MustCompile("^\\d+\\. (`[^`]+`(?:,\\s+`[^`]+`)*):")
	fence = regexp.MustCompile("^ *```(\\w*)$")
)

// ReadRecipe reads the worked example with a title. Each step is an item of a numbered list that
// begins with the names of the files that it changes. A block of kind diff below it changes the file, a
// block of kind sh generates it, and another block is the whole file. A block of kind sh after the
// list tries the change.
func ReadRecipe(root, title string) (*Recipe, error) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		return nil, err
	}
	_, section, ok := strings.Cut(string(text), "\n### "+title+"\n")
	if !ok {
		return nil, fmt.Errorf("CONTRIBUTING.md has no section %q", title)
	}
	section, _, _ = strings.Cut(section, "\n##")
	r := new(Recipe)
	file, kind, block := "", "", []string(nil)
	lines := strings.Split(section, "\n")
	for i, line := range lines {
		begin := fence.FindStringSubmatch(line)
		switch {
		case begin != nil && kind == "":
			kind, block = begin[1], nil
		case begin != nil:
			if err := r.add(file, kind, block); err != nil {
				return nil, fmt.Errorf("CONTRIBUTING.md, %s: %w", title, err)
			}
			kind = ""
		case kind != "":
			block = append(block, strings.TrimPrefix(line, "   ")) // blocks of a list are indented
		case line == "" || strings.HasPrefix(line, " "):
		default:
			file = "" // the list is over, or the next step begins
			if names := filesOf(strings.Join(lines[i:], "\n")); len(names) > 0 {
				r.Files, file = append(r.Files, names...), names[0]
			}
		}
	}
	slices.Sort(r.Files)
	return r, nil
}

// filesOf returns the files that a step names if the text begins with a step.
func filesOf(text string) []string {
	m := item.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune("`, \n", r) })
}

// add adds a block below the step of a file; file is "" behind the list.
func (r *Recipe) add(file, kind string, block []string) error {
	switch text := strings.Join(block, "\n") + "\n"; {
	case kind == "sh":
		for _, line := range block {
			if file == "" {
				r.Try = append(r.Try, words(line))
			} else {
				r.generate = append(r.generate, words(line))
			}
		}
	case file == "":
		return fmt.Errorf("a block of kind %s follows no file", kind)
	default:
		r.edits = append(r.edits, edit{file, text, kind == "diff"})
	}
	return nil
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// words splits a command line. Single quotes hold a word together; the examples need no other quoting.
func words(line string) []string {
	all := word.FindAllString(line, -1)
	for i := range all {
		all[i] = strings.Trim(all[i], "'")
	}
	return all
}

// Perform follows the example in a checkout, the commands to try it aside. It returns the files that changed, sorted.
func (r *Recipe) Perform(ctx context.Context, root string) ([]string, error) {
	for _, e := range r.edits {
		if err := e.apply(root); err != nil {
			return nil, fmt.Errorf("change %s: %w", e.file, err)
		}
	}
	for _, args := range r.generate {
		if err := Run(ctx, root, args); err != nil {
			return nil, err
		}
	}
	out, err := command(ctx, root, os.Environ(), "git", "status", "--porcelain", "-z", "--untracked-files=all").Output()
	if err != nil {
		return nil, fmt.Errorf("list the changed files: %w", err)
	}
	var files []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > 3 {
			files = append(files, entry[3:])
		}
	}
	slices.Sort(files)
	return files, nil
}

// apply changes or writes the file of an edit below root.
func (e edit) apply(root string) error {
	name := filepath.Join(root, filepath.FromSlash(e.file))
	if !e.diff {
		if _, err := os.Lstat(name); err == nil {
			return errors.New("the file exists")
		}
		return os.WriteFile(name, []byte(e.text), 0o644)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed, err := patch(string(text), e.text)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(changed), 0o644)
}

// patch applies a diff without line numbers: each of its parts, which a line @@ separates, must
// match the text once.
func patch(text, diff string) (string, error) {
	for part := range strings.SplitSeq(diff, "@@\n") {
		var before, after strings.Builder
		for line := range strings.Lines(part) {
			switch sign := line[0]; sign {
			case '-':
				before.WriteString(line[1:])
			case '+':
				after.WriteString(line[1:])
			case ' ':
				before.WriteString(line[1:])
				after.WriteString(line[1:])
			case '\n':
				before.WriteString(line)
				after.WriteString(line)
			default:
				return "", fmt.Errorf("a line of a diff begins with %q", sign)
			}
		}
		if n := strings.Count(text, before.String()); n != 1 {
			return "", fmt.Errorf("these lines are in the file %d times, not once:\n%s", n, before.String())
		}
		text = strings.Replace(text, before.String(), after.String(), 1)
	}
	return text, nil
}

// Run runs a command of an example in a checkout, without the network. Its output is part of the error.
func Run(ctx context.Context, root string, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// With -trimpath Go's build cache serves every copy of the repository.
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Copy copies the files of a checkout, committed or not, into a folder that becomes a repository with one commit.
func Copy(ctx context.Context, root, to string) error {
	out, err := command(ctx, root, os.Environ(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("list the files of the checkout: %w", err)
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, file), filepath.Join(to, file)); err != nil {
			return fmt.Errorf("copy the checkout: %w", err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{
			"-c", "user.name=house", "-c", "user.email=house@example.org", "-c", "commit.gpgsign=false",
			"commit", "-q", "--no-verify", "-m", "copy",
		},
	} {
		if err := command(ctx, to, os.Environ(), "git", args...).Run(); err != nil {
			return fmt.Errorf("copy the checkout: git %s: %w", args[0], err)
		}
	}
	return nil
}

// copyFile copies a file with its mode. A file that was deleted and not committed is left out.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode().Type() == os.ModeSymlink {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// touched performs an example in a copy of the checkout and counts the files that change.
func touched(ctx context.Context, root, title string) (n int, err error) {
	r, err := ReadRecipe(root, title)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "anamnesis-house-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := Copy(ctx, root, dir); err != nil {
		return 0, err
	}
	files, err := r.Perform(ctx, dir)
	return len(files), err
}
