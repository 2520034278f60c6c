package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A SkillFile is a skill of an agent as its file on this machine says it (R20).
type SkillFile struct {
	Path    string // absolute; what the skill is known by
	Project string // whose it is; note.Global for all projects
	Name    string
	Summary string
	Tags    []string
	Body    string
	Changed time.Time // when the file was changed last
	State   string    // of the file: it is not read again while it has this
}

// Skills are the copies that memory keeps of the skills of this machine's agents: notes of
// kind note.Skill that never leave the machine. They are safe for concurrent use.
type Skills struct{ g *Ingester }

// SkillsOf returns the skills behind the door.
func SkillsOf(g *Ingester) Skills { return Skills{g} }

// skillGone is why the copy of a skill is archived.
const skillGone = "its file is gone"

// SkillID is the id of the copy of a file.
func SkillID(path string) note.ID {
	sum := sha256.Sum256([]byte(path))
	return note.ID("skill-" + hex.EncodeToString(sum[:8]))
}

// A KnownSkill is the copy of a file.
type KnownSkill struct {
	ID    note.ID
	Path  string
	State string // SkillFile.State when it was copied
	Dead  bool   // its file is gone
}

// Known lists the copies.
func (s Skills) Known(ctx context.Context) ([]KnownSkill, error) {
	rows, err := s.g.index.Select(ctx, index.Filter{Kind: note.Skill, Dead: true, Now: s.g.store.Now()}, 0)
	if err != nil {
		return nil, err
	}
	all := make([]KnownSkill, 0, len(rows))
	for i := range rows {
		if n, _, _, err := s.g.store.Read(rows[i].Ref.Path); err == nil && n.ID == rows[i].ID {
			all = append(all, KnownSkill{n.ID, n.ImportedID, n.ImportHash, rows[i].Dead})
		}
	}
	return all, nil
}

// Put brings the copy of a file into step with it. What the file says is redacted. A skill
// that the owner forgot does not come back.
func (s Skills) Put(ctx context.Context, f SkillFile) (Outcome, error) {
	began := time.Now()
	n := s.g.complete(&note.Note{
		ID: SkillID(f.Path), Type: note.Procedural, Kind: note.Skill, Scope: note.Local, Title: f.Name, KeyInsight: f.Summary, Body: f.Body,
		Project: f.Project, Tags: f.Tags, ImportedID: f.Path, ImportHash: f.State, UpdatedAt: note.At(f.Changed), CreatedAt: note.At(f.Changed),
		Provenance: note.Provenance{Source: note.Import, Confidence: 1},
	})
	out := Outcome{Note: n, Redacted: s.g.redact(n)}
	n.ImportedID, n.ImportHash = f.Path, f.State
	if err := n.ValidateNew(); err != nil {
		return Outcome{}, fmt.Errorf("skill %s: %w", f.Path, err)
	}
	err := locked(ctx, s.g.store, func(w *store.Writer) error {
		forgotten, err := s.g.forgotten(n)
		if err != nil || forgotten != "" {
			out.Result, out.Note, out.Why = Dropped, nil, "this was forgotten on "+forgotten+" and does not come back on its own"
			return err
		}
		old, err := s.g.find(ctx, n.ID)
		if err != nil {
			return err
		}
		out.Result = Created
		if old.Path != "" {
			out.Result = Updated
			if was, _, _, err := s.g.store.Read(old.Path); err == nil {
				n.CreatedAt = was.CreatedAt
			}
		}
		return s.g.write(ctx, w, n, old, store.Update, &out)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("skill %s: %w", f.Path, err)
	}
	s.g.log(out, time.Since(began))
	return out, nil
}

// Retire archives the copies of files that are gone.
func (s Skills) Retire(ctx context.Context, ids []note.ID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := s.g.Archive(ctx, ids, skillGone)
	return err
}
