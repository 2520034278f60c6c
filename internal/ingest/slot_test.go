package ingest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

func (d *door) slots() ingest.Slots { return ingest.SlotsOf(d.Ingester) }

// slot changes a slot of the project p.
func (d *door) slot(change ingest.SlotChange, name, text, source string) (ingest.Outcome, error) {
	d.Helper()
	return d.slots().Edit(d.Context(), ingest.SlotEdit{Change: change, Name: name, Project: "p", Text: text, Here: "p", By: map[string]ingest.Author{
		note.Human: ingest.Person, note.Agent: ingest.Agent, note.SessionEnd: ingest.Model,
	}[source]})
}

func (d *door) slotText(name string) string {
	d.Helper()
	text, err := d.slots().Text(d.Context(), "p", name)
	if err != nil {
		d.Fatal(err)
	}
	return text
}

func TestSlot(t *testing.T) {
	d := newDoor(t)
	for _, step := range []struct {
		change ingest.SlotChange
		text   string
		result ingest.Result
		want   string
	}{
		{ingest.AppendSlot, "one", ingest.Created, "one"},
		{ingest.AppendSlot, "two", ingest.Updated, "one\ntwo"},
		{ingest.AppendSlot, "one", ingest.Unchanged, "one\ntwo"},
		{ingest.ReplaceSlot, "three\r\nand \x00four\n", ingest.Updated, "three\nand four"},
		{ingest.ClearSlot, "", ingest.Updated, ""},
		{ingest.ClearSlot, "", ingest.Unchanged, ""},
		{ingest.AppendSlot, "five", ingest.Updated, "five"},
	} {
		d.now = d.now.Add(time.Minute) // what is known already keeps its time
		out, err := d.slot(step.change, "guidance", step.text, note.Human)
		if err != nil || out.Result != step.result || d.slotText("guidance") != step.want {
			t.Errorf("%s %q: %v, %v, holds %q", step.change, step.text, out.Result, err, d.slotText("guidance"))
		}
	}
	n := d.read(ingest.SlotID("p", "guidance"))
	if n.Kind != note.Slot || n.Title != "guidance" || n.Scope != note.Portable || n.KeyInsight == "" {
		t.Errorf("%+v", n)
	}
	if _, err := d.slot(ingest.AppendSlot, "files_in_work", "a.go", note.SessionEnd); err != nil {
		t.Error(err)
	}
	if n := d.read(ingest.SlotID("p", "files_in_work")); n.Scope != note.Local {
		t.Errorf("an automatic slot leaves the machine: %s", n.Scope)
	}
	if _, err := d.slot(ingest.ReplaceSlot, "self_notes", "the key is "+secret, note.Agent); err != nil || strings.Contains(d.slotText("self_notes"), secret) {
		t.Errorf("%v, %q", err, d.slotText("self_notes"))
	}
	for name, change := range map[string]ingest.SlotChange{
		"Guidance": ingest.AppendSlot, "": ingest.AppendSlot, "../x": ingest.AppendSlot, "1st": ingest.AppendSlot, strings.Repeat("a", 65): ingest.AppendSlot,
		"nobody": ingest.ClearSlot, "none": ingest.UnpinSlot, "guidance": "burn",
	} {
		if _, err := d.slot(change, name, "text", note.Human); err == nil {
			t.Errorf("%s of %q was taken", change, name)
		}
	}
	var refused *ingest.SlotError
	if _, err := d.slot(ingest.ReplaceSlot, "guidance", " \x00\n", note.Human); !errors.As(err, &refused) {
		t.Errorf("a text of nothing: %v", err)
	}
}

// What its owner pinned no agent and no run changes.
func TestPinnedSlot(t *testing.T) {
	d := newDoor(t)
	var refused *ingest.SlotError
	for _, step := range []struct {
		change ingest.SlotChange
		source string
		ok     bool
	}{
		{ingest.ReplaceSlot, note.Agent, true},
		{ingest.PinSlot, note.Human, true},
		{ingest.AppendSlot, note.Agent, false},
		{ingest.ClearSlot, note.SessionEnd, false},
		{ingest.UnpinSlot, note.Agent, false},
		{ingest.AppendSlot, note.Human, true},
		{ingest.UnpinSlot, note.Human, true},
		{ingest.AppendSlot, note.Agent, true},
	} {
		if _, err := d.slot(step.change, "guidance", "by "+step.source, step.source); (err == nil) != step.ok || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s by %s: %v", step.change, step.source, err)
		}
	}
}

func TestSlotIsFull(t *testing.T) {
	d := newDoor(t)
	var refused *ingest.SlotError
	if _, err := d.slot(ingest.ReplaceSlot, "persona", strings.Repeat("é", 1001), note.Human); !errors.As(err, &refused) {
		t.Errorf("1001 characters: %v", err)
	}
	if _, err := d.slot(ingest.ReplaceSlot, "persona", strings.Repeat("é", 1000), note.Human); err != nil {
		t.Error(err)
	}
	if _, err := d.slot(ingest.AppendSlot, "persona", "x", note.Human); !errors.As(err, &refused) || d.slotText("persona") != strings.Repeat("é", 1000) {
		t.Errorf("one line more: %v", err)
	}
	limit := func(n int) error {
		_, err := d.slots().Edit(t.Context(), ingest.SlotEdit{Change: ingest.LimitSlot, Name: "persona", Project: "p", Limit: n, By: ingest.Person})
		return err
	}
	if err := limit(1002); err != nil {
		t.Fatal(err)
	}
	if _, err := d.slot(ingest.AppendSlot, "persona", "x", note.Human); err != nil {
		t.Errorf("with more room: %v", err)
	}
	if limit(0) == nil || limit(1<<30) == nil {
		t.Error("a size of nothing or without end was taken")
	}
}

// A slot that an import wrote under another id is the slot of that name.
func TestSlotOfAnImport(t *testing.T) {
	d := newDoor(t)
	d.named("slot-imported", note.Note{Title: "guidance", Body: "old", Kind: note.Slot, Project: "p"})
	if _, err := d.slot(ingest.AppendSlot, "guidance", "new", note.Human); err != nil || d.slotText("guidance") != "old\nnew" {
		t.Errorf("%v, %q", err, d.slotText("guidance"))
	}
	if rows, err := d.slots().List(t.Context(), []string{"p"}, true); err != nil || len(rows) != 1 {
		t.Errorf("%d slots, %v", len(rows), err)
	}
}

// What was forgotten a machine does not write again.
func TestForgottenSlot(t *testing.T) {
	d := newDoor(t)
	out, err := d.slot(ingest.ReplaceSlot, "pending_items", "- call the bank", note.SessionEnd)
	if err != nil {
		t.Fatal(err)
	}
	d.forget(out.Note.ID)
	if out, err := d.slot(ingest.ReplaceSlot, "pending_items", "- call the bank", note.SessionEnd); err != nil || out.Result != ingest.Dropped {
		t.Errorf("%v, %v", out.Result, err)
	}
	if out, err := d.slot(ingest.ReplaceSlot, "pending_items", "- call the bank", note.Human); err != nil || out.Result != ingest.Created || !out.Revoked {
		t.Errorf("its owner: %v, %v", out.Result, err)
	}
}
