package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
)

// FieldForm is the form of the name of a persona's field: commit_style, naming_convention.
var FieldForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{1,39}$`) })

// fieldID is the id of the observation that holds a field of a project, on every machine.
func fieldID(project, field string) (note.ID, error) {
	if !FieldForm().MatchString(field) {
		return "", fmt.Errorf("%.60q names no field: small letters, digits and _, as in commit_style", field)
	}
	sum := sha256.Sum256([]byte("persona\x00" + project + "\x00" + field))
	return note.ID("obs-" + hex.EncodeToString(sum[:8])), nil
}

// fieldSources is how many sessions make a field certain.
const fieldSources = 12

// setField makes n, which has been folded, the note of a field: its body is the value alone. Another
// value than that of was has its own sources only. A person's value is certain; that of a machine is
// as sure as its sessions, of fieldSources.
func setField(was, n *note.Note, o Observation) {
	n.AddTags("persona", "field:"+o.Field)
	n.Title = "persona: " + strings.ReplaceAll(o.Field, "_", " ")
	n.Category = "persona"
	if o.Statement != "" {
		n.Body = strings.TrimSpace(o.Statement)
		if was.Rule != "" && claim.Compare(claim.Text(was.Rule), claim.Text(o.Statement)) != claim.Same {
			n.Evidence = newEvidence(was, n)
		}
	}
	n.ProofCount = max(1, n.Sessions())
	if o.Human {
		n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
		return
	}
	n.Provenance.Confidence = min(1, float64(n.ProofCount)/fieldSources)
}

// newEvidence is the evidence of now that was does not have.
func newEvidence(was, now *note.Note) (only []note.Evidence) {
	for _, e := range now.Evidence {
		if !proves(was, []note.Evidence{e}) {
			only = append(only, e)
		}
	}
	return only
}
