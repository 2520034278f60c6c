package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// settled is what became of the repository after a write.
type settled struct {
	Pushed     bool       `json:"pushed"`
	Pulled     int        `json:"pulled"`
	Conflicted bool       `json:"conflicted"` // something waits for the user; Detail says what
	Committed  bool       `json:"committed"`
	Head       string     `json:"head"`
	Detail     string     `json:"detail"`
	Offline    bool       `json:"offline"`
	Held       []heldFile `json:"held"`      // notes that do not travel yet
	Conflicts  int        `json:"conflicts"` // that wait to be decided
	Ahead      int        `json:"ahead"`
	Behind     int        `json:"behind"`

	busy bool // another sync was at work
}

// A heldFile is a file that does not travel, and why.
type heldFile struct {
	ID   note.ID `json:"id"`
	Path string  `json:"path"` // relative to memory/
	Why  string  `json:"why"`
}

// pyBool writes a boolean as scripts of the program before this one expect it.
func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// take adds what one cycle did.
func (s *settled) take(out replica.Outcome) {
	detail := out.Detail
	if out.Deletes > 0 {
		detail += ": `anamnesis sync --allow-delete`"
	}
	if s.Detail == "" || detail != "synced" {
		s.Detail = detail
	}
	s.Pushed, s.Committed, s.Pulled = s.Pushed || out.Pushed, s.Committed || out.Committed, s.Pulled+out.Pulled
	s.Conflicted = out.Conflicted || out.Held
	s.Head, s.Offline, s.Ahead, s.Behind = out.Head, out.Offline, out.Ahead, out.Behind
	s.hold(out.HeldFiles)
}

func (s *settled) hold(files []replica.HeldFile) {
	s.Held = make([]heldFile, 0, len(files))
	for _, f := range files {
		s.Held = append(s.Held, heldFile{idOf(f.Path), f.Path, f.Why})
	}
}

// idOf returns the id in the name of a file, empty when there is none.
func idOf(name string) note.ID {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	id, err := note.ParseID(stem)
	if err != nil {
		return ""
	}
	return id
}

// line is the last line that capture prints.
func (s settled) line(noSync bool) string {
	switch {
	case !noSync && s.Offline:
		return fmt.Sprintf("synced (pushed=%s pulled=%d); the remote could not be reached", pyBool(s.Pushed), s.Pulled)
	case !noSync:
		return fmt.Sprintf("synced (pushed=%s pulled=%d)", pyBool(s.Pushed), s.Pulled)
	case s.Committed:
		return "committed locally (no sync)"
	}
	return "nothing to commit (no sync)"
}

// syncedFile says how the last sync went. It can be deleted.
const syncedFile = "sync.json"

// lastSync is what stands in it.
type lastSync struct {
	V       int        `json:"v"`
	At      string     `json:"at"`               // of the last exchange, RFC 3339
	OK      string     `json:"ok,omitempty"`     // of the last one that reached the remote
	Remote  string     `json:"remote,omitempty"` // which remote that was
	Detail  string     `json:"detail"`
	Offline bool       `json:"offline"`
	Held    []heldFile `json:"held"`
}

// lastSync reads the file. Files that are not held any more are left out.
func (m *memory) lastSync() (last lastSync) {
	data, err := os.ReadFile(m.store.Path(syncedFile))
	if err != nil || json.Unmarshal(data, &last) != nil {
		last = lastSync{}
	}
	why := m.holder()
	held := []heldFile{}
	for _, h := range last.Held {
		data, err := os.ReadFile(m.store.Path(path.Join("memory", path.Clean("/"+h.Path))))
		if err == nil && (!strings.HasPrefix(h.Why, secretWhy) || why(h.Path, data) != "") {
			held = append(held, h)
		}
	}
	last.Held = held
	if last.Remote != m.p.cfg.Sync.Remote && last.Remote != "" { // what was reached was another
		last.OK, last.Offline = "", false
	}
	return last
}

// noteSync writes down how a settlement went, for status and for the event log.
func (m *memory) noteSync(s settled, x exchange, failed error, began time.Time) error {
	if m.store.ReadOnly() {
		return nil
	}
	last := m.lastSync()
	if !x.remote && len(last.Held)+len(s.Held) == 0 {
		return nil
	}
	last.V, last.Held = 1, s.Held
	var logged error
	if x.remote {
		now := m.store.Now().UTC().Format(time.RFC3339)
		last.At, last.Detail, last.Offline = now, s.Detail, s.Offline
		r := store.Record{Kind: store.Synced, Count: s.Pulled, MS: float64(time.Since(began).Milliseconds()), Text: s.Detail}
		if failed != nil {
			last.Detail, r.Error = failed.Error(), failed.Error()
		} else if !s.Offline {
			last.OK, last.Remote = now, m.p.cfg.Sync.Remote
		}
		logged = m.store.Log(r)
	}
	data, err := json.Marshal(last)
	if err == nil {
		err = m.store.Replace(syncedFile, append(data, '\n'))
	}
	return errors.Join(logged, err)
}
