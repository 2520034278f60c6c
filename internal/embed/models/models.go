// Package models keeps transformers that run on this machine: a folder of the store
// with one folder for each, which holds the published files and a manifest with their
// checksums. A model comes in when somebody asks for it (Add), from a folder or an
// address; nothing is fetched otherwise, and nothing is sent anywhere.
//
// What stands in the folder was written by others, and is checked each time: names and
// sizes against the manifest, contents against their checksums. Only the weights, which
// are large, are taken as they are while they are older than their manifest; List looks
// at them as well. A model that does not pass is named with the reason and not used.
package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A Folder is that of all models of a store.
type Folder struct {
	dir  string
	disk store.Disk
}

// Of returns the folder in the store at root. disk may be nil for the operating system's.
func Of(root string, disk store.Disk) *Folder {
	if disk == nil {
		disk = store.OS{}
	}
	return &Folder{filepath.Join(root, layout.Models), disk}
}

// The kinds of models.
const (
	Encoder      = "encoder"       // makes vectors of texts
	CrossEncoder = "cross-encoder" // reads texts together with a question
)

// A File is one of a model.
type File struct {
	Name   string `json:"name"` // with slashes
	Size   int64  `json:"size"` // in bytes; -1 while it is not known
	SHA256 string `json:"sha256,omitempty"`
}

// A Manifest says what a model is and where it is from.
type Manifest struct {
	Version int    `json:"version"` // of this form
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	What    string `json:"what"` // its size, for people
	Source  string `json:"source"`
	Licence string `json:"licence"` // as its files say; "" when they do not
	Added   string `json:"added_at"`
	Files   []File `json:"files"`
}

// manifestFile stands in each model's folder, and is written last.
const (
	manifestFile    = "manifest.json"
	manifestVersion = 1
	maxManifest     = 1 << 20
)

// ID is the beginning of a checksum of all files: two models of one ID say the same.
func (m *Manifest) ID() string {
	h := sha256.New()
	for _, f := range m.Files {
		fmt.Fprintf(h, "%s %s\n", f.SHA256, f.Name)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// Bytes is what all files take.
func (m *Manifest) Bytes() (sum int64) {
	for _, f := range m.Files {
		sum += max(0, f.Size)
	}
	return sum
}

// ErrNone says that there is no model of a name.
var ErrNone = errors.New("there is no such model")

// CheckName returns why a name cannot be one of a model.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`).MatchString(name) || !filepath.IsLocal(name) {
		return fmt.Errorf("%q is no name of a model: use small letters, digits, dots and hyphens", clean(name))
	}
	return nil
}

// Read returns the manifest of a model. The error wraps ErrNone when there is none.
func (f *Folder) Read(name string) (*Manifest, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, name, manifestFile)
	fi, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", name, ErrNone)
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular() || fi.Size() > maxManifest:
		return nil, fmt.Errorf("%s is no manifest", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if m.Version != manifestVersion || m.Name != name || m.Kind != Encoder && m.Kind != CrossEncoder {
		return nil, fmt.Errorf("%s is not the manifest of %s, or of a later version of this program", file, name)
	}
	for _, x := range m.Files {
		if !known(x.Name) || x.Size < 0 {
			return nil, fmt.Errorf("%s names a file that no model has: %q", file, clean(x.Name))
		}
	}
	return &m, nil
}

// A State is a model and what is wrong with it.
type State struct {
	Manifest
	Problem string // "" when all its files are whole
}

// List returns all models by their names, and reads every file of each.
func (f *Folder) List() ([]State, error) {
	all := []State{}
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || layout.IsTemp(e.Name()) {
			continue
		}
		s := State{Manifest: Manifest{Name: clean(e.Name())}}
		m, err := f.Read(e.Name())
		if err == nil {
			s.Manifest = *m
			err = f.verify(m, true)
		}
		if err != nil {
			s.Problem = err.Error()
		}
		all = append(all, s)
	}
	return all, nil
}

// verify compares the files of a model with its manifest. Weights that are not younger
// than the manifest are read only if whole is asked for.
func (f *Folder) verify(m *Manifest, whole bool) error {
	root, err := os.OpenRoot(filepath.Join(f.dir, m.Name))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written
	written, err := root.Lstat(manifestFile)
	if err != nil {
		return err
	}
	wrong := func(name, format string, args ...any) error {
		return fmt.Errorf("%s of the model %s %w; `anamnesis config models remove %[2]s` and `anamnesis config models add` bring it again",
			name, m.Name, fmt.Errorf(format, args...))
	}
	for _, x := range m.Files {
		fi, err := root.Lstat(filepath.FromSlash(x.Name))
		if err != nil {
			return wrong(x.Name, "cannot be read: %w", err)
		}
		if !fi.Mode().IsRegular() || fi.Size() != x.Size {
			return wrong(x.Name, "is not what was added: it has %d bytes, and had %d", fi.Size(), x.Size)
		}
		if x.Name == transformer.WeightsFile && !whole && !fi.ModTime().After(written.ModTime()) {
			continue
		}
		sum, err := sumOf(root, x.Name)
		if err != nil {
			return wrong(x.Name, "cannot be read: %w", err)
		}
		if sum != x.SHA256 {
			return wrong(x.Name, "is not what was added: its checksum is another")
		}
	}
	return nil
}

func sumOf(root *os.Root, name string) (string, error) {
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Load opens a model, once its files are what was added.
func (f *Folder) Load(name string) (*transformer.Model, error) {
	m, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	if err := f.verify(m, false); err != nil {
		return nil, err
	}
	return transformer.Open(filepath.Join(f.dir, name))
}

// Remove deletes a model. It is gone at once, or not at all.
func (f *Folder) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	dir := filepath.Join(f.dir, name)
	fi, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, ErrNone)
	}
	if err != nil {
		return fmt.Errorf("remove the model %s: %w", name, err)
	}
	if !fi.IsDir() {
		return fmt.Errorf("remove the model %s: %s is no folder", name, dir)
	}
	away := f.temp()
	if err := f.disk.Rename(dir, away); err != nil {
		return fmt.Errorf("remove the model %s: %w", name, err)
	}
	err = errors.Join(f.disk.SyncDir(f.dir), os.RemoveAll(away))
	if err != nil {
		return fmt.Errorf("remove the model %s: %w", name, err)
	}
	return nil
}

// clean makes a line that may be printed of what a file or a server says.
func clean(s string) string {
	const most = 100
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strings.TrimSpace(s)
}
