package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A file is what a source holds.
type file struct {
	path string
	data []byte
}

// fetch returns the files of a source in the order of their paths. Archives
// are kept in the folder cache, got by the ordinary client of their registry,
// and compared with their checksum each time.
func (s *source) fetch(ctx context.Context, cache string) ([]file, error) {
	var files []file
	var err error
	switch s.kind {
	case "deb":
		files, err = s.deb(ctx, filepath.Join(cache, "deb"))
	case "npm":
		files, err = s.npm(ctx, filepath.Join(cache, "npm"))
	case "module":
		files, err = s.module(ctx)
	case "go":
		files, err = s.distribution(ctx)
	default:
		err = fmt.Errorf("no way to fetch a %q", s.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s %s: %w", s.name, s.version, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("fetch %s %s: no file matches", s.name, s.version)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// wants reports whether a path is one of the source's files.
func (s *source) wants(path string) bool {
	for _, f := range s.files {
		if regexp.MustCompile(f).MatchString(path) {
			return true
		}
	}
	return len(s.files) == 0
}

// run returns the output of a program that is run in a folder.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}

// archive returns a file of the cache, after download if it is not there yet.
func (s *source) archive(path string, download func() error) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = download(); err != nil {
			return nil, err
		}
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != s.sum {
		return nil, fmt.Errorf("%s has checksum %s, not %s", path, got, s.sum)
	}
	return data, nil
}

// deb reads a package of Debian. Old versions of a package move from the
// mirrors to snapshot.debian.org; put them into the cache by hand.
func (s *source) deb(ctx context.Context, dir string) ([]file, error) {
	found, err := filepath.Glob(filepath.Join(dir, s.name+"_"+strings.ReplaceAll(s.version, ":", "%3a")+"_*.deb"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		if _, err := run(ctx, dir, "apt-get", "download", s.name+"="+s.version); err != nil {
			return nil, err
		}
		if found, err = filepath.Glob(filepath.Join(dir, s.name+"_*.deb")); err != nil || len(found) == 0 {
			return nil, fmt.Errorf("apt-get left no package in %s", dir)
		}
	}
	path := found[len(found)-1]
	if _, err := s.archive(path, func() error { return fs.ErrNotExist }); err != nil {
		return nil, err
	}
	data, err := run(ctx, dir, "dpkg-deb", "--fsys-tarfile", path)
	if err != nil {
		return nil, err
	}
	return s.untar(bytes.NewReader(data))
}

func (s *source) npm(ctx context.Context, dir string) ([]file, error) {
	base := strings.ReplaceAll(strings.TrimPrefix(s.name, "@"), "/", "-") + "-" + s.version + ".tgz"
	data, err := s.archive(filepath.Join(dir, base), func() error {
		_, err := run(ctx, dir, "npm", "pack", "--silent", s.name+"@"+s.version)
		return err
	})
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return s.untar(r)
}

// module reads a Go module of the module cache; the go command checks its sum.
func (s *source) module(ctx context.Context) ([]file, error) {
	out, err := run(ctx, os.TempDir(), "go", "mod", "download", "-json", s.name+"@"+s.version)
	if err != nil {
		return nil, err
	}
	var m struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, err
	}
	if m.Sum != s.sum {
		return nil, fmt.Errorf("its sum is %s, not %s", m.Sum, s.sum)
	}
	return s.tree(m.Dir)
}

// distribution reads the Go distribution that runs us.
func (s *source) distribution(ctx context.Context) ([]file, error) {
	if runtime.Version() != s.version {
		return nil, fmt.Errorf("this is %s; run it with GOTOOLCHAIN=%s", runtime.Version(), s.version)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return s.tree(strings.TrimSpace(string(root)))
}

func (s *source) tree(dir string) ([]file, error) {
	var files []file
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() || !s.wants(path) {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files = append(files, file{path, data})
		return err
	})
	return files, err
}

func (s *source) untar(r io.Reader) ([]file, error) {
	var files []file
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		path := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag != tar.TypeReg || !s.wants(path) {
			continue
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path, data})
	}
}
