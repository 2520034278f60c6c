package cli

import (
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// demoDraft is the note that the demo writes by hand.
func demoDraft() ingest.Draft {
	return ingest.Draft{Note: &note.Note{
		Type: note.Procedural, Project: "storefront", Scope: note.Portable, Tags: []string{"grpc", "staging"},
		Title:      "Regenerate the gRPC clients after editing payments.proto",
		Body:       "Run `make proto-gen` and commit the result together with the change.\nWithout it staging breaks: the old clients reject the new field.",
		Provenance: note.Provenance{Source: note.Human, Confidence: 1},
	}}
}
