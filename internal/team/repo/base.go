package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// A last is what stands in the file of a note that was offered.
type last struct {
	Note    []byte `json:"note"`
	Sidecar []byte `json:"sidecar"`
	Request string `json:"request,omitempty"`
	Ours    []byte `json:"ours,omitempty"` // of a reviewed form: what the own note became when it was taken home
}

// lastOf is the file of what this machine last offered of a note. Each way has its
// own: what was offered for a review says nothing of the default branch.
func (r *Repo) lastOf(to target, id note.ID) string {
	where := to.route
	if to.route == ToBranch {
		where += " " + to.branch
	}
	return filepath.Join(r.p.Dir, offeredFolder, hash(string(id))+"-"+hash(where)+".json")
}

const (
	offeredFolder = "offered"
	cloneFolder   = "clone"
)

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// Forget removes what the folder of a Place holds of notes: what was offered of them, and
// the clone, which may have it in any commit; the next run fetches it again. What the
// team has stays with the team.
func Forget(dir string, ids []note.ID) error {
	offered, err := os.ReadDir(filepath.Join(dir, offeredFolder))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, id := range ids {
		for _, e := range offered {
			if strings.HasPrefix(e.Name(), hash(string(id))+"-") {
				err = errors.Join(err, os.Remove(filepath.Join(dir, offeredFolder, e.Name())))
			}
		}
	}
	if len(ids) > 0 {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, cloneFolder)))
	}
	return err
}

// read returns what was last offered of a note. A file that cannot be read as that
// is as good as none: the merge then unites both sides.
func (r *Repo) read(to target, id note.ID) (l last, err error) {
	data, err := os.ReadFile(r.lastOf(to, id))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read what was offered of %s: %w", id, err)
	}
	if json.Unmarshal(data, &l) != nil {
		l = last{}
	}
	return l, nil
}

// readLast reads one of these files.
func readLast(at string) (l last, ok bool) {
	data, err := os.ReadFile(at)
	return l, err == nil && json.Unmarshal(data, &l) == nil
}

// offered returns the form in which a note was last offered, from this machine and on
// this way; what went to the default branch without a review was offered for one, too.
func (r *Repo) offered(to target, id note.ID) (form, error) {
	l, err := r.read(to, id)
	if err == nil && l.Note == nil && to.route != ToDefault {
		l, err = r.read(target{ToDefault, r.standard}, id)
	}
	return form{l.Note, l.Sidecar}, err
}

// A past is what the history of a commit knows of notes.
type past struct {
	r      *Repo
	commit string
	files  map[string][]string // nil when nobody asked yet
}

// ancestor returns the form that this machine's and the team's come from when this
// machine does not know what it offered, as when another machine of the user did, or
// the folder is gone: the form that stands here, if the team once had it, else the
// first one that it had. A history that is too long tells nothing.
func (p *past) ancestor(ctx context.Context, id note.ID, ours form) (base form, err error) {
	if p.files == nil {
		if p.files, err = p.r.clone.History(ctx, p.commit, folder); err != nil {
			p.files = map[string][]string{}
			return form{}, ctx.Err()
		}
	}
	for name, side := range map[string]struct{ now, was *[]byte }{
		string(id) + layout.NoteSuffix:    {&ours.note, &base.note},
		string(id) + layout.SidecarSuffix: {&ours.sidecar, &base.sidecar},
	} {
		ids := p.files[name]
		blobs, err := p.r.clone.Blobs(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
		if err != nil {
			return form{}, err
		}
		for _, blob := range ids {
			if data, ok := blobs[blob]; ok {
				if n, err := note.Parse(data); side.was == &base.note && (err != nil || n.ID != id) {
					continue
				}
				*side.was = data // the oldest is the last one
				if bytes.Equal(data, *side.now) {
					break
				}
			}
		}
	}
	return base, nil
}

// remember keeps the form in which a note was offered.
func (r *Repo) remember(to target, id note.ID, f form) error {
	l, err := r.read(to, id)
	if err != nil || f.equal(form{l.Note, l.Sidecar}) {
		return err
	}
	l.Note, l.Sidecar = f.note, f.sidecar
	return r.save(to, id, l)
}

// save writes the file of a note that was offered, whole or not at all.
func (r *Repo) save(to target, id note.ID, l last) error {
	at := r.lastOf(to, id)
	data, err := json.Marshal(l)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o700)
	}
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(at), ".tmp-*")
	if err != nil {
		return fmt.Errorf("keep what was offered of %s: %w", id, err)
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), at)
	}
	if err != nil {
		return fmt.Errorf("keep what was offered of %s: %w", id, errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}
