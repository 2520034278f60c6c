package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// ledgerName is the file, below the root of the store, in which this machine
// remembers what it imported. It holds no text. Without it nothing is imported
// twice, but a note that was deleted by hand would come back.
const ledgerName = "imports.json"

const maxLedger = 128 << 20

// An entry says what became of one source. Its key is the id that the source
// has, also when the note that says it has another.
type entry struct {
	From   string  `json:"from"`             // native, transcripts or reflect
	Source string  `json:"source,omitempty"` // hash of what the source said
	Wrote  string  `json:"wrote,omitempty"`  // ingest.SummaryHash of what was written
	As     note.ID `json:"as,omitempty"`     // the note that says it, when that is another
	State  string  `json:"state,omitempty"`  // held, trivial, twin; "" when it came in
	Size   int64   `json:"size,omitempty"`   // of a trivial session, which may grow
	Batch  note.ID `json:"batch,omitempty"`  // the run that made the note
}

const (
	stateHeld    = "held"
	stateTrivial = "trivial"
	stateTwin    = "twin" // passed over: the note As says the same
)

type ledger struct {
	V       int               `json:"v"`
	Entries map[note.ID]entry `json:"entries"`
}

// readLedger reads the ledger; one that cannot be read is an error, because to
// go on without it could bring back what was deleted.
func readLedger(s *store.Store) (*ledger, error) {
	l := &ledger{V: 1, Entries: make(map[note.ID]entry)}
	name := s.Path(ledgerName)
	fi, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil && !fi.Mode().IsRegular() {
		err = store.ErrNotRegular
	}
	if err == nil && fi.Size() > maxLedger {
		err = store.ErrTooLarge
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	if err == nil {
		err = json.Unmarshal(data, l)
	}
	if err == nil && l.V > 1 {
		err = errors.New("it was written by a newer version of anamnesis")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, which says what was imported before: %w; mend it or move it away", name, err)
	}
	if l.Entries == nil {
		l.Entries = make(map[note.ID]entry)
	}
	return l, nil
}

func (l *ledger) write(s *store.Store) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return s.Replace(ledgerName, append(data, '\n'))
}

// Batch lists the notes that one run of Apply made, so that it can be undone.
func (im *Importer) Batch(batch note.ID) ([]note.ID, error) {
	l, err := readLedger(im.store)
	if err != nil {
		return nil, err
	}
	var ids []note.ID
	for id, e := range l.Entries {
		if e.Batch == batch && batch != "" && e.As == "" {
			ids = append(ids, id)
		}
	}
	sortIDs(ids)
	return ids, nil
}
