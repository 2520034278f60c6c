// Package origin fetches published text at pinned versions: packages of Debian and
// npm, Go modules, the Go distribution. Only the programs that train models use it;
// no build and no test of the product does.
//
// Archives lie in a cache folder of the caller, got by the ordinary client of their
// registry, and are compared with their checksum each time.
package origin

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

// A Source is a piece of published text at a pinned version.
type Source struct {
	Name    string // of the package or module
	Kind    string // deb, npm, module, go
	Version string
	Sum     string   // of the archive: SHA-256 (deb, npm), h1 (module); the version is all there is for go
	Files   []string // regular expressions on the paths that are read, none means all

	wanted *regexp.Regexp
}

// A File is what a source holds.
type File struct {
	Path string
	Data []byte
}

// Fetch returns the files of a source in the order of their paths, which are
// those that its Files match. That nothing matches is an error.
func (s *Source) Fetch(ctx context.Context, cache string) ([]File, error) {
	var files []File
	var err error
	switch s.Kind {
	case "deb":
		files, err = s.deb(ctx, filepath.Join(cache, "deb"))
	case "npm":
		files, err = s.npm(ctx, filepath.Join(cache, "npm"))
	case "module":
		files, err = s.module(ctx)
	case "go":
		files, err = s.distribution(ctx)
	default:
		err = fmt.Errorf("no way to fetch a %q", s.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s %s: %w", s.Name, s.Version, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("fetch %s %s: no file matches", s.Name, s.Version)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// wants reports whether a path is one of the source's files.
func (s *Source) wants(path string) bool {
	if len(s.Files) == 0 {
		return true
	}
	if s.wanted == nil {
		s.wanted = regexp.MustCompile("(?:" + strings.Join(s.Files, ")|(?:") + ")")
	}
	return s.wanted.MatchString(path)
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
func (s *Source) archive(path string, download func() error) ([]byte, error) {
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
	if got := hex.EncodeToString(sum[:]); got != s.Sum {
		return nil, fmt.Errorf("%s has checksum %s, not %s", path, got, s.Sum)
	}
	return data, nil
}

// deb reads a package of Debian. Old versions of a package move from the
// mirrors to snapshot.debian.org; put them into the cache by hand.
func (s *Source) deb(ctx context.Context, dir string) ([]File, error) {
	found, err := filepath.Glob(filepath.Join(dir, s.Name+"_"+strings.ReplaceAll(s.Version, ":", "%3a")+"_*.deb"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		if _, err := run(ctx, dir, "apt-get", "download", s.Name+"="+s.Version); err != nil {
			return nil, err
		}
		if found, err = filepath.Glob(filepath.Join(dir, s.Name+"_*.deb")); err != nil || len(found) == 0 {
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

func (s *Source) npm(ctx context.Context, dir string) ([]File, error) {
	base := strings.ReplaceAll(strings.TrimPrefix(s.Name, "@"), "/", "-") + "-" + s.Version + ".tgz"
	data, err := s.archive(filepath.Join(dir, base), func() error {
		_, err := run(ctx, dir, "npm", "pack", "--silent", s.Name+"@"+s.Version)
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
func (s *Source) module(ctx context.Context) ([]File, error) {
	out, err := run(ctx, os.TempDir(), "go", "mod", "download", "-json", s.Name+"@"+s.Version)
	if err != nil {
		return nil, err
	}
	var m struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, err
	}
	if m.Sum != s.Sum {
		return nil, fmt.Errorf("its sum is %s, not %s", m.Sum, s.Sum)
	}
	return s.tree(m.Dir)
}

// distribution reads the Go distribution that runs us.
func (s *Source) distribution(ctx context.Context) ([]File, error) {
	if runtime.Version() != s.Version {
		return nil, fmt.Errorf("this is %s; run it with GOTOOLCHAIN=%s", runtime.Version(), s.Version)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return s.tree(strings.TrimSpace(string(root)))
}

func (s *Source) tree(dir string) ([]File, error) {
	var files []File
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() || !s.wants(path) {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files = append(files, File{path, data})
		return err
	})
	return files, err
}

func (s *Source) untar(r io.Reader) ([]File, error) {
	var files []File
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
		files = append(files, File{path, data})
	}
}
