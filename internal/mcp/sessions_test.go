package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
)

// An agent finds what happened in a session under the notes, and reads it with its neighbours.
func TestSessions(t *testing.T) {
	w := open(t, inShop)
	w.add(t, note.Note{Title: "The checkout rounds half up", Body: "In pay/vat.go.", Project: "shop"})
	s := agenttest.Talk("> add a field for the coupon", "~ cart.go", "Added the field.",
		"> the coupon is applied twice at checkout", "The listener is registered for every render, so the coupon runs twice.", "~ checkout.go", "It is registered once now.",
		"> commit it", "$ git commit -am coupon => [main abc1234] Coupon once", "Done.")
	h := session.Head{Session: "s-1", Agent: "claude", Project: "shop", Title: "Coupons", Started: s.Turns[0].At, Ended: s.Turns[9].At}
	if err := w.Kept.Put(t.Context(), h, session.Cut(s, strings.TrimSpace), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Kept.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	cs := w.client(t)
	got, _ := call(t, cs, "memory_search", args{"query": "why was the coupon applied twice"})
	data, _ := json.Marshal(got)
	id := h.Key() + ".2"
	if !strings.Contains(string(data), `"id":"`+id+`"`) || !strings.Contains(string(data), "registered for every render") {
		t.Fatalf("the answer: %s", data)
	}
	got, _ = call(t, cs, "memory_get", args{"ids": []string{id}})
	data, _ = json.Marshal(got)
	for _, part := range []string{"~ /src/app/checkout.go", "add a field for the coupon", "commit abc1234"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the exchange lacks %q: %s", part, data)
		}
	}
	if got, _ := call(t, cs, "memory_search", args{"query": "which pancake recipe did the unicorn prefer"}); got["sessions"] != nil {
		t.Errorf("nonsense finds %v", got["sessions"])
	}
	if got, _ := call(t, cs, "memory_search", args{"query": "coupon applied twice", "project": "other"}); got["sessions"] != nil {
		t.Errorf("another project finds %v", got["sessions"])
	}
	refused(t, cs, "memory_get", args{"ids": []string{"0000000000.1"}})
}
