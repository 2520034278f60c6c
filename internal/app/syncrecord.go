package app

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// SyncResult is what became of the repository after a write.
type SyncResult struct {
	Pushed     bool           `json:"pushed"`
	Pulled     int            `json:"pulled"`
	Conflicted bool           `json:"conflicted"` // something waits for the user; Detail says what
	Committed  bool           `json:"committed"`
	Head       string         `json:"head"`
	Detail     string         `json:"detail"`
	Offline    bool           `json:"offline"`
	Held       []WithheldFile `json:"held"`      // notes that do not travel yet
	Conflicts  int            `json:"conflicts"` // that wait to be decided
	Ahead      int            `json:"ahead"`
	Behind     int            `json:"behind"`
	Deleted    int            `json:"deleted,omitempty"` // notes that the pull deleted here
	// State is how the exchange ended: synced, offline, held, foreign, refused,
	// blocked or failed; empty without one.
	State replica.SyncResult `json:"state,omitempty"`
	Seal  *SealAnswer        `json:"seal,omitempty"` // what `sync --seal` did before

	why     string // what State comes from
	reached bool   // both sides had the same
	Busy    bool   `json:"-"` // another sync was at work
}

// A WithheldFile is a file that does not travel, and why.
type WithheldFile = replica.WithheldFile

// take adds what one cycle did.
func (s *SyncResult) take(out replica.Outcome) {
	detail := out.Detail
	if out.Deletes > 0 {
		detail += ": `anamnesis sync --allow-delete`"
	}
	if s.Detail == "" || detail != "synced" {
		s.Detail = detail
	}
	s.Pushed, s.Committed, s.Pulled = s.Pushed || out.Pushed, s.Committed || out.Committed, s.Pulled+out.Pulled
	if rest, ok := strings.CutPrefix(s.Detail, "nothing to commit"); ok && s.Committed { // an earlier round did
		s.Detail = "committed locally" + rest
	}
	s.Conflicted = out.Conflicted || out.Held
	s.Head, s.Offline, s.Ahead, s.Behind = out.Head, out.Offline, out.Ahead, out.Behind
	s.Deleted += out.Removed
	s.State, s.why, s.reached = out.Result, out.Why, s.reached || out.Result == replica.Synced
	if out.Deletes > 0 {
		s.why += ": `anamnesis sync --allow-delete`"
	}
	s.hold(out.HeldFiles)
	if line := DamagedLine(s.damaged()); line != "" {
		s.Detail += "; " + line
	}
}

// damaged counts the files that do not travel because they lost their text.
func (s *SyncResult) damaged() (n int) {
	for _, h := range s.Held {
		if LostText(h) {
			n++
		}
	}
	return n
}

func (s *SyncResult) hold(files []WithheldFile) {
	s.Held = make([]WithheldFile, len(files))
	for i, f := range files {
		f.ID = string(IDOf(f.Path))
		s.Held[i] = f
	}
}

// IDOf returns the id in the name of a file, empty when there is none.
func IDOf(name string) note.ID {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	id, err := note.ParseID(stem)
	if err != nil {
		return ""
	}
	return id
}

// SyncedFile says how the last sync went. It can be deleted.
const SyncedFile = "sync.json"

// How much of it is read, in bytes, and how long a text in it is, in characters:
// what a remote says has no end on its own.
const (
	maxSyncedFile = 8 << 20
	maxSyncedText = 1000
)

// A SyncRecord is what the last sync wrote down. OK, State, Why and Offline are about Remote.
type SyncRecord struct {
	V       int                `json:"v"`
	At      string             `json:"at"`               // of the last exchange, RFC 3339
	OK      string             `json:"ok,omitempty"`     // of the last one after which both sides had the same
	Remote  string             `json:"remote,omitempty"` // with which remote, without a password
	State   replica.SyncResult `json:"state,omitempty"`  // how it ended; older versions wrote none
	Why     string             `json:"why,omitempty"`    // what State comes from, one line
	Detail  string             `json:"detail"`
	Offline bool               `json:"offline"`
	Held    []WithheldFile     `json:"held"`
}

// LastSync reads the file, and looks at nothing else. What it says about another
// remote than the present one is left out.
func LastSync(r *Rooms) (last SyncRecord) {
	if f, err := os.Open(r.Store.Path(SyncedFile)); err == nil {
		data, err := io.ReadAll(io.LimitReader(f, maxSyncedFile))
		if err != nil || json.Unmarshal(data, &last) != nil {
			last = SyncRecord{}
		}
		_ = f.Close()
	}
	c := r.Config.Sync
	if shown := replica.HidePassword(c.Remote); shown == "" || replica.HidePassword(last.Remote) != shown {
		last.OK, last.State, last.Why, last.Remote, last.Offline = "", "", "", shown, false
	}
	last.Why = note.Line(last.Why, maxSyncedText)
	if err := replica.CheckRemote(c.Remote); err != nil { // nobody has to try it to know
		last.State, last.Why = replica.Blocked, err.Error()
	}
	if !c.On {
		last.State, last.Why = "", ""
	}
	return last
}

// readLastSync reads the file. Files that are not held any more are left out.
func readLastSync(r *Rooms) SyncRecord {
	last := LastSync(r)
	held := []WithheldFile{}
	for _, f := range withheld(r, last) {
		if !f.Released {
			held = append(held, f.WithheldFile)
		}
	}
	last.Held = held
	return last
}

// recordSync writes down how a settlement went, for status and for the event log.
func recordSync(r *Rooms, s SyncResult, o SyncOptions, failed error, began time.Time) error {
	if r.Store.ReadOnly() {
		return nil
	}
	last := readLastSync(r)
	if !o.Remote && len(last.Held)+len(s.Held) == 0 {
		return nil
	}
	last.V, last.Held = 1, s.Held
	var logged error
	if o.Remote {
		now := r.Store.Now().UTC().Format(time.RFC3339)
		last.At, last.Detail, last.Offline = now, note.Line(s.Detail, maxSyncedText), s.Offline
		rec := store.Record{Kind: store.Synced, Count: s.Pulled, MS: float64(time.Since(began).Milliseconds()), Text: s.Detail}
		if failed != nil {
			last.Detail, rec.Error = note.Line(failed.Error(), maxSyncedText), failed.Error()
		}
		last.take(s, failed, now)
		logged = r.Store.Events().Log(rec)
	}
	data, err := json.Marshal(last)
	if err == nil {
		err = r.Store.Replace(SyncedFile, append(data, '\n'))
	}
	return errors.Join(logged, err)
}

// take enters how an exchange ended. One of which nothing is known, because
// somebody cut it off, leaves what was known.
func (l *SyncRecord) take(s SyncResult, failed error, now string) {
	if l.Remote == "" {
		return
	}
	if s.reached {
		l.OK = now
	}
	state, why := s.State, s.why
	if errors.Is(failed, store.ErrLocked) || errors.Is(failed, index.ErrBusy) { // somebody else is at work, and the next run goes on
		failed = nil
		if state == replica.Failed {
			state = ""
		}
	}
	if state == replica.Offline && NeedsUser(l.State) { // what waits for the user waits on
		return
	}
	if failed != nil && !NeedsUser(state) { // not by the exchange itself
		state, why = replica.ResultOf(failed), failed.Error()
	}
	if state != "" {
		l.State, l.Why = state, note.Line(why, maxSyncedText)
	}
}
