package mcp_test

import (
	"strings"
	"testing"

	"anamnesis/internal/ingest"
)

func TestSlotTool(t *testing.T) {
	w := open(t, inShop)
	cs := w.client(t)
	if out, text := call(t, cs, "memory_slot", args{"action": "append", "name": "self_notes", "text": "tests need redis", "project": "shop"}); out["outcome"] != "created" {
		t.Fatalf("append: %s", text)
	}
	if _, text := call(t, cs, "memory_slot", args{"action": "list", "project": "shop"}); !strings.Contains(text, "tests need redis") {
		t.Errorf("list: %s", text)
	}
	if _, text := call(t, cs, "memory_slot", args{"action": "list", "project": "other"}); strings.Contains(text, "tests need redis") {
		t.Errorf("list of another project: %s", text)
	}
	if _, err := ingest.SlotsOf(w.Ingester).Edit(t.Context(), ingest.SlotEdit{Change: ingest.PinSlot, Name: "self_notes", Project: "shop", By: ingest.Person}); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]args{
		"pinned":    {"action": "replace", "name": "self_notes", "text": "x", "project": "shop"},
		"automatic": {"action": "append", "name": "pending_items", "text": "x", "project": "shop"},
		"no name":   {"action": "append", "text": "x", "project": "shop"},
		"bad name":  {"action": "append", "name": "../x", "text": "x", "project": "shop"},
		"no text":   {"action": "append", "name": "self_notes", "project": "shop"},
		"clear":     {"action": "clear", "name": "self_notes", "project": "shop"},
		"all":       {"action": "list", "project": "*"},
		"too large": {"action": "append", "name": "other", "text": strings.Repeat("x", 1<<20), "project": "shop"},
	} {
		if why := refused(t, cs, "memory_slot", a); why == "" {
			t.Errorf("%s: no word why", name)
		}
	}
}
