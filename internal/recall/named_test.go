package recall_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// Two notes without sidecars that name the same thing are one step apart, as
// long as hardly anything else names it.
func TestNamedInText(t *testing.T) {
	notes := []note.Note{
		{ID: "asked", Title: "Totals of an order are wrong", Body: "An order with a discount: recalcTax runs before it."},
		{ID: "second", Title: "Rounding", Body: "Half a cent goes up; see recalcTax."},
		{ID: "alone", Title: "Labels", Body: "They hold renderLabel."},
	}
	graph := func(notes []note.Note) map[note.ID]string {
		e, _ := open(t, notes...)
		why := make(map[note.ID]string)
		for _, h := range ask(t, e, recall.Query{Text: "why are the totals of an order wrong"}).Hits {
			if f, ok := h.Found["graph"]; ok {
				why[h.Row.ID] = f.Why
			}
		}
		return why
	}
	if got := graph(notes); len(got) != 1 || got["second"] != "names the same thing as asked" {
		t.Errorf("found over the graph: %v", got)
	}
	notes = append(notes, note.Note{ID: "third", Title: "Refunds", Body: "They call recalcTax."})
	if got := graph(notes); len(got) != 2 {
		t.Errorf("of three: %v", got)
	}
	notes = append(notes, note.Note{ID: "fourth", Title: "Vouchers", Body: "They call recalcTax."})
	if got := graph(notes); len(got) != 0 {
		t.Errorf("what four notes name leads to %v", got)
	}
}

// A note that is found without it gains nothing by it: the order of what other
// arms put first stays.
func TestNamedInTextOrdersNothing(t *testing.T) {
	e, _ := open(t,
		note.Note{ID: "first", Title: "Totals of an order", Body: "The totals of an order are made by recalcTax."},
		note.Note{ID: "second", Title: "Orders and totals", Body: "They come from recalcTax " + strings.Repeat("and more ", 9)},
	)
	for _, h := range ask(t, e, recall.Query{Text: "totals of an order"}).Hits {
		if f, ok := h.Found["graph"]; ok {
			t.Errorf("%s: %+v", h.Row.ID, f)
		}
	}
}
