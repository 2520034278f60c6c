package reflection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A Batch is what a model made of some notes, kept from the moment it is known
// to be good until all of it is on the disk. A run that finds one finishes it
// and asks nobody: the same notes under the same ids, whatever a model would
// say the second time. It is a job of the queue, whose id names the batch.
type Batch struct {
	Project string   `json:"project"`
	Model   string   `json:"model"`
	Sources []source `json:"sources"`
	Notes   []string `json:"notes"` // the files that are to be written, with their ids
}

// A source is a note as the model saw it.
type source struct {
	ID   note.ID `json:"id"`
	Hash string  `json:"hash"` // of title and body
}

// unfinished lists the batches that are not finished, oldest first.
func (r *Reflector) unfinished() ([]queue.With[Batch], error) {
	return queue.Jobs[Batch](queue.Of(r.Store), queue.Batch)
}

// batch makes the notes of an accepted answer. What a model says is redacted
// here already, because the batch is written down before the notes are.
//
// The id of the batch is made from what was read, the id of a note from that
// and from what it says. So two machines that distil the same sessions and are
// shown the same write one file, which merges with itself; where the models
// differ there are two notes, each whole, and never one id with two meanings.
func (r *Reflector) batch(project string, from []*note.Note, items []Distilled) (id note.ID, b Batch, err error) {
	b = Batch{Project: project, Model: r.Model.Name()}
	for _, n := range from {
		b.Sources = append(b.Sources, sourceOf(n))
	}
	lines, newest := byContent(from)
	sum := sha256.Sum256([]byte("distil " + project + "\n" + lines + "\n"))
	id = note.ID(hex.EncodeToString(sum[:16]))
	seen := make(map[note.ID]bool)
	for _, item := range items {
		n := r.propose(item, from)
		n.Project, n.Tags, n.Provenance.Source = project, []string{tagDistilled}, note.Reflection
		n.ID = note.EpisodicID(newest, tagDistilled, string(id)+"\x00"+note.FingerprintOf(n.Statement()).Statement)
		if seen[n.ID] { // said twice in one answer
			continue
		}
		seen[n.ID] = true
		if err := n.ValidateNew(); err != nil {
			return id, b, fmt.Errorf("distilled note %.60q: %w", n.Title, err)
		}
		b.Notes = append(b.Notes, string(n.Format()))
	}
	return id, b, nil
}

// propose makes a note of what a model says about other notes.
func (r *Reflector) propose(item Distilled, from []*note.Note) *note.Note {
	now := note.At(r.Store.Now())
	knowing := r.Redactor.Knowing(item.Title, item.Body)
	n := &note.Note{
		Type: item.Type, Title: knowing.Redact(item.Title).String(), Body: knowing.Redact(item.Body).String(),
		Scope: note.Portable, CreatedAt: now, UpdatedAt: now, Branch: common(from),
		Provenance: note.Provenance{Confidence: confidence, Model: r.Model.Name()},
	}
	n.Quarantine = redact.PromptInjection(n.Statement())
	for _, s := range from {
		n.DerivedFrom = append(n.DerivedFrom, s.ID)
	}
	n.Evidence = evidence(n, from)
	n.ProofCount = n.Sessions()
	return n
}

// common is the branch that all notes hold for, "" when they differ: what is
// seen on several branches is no peculiarity of one.
func common(notes []*note.Note) string {
	for _, n := range notes {
		if n.HeldTo() != notes[0].HeldTo() {
			return ""
		}
	}
	return notes[0].HeldTo()
}

// resume finishes the batches of a project that an earlier run left.
func (r *Reflector) resume(ctx context.Context, project string, rep *Report) error {
	batches, err := r.unfinished()
	if err != nil {
		return err
	}
	for _, b := range batches {
		if b.Payload.Project != project {
			continue
		}
		rep.Resumed = true
		if err := r.finish(ctx, b, rep); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the notes of a batch, tags its sources, and drops it, in this
// order. It may be stopped anywhere and called again: what is there already
// stays as it is, edits of its owner among them.
func (r *Reflector) finish(ctx context.Context, j queue.With[Batch], rep *Report) error {
	b := j.Payload
	for _, file := range b.Notes {
		n, err := note.Parse([]byte(file))
		if err != nil {
			return fmt.Errorf("finish batch %s: %w; remove %s", j.ID, err, r.Store.Path(j.Path))
		}
		n.MachineID = "" // a file always names one; the door stamps ours
		w, stale, err := r.write(ctx, n)
		if err != nil {
			return fmt.Errorf("finish batch %s: %w", j.ID, err)
		}
		rep.Notes = append(rep.Notes, w)
		rep.Stale = errors.Join(rep.Stale, stale)
	}
	err := r.revise(ctx, &rep.Stale, func(all *ingest.Revision) error {
		for _, s := range b.Sources {
			if err := r.tag(all, s, rep); err != nil {
				return fmt.Errorf("finish batch %s: mark session %s: %w", j.ID, s.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := queue.Of(r.Store).Finish(j.Job); err != nil {
		return err
	}
	_ = r.Store.Events().Log(store.Record{ // a log that cannot be written loses a line, no note
		Kind: store.Reflected, Project: b.Project, Text: "distil", Model: b.Model, Count: len(b.Sources), Notes: ids(rep.Notes),
	})
	return nil
}

// write takes one note of a batch in, unless it is there.
func (r *Reflector) write(ctx context.Context, n *note.Note) (Written, error, error) {
	w := Written{ID: n.ID, Type: n.Type, Title: n.Title, Quarantined: n.Quarantine, Result: ingest.Unchanged}
	if _, err := r.Store.Stat(store.NotePath(n.Scope, n.Type, n.ID)); err == nil {
		return w, nil, nil
	}
	if row, ok, err := r.index.Lookup(ctx, n.ID); err == nil && ok {
		if _, err := r.Store.Stat(row.Ref.Path); err == nil { // its owner moved it
			return w, nil, nil
		}
	}
	if _, err := r.Store.Spool().HeldDraft(n.ID); err == nil {
		w.Result, w.Why = ingest.Held, "it waits already"
		return w, nil, nil
	}
	out, err := r.ingester.Admit(ctx, ingest.Draft{Note: n, By: ingest.Model, Here: n.Project, Reason: store.Update})
	if err != nil {
		return w, nil, err
	}
	w.Result, w.Why = out.Result, out.Why
	if out.Note != nil {
		w.ID = out.Note.ID // of the twin that said it before
	}
	return w, out.Stale, nil
}

// tag marks a source as distilled, unless there is nothing to do. The file is read
// again under the lock, and only its tags change: what somebody wrote into it while
// the model was thinking stays, and when that is something else than the model has
// read, the note is not distilled yet.
func (r *Reflector) tag(all *ingest.Revision, s source, rep *Report) error {
	if _, err := note.ParseID(string(s.ID)); err != nil {
		return nil //nolint:nilerr // somebody wrote into the batch
	}
	n, ref, err := store.Get(r.Store, s.ID)
	if err != nil {
		return nil //nolint:nilerr // deleted or forgotten since, or no note any more
	}
	if contentHash(n) != s.Hash {
		rep.Changed = append(rep.Changed, s.ID)
		return nil
	}
	rep.Sessions++
	if !n.AddTags(tagReflected) {
		return nil
	}
	slices.Sort(n.Tags)
	return all.Put(n, ref)
}

func ids(written []Written) []note.ID {
	var all []note.ID
	for _, w := range written {
		all = append(all, w.ID)
	}
	return all
}
