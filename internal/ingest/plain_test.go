package ingest_test

import (
	"strings"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// TestPlain holds that no note is written with what is for a terminal, whoever writes it, and that text about it stays.
func TestPlain(t *testing.T) {
	const esc = "\x1b[31mred\x1b[0m \x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\"
	for _, source := range []string{note.Human, note.Agent, note.Import} {
		d := newDoor(t)
		out := d.add(note.Note{
			Title: "Use " + esc, Body: "line\n\tone " + esc + "\rtwo\nliteral \\e[31m", Tags: []string{"a\x1b[1mb"}, Rule: esc,
			Provenance: note.Provenance{Source: source, Confidence: 1},
		}, false)
		check := func(n *note.Note) {
			t.Helper()
			if n.Title != "Use red link" || n.Body != "line\n\tone red link\ntwo\nliteral \\e[31m" || n.Tags[0] != "ab" || n.Rule != "red link" {
				t.Errorf("%s: %q, %q, %q, %q", source, n.Title, n.Body, n.Tags, n.Rule)
			}
		}
		check(out.Note)
		edited, data, _, err := d.store.Read(out.Ref.Path)
		if err != nil || strings.ContainsAny(string(data), "\x1b\r") {
			t.Fatalf("%v: %q", err, data)
		}
		check(edited)
		edited.Body += " \x1b[1mbold"
		if out, err = d.Edit(t.Context(), ingest.Person, edited.ID, data, edited.Format(), ingest.AskFirst); err != nil || !strings.HasSuffix(out.Note.Body, "[31m bold") {
			t.Errorf("%v: %q", err, out.Note.Body)
		}
	}
}

// TestPlainSlot holds the same of a slot.
func TestPlainSlot(t *testing.T) {
	d := newDoor(t)
	out, err := d.slots().Edit(t.Context(), ingest.SlotEdit{Name: "notes", Change: ingest.AppendSlot, Text: "\x1b[1mbold\x1b[0m", By: ingest.Person})
	if err != nil || strings.TrimSpace(out.Note.Body) != "bold" {
		t.Errorf("%v: %+v", err, out.Note)
	}
}
