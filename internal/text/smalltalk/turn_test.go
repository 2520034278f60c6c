package smalltalk_test

import (
	"strings"
	"testing"

	"anamnesis/internal/text/smalltalk"
)

func TestTurnOf(t *testing.T) {
	for text, want := range map[string]smalltalk.Turn{
		"":                              smalltalk.Request,
		"!?":                            smalltalk.Request,
		"add a retry to the client":     smalltalk.Request,
		"why does the build fail?":      smalltalk.Request,
		"no such file when I start it":  smalltalk.Request,
		"no space left on db7":          smalltalk.Request,
		"wait for the queue to drain":   smalltalk.Request,
		"is the pool limited?":          smalltalk.Request,
		"and add an index to the table": smalltalk.Request,

		"no, the other file": smalltalk.Correction,
		"no, the retry belongs into the worker and not into the handler, and leave the timeout as it was": smalltalk.Correction,
		"No no, keep the order":                   smalltalk.Correction,
		"wait, not mx3":                           smalltalk.Correction,
		"I said overlap 100":                      smalltalk.Correction,
		"you broke the sorting, newest first":     smalltalk.Correction,
		"fade, not slide":                         smalltalk.Correction,
		"not on all, only billing":                smalltalk.Correction,
		"nein, ich meinte die andere Tabelle":     smalltalk.Correction,
		"sorry, undo that":                        smalltalk.Correction,
		"ok, reindex over night":                  smalltalk.Reply,
		"yes that explains it":                    smalltalk.Reply,
		"and who empties that table?":             smalltalk.Followup,
		"does that also cover names?":             smalltalk.Followup,
		"should I write to the bank anyway?":      smalltalk.Followup,
		"rename the package scan to walk":         smalltalk.Operation,
		"please sort the imports":                 smalltalk.Operation,
		"what is the difference between a and b?": smalltalk.Operation,
	} {
		if got := smalltalk.TurnOf(text); got != want {
			t.Errorf("%q is turn %d, wanted %d", text, got, want)
		}
	}
	for _, long := range []string{
		"no, " + strings.Repeat("the pool of the worker is too small and ", 4),
		"ok then add a retry with jitter to the payment client",
		"no, wrong\nthe log says that the pool is full",
		strings.Repeat("no ", 9000),
	} {
		if got := smalltalk.TurnOf(long); got != smalltalk.Request {
			t.Errorf("%.40q is turn %d, and says something new", long, got)
		}
	}
}

func FuzzTurnOf(f *testing.F) {
	for _, s := range []string{"no, x", "and?", "fade, not slide", "ok ok", "\xff", "não é isso", "不对"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := smalltalk.TurnOf(text); got < smalltalk.Request || got > smalltalk.Operation {
			t.Errorf("turn %d", got)
		}
	})
}
