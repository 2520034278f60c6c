package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// The outcomes of items that were applied. Items that were not acted upon have
// their action for an outcome.
const (
	Created = "created"
	Updated = "updated"
	Known   = "unchanged" // the store knew it after all
	Held    = "held"      // it waits for its owner's decision
	Dropped = "dropped"   // the door refused it
	Failed  = "failed"
	Trivial = "trivial" // a session that is not worth a note
	Kept    = "kept"    // a session that makes no note, word for word
	Left    = "left"    // the run was stopped before it
)

// A Done is an item and what became of it.
type Done struct {
	Item

	Outcome string `json:"outcome"`
}

// A Report says what Apply did. It has the shape of its plan.
type Report struct {
	From    string         `json:"from"`
	Batch   note.ID        `json:"batch"` // names this run; see Importer.Batch
	Items   []Done         `json:"items"`
	Totals  map[string]int `json:"totals"`           // by outcome
	Created []note.ID      `json:"created"`          // what an undo takes back: archive these
	Updated []note.ID      `json:"updated"`          // their former forms are in the history
	Former  int            `json:"former,omitempty"` // forms from before the import that came into histories

	Groups   []Group  `json:"groups,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// keepEvery is after how many items, at least, the ledger is written: with a
// large ledger after a share of it, so that an import of many stays linear.
const keepEvery = 64

// Apply carries a plan out. It may be stopped at any point and run again, with
// this plan or a new one. progress, which may be nil, gets how many bytes are
// done; it is never called twice at a time.
//
// The report is never nil. The error is what stopped the run; items that failed
// by themselves are in the report.
func (im *Importer) Apply(ctx context.Context, p *Plan, progress func(done, total int64)) (*Report, error) {
	r := &Report{
		From: p.From, Batch: cmp.Or(store.RunID(ctx, im.store), note.NewID(im.store.Now())), Totals: make(map[string]int),
		Groups: p.Groups, Problems: p.Problems, Items: make([]Done, len(p.Items)),
		Created: []note.ID{}, Updated: []note.ID{},
	}
	for i := range p.Items {
		r.Items[i] = Done{p.Items[i], string(p.Items[i].Action)}
		if p.Items[i].acts() {
			r.Items[i].Outcome = Left
		}
	}
	err := im.apply(ctx, p, r, progress)
	for i := range r.Items {
		d := &r.Items[i]
		r.Totals[d.Outcome]++
		switch d.Outcome {
		case Created:
			r.Created = append(r.Created, d.ID)
		case Updated:
			r.Updated = append(r.Updated, d.ID)
		}
	}
	if err != nil {
		err = fmt.Errorf("import %s: %w", p.From, err)
	}
	return r, err
}

func (im *Importer) apply(ctx context.Context, p *Plan, r *Report, progress func(done, total int64)) (err error) {
	unlock, ok, err := im.store.TryLock("import")
	if err != nil {
		return err
	}
	if !ok {
		return store.ErrLocked
	}
	defer unlock()
	// Read again: another run may have been here since the plan was made.
	l, err := readLedger(im.store)
	if err != nil {
		return err
	}
	run := &run{im: im, ledger: l, report: r, total: p.Totals().Bytes, progress: progress}
	defer func() { err = errors.Join(err, run.keep()) }()
	if p.From == FromTranscripts {
		return run.sessions(ctx)
	}
	for i := range r.Items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := run.item(ctx, &r.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// A run is one call of Apply.
type run struct {
	im          *Importer
	ledger      *ledger
	report      *Report
	done, total int64
	progress    func(done, total int64)
	unkept      int // entries that are not on the disk yet
}

func (r *run) keep() error {
	if r.unkept == 0 {
		return nil
	}
	r.unkept = 0
	return r.ledger.write(r.im.store)
}

// note remembers what became of a source.
func (r *run) note(id note.ID, e entry) error {
	e.From = r.report.From
	r.ledger.Entries[id] = e
	if r.unkept++; r.unkept >= max(keepEvery, len(r.ledger.Entries)/8) {
		return r.keep()
	}
	return nil
}

func (r *run) step(bytes int64) {
	r.done += bytes
	if r.progress != nil {
		r.progress(r.done, r.total)
	}
}

// item carries one item out. The error stops the run.
func (r *run) item(ctx context.Context, it *Done) error {
	if !it.acts() {
		if it.draft != nil && it.draft.twin != "" {
			return r.twin(ctx, it)
		}
		if err := r.adopt(it); err != nil || it.Action != Unchanged {
			return err
		}
		return r.importFormer(ctx, it)
	}
	d := it.draft
	defer r.step(it.Bytes)
	add := ingest.Draft{Note: d.note, By: ingest.Import, Here: d.note.Project, Reason: store.Update}
	if d.onto != nil {
		now, _, _, err := r.im.store.Read(d.path)
		if err != nil || !note.Equal(now, d.onto) {
			it.Outcome, it.Why = Failed, "it changed since the plan was made; plan again"
			return nil
		}
		add.Note = follow(d.onto, d.note)
	}
	out, err := r.im.ingester.Admit(ctx, add)
	if err != nil {
		if stops(err) || ctx.Err() != nil {
			return err
		}
		it.Outcome, it.Why = Failed, err.Error()
		return nil
	}
	if err := r.recordOutcome(ctx, it, out); err != nil || out.Note == nil || out.Result == ingest.Held {
		return err
	}
	return r.importFormer(ctx, it)
}

// stops reports whether an error is the store's and not the note's.
func stops(err error) bool {
	return errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrReadOnly) || diskFull(err)
}

// diskFull knows an error that every further write would meet as well.
func diskFull(err error) bool {
	return strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "not enough space")
}

// recordOutcome writes down what the door made of a draft.
func (r *run) recordOutcome(ctx context.Context, it *Done, out ingest.Outcome) error {
	d := it.draft
	e := entry{Source: d.source, Batch: r.ledger.Entries[d.note.ID].Batch}
	switch out.Result {
	case ingest.Dropped:
		it.Outcome, it.Why = Dropped, out.Why
		return nil // the tombstone remembers it
	case ingest.Held:
		it.Outcome, it.Why, e.State = Held, out.Why, stateHeld
		return r.note(d.note.ID, e)
	case ingest.Created:
		it.Outcome, e.Batch = Created, r.report.Batch
	case ingest.Updated:
		it.Outcome = Updated
	default:
		it.Outcome = Known
	}
	it.ID = out.Note.ID
	if e.Wrote = ingest.SummaryHash(out.Note.Title, out.Note.Body); it.ID != d.note.ID {
		e.As, it.Why = it.ID, "note "+string(it.ID)+" says it"
	} else if d.side != nil {
		if err := r.im.writeSidecar(ctx, out.Ref, d); err != nil {
			it.Why = err.Error()
			if stops(err) || ctx.Err() != nil {
				return err
			}
		} else if it.Outcome == Known {
			it.Outcome = Updated
		}
	}
	return r.note(d.note.ID, e)
}

// adopt remembers a note that an earlier program imported, so that a later
// change of its source can be distinguished from one of the note.
func (r *run) adopt(it *Done) error {
	if it.Action != Unchanged || it.draft == nil || it.draft.onto == nil {
		return nil
	}
	if _, known := r.ledger.Entries[it.ID]; known {
		return nil
	}
	was := it.draft.onto
	return r.note(it.ID, entry{Source: it.draft.source, Wrote: ingest.SummaryHash(was.Title, was.Body)})
}

// writeSidecar puts the entities of a draft beside its note, together with
// those that are there.
func (im *Importer) writeSidecar(ctx context.Context, ref store.Ref, d *draft) error {
	side := *d.side
	side.DocumentID = d.note.ID
	return im.ingester.WriteSidecar(ctx, ref, &side)
}
