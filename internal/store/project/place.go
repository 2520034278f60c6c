package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/store"
)

// PlacesFile is the table of the folders and clones of this machine. It never travels, because another machine has other folders. Without
// it a folder that has no remote is known by its name again.
const PlacesFile = "places.json"

// A Place is a folder or a clone of this machine whose project is known.
type Place struct {
	Key    string   `json:"project"`
	Dir    string   `json:"dir"`              // the folder; of a clone its main working tree
	Clone  string   `json:"clone,omitempty"`  // recognises its .git folder wherever that is moved (cloneMark)
	By     string   `json:"by,omitempty"`     // what decided on the key (Identity.Source)
	Former []string `json:"former,omitempty"` // its keys before it had a remote, which no other folder has: they are read, and not written
	Before string   `json:"before,omitempty"` // the key of its remote before that changed: the user is asked whether it is the same project
	Roots  []string `json:"roots,omitempty"`  // the root commits of its history; none before the first look, or if they prove nothing
	Looked bool     `json:"looked,omitempty"` // Roots was looked up
	Marker string   `json:"marker,omitempty"` // the key in a marker file that counts: git did not track it when it was first read
	Joined string   `json:"joined,omitempty"` // the project that it is because the user said so: nothing else counts
}

// byRemote is what decided on a key that other clones have, too.
const byRemote = "remote"

// maxPlaces bounds the table, which each command reads. Of more, plain folders that are gone are dropped first, then the least recently
// changed; what the user joined stays.
const maxPlaces = 500

type placeTable struct {
	V      int     `json:"v"`
	Places []Place `json:"places"` // the one that was changed last is the last one
}

// Places returns the table. One that cannot be read is empty: it is made again from what is found.
func Places(s *store.Store) []Place {
	data, err := s.ReadFile(PlacesFile, 4<<20)
	if err != nil {
		return nil
	}
	var t placeTable
	if json.Unmarshal(data, &t) != nil {
		return nil
	}
	return slices.DeleteFunc(t.Places, func(p Place) bool { return cleanKey(p.Key) != p.Key || p.Key == "" || p.Dir == "" })
}

// placeOf returns the entry of a clone by its mark, else that of its folder, unless another repository was there; nil when there is none.
func placeOf(all []Place, mark, dir string) *Place {
	for i := range all {
		if mark != "" && all[i].Clone == mark {
			return &all[i]
		}
	}
	for i := range all {
		if all[i].Dir == dir && (mark == "" || all[i].Clone == "" || all[i].Clone == mark) {
			return &all[i]
		}
	}
	return nil
}

// tooBusy is how long a change of the table waits for another one.
const tooBusy = 200 * time.Millisecond

// ChangePlace changes the entry of the place of an identity, or makes one. change gets the entry as it is. A store that is read-only
// and one whose table another process changes for too long stay as they are, which costs the next caller the same work.
func ChangePlace(s *store.Store, id Identity, change func(*Place)) error {
	if id.dir == "" || s.ReadOnly() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tooBusy)
	defer cancel()
	unlock, err := lockPlaces(ctx, s)
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	all := Places(s)
	p := Place{Key: id.Key, Dir: id.dir, Clone: id.clone, By: id.Source}
	if had := placeOf(all, id.clone, id.dir); had != nil {
		p = *had
		all = slices.DeleteFunc(all, func(x Place) bool { return x.Dir == had.Dir && x.Clone == had.Clone })
		p.Dir, p.Clone = id.dir, id.clone
	}
	change(&p)
	data, err := json.MarshalIndent(placeTable{1, bounded(append(all, p))}, "", " ")
	if err == nil {
		err = s.Replace(PlacesFile, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("remember the project of %s: %w", id.dir, err)
	}
	return nil
}

// bounded drops what is too much for the table.
func bounded(all []Place) []Place {
	gone := func(p Place) bool {
		_, err := os.Lstat(p.Dir)
		return p.Clone == "" && p.Joined == "" && err != nil
	}
	for _, drop := range []func(Place) bool{gone, func(p Place) bool { return p.Joined == "" }, func(Place) bool { return true }} {
		more := len(all) - maxPlaces
		if more <= 0 {
			break
		}
		all = slices.DeleteFunc(all, func(p Place) bool {
			if more > 0 && drop(p) {
				more--
				return true
			}
			return false
		})
	}
	return all
}

func lockPlaces(ctx context.Context, s *store.Store) (unlock func(), err error) {
	for {
		unlock, ok, err := s.TryLock("places")
		if err != nil || ok {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Remember enters the project of a folder in the table, if that does not have it. An error concerns the table alone: the identity holds.
func Remember(s *store.Store, id Identity) error {
	if _, err := os.Stat(id.dir); id.known || id.dir == "" || err != nil { // what is not there is no evidence
		return nil //nolint:nilerr // see above
	}
	return ChangePlace(s, id, func(p *Place) {
		if id.Source == "joined" { // it was moved
			return
		}
		if p.Key != id.Key {
			if p.By == byRemote {
				p.Before = p.Key
			} else if !slices.Contains(p.Former, p.Key) {
				p.Former = append(p.Former, p.Key)
			}
			p.Former = slices.DeleteFunc(p.Former, func(k string) bool { return k == id.Key })
			p.Key = id.Key
		}
		if id.Source != "known" { // else the evidence of before decided
			p.By = id.Source
		}
		if id.marked != "" {
			p.Marker = id.marked
		}
	})
}

// Apart returns an identity with a key that no other folder has: the name of its folder and a part of the hash of its path. It is for a
// folder whose name alone would make it the project of others.
func (id Identity) Apart(s *store.Store) Identity {
	if id.dir != "" {
		id.Key = Canonical(s, apart(id.name, id.dir, id.clone))
	}
	return id
}

func apart(name, dir, clone string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(dir) + "\x00" + clone))
	return name + "-" + hex.EncodeToString(sum[:3])
}

// Join records that the user said which project a folder is. With "" it takes that back: the evidence decides again.
func Join(s *store.Store, dir, key string) error {
	id := Identify(s, dir)
	if key = cleanKey(key); id.dir == "" {
		return fmt.Errorf("join %s: %w", dir, fs.ErrNotExist)
	}
	return ChangePlace(s, id, func(p *Place) { p.Joined = key })
}

// Place returns the entry of an identity in the table, nil when it has none.
func (id Identity) Place(s *store.Store) *Place {
	if id.dir == "" {
		return nil
	}
	return placeOf(Places(s), id.clone, id.dir)
}

// Name is the name of the folder of an identity, as a key.
func (id Identity) Name() string { return id.name }
