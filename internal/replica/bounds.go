package replica

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/store/layout"
)

// Bounds of what a remote may hold. A tree may hold one subtree many times, so a few
// kilobytes can name more paths than fit into any memory: they are counted before any
// git lists them. A tree of that many notes is far beyond what the index can keep.
const (
	maxPaths   = 2_000_000
	maxLevels  = 64        // folders in each other
	maxFolder  = 128 << 20 // bytes of one folder's list of names
	maxFolders = 512 << 20 // bytes of all of them that are new
)

// bounded refuses what was fetched when one of its new commits has too many paths or
// too deep ones. Every tree is read once, however often it is named.
func (g *git) bounded(ctx context.Context) error {
	args := []string{"log", "--format=%T", "--no-show-signature", "--end-of-options", theirRef}
	if r, err := g.Refs(ctx); err != nil {
		return err
	} else if r.Ours != "" {
		args = append(args, "^"+r.Ours)
	}
	out, err := g.git(ctx, "", append(args, "--")...)
	if err != nil {
		return err
	}
	roots := strings.Fields(out)
	slices.Sort(roots)
	roots = slices.Compact(roots)
	folders, err := g.folders(ctx, roots)
	if err != nil {
		return err
	}
	sizes := make(map[string]int, len(folders))
	for _, root := range roots {
		if count(folders, sizes, root) > maxPaths {
			return refuse(fmt.Sprintf("more than %d paths", maxPaths))
		}
	}
	return nil
}

// known refuses what was fetched when a newer program wrote it in a form that this one does not know.
func (g *git) known(ctx context.Context) error {
	id, err := g.git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", theirRef+":"+layout.FormatFile)
	if err != nil {
		return ctx.Err() // there is no such file
	}
	id = strings.TrimSpace(id)
	files, err := g.Blobs(ctx, []string{id})
	if err != nil {
		return err
	}
	if g.o.ResetFormat {
		return nil
	}
	if err := layout.CheckFormat(files[id], g.o.Version); err != nil && !errors.Is(err, layout.ErrOutdated) {
		return fmt.Errorf("the notes at %s: %w", HidePassword(g.o.Remote), err)
	}
	return nil
}

func refuse(what string) error {
	return fmt.Errorf("%w: a commit there has %s; nothing was taken, and no machine should take it: "+
		"set the remote to a new empty repository, the notes are all here", ErrDamaged, what)
}

// A folder is a tree object: how many files it names, and which folders, with repetitions.
type folder struct {
	files int
	below []string
}

// folders reads trees and all below them, level by level.
func (g *git) folders(ctx context.Context, level []string) (map[string]folder, error) {
	all := make(map[string]folder)
	total := 0
	for depth := 0; len(level) > 0; depth++ {
		if depth == maxLevels {
			return nil, refuse(fmt.Sprintf("more than %d folders in each other", maxLevels))
		}
		p := &batch{want: make(map[string][]byte, len(level)), kind: "tree", most: maxFolder, total: total}
		in := strings.Join(level, "\n") + "\n"
		if _, err := g.run(ctx, call{args: []string{"cat-file", "--batch", "--buffer"}, in: in, out: p}); err != nil {
			return nil, firstOf(p.err, err)
		}
		if p.err != nil {
			return nil, p.err
		}
		var next []string
		for id, data := range p.want {
			f := readFolder(data, len(id)/2)
			all[id] = f
			for _, b := range f.below {
				if _, known := all[b]; !known && p.want[b] == nil {
					next = append(next, b)
				}
			}
		}
		if total = p.total; total > maxFolders {
			return nil, refuse("folders of more than " + strconv.Itoa(maxFolders>>20) + " MiB")
		}
		for _, id := range level {
			if _, ok := all[id]; !ok {
				return nil, refuse("a folder of more than " + strconv.Itoa(maxFolder>>20) + " MiB")
			}
		}
		slices.Sort(next)
		level = slices.Compact(next)
	}
	return all, nil
}

// readFolder reads a tree object: mode, blank, name, NUL, and the hash of so many bytes.
func readFolder(data []byte, hash int) (f folder) {
	for len(data) > 0 {
		nul := bytes.IndexByte(data, 0)
		if nul < 0 || len(data) < nul+1+hash {
			return f // git reads no further either
		}
		if bytes.HasPrefix(data, []byte("40000 ")) {
			f.below = append(f.below, hex.EncodeToString(data[nul+1:nul+1+hash]))
		} else {
			f.files++
		}
		data = data[nul+1+hash:]
	}
	return f
}

// count returns how many paths a tree has; beyond maxPaths it does not matter how many.
func count(folders map[string]folder, sizes map[string]int, id string) int {
	if n, known := sizes[id]; known {
		return n
	}
	f := folders[id]
	n := f.files
	for _, b := range f.below {
		if n += 1 + count(folders, sizes, b); n > maxPaths {
			n = maxPaths + 1
			break
		}
	}
	sizes[id] = n
	return n
}
