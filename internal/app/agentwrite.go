package app

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/capture"
	"anamnesis/internal/claim"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// An AgentDraft is a note that an agent wants to write.
type AgentDraft struct {
	Note     *note.Note // of the source note.Agent
	Replaces note.ID    // the note that it says it replaces; "" for none
	Here     string     // the project of the agent's session; "" when nobody knows
	Dir      string     // its folder, in whose repository commits are looked up
}

// reservedTags say what a person or this program did; an agent cannot set them.
var reservedTags = []string{note.ReviewedTag, learn.Tag, note.CandidateTag}

// WriteByAgent writes a note of an agent. It is in force at once when it is for the project of
// its session, names no step that forces, skips a check or deletes, and contradicts nothing that
// a person laid down; else it waits for the user. One that reads like orders to an agent is put
// in quarantine.
func WriteByAgent(ctx context.Context, r *Rooms, d AgentDraft) (ingest.Learned, error) {
	n := d.Note.Clone()
	n.Provenance = note.Provenance{Source: note.Agent, Confidence: 0.8, Model: n.Provenance.Model, Session: n.Provenance.Session}
	n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return slices.Contains(reservedTags, t) })
	n.Evidence, n.Quarantine = nil, redact.PromptInjection(n.Title+"\n"+n.Body)
	if d.Dir != "" {
		capture.Stamp(n, d.Dir, r.Redactor)
	}
	if !n.Type.Durable() || n.Quarantine {
		out, err := r.Ingester.Add(ctx, ingest.Draft{Note: n, Dir: d.Dir})
		return ingest.Learned{Outcome: out}, err
	}
	why := ""
	if n.Project != d.Here {
		why = fmt.Sprintf("it is for %s, and the session works on another project", n.Project)
		if d.Here == "" {
			why = fmt.Sprintf("it is for %s, and the project of the session is not known", n.Project)
		}
	} else if risky := claim.Risky(n.Title + "\n" + n.Body); risky != "" {
		why = fmt.Sprintf("it names %q, which forces, skips a check or deletes", risky)
	}
	beliefs := ingest.BeliefsOf(r.Ingester)
	if why != "" {
		out, err := beliefs.Wait(ctx, n, why)
		return ingest.Learned{Outcome: out}, err
	}
	return beliefs.Learn(ctx, ingest.Learning{Note: n, Replaces: d.Replaces, Dir: d.Dir})
}
