package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/index/flat"
	"anamnesis/internal/store/layout"
)

// A Session is one that is kept, as the index knows it.
type Session struct {
	Head
	Key       string `json:"key"`
	Size      int64  `json:"size"`
	Mod       int64  `json:"mod"`       // of its file, nanoseconds
	Exchanges int    `json:"exchanges"` // kept of it, without those of sub-agents
	Shard     int    `json:"shard"`     // in which its rows stand, and
	Number    int64  `json:"number"`    // its number there
	Rows      int    `json:"rows"`

	Programs []string `json:"programs,omitempty"` // that ran in it
}

// The index is a few posting files (shards), each written once, and catalogue.json, which says which
// sessions stand in which. New sessions go into a shard of their own; small shards are merged, which
// copies rows and analyses no text. A session that changed stands in a later shard too, and the
// catalogue says which one counts.
type catalogue struct {
	mu       sync.Mutex
	stamp    fileStamp // of catalogue.json
	sessions []Session
	byRow    map[int]map[int64]*Session // shard, number
	shards   map[int]*flat.Postings
	hidden   func(*Head) bool // of the present question; nil hides nothing
}

type fileStamp struct {
	size int64
	mod  time.Time
}

type catalogueFile struct {
	V        int       `json:"v"`
	Folder   int64     `json:"folder"` // time of the folder when it was last compared, nanoseconds
	Next     int       `json:"next"`   // number of the next shard
	Shards   []int     `json:"shards"`
	Rows     []int     `json:"rows"`
	Dead     []int     `json:"dead"` // rows of sessions that are gone or stand elsewhere
	Sessions []Session `json:"sessions"`
}

const catalogueName = layout.SessionIndex + "/catalogue.json"

func shardName(n int) string { return fmt.Sprintf("%s/%d.postings", layout.SessionIndex, n) }

// load returns the catalogue as it stands; one that is not there, or cannot be read, is empty and has no
// good.
func (k *Kept) load() (c catalogueFile, good bool) {
	data, err := os.ReadFile(k.store.Path(catalogueName))
	if err != nil || json.Unmarshal(data, &c) != nil || c.V != catalogueVersion ||
		len(c.Rows) != len(c.Shards) || len(c.Dead) != len(c.Shards) {
		return catalogueFile{V: catalogueVersion}, false
	}
	return c, true
}

// catalogueVersion is that of the analysis, too: another one builds the index again.
const catalogueVersion = 1

// Sync brings the index into step with what is kept; progress may be nil.
func (k *Kept) Sync(ctx context.Context, progress func(done, total int)) error {
	return k.sync(ctx, false, progress)
}

// sync is Sync; with purge no row of a session that is gone stays in a file.
func (k *Kept) sync(ctx context.Context, purge bool, progress func(done, total int)) error {
	if k.store.ReadOnly() {
		return nil
	}
	if _, err := os.Stat(k.store.Path(layout.Sessions)); errors.Is(err, fs.ErrNotExist) {
		if _, none := os.Stat(k.store.Path(catalogueName)); none != nil {
			return nil //nolint:nilerr // nothing is kept, and nothing was
		}
	}
	return k.locked(ctx, func() error { return k.syncLocked(ctx, purge, progress) })
}

func (k *Kept) syncLocked(ctx context.Context, purge bool, progress func(done, total int)) error {
	c, _ := k.load()
	for i := 0; i < len(c.Shards); i++ {
		if _, err := os.Stat(k.store.Path(shardName(c.Shards[i]))); err != nil { // somebody deleted it
			c = catalogueFile{V: catalogueVersion, Next: c.Next}
		}
	}
	folder := k.folderTime()
	all, err := k.files()
	if err != nil {
		return fmt.Errorf("list what is kept of sessions: %w", err)
	}
	now := make(map[string]file, len(all))
	for _, f := range all {
		now[f.key] = f
	}
	kept := c.Sessions[:0:0]
	known := make(map[string]bool)
	for _, s := range c.Sessions {
		if f, ok := now[s.Key]; ok && f.size == s.Size && f.mod == s.Mod {
			kept, known[s.Key] = append(kept, s), true
		}
	}
	var todo []file
	for _, f := range all {
		if !known[f.key] {
			todo = append(todo, f)
		}
	}
	if len(todo) == 0 && len(kept) == len(c.Sessions) && c.Folder == folder && !purge {
		return nil
	}
	c.Sessions, c.Folder = kept, folder
	if err := k.addShard(ctx, &c, todo, progress); err != nil {
		return err
	}
	if err := k.merge(&c, purge); err != nil {
		return err
	}
	return k.save(&c)
}

func (k *Kept) folderTime() int64 {
	fi, err := os.Stat(k.store.Path(layout.Sessions))
	if err != nil {
		return 0
	}
	return fi.ModTime().UnixNano()
}

// save writes the catalogue, and removes the shards that it does not name.
func (k *Kept) save(c *catalogueFile) error {
	data, err := json.Marshal(c)
	if err == nil {
		err = k.store.Replace(catalogueName, data)
	}
	if err == nil {
		err = k.savePrograms(c)
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(k.store.Path(layout.SessionIndex))
	for _, e := range entries {
		name := path.Join(layout.SessionIndex, e.Name())
		used := name == catalogueName || name == programsName
		for _, n := range c.Shards {
			used = used || shardName(n) == layout.SessionIndex+"/"+e.Name()
		}
		if !used && e.Type().IsRegular() { // readers that have it open keep it
			err = errors.Join(err, os.Remove(k.store.Path(layout.SessionIndex+"/"+e.Name())))
		}
	}
	return err
}

// addShard analyses files into a new shard.
func (k *Kept) addShard(ctx context.Context, c *catalogueFile, todo []file, progress func(done, total int)) error {
	if len(todo) == 0 {
		return nil
	}
	if err := os.MkdirAll(k.store.Path(layout.SessionIndex), 0o700); err != nil {
		return err
	}
	w, err := flat.WritePostings(k.store.Path(shardName(c.Next)), flat.PostingsHeader{})
	if err != nil {
		return err
	}
	row := int64(0)
	workers := max(1, runtime.GOMAXPROCS(0))
	for i := 0; i < len(todo) && ctx.Err() == nil; i += workers { // what is left the next run takes
		if progress != nil {
			progress(i, len(todo))
		}
		for _, a := range k.analyseFiles(todo[i:min(i+workers, len(todo))]) {
			if a.rows == nil {
				continue
			}
			s := a.session
			s.Shard, s.Number = c.Next, int64(len(c.Sessions))
			for j := range a.rows {
				a.rows[j].Key, a.rows[j].Note = row, s.Number
				w.Add(&a.rows[j])
				row++
			}
			c.Sessions = append(c.Sessions, s)
		}
	}
	if row == 0 {
		w.Abandon()
		return ctx.Err()
	}
	if err := w.Finish(); err != nil {
		return err
	}
	c.Shards, c.Rows, c.Dead = append(c.Shards, c.Next), append(c.Rows, int(row)), append(c.Dead, 0)
	c.Next++
	return nil
}

// An analysed is a session with its rows; nil for a file that is no session, or has another's name.
type analysed struct {
	session Session
	rows    []flat.Text
}

// analyseFiles analyses files side by side.
func (k *Kept) analyseFiles(files []file) []analysed {
	all := make([]analysed, len(files))
	var wait sync.WaitGroup
	for i, f := range files {
		wait.Go(func() { all[i] = k.analyseFile(f) })
	}
	wait.Wait()
	return all
}

func (k *Kept) analyseFile(f file) (a analysed) {
	data, err := k.store.ReadFile(layout.Sessions+"/"+f.key+fileSuffix, maxFile)
	if err != nil {
		return a
	}
	h, all, places, err := decode(data)
	if err != nil && len(all) == 0 || h.Key() != f.key {
		return a
	}
	a.rows = []flat.Text{}
	before, asked := "", 0
	for j := range all {
		for n, fields := range analyse(&all[j], &h, before) {
			a.rows = append(a.rows, flat.Text{
				Start: places[j].from, End: places[j].to, Group: group(h.Project), Class: uint8(min(n, 255)), Tokens: fields,
			})
		}
		if all[j].Subagent == "" {
			before = all[j].Ask
			asked++
		}
	}
	a.session = Session{Head: h, Key: f.key, Size: f.size, Mod: f.mod, Exchanges: asked, Rows: len(a.rows), Programs: programsOf(&h, all)}
	return a
}

// merge joins shards as long as a later one is at least half as large as the one before, and writes
// those again of which a quarter of the rows is dead; with purge any of which a row is.
func (k *Kept) merge(c *catalogueFile, purge bool) error {
	live := make(map[int]map[int64]bool)
	for i := range c.Sessions {
		s := &c.Sessions[i]
		if live[s.Shard] == nil {
			live[s.Shard] = make(map[int64]bool)
		}
		live[s.Shard][s.Number] = true
	}
	c.countDead()
	for i := len(c.Shards) - 1; i >= 0; i-- {
		switch {
		case i > 0 && 2*c.Rows[i] >= c.Rows[i-1]:
			if err := k.rewriteShards(c, i-1, i+1, live); err != nil {
				return err
			}
		case c.Dead[i] > 0 && (purge || 4*c.Dead[i] > c.Rows[i]):
			if err := k.rewriteShards(c, i, i+1, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// countDead counts the rows of each shard that no live session has.
func (c *catalogueFile) countDead() {
	rows := make(map[int]int)
	for i := range c.Sessions {
		rows[c.Sessions[i].Shard] += c.Sessions[i].Rows
	}
	for i, n := range c.Shards {
		c.Dead[i] = c.Rows[i] - rows[n]
	}
}

// damaged drops the index, so that the next Sync builds it again. The caller has the lock.
func (k *Kept) damaged(err error) error {
	if !errors.Is(err, flat.ErrUnusable) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(errRebuild, os.RemoveAll(k.store.Path(layout.SessionIndex)))
}

// errRebuild says that the index is gone and is built again.
var errRebuild = errors.New("the index of sessions was damaged")

// rewriteShards writes the live rows of some neighbouring shards into a new one in their place.
func (k *Kept) rewriteShards(c *catalogueFile, from, to int, live map[int]map[int64]bool) error {
	w, err := flat.WritePostings(k.store.Path(shardName(c.Next)), flat.PostingsHeader{})
	if err != nil {
		return err
	}
	row, number := int64(0), int64(0)
	moved := make(map[int]map[int64]int64)
	for i := from; i < to; i++ {
		p, err := flat.OpenPostings(k.store.Path(shardName(c.Shards[i])))
		if err != nil {
			w.Abandon()
			return k.damaged(err)
		}
		moved[c.Shards[i]] = make(map[int64]int64)
		for at := range p.Rows {
			t, err := p.Text(at)
			if err != nil {
				w.Abandon()
				return errors.Join(k.damaged(err), p.Close())
			}
			if !live[c.Shards[i]][t.Note] {
				continue
			}
			to, ok := moved[c.Shards[i]][t.Note]
			if !ok {
				to = number
				moved[c.Shards[i]][t.Note] = to
				number++
			}
			t.Key, t.Note = row, to
			w.Add(&t)
			row++
		}
		if err := p.Close(); err != nil {
			w.Abandon()
			return err
		}
	}
	shard := c.Next
	c.Next++
	live[shard] = make(map[int64]bool)
	for i := range c.Sessions {
		s := &c.Sessions[i]
		if to, ok := moved[s.Shard][s.Number]; ok {
			s.Shard, s.Number = shard, to
			live[shard][to] = true
		}
	}
	shards, rows := []int{shard}, []int{int(row)}
	if row == 0 {
		w.Abandon()
		shards, rows = nil, nil
	} else if err := w.Finish(); err != nil {
		return err
	}
	c.Shards = slices.Replace(c.Shards, from, to, shards...)
	c.Rows = slices.Replace(c.Rows, from, to, rows...)
	c.Dead = slices.Replace(c.Dead, from, to, make([]int, len(rows))...)
	return nil
}
