package replica

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// maxMerge is how many bytes of files one merge takes into memory.
const maxMerge = 1 << 30

// A batch reads what git cat-file --batch prints. Objects of another kind, and larger
// ones, are read past, not kept.
type batch struct {
	kind  string // "blob" or "tree"
	most  int    // bytes of one
	want  map[string][]byte
	head  []byte // an unfinished header
	id    string
	left  int  // bytes of the present blob, its final line end included
	keep  bool // the present blob is wanted
	total int
	err   error
}

func (b *batch) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && b.err == nil {
		if b.left == 0 {
			i := bytes.IndexByte(p, '\n')
			if i < 0 {
				b.head = append(b.head, p...)
				break
			}
			b.begin(string(append(b.head, p[:i]...)))
			b.head, p = b.head[:0], p[i+1:]
			continue
		}
		part := p[:min(len(p), b.left)]
		p = p[len(part):]
		if b.left -= len(part); b.left == 0 {
			part = part[:len(part)-1]
		}
		if b.keep {
			b.want[b.id] = append(b.want[b.id], part...)
		}
	}
	return n, b.err
}

func (b *batch) begin(head string) {
	f := strings.Fields(head)
	if len(f) != 3 {
		if len(f) == 2 && f[1] == "missing" {
			b.err = fmt.Errorf("%w: the file with the name %s is missing in the history; run git fsck in the tree of the notes", ErrDamaged, f[0])
			return
		}
		b.err = fmt.Errorf("git cat-file: it prints %q", head)
		return
	}
	size, err := strconv.Atoi(f[2])
	if err != nil || size < 0 {
		b.err = fmt.Errorf("git cat-file: it prints %q", head)
		return
	}
	b.id, b.left, b.keep = f[0], size+1, f[1] == b.kind && size <= b.most
	if !b.keep {
		return
	}
	if b.total += size; b.total > maxMerge && b.kind == "blob" {
		b.err = fmt.Errorf("the remote changes more than %d MiB at once; nothing was taken; look at what it holds", maxMerge>>20)
		return
	}
	b.want[b.id] = make([]byte, 0, size)
}
