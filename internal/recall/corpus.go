package recall

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Corpus is a named set of notes: what a filter selected when it was built
// (M7). It is a separate file, corpora/NAME.json, and holds no text of notes
// but their titles.
type Corpus struct {
	Version    int           `json:"version"`
	Name       string        `json:"name"`
	Filter     CorpusFilter  `json:"filter"`
	BuiltAt    note.Stamp    `json:"built_at"`
	Generation int64         `json:"generation"` // of the index
	Count      int           `json:"count"`
	Entries    []CorpusEntry `json:"entries"` // by id
}

// A CorpusEntry is a note of a corpus as it was when it was built.
type CorpusEntry struct {
	ID      note.ID    `json:"id"`
	Title   string     `json:"title"`
	Project string     `json:"project"`
	Tags    []string   `json:"tags,omitempty"`
	Created note.Stamp `json:"created,omitempty"`
	Hash    string     `json:"hash"` // of the file, SHA-256
}

const corpusVersion = 1

// ErrNoCorpus means that there is no corpus of a name.
var ErrNoCorpus = errors.New("there is no such corpus")

// BuildCorpus saves the live notes that a filter lets through under a name. It
// replaces what was there.
func (e *Engine) BuildCorpus(ctx context.Context, name string, f CorpusFilter) (*Corpus, error) {
	if there, err := e.readCorpus(corpusFile(name)); err == nil && there.Name != name {
		return nil, fmt.Errorf("build corpus %q: its file is that of %q; choose another name", name, there.Name)
	}
	generation, err := e.index.Generation(ctx)
	if err != nil {
		return nil, fmt.Errorf("build corpus %q: %w", name, err)
	}
	rows, err := e.index.Select(ctx, index.Filter{Now: e.store.Now()}, 0)
	if err != nil {
		return nil, fmt.Errorf("build corpus %q: %w", name, err)
	}
	c := &Corpus{
		Version: corpusVersion, Name: name, Filter: f, BuiltAt: note.At(e.store.Now()), Generation: generation,
		Entries: []CorpusEntry{},
	}
	pass, err := f.predicate(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("build corpus %q: %w", name, err)
	}
	for i := range rows {
		r := &rows[i]
		if pass(r) {
			entry := CorpusEntry{ID: r.ID, Title: r.Title, Project: r.Project, Tags: r.Tags}
			if !r.Created.IsZero() {
				entry.Created = note.At(r.Created)
			}
			c.Entries = append(c.Entries, entry)
		}
	}
	slices.SortFunc(c.Entries, func(a, b CorpusEntry) int { return strings.Compare(string(a.ID), string(b.ID)) })
	c.Count = len(c.Entries)
	hashes, err := e.hashes(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("build corpus %q: %w", name, err)
	}
	for i := range c.Entries {
		c.Entries[i].Hash = hashes[c.Entries[i].ID]
	}
	if err := e.writeCorpus(c); err != nil {
		return nil, err
	}
	return c, nil
}

// RebuildCorpus applies the filter of a corpus to the notes of now.
func (e *Engine) RebuildCorpus(ctx context.Context, name string) (*Corpus, error) {
	c, err := e.Corpus(name)
	if err != nil {
		return nil, err
	}
	return e.BuildCorpus(ctx, name, c.Filter)
}

// Corpus reads a corpus. For one that is not there the error wraps ErrNoCorpus.
func (e *Engine) Corpus(name string) (*Corpus, error) {
	c, err := e.readCorpus(corpusFile(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && c.Name != name { // a file system may not tell Go from go
		return nil, fmt.Errorf("%q: %w; `anamnesis list corpus list` names them", name, ErrNoCorpus)
	}
	return c, err
}

// maxCorpus is the largest file that is read as a corpus, in bytes.
const maxCorpus = 256 << 20

func (e *Engine) readCorpus(file string) (*Corpus, error) {
	path := e.store.Path(file)
	fi, err := os.Lstat(path)
	if err == nil && (!fi.Mode().IsRegular() || fi.Size() > maxCorpus) {
		err = errors.New("not a file that we wrote; move it away")
	}
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", path, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", path, err)
	}
	var c Corpus
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("read corpus %s: %w; build it again or delete the file", path, err)
	}
	if c.Version != corpusVersion {
		return nil, fmt.Errorf("read corpus %s: version %d is not one this program knows, %d is; build it again", path, c.Version, corpusVersion)
	}
	return &c, nil
}

// Corpora lists the corpora by name. Files that are none are left out and named in the error.
func (e *Engine) Corpora() ([]*Corpus, error) {
	entries, err := os.ReadDir(e.store.Path(corporaFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list corpora: %w", err)
	}
	var all []*Corpus
	var errs []error
	for _, d := range entries {
		if !strings.HasSuffix(d.Name(), ".json") || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		c, err := e.readCorpus(corporaFolder + "/" + d.Name())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Corpus) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(errs...)
}

// DeleteCorpus removes a corpus; its notes stay. The error wraps ErrNoCorpus when there is none.
func (e *Engine) DeleteCorpus(name string) error {
	path := e.store.Path(corpusFile(name))
	if _, err := e.Corpus(name); errors.Is(err, ErrNoCorpus) {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("delete corpus %q: %w", name, err)
	}
	return nil
}

// A Drift is how the store changed since a corpus was built.
type Drift struct {
	Stale   bool      `json:"stale"`             // something was written since, here or elsewhere
	Changed []note.ID `json:"changed,omitempty"` // notes of the corpus that say something else
	Gone    []note.ID `json:"gone,omitempty"`    // and those that are not there any more
}

// Drift compares a corpus with the index.
func (e *Engine) Drift(ctx context.Context, c *Corpus) (d Drift, err error) {
	generation, err := e.index.Generation(ctx)
	if err != nil {
		return d, fmt.Errorf("compare corpus %q: %w", c.Name, err)
	}
	hashes, err := e.hashes(ctx, c)
	if err != nil {
		return d, fmt.Errorf("compare corpus %q: %w", c.Name, err)
	}
	for _, entry := range c.Entries {
		switch hash, ok := hashes[entry.ID]; {
		case !ok:
			d.Gone = append(d.Gone, entry.ID)
		case hash != entry.Hash:
			d.Changed = append(d.Changed, entry.ID)
		}
	}
	d.Stale = generation != c.Generation || len(d.Gone)+len(d.Changed) > 0
	return d, nil
}

// hashes returns the hashes that the index has for the files of a corpus.
func (e *Engine) hashes(ctx context.Context, c *Corpus) (map[note.ID]string, error) {
	if len(c.Entries) == 0 {
		return nil, nil
	}
	rows, err := e.index.Select(ctx, index.Filter{Dead: true, Only: c.ids()}, 0)
	if err != nil {
		return nil, err
	}
	hashes := make(map[note.ID]string, len(rows))
	for _, r := range rows {
		hashes[r.ID] = hex.EncodeToString(r.Hash[:])
	}
	return hashes, nil
}

func (c *Corpus) ids() []note.ID {
	ids := make([]note.ID, len(c.Entries))
	for i, entry := range c.Entries {
		ids[i] = entry.ID
	}
	return ids
}

// corpusIDs returns the ids of the notes of a corpus, for index.Filter.Only. It
// is never empty, since an empty filter lets everything through: of an empty
// corpus it holds one id that no note has.
func (e *Engine) corpusIDs(name string) ([]note.ID, error) {
	c, err := e.Corpus(name)
	if err != nil {
		return nil, err
	}
	if ids := c.ids(); len(ids) > 0 {
		return ids, nil
	}
	return []note.ID{""}, nil
}

const corporaFolder = "corpora"

func corpusFile(name string) string { return corporaFolder + "/" + safeName(name) + ".json" }

// maxSafeName bounds the name of a file, in bytes.
const maxSafeName = 100

// safeName makes a file name of any text: what is no letter, digit, '.', '_' or
// '-' becomes '-', and a name that had to be changed carries a piece of its
// hash, so that two of them stay two.
func safeName(raw string) string {
	if raw == "" {
		return "corpus"
	}
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, raw)
	name = strings.Trim(name[:min(len(name), maxSafeName)], "-.")
	stem, _, _ := strings.Cut(name, ".")
	if name == "" {
		name = "corpus"
	} else if _, err := note.ParseID(stem); err != nil { // a device's name on Windows
		name = "corpus-" + name
	}
	if name == raw {
		return name
	}
	sum := sha1.Sum([]byte(raw)) // tells names apart, hides nothing
	return name + "-" + hex.EncodeToString(sum[:3])
}
