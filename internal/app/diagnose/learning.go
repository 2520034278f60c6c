package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Learning counts what agents kept of unread messages in one month.
type Learning struct {
	Month    string `json:"month"`
	Shown    int    `json:"records"`  // that agents were shown
	Answers  int    `json:"answers"`  // that agents gave
	Empty    int    `json:"empty"`    // of these without an item
	Items    int    `json:"items"`    // in them
	Kept     int    `json:"kept"`     // of these became notes
	Repeated int    `json:"repeated"` // of these a note said already: the user said it again
	Removed  int    `json:"removed"`  // of the kept notes are gone: forgotten, undone, rejected or archived
	Tokens   int    `json:"tokens"`   // of the records, the answers and what came back
}

// learning counts what agents made of unread turns from a time on, the newest month first. rows are all notes.
func learning(r *app.Rooms, since time.Time, rows []index.Row) ([]Learning, error) {
	inForce := make(map[note.ID]bool, len(rows))
	for i := range rows {
		row := &rows[i]
		inForce[row.ID] = !row.Dead || row.SupersededBy != "" // a newer note says more
	}
	months := make(map[string]*Learning)
	err := app.LoggedRecords(r, since, func(rec store.Record, at time.Time) {
		if rec.Kind != store.HandedOut && rec.Kind != store.Answered {
			return
		}
		key := at.UTC().Format("2006-01")
		if months[key] == nil {
			months[key] = &Learning{Month: key}
		}
		months[key].add(rec, inForce)
	})
	all := []Learning{}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(months))) {
		all = append(all, *months[key])
	}
	return all, err
}

// add counts a record.
func (m *Learning) add(rec store.Record, inForce map[note.ID]bool) {
	m.Tokens += rec.In + rec.Out
	if rec.Kind == store.HandedOut {
		m.Shown++
		return
	}
	var kept, known int
	_, _ = fmt.Sscanf(rec.Text, "%d kept, %d known", &kept, &known) // of an older record the known ones are missing
	m.Answers++
	m.Items += rec.Count
	m.Kept += kept
	m.Repeated += known
	if rec.Count == 0 {
		m.Empty++
	}
	for _, id := range rec.Notes {
		if !inForce[id] {
			m.Removed++
		}
	}
}
