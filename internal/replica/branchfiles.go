package replica

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"
)

// A BranchFile is a file in the tree of a branch of a stranger's repository.
type BranchFile struct {
	Name string // with slashes
	ID   string // of its blob
	Size int64
}

// A Branch is one of a stranger's repository: its files are read from the objects, and nothing is
// checked out.
type Branch struct {
	s   *stranger
	env []string
	id  string
}

// OpenBranch returns a branch of the repository that holds dir, or what was last fetched of it from
// origin; nil where there is none.
func OpenBranch(dir string, env []string, name string) *Branch {
	s := openStranger(dir)
	if s == nil {
		return nil
	}
	local, fetched := "refs/heads/"+name, "refs/remotes/origin/"+name
	refs := s.refs(local, fetched)
	for _, ref := range []string{local, fetched} {
		if id := refs[ref]; id != "" {
			return &Branch{s, env, id}
		}
	}
	return nil
}

// Files lists the files of the branch; false when git does not say before ctx ends.
func (b *Branch) Files(ctx context.Context) (all []BranchFile, ok bool) {
	out, ok := b.s.ask(ctx, b.env, question{args: []string{"ls-tree", "-r", "-l", "-z", "--full-tree", b.id}, most: 4 * maxAnswer})
	for line := range strings.SplitSeq(out, "\x00") {
		about, name, found := strings.Cut(line, "\t")
		words := strings.Fields(about) // mode, type, id, size
		if !found || len(words) != 4 || words[1] != "blob" || words[0] == "120000" || !isObject(words[2]) {
			continue
		}
		if size, err := strconv.ParseInt(words[3], 10, 64); err == nil {
			all = append(all, BranchFile{name, words[2], size})
		}
	}
	return all, ok
}

// Read returns blobs by their ids; those that are missing, and what lies behind most bytes of all of
// them, are not in it.
func (b *Branch) Read(ctx context.Context, ids []string, most int) map[string][]byte {
	q := question{args: []string{"cat-file", "--batch"}, in: strings.Join(ids, "\n") + "\n", most: most}
	out, ok := b.s.ask(ctx, b.env, q)
	all := make(map[string][]byte, len(ids))
	for rest := []byte(out); ok; {
		head, behind, found := bytes.Cut(rest, []byte("\n"))
		words := strings.Fields(string(head)) // id, type, size
		if !found {
			break
		}
		if rest = behind; len(words) != 3 || words[1] != "blob" {
			continue
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size >= len(rest) {
			break
		}
		all[words[0]], rest = rest[:size:size], rest[size+1:]
	}
	return all
}

// A Trailed is a commit that has a trailer.
type Trailed struct {
	Commit string
	Value  string
	At     time.Time
}

// maxTrailed is how many commits are looked at for a trailer.
const maxTrailed = 50_000

// Trailers returns the commits at the one that is checked out, newest first, that have a trailer.
func (b *Branch) Trailers(ctx context.Context, key string) (all []Trailed) {
	if b.s.head == "" {
		return nil
	}
	out, _ := b.s.ask(ctx, b.env, question{args: []string{
		"log", "-n", strconv.Itoa(maxTrailed), "--grep=^" + key + ": ",
		"--format=%H%x09%ct%x09%(trailers:key=" + key + ",valueonly,separator=%x20)", b.s.head, "--",
	}})
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 3 || !isObject(words[0]) {
			continue
		}
		if at, err := strconv.ParseInt(words[1], 10, 64); err == nil {
			for _, value := range words[2:] {
				all = append(all, Trailed{words[0], value, time.Unix(at, 0).UTC()})
			}
		}
	}
	return all
}
