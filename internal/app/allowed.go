package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// allowedFile lists the notes that may travel in spite of what looks like a
// secret in them. It belongs to this machine.
const allowedFile = "allowed.json"

// allowed holds, for each note, the SHA-256 of the forms its owner has seen: a
// note that changes is asked about again.
type allowed struct {
	V       int                  `json:"v"`
	Notes   map[note.ID][]string `json:"notes"`
	Changed map[note.ID][]string `json:"changed,omitempty"` // forms that may travel although they lost their text
}

func readAllowed(r *Rooms) allowed {
	a := allowed{V: 1}
	if data, err := os.ReadFile(r.Store.Path(allowedFile)); err != nil || json.Unmarshal(data, &a) != nil || a.Notes == nil {
		a = allowed{V: 1, Notes: make(map[note.ID][]string)} // what cannot be read allows nothing
	}
	if a.Changed == nil {
		a.Changed = make(map[note.ID][]string)
	}
	return a
}

func writeAllowed(r *Rooms, a allowed) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return r.Store.Replace(allowedFile, append(data, '\n'))
}

// secretWhy begins the reason why a note with a secret does not travel.
const secretWhy = "it holds what looks like a secret"

// secrets names the rules that find something in a file of memory/.
func secrets(r *Rooms, path string, data []byte) []string {
	if layout.InTree(path) == layout.Tombstone {
		return nil // salts and hashes
	}
	var rules []string
	for _, f := range r.Redactor.Find(string(data)) {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// withhold returns the function that says why a changed file must not travel, ""
// when it may: a note with a secret that its owner has not released. Without remote a
// released note waits too: a commit cannot be taken back, a release can until the next sync.
// It may be called from several goroutines.
func withhold(r *Rooms, remote bool) func(path string, data []byte) string {
	list := sync.OnceValue(func() allowed { return readAllowed(r) })
	return func(path string, data []byte) string {
		if why := returnedWhy(r, path, data); why != "" {
			return why
		}
		if r.Rules != nil {
			return fmt.Sprintf("your redaction rules cannot be read, so nobody can tell whether it holds a secret; mend %s",
				r.Store.Path("redact.toml"))
		}
		rules := secrets(r, path, data)
		if len(rules) == 0 {
			return ""
		}
		id := IDOf(path)
		if remote && slices.Contains(list().Notes[id], store.Digest(data)) {
			return ""
		}
		return secretWhy + ": " + strings.Join(rules, ", ")
	}
}

// claimWhy is the reason why a note does not travel that says more of its author than this machine knows.
const claimWhy = "its file says that a person vouches for it, and this machine does not know that; " +
	"look at it with `anamnesis review`, and keep it with `anamnesis review keep ID`"

// claimed says why the form of a note must not reach the hub, "" when it may: the other machines would enter it in
// their ledgers as the user's word, and the ledger of this one does not have it.
func claimed(s *store.Store, path string, data []byte) string {
	if n, ok := ingest.Claim(path, data); ok && !store.Trusts(s, n) {
		return claimWhy
	}
	return ""
}

// byCommand begins the hash of a form that a command of the owner made, and not an editor.
const byCommand = "command:"

// allowLoss lets the form of a note that a command made shorter travel: the former form is erased, and no history shows that
// the loss is meant.
func allowLoss(ctx context.Context, r *Rooms, id note.ID) error {
	unlock, err := r.Store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	ref, err := r.Store.Find(id)
	if err != nil {
		return err
	}
	data, err := r.Store.ReadFile(ref.Path, store.MaxNoteSize)
	if err != nil {
		return err
	}
	a := readAllowed(r)
	a.Changed[id] = append(a.Changed[id], byCommand+store.Digest(data))
	return writeAllowed(r, a)
}

// disallow forgets what was allowed for notes that are gone. The caller holds
// the store lock.
func disallow(r *Rooms, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	a := readAllowed(r)
	before := len(a.Notes) + len(a.Changed)
	for _, path := range paths {
		delete(a.Notes, IDOf(path))
		delete(a.Changed, IDOf(path))
	}
	if len(a.Notes)+len(a.Changed) == before {
		return nil
	}
	return writeAllowed(r, a)
}

// allowMarked allows marked files (markEdited) what they were allowed in the form before: the hashes in sums.
func allowMarked(ctx context.Context, r *Rooms, paths []string, sums map[string]string) error {
	unlock, err := r.Store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	a, write := readAllowed(r), false
	for _, path := range paths {
		data, err := r.Store.ReadFile(path, store.MaxNoteSize)
		id, was := IDOf(path), sums[strings.TrimPrefix(path, layout.Memory+"/")]
		for _, forms := range []map[note.ID][]string{a.Notes, a.Changed} {
			if err == nil && slices.Contains(forms[id], was) {
				forms[id], write = append(forms[id], store.Digest(data)), true
			}
		}
	}
	if !write {
		return nil
	}
	return writeAllowed(r, a)
}

// MayTravel returns the function that says whether the owner of a note has let
// this form of it go in spite of what looks like a secret.
func MayTravel(r *Rooms) func(path string, data []byte) bool {
	a := readAllowed(r)
	return func(path string, data []byte) bool { return slices.Contains(a.Notes[IDOf(path)], store.Digest(data)) }
}
