package replica

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/replica/seal"
)

// pack seals the commits from one to another, and returns the file and its name in the
// second repository. Inside it is a git bundle: who has a key, age and git needs nothing
// of ours to read it.
func (s *Sealed) pack(ctx context.Context, from, head string, to []seal.Member) (g seal.Segment, id string, err error) {
	r, w := io.Pipe()
	sum, size := sha256.New(), new(counter)
	made := make(chan error, 1)
	go func() {
		err := s.bundle(ctx, io.MultiWriter(w, sum, size), from, head, to)
		made <- errors.Join(err, w.CloseWithError(err))
	}()
	id, err = s.hub.run(ctx, call{args: []string{"hash-object", "-w", "--stdin"}, src: r})
	_ = r.CloseWithError(io.ErrClosedPipe) // a git that died reads no more
	err = firstOf(<-made, err)
	g = seal.Segment{Name: hex.EncodeToString(sum.Sum(nil)), Size: int64(*size), Head: head}
	if err == nil && g.Size > seal.MaxSegment {
		err = fmt.Errorf("it is larger than %d MiB", seal.MaxSegment>>20)
	}
	return g, strings.TrimSpace(id), err
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (s *Sealed) bundle(ctx context.Context, out io.Writer, from, head string, to []seal.Member) error {
	w, err := seal.Encrypt(out, to)
	if err != nil {
		return err
	}
	top, revs := "# v2 git bundle\n", head+"\n"
	if from != "" {
		top, revs = top+"-"+from+"\n", revs+"^"+from+"\n"
	}
	if _, err := io.WriteString(w, top+head+" refs/heads/main\n\n"); err != nil {
		return err
	}
	args := []string{"pack-objects", "--revs", "--thin", "--delta-base-offset", "--quiet", "--stdout"}
	_, err = s.run(ctx, call{args: args, in: revs, out: w})
	if err != nil {
		return err
	}
	return w.Close()
}

// openAll opens those files of the remote that were not opened yet. When it fails it
// opens all of them: what was opened before may be gone.
func (s *Sealed) openAll(ctx context.Context, m seal.Manifest, files map[string]Entry) error {
	had := s.at.Manifest.Segments
	done := 0
	for done < len(had) && done < len(m.Segments) && had[done] == m.Segments[done] {
		done++
	}
	for {
		err := s.openFrom(ctx, m.Segments[done:], files)
		if err == nil || done == 0 || ctx.Err() != nil {
			return err
		}
		done = 0
	}
}

func (s *Sealed) openFrom(ctx context.Context, list []seal.Segment, files map[string]Entry) error {
	for _, g := range list {
		e := files[g.Name]
		if !e.plain() {
			return s.unsound("a sealed file is missing there")
		}
		if err := s.open(ctx, g, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// open puts the commits of a file into the repository of the notes. Nothing of it is
// decrypted before its hash was found to be the one that a machine of ours signed.
func (s *Sealed) open(ctx context.Context, g seal.Segment, id string) error {
	f, err := os.CreateTemp(filepath.Join(s.hub.dir, ".git"), "anamnesis-open-")
	if err != nil {
		return err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }()
	sum := sha256.New()
	part := &upTo{w: io.MultiWriter(f, sum), left: g.Size}
	_, err = s.hub.run(ctx, call{args: []string{"cat-file", "blob", id}, out: part})
	if err == nil && (part.left != 0 || hex.EncodeToString(sum.Sum(nil)) != g.Name) || part.left < 0 {
		return s.unsound("a sealed file there is not the one that was sent")
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	plain, err := s.by().Decrypt(f)
	if err != nil {
		return s.unread(err)
	}
	text := bufio.NewReader(plain)
	objects, err := bundled(text, g.Head)
	if err != nil {
		return s.unread(err)
	}
	// As git does with what it fetches: few objects become files, many a pack.
	args := []string{"unpack-objects", "-q", "--strict"}
	if objects >= 100 {
		args = []string{"index-pack", "--stdin", "--fix-thin", "--strict"}
	}
	if _, err = s.run(ctx, call{args: args, src: text}); err != nil {
		return fmt.Errorf("open what the remote holds: %w", err)
	}
	return nil
}

// upTo writes so many bytes, and fails at one more.
type upTo struct {
	w    io.Writer
	left int64
}

func (u *upTo) Write(p []byte) (int, error) {
	if u.left -= int64(len(p)); u.left < 0 {
		return 0, errors.New("it is larger than it should be")
	}
	return u.w.Write(p)
}

// bundled reads the head of a git bundle of one branch up to its pack, and returns how
// many objects are in that.
func bundled(r *bufio.Reader, head string) (objects int, err error) {
	for n := 0; ; n++ {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("%w: its head cannot be read", seal.ErrForged)
		}
		text := strings.TrimSuffix(string(line), "\n")
		switch {
		case n == 0 && text == "# v2 git bundle":
		case n > 0 && n < 3 && strings.HasPrefix(text, "-") && isObject(text[1:]):
		case n > 0 && n < 3 && text == head+" refs/heads/main":
		case n > 1 && n < 4 && text == "":
			first, err := r.Peek(12)
			if err != nil || string(first[:4]) != "PACK" {
				return 0, fmt.Errorf("%w: there is no pack in it", seal.ErrForged)
			}
			return int(min(binary.BigEndian.Uint32(first[8:]), 1<<30)), nil
		default:
			return 0, fmt.Errorf("%w: its head cannot be read", seal.ErrForged)
		}
	}
}
