package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// An Observation is what many learnings say together: one note of kind note.Observation,
// supported by the sessions of them all.
type Observation struct {
	ID        note.ID // of the one that is changed; "" makes one of the learnings
	New       bool    // ID is that of one to be made
	Statement string  // one line; "" leaves the one that stands
	Category  string
	Project   string
	Of        []note.ID       // the learnings that it folds
	Replaces  []note.ID       // those among them that say nothing beside it
	Evidence  []note.Evidence // besides theirs: a person's own
	Model     string          // that wrote the statement, "" for none
	Human     bool            // a person says so
	Field     string          // of a persona (FieldForm): the statement is its value; "" for none
}

// observationID is the id of the observation that is made of learnings: the same on every
// machine that makes it of the same ones.
func observationID(of []note.ID) note.ID {
	first := slices.Min(of)
	sum := sha256.Sum256([]byte(first))
	return note.ID("obs-" + hex.EncodeToString(sum[:8]))
}

// Observe writes an observation. One that stands gets the evidence that it does not have
// yet, and the statement if there is one; what is known already changes nothing
// (Unchanged). The learnings that it replaces stay reachable. An observation that its owner
// archived is Dropped: it does not come back on its own. With Statement, the error is that
// of a note that is not valid; with an ID that is no observation it is fs.ErrNotExist.
func (g *Ingester) Observe(ctx context.Context, o Observation) (out Outcome, err error) {
	began := time.Now()
	err = locked(ctx, g.store, func(w *store.Writer) error {
		id := o.ID
		switch {
		case o.Field != "":
			if id, err = fieldID(o.Project, o.Field); err != nil {
				return err
			}
		case id == "" && len(o.Of) > 0:
			id = observationID(o.Of)
		}
		var was *note.Note
		var ref store.Ref
		if id != "" {
			if at, err := g.find(ctx, id); err != nil {
				return err
			} else if at.Path != "" {
				if was, _, ref, err = g.store.Read(at.Path); err != nil {
					return err
				}
			}
		}
		switch {
		case was == nil && o.ID != "" && !o.New && o.Field == "":
			return fmt.Errorf("observation %s: %w", o.ID, fs.ErrNotExist)
		case was != nil && was.Kind != note.Observation:
			return fmt.Errorf("note %s is no observation: %w", id, fs.ErrNotExist)
		case was != nil && !was.Live(g.store.Now()) && !o.Human:
			out = Outcome{Result: Dropped, Why: "its owner retired it"}
			return nil
		case was != nil && o.Field != "" && !o.Human && owned(was):
			out = Outcome{Result: Unchanged, Note: was, Why: "a person wrote it"}
			return nil
		}
		if was == nil {
			was = g.complete(&note.Note{
				ID: id, Type: note.Semantic, Kind: note.Observation, Project: o.Project, Scope: note.Portable,
				Provenance: note.Provenance{Source: note.Learning, Confidence: 0.5},
			})
			if o.Human {
				was.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
			} else {
				was.AddTags("learning")
			}
			was.AddTags("observation")
		}
		n := was.Clone()
		out.Note = n
		if g.fold(n, o); o.Field != "" {
			setField(was, n, o)
		}
		if plain(n); n.Provenance.Source != note.Human {
			out.Redacted = g.redact(n)
		}
		if ref.Path != "" {
			if err := n.Validate(); err != nil {
				return err
			}
			if note.Equal(was, n) && was.Trusted == (was.Trusted || o.Human) {
				out.Result, out.Note, out.Ref = Unchanged, was, ref
				return nil
			}
			n.UpdatedAt = note.At(g.store.Now())
			out.Result, out.Note = Updated, n
			return g.vouched(ctx, w, o.Human, n, ref, store.Update, &out)
		}
		if err := n.ValidateNew(); err != nil {
			return err
		}
		if day, err := g.forgotten(n); err != nil || day != "" {
			out.Result, out.Note, out.Why = Dropped, nil, "this was forgotten on "+day+" and does not come back on its own"
			return err
		}
		out.Result = Created
		return g.vouched(ctx, w, o.Human, n, store.Ref{}, store.Update, &out)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("observe %q: %w", shorten(o.Statement), err)
	}
	if out.Result != Unchanged && out.Note != nil {
		g.log(out, time.Since(began))
	}
	return out, nil
}

// fold gives an observation what supports it.
func (g *Ingester) fold(n *note.Note, o Observation) {
	evidence := slices.Clone(n.Evidence)
	var said []string
	sure := 0.0
	for _, id := range o.Of {
		m, _, err := store.Get(g.store, id)
		if err != nil {
			continue
		}
		if n.HowToApply == "" {
			n.HowToApply = m.HowToApply
		}
		evidence = note.UnionEvidence(evidence, m.Evidence)
		said = append(said, "- "+m.Title+" ("+string(id)+")")
		if !slices.Contains(n.DerivedFrom, id) {
			n.DerivedFrom = append(n.DerivedFrom, id)
		}
		if slices.Contains(o.Replaces, id) && !slices.Contains(n.Supersedes, id) {
			n.Supersedes = append(n.Supersedes, id)
		}
		sure = max(sure, m.Provenance.Confidence)
	}
	n.Evidence = note.UnionEvidence(evidence, o.Evidence)
	n.ProofCount = max(1, n.Sessions())
	if n.Learnt() && !n.IsReviewed() { // what many sessions say is surer
		n.Provenance.Confidence = max(n.Provenance.Confidence, min(0.95, sure+0.05*float64(max(0, n.ProofCount-1))))
	}
	if o.Statement != "" {
		n.Title, n.Rule = strings.TrimRight(strings.TrimSpace(o.Statement), ".。"), strings.TrimSpace(o.Statement)
		n.Provenance.Model = o.Model
	}
	if o.Category != "" {
		n.Category = o.Category
	}
	old, _, _ := strings.Cut(n.Body, seen)
	for _, line := range strings.Split(strings.TrimPrefix(n.Body, old+seen), "\n") {
		if strings.HasPrefix(line, "- ") && !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	if slices.Sort(said); len(said) > 0 {
		n.Body = strings.TrimSpace(old) + "\n\n" + seen + "\n" + strings.Join(said, "\n")
	} else if n.Body == "" {
		n.Body = n.Rule
	}
	n.Body = strings.TrimSpace(n.Body)
}

// seen stands before the learnings that an observation folds.
const seen = "**Seen in:**"
