package recall

import (
	"context"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// What tests look at from outside.
var (
	RecencyIntent = recencyIntent
	SafeName      = safeName
)

// CorpusIDs is corpusIDs.
func (e *Engine) CorpusIDs(name string) ([]note.ID, error) { return e.corpusIDs(name) }

// MakeStageRow makes the row of an index row, with a score when that is not 0.
func MakeStageRow(r index.Row, score float64) StageRow {
	if score != 0 {
		return scored(&Hit{Row: r, score: score})
	}
	return stageRow(&r).fit()
}

// NoteGap is noteGap.
func (e *Engine) NoteGap(_ context.Context, q Query, res *Result) { e.noteGap(q, res) }
