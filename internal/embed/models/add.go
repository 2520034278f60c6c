package models

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/store/layout"
)

// known reports whether a file of that name is taken of a model.
func known(name string) bool {
	return slices.Contains(transformer.Files(), name) || slices.Contains(notices(), name)
}

func limit(name string) int64 {
	switch {
	case name == transformer.WeightsFile:
		return transformer.MaxWeights
	case slices.Contains(notices(), name):
		return maxNotice
	}
	return transformer.MaxSmall
}

// A source is where the files of a model are. What it says is not trusted.
type source interface {
	// size returns the bytes of a file, -1 when that is not known before it is read. The
	// error wraps fs.ErrNotExist when there is no such file.
	size(ctx context.Context, name string) (int64, error)
	open(ctx context.Context, name string) (io.ReadCloser, error)
	close()
}

// An Order says which model is to be added.
type Order struct {
	From   string // a folder, or an address below which the files are
	Name   string // "" makes one of From
	SHA256 string // of the weights, "" when any will do
	Proxy  string // of HTTP, "" connects directly

	Progress func(done, total int) // in KB; may be nil
}

// A Plan is what an Order would add. Of an address only the sizes are known beforehand.
type Plan struct {
	Manifest
	Took time.Duration // of a short text, once it is added
}

// Look returns what an order would add, and writes nothing. Of an address it asks for
// the sizes of files and reads those that say the licence.
func (f *Folder) Look(ctx context.Context, o Order) (*Plan, error) {
	src, p, err := f.begin(o)
	if err != nil {
		return nil, err
	}
	defer src.close()
	for _, name := range append(transformer.Files(), notices()...) {
		size, err := src.size(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			if name == transformer.ConfigFile || name == transformer.WeightsFile {
				return nil, fmt.Errorf("%s has no %s, so it is no model that runs here: %w", p.Source, name, err)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := bounded(name, size, p.Source); err != nil {
			return nil, err
		}
		x := File{Name: name, Size: size}
		text := ""
		if dir, ok := src.(*folderSource); ok {
			if x.SHA256, err = sumOf(dir.root, name); err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
		}
		if slices.Contains(notices(), name) && p.Licence == "" {
			text, err = read(ctx, src, name)
			p.Licence = licence(name, text)
		}
		if err != nil {
			return nil, err
		}
		p.Files = append(p.Files, x)
	}
	return p, o.check(p.Files)
}

// bounded refuses a file by its size, before anything of it is read.
func bounded(name string, size int64, source string) error {
	if size > limit(name) {
		return fmt.Errorf("%s of %s has %d bytes, at most %d are taken", name, source, size, limit(name))
	}
	return nil
}

// begin opens the source of an order and finds the model's name.
func (f *Folder) begin(o Order) (source, *Plan, error) {
	var src source
	p := &Plan{}
	var err error
	if strings.Contains(o.From, "://") {
		src, err = newWeb(o.From, o.Proxy)
		p.Source = strings.TrimRight(o.From, "/")
	} else {
		src, err = newFolder(o.From)
		if p.Source, _ = filepath.Abs(o.From); p.Source == "" {
			p.Source = o.From
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p.Version, p.Name, p.Added = manifestVersion, o.Name, time.Now().UTC().Format(time.RFC3339)
	if p.Name == "" {
		p.Name = nameOf(p.Source)
	}
	if err = CheckName(p.Name); err == nil {
		if _, serr := os.Lstat(filepath.Join(f.dir, p.Name)); serr == nil {
			err = fmt.Errorf("there is a model %s already; give another --name, or `anamnesis config models remove %[1]s`: %w", p.Name, fs.ErrExist)
		}
	}
	if err != nil {
		src.close()
		return nil, nil, err
	}
	return src, p, nil
}

// nameOf makes a name of a folder or an address: its last part that is no revision.
func nameOf(from string) string {
	if u, err := url.Parse(from); err == nil && u.Host != "" {
		from = u.Path
	}
	from = strings.ToLower(filepath.ToSlash(from))
	if before, _, ok := strings.Cut(from, "/resolve/"); ok {
		from = before
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, path.Base(from))
	name = strings.TrimLeft(name, "-._")
	return name[:min(len(name), 64)]
}

// check compares the weights with what was ordered.
func (o Order) check(files []File) error {
	for _, x := range files {
		if x.Name == transformer.WeightsFile && o.SHA256 != "" && x.SHA256 != "" && !strings.EqualFold(x.SHA256, o.SHA256) {
			return fmt.Errorf("the checksum of %s is %s, and %s was asked for; nothing was added", x.Name, x.SHA256, clean(o.SHA256))
		}
	}
	return nil
}

// Add brings a model in: its files are copied to a folder beside the others, opened and
// tried, and take their place when all went well. Whatever fails leaves nothing.
func (f *Folder) Add(ctx context.Context, o Order) (*Plan, error) {
	f.sweep()
	src, p, err := f.begin(o)
	if err != nil {
		return nil, err
	}
	defer src.close()
	dir := f.temp()
	if err = f.disk.MkdirAll(dir); err == nil {
		err = f.fill(ctx, src, p, dir, o)
	}
	if err == nil {
		err = f.disk.Rename(dir, filepath.Join(f.dir, p.Name))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("add the model %s: %w", p.Name, err), os.RemoveAll(dir))
	}
	return p, errors.Join(f.disk.SyncDir(f.dir), f.disk.SyncDir(filepath.Dir(f.dir)))
}

// fill writes the folder of a model: its files, and its manifest when they are such as
// were asked for and run.
func (f *Folder) fill(ctx context.Context, src source, p *Plan, dir string, o Order) error {
	if err := f.fetch(ctx, src, p, dir, o); err != nil {
		return err
	}
	if err := o.check(p.Files); err != nil {
		return err
	}
	if err := p.try(ctx, dir); err != nil {
		return err
	}
	data, err := json.MarshalIndent(p.Manifest, "", "  ")
	if err != nil {
		return err
	}
	_, err = f.write(dir, manifestFile, strings.NewReader(string(data)+"\n"), maxManifest, nil)
	return err
}

// fetch copies the files of a model.
func (f *Folder) fetch(ctx context.Context, src source, p *Plan, dir string, o Order) error {
	total, done := int64(0), int64(0)
	sizes := make(map[string]int64)
	for _, name := range append(transformer.Files(), notices()...) {
		size, err := src.size(ctx, name)
		if errors.Is(err, fs.ErrNotExist) && name != transformer.ConfigFile && name != transformer.WeightsFile {
			continue
		}
		if err == nil {
			err = bounded(name, size, p.Source)
		}
		if err != nil {
			return err
		}
		sizes[name] = size
		total += max(0, size)
	}
	step := func(n int) {
		if done += int64(n); o.Progress != nil {
			o.Progress(int(done>>10), int(max(total, done)>>10))
		}
	}
	for _, name := range append(transformer.Files(), notices()...) {
		if _, ok := sizes[name]; !ok {
			continue
		}
		r, err := src.open(ctx, name)
		if errors.Is(err, fs.ErrNotExist) && name != transformer.ConfigFile && name != transformer.WeightsFile {
			continue
		}
		if err != nil {
			return err
		}
		x, err := f.write(dir, name, r, limit(name), step)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		p.Files = append(p.Files, x)
		if slices.Contains(notices(), name) && p.Licence == "" {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			p.Licence = licence(name, string(text))
		}
	}
	return nil
}

// write writes a file of at most so many bytes, durably, and returns its checksum.
func (f *Folder) write(dir, name string, r io.Reader, most int64, step func(n int)) (x File, err error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := f.disk.MkdirAll(filepath.Dir(full)); err != nil {
		return x, err
	}
	file, err := f.disk.Create(filepath.Dir(full))
	if err != nil {
		return x, err
	}
	h := sha256.New()
	buf := make([]byte, 256<<10)
	for x.Size <= most && err == nil {
		var n int
		n, err = r.Read(buf)
		x.Size += int64(n)
		h.Write(buf[:n])
		if _, werr := file.Write(buf[:n]); werr != nil {
			err = werr
		}
		if step != nil {
			step(n)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if x.Size > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.disk.Rename(file.Name(), full)
	}
	if err == nil {
		err = f.disk.SyncDir(filepath.Dir(full))
	}
	if err != nil {
		return x, fmt.Errorf("write %s: %w", name, err)
	}
	x.Name, x.SHA256 = name, hex.EncodeToString(h.Sum(nil))
	return x, nil
}

// temp names a folder for what is on its way in or out.
func (f *Folder) temp() string { return filepath.Join(f.dir, layout.TempPrefix+rand.Text()) }

// sweepAge is how old such a folder is when a crash left it.
const sweepAge = 24 * time.Hour

// sweep deletes what crashes left.
func (f *Folder) sweep() {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // there is none yet
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && e.IsDir() && layout.IsTemp(e.Name()) && time.Since(fi.ModTime()) > sweepAge {
			_ = os.RemoveAll(filepath.Join(f.dir, e.Name())) // else the next time
		}
	}
}
