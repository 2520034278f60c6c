package session

import (
	"bytes"
	"cmp"
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
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// Options are the settings of what is kept of sessions.
type Options struct {
	Keep bool
	Days int // since a session ended; 0 for no end
	MB   int // of all files together; 0 for no bound
}

// A Head is what is known of a session as a whole.
type Head struct {
	V       int    `json:"v"`
	Session string `json:"session"` // its id, as its client gave it
	Agent   string `json:"agent"`
	Project string `json:"project"`
	Dir     string `json:"dir,omitempty"`

	// Transcript is the client's file in which the session was read.
	Transcript string `json:"transcript,omitempty"`

	Branch  string    `json:"branch,omitempty"`
	Title   string    `json:"title,omitempty"`
	Program bool      `json:"program,omitempty"` // programs asked, and no person
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Undated bool      `json:"undated,omitempty"` // no record says when it was: Ended is the time of its client's file
}

// Key names the file of a session, and is the first part of the ids of its exchanges.
func (h *Head) Key() string { return keyOf(h.Agent, h.Session) }

// keyLength is how many hex digits a key has.
const keyLength = 10

// keyOf is the key of a session: a hash, because an id of a client is no name to give to a file.
func keyOf(agent, session string) string {
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	return hex.EncodeToString(sum[:])[:keyLength]
}

const fileSuffix = ".jsonl.gz"

// isKey reports whether a name is that of a session's file without its suffix.
func isKey(s string) bool {
	return len(s) == keyLength && strings.Trim(s, "0123456789abcdef") == ""
}

// Kept is what is kept of the sessions of a store, and the index of it. It is safe for concurrent
// use; changes take the lock "sessions".
type Kept struct {
	store *store.Store
	opts  Options
	index catalogue
	hide  func() func(*Head) bool // nil: nothing is hidden
}

// Hide sets what returns, for one question, which sessions no answer names: those that are forgotten and not erased yet. It is
// called before k is used.
func (k *Kept) Hide(which func() func(*Head) bool) { k.hide = which }

// New returns what is kept in a store.
func New(s *store.Store, o Options) *Kept { return &Kept{store: s, opts: o} }

// On reports whether sessions are kept at all.
func (k *Kept) On() bool { return k.opts.Keep }

// locked runs f with the lock of what is kept. Another process that has it is waited for.
func (k *Kept) locked(ctx context.Context, f func() error) error {
	for {
		unlock, ok, err := k.store.TryLock("sessions")
		if err != nil {
			return fmt.Errorf("lock what is kept of sessions: %w", err)
		}
		if ok {
			defer unlock()
			return f()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Put keeps a reading of a session: it is united with what was kept of it (merge). What was forgotten of it, in this session or
// in one that it copies, stays forgotten. clean cleans what only an earlier reading has, as that of this one was; nil does not.
// Sync puts it into the index.
func (k *Kept) Put(ctx context.Context, h Head, all []Exchange, clean func(string) string) error {
	if !k.opts.Keep || k.store.ReadOnly() {
		return nil
	}
	err := k.locked(ctx, func() error { return k.put(h, all, clean) })
	if err != nil {
		return fmt.Errorf("keep session %s: %w", h.Session, err)
	}
	return nil
}

// Lost returns which exchanges of a reading of a session were forgotten, in this session or in one that it copies. reading is
// called only if anything ever was.
func (k *Kept) Lost(h Head, reading func() []Exchange) ([]Exchange, error) {
	f, err := k.forgotten()
	if err != nil || len(f.Numbers) == 0 {
		return nil, err
	}
	_, lost := f.divide(h.Key(), reading())
	return lost, nil
}

// Whole returns what Put would keep of the user's own exchanges of a session, and when the session began. Nothing is written.
func (k *Kept) Whole(h Head, all []Exchange, clean func(string) string) (began time.Time, whole []Exchange, err error) {
	f, err := k.forgotten()
	if err != nil {
		return began, nil, err
	}
	left, _ := f.divide(h.Key(), all)
	was, had, err := k.Read(h.Key())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return began, nil, err
	}
	return was.Started, merge(Talk(had, ""), left, f.Numbers[h.Key()], clean), nil
}

// put is Put. The caller has the lock.
func (k *Kept) put(h Head, all []Exchange, clean func(string) string) error {
	f, err := k.forgotten()
	if err != nil {
		return err
	}
	key := h.Key()
	left, lost := f.divide(key, all)
	numbers, titled := f.Numbers[key]
	if len(lost) > 0 && !f.whole(key) { // what a program forgot that wrote no marks, or what another session said
		for i := range lost {
			f.add(key, &lost[i])
		}
		if err := f.write(k.store); err != nil {
			return err
		}
	}
	was, had, err := k.Read(key)
	var io *fs.PathError
	switch {
	case errors.As(err, &io) && !errors.Is(err, fs.ErrNotExist):
		return err
	case was.V > 1:
		return errors.New("a newer version of this program wrote it; update this one")
	}
	if len(left) == 0 && len(had) == 0 {
		return nil
	}
	left = merge(had, left, numbers, clean)
	if len(had) > 0 {
		if !was.Started.IsZero() && (h.Started.IsZero() || was.Started.Before(h.Started)) {
			h.Started = was.Started // a shorter transcript begins later, and is the same session
		}
		if was.Ended.After(h.Ended) && !was.Undated {
			h.Ended = was.Ended
		}
	}
	if titled || len(lost) > 0 { // its title may say what was forgotten
		h.Title = ""
	}
	data, err := encode(h, left)
	if err != nil {
		return err
	}
	return store.WriteSession(k.store, key+fileSuffix, data)
}

// packers are compressors: each holds a megabyte.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// encode writes a file: members of gzip one after the other, the head and then each exchange, so that
// one exchange is read alone and `zcat` prints all.
func encode(h Head, all []Exchange) ([]byte, error) {
	h.V = 1
	var b bytes.Buffer
	var err error
	z, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	member := func(v any) {
		data, jerr := json.Marshal(v)
		if err = errors.Join(err, jerr); err != nil {
			return
		}
		z.Reset(&b)
		_, werr := z.Write(append(data, '\n'))
		err = errors.Join(werr, z.Close())
	}
	member(h)
	for i := range all {
		member(all[i])
	}
	return b.Bytes(), err
}

// The bounds of a file, compressed, and of one of its members.
const (
	maxFile   = 32 << 20
	maxMember = 8 << 20
)

// A place is where an exchange stands in its file.
type place struct{ from, to int }

// decode reads a file. A file that ends early gives what came before its end.
func decode(data []byte) (h Head, all []Exchange, places []place, err error) {
	r := bytes.NewReader(data)
	from := 0
	for first := true; r.Len() > 0; first = false {
		text, err := member(r)
		to := len(data) - r.Len()
		if err == nil && first {
			err = json.Unmarshal(text, &h)
			if err == nil && h.V != 1 {
				err = fmt.Errorf("version %d is not known here", h.V)
			}
		} else if err == nil {
			var e Exchange
			if err = json.Unmarshal(text, &e); err == nil {
				all, places = append(all, e), append(places, place{from, to})
			}
		}
		if err != nil {
			return h, all, places, err
		}
		from = to
	}
	return h, all, places, nil
}

// member reads one member of a file.
func member(r *bytes.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	text, err := io.ReadAll(io.LimitReader(z, maxMember+1))
	if err == nil && len(text) > maxMember {
		err = errors.New("an exchange is too large")
	}
	return text, err
}

// Read returns what is kept of a session.
func (k *Kept) Read(key string) (Head, []Exchange, error) {
	if !isKey(key) {
		return Head{}, nil, fmt.Errorf("%q is no session: %w", key, fs.ErrNotExist)
	}
	name := layout.Sessions + "/" + key + fileSuffix
	data, err := k.store.ReadFile(name, maxFile)
	if err != nil {
		return Head{}, nil, err
	}
	h, all, _, err := decode(data)
	if err != nil && h.V == 0 {
		return h, nil, fmt.Errorf("read %s: %w", k.store.Path(name), err)
	}
	return h, all, nil
}

// exchange reads one exchange of a session.
func (k *Kept) exchange(key string, at place) (e Exchange, err error) {
	f, err := os.Open(k.store.Path(layout.Sessions + "/" + key + fileSuffix))
	if err != nil {
		return e, err
	}
	defer f.Close()
	if at.from < 0 || at.to <= at.from || at.to-at.from > maxMember {
		return e, errors.New("the index names a place that no file has")
	}
	data := make([]byte, at.to-at.from)
	if _, err = f.ReadAt(data, int64(at.from)); err != nil {
		return e, err
	}
	text, err := member(bytes.NewReader(data))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

// A file is one of the folder.
type file struct {
	key  string
	size int64
	mod  int64
}

// files lists what is kept, by key.
func (k *Kept) files() (all []file, err error) {
	entries, err := os.ReadDir(k.store.Path(layout.Sessions))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), fileSuffix)
		if !ok || !isKey(key) || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil {
			all = append(all, file{key, fi.Size(), fi.ModTime().UnixNano()})
		}
	}
	return all, err
}

// Usage is what is kept.
type Usage struct {
	Sessions int   `json:"sessions"`
	Bytes    int64 `json:"bytes"`
}

// Usage counts what is kept.
func (k *Kept) Usage() (u Usage, err error) {
	all, err := k.files()
	for _, f := range all {
		u.Sessions++
		u.Bytes += f.size
	}
	return u, err
}

// Prune forgets the sessions for which drop says so, and removes what is beyond the bounds: the oldest, as far as all are too large,
// and what ended before a time. It returns how many are beyond the bounds, and when the newest of them ended.
func (k *Kept) Prune(ctx context.Context, before time.Time, drop func(*Head) bool) (beyond int, until time.Time, err error) {
	if k.store.ReadOnly() {
		return 0, until, nil
	}
	all, err := k.Sessions(ctx)
	if err != nil {
		return 0, until, err
	}
	slices.SortFunc(all, func(a, b Session) int { return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(a.Key, b.Key)) })
	var size int64
	var gone []string
	forget := make(map[string][]int)
	for i := range all {
		s := &all[i]
		if drop != nil && drop(&s.Head) {
			forget[s.Key] = nil
			continue
		}
		if size += s.Size; k.opts.MB > 0 && size > int64(k.opts.MB)<<20 || !s.Ended.IsZero() && s.Ended.Before(before) {
			if gone = append(gone, s.Key); beyond == 0 {
				until = s.Ended
			}
			beyond++
		}
	}
	if len(forget) > 0 {
		err = k.Forget(ctx, forget)
	}
	if len(gone) > 0 {
		err = errors.Join(err, k.remove(ctx, gone))
	}
	return beyond, until, err
}

// Within reports whether a session that ended then is within the days that sessions are kept.
func (k *Kept) Within(ended time.Time) bool {
	return k.opts.Days <= 0 || ended.IsZero() || !ended.Before(k.store.Now().AddDate(0, 0, -k.opts.Days))
}

// remove deletes the files of sessions, and takes them out of the index.
func (k *Kept) remove(ctx context.Context, keys []string) error {
	err := k.locked(ctx, func() (err error) {
		for _, key := range keys {
			err = errors.Join(err, store.RemoveSession(k.store, key+fileSuffix))
		}
		return err
	})
	return errors.Join(err, k.sync(ctx, true, nil))
}

// Has reports whether a session is kept, or was forgotten: its client's name, and the id that gave it.
func (k *Kept) Has(agent, session string) bool {
	key := keyOf(agent, session)
	if k.store.Has(layout.Sessions + "/" + key + fileSuffix) {
		return true
	}
	f, err := k.forgotten()
	return err != nil || f.whole(key)
}
