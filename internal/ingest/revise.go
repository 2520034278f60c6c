package ingest

import (
	"crypto/sha256"
	"encoding/hex"

	"anamnesis/internal/note"
)

// revise returns the note that follows when draft arrives for a note that
// exists. A captured session that was captured before is shown again from its
// longer transcript: the new summary replaces the old one, unless somebody
// edited that, and what was added since (tags, evidence, unknown keys) stays.
func revise(was, draft *note.Note) *note.Note {
	if draft.Type != note.Episodic || was.Type != note.Episodic {
		now := draft.Clone()
		now.CreatedAt, now.UpdatedAt, now.Extra = was.CreatedAt, was.UpdatedAt, was.Extra
		return now
	}
	now := was.Clone()
	if edited := was.UserSaid() || was.ImportHash != "" && was.ImportHash != SummaryHash(was.Title, was.Body); !edited {
		now.Title, now.Body, now.ImportHash = draft.Title, draft.Body, draft.ImportHash
		now.Provenance.Model = draft.Provenance.Model
	}
	if was.Speculative && !draft.Speculative { // its end was shown after all
		now.Speculative, now.Provenance.Confidence = false, draft.Provenance.Confidence
	}
	now.AddTags(draft.Tags...)
	now.Commits, now.UnverifiedRefs = draft.Commits, draft.UnverifiedRefs
	unite(now, draft)
	return now
}

// SummaryHash is what a captured note remembers of the summary, to tell
// later whether somebody edited it.
func SummaryHash(title, body string) string {
	sum := sha256.Sum256([]byte(title + "\x00" + body))
	return hex.EncodeToString(sum[:8])
}

// unite adds the evidence of b to a, its asks where a has none, and counts the sessions again: a proof
// count is never added up, so that two machines that unite the same notes agree.
func unite(a, b *note.Note) {
	if len(a.Asks) == 0 {
		a.Asks = b.Asks
	}
	a.Evidence = note.UnionEvidence(a.Evidence, b.Evidence)
	if n := a.Sessions(); n > 0 {
		a.ProofCount = n
	}
}
