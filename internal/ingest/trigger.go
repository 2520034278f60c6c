package ingest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"anamnesis/internal/note"
	"anamnesis/internal/risk"
	"anamnesis/internal/text/shell"
)

// Bounds of the triggers that no person gives.
const (
	leastTrigger  = 3 // letters and digits of a pattern
	mostTriggers  = 3 // of a note
	mostTriggered = 5 // notes with triggers that wait, of a session; without a session, of a project in a day
)

// A TriggerError says why a trigger of a note is refused.
type TriggerError struct{ Trigger, Why string }

func (e *TriggerError) Error() string { return fmt.Sprintf("trigger %q %s", e.Trigger, e.Why) }

// boundTriggers takes the triggers off a draft that fit too much, or are too many. A person's stay. An agent gets an error, so that
// it can give a better trigger.
func (d *Draft) boundTriggers(g *Ingester, n *note.Note, known risk.Known) error {
	if d.By == Person || len(n.When) == 0 {
		return nil
	}
	var wrong *TriggerError
	kept := slices.DeleteFunc(slices.Clone(n.When), func(w string) bool {
		t, err := note.ParseTrigger(w)
		why := ""
		if err == nil && !(d.By.Speaks() && d.triggerNamed(w)) {
			why = wide(t, known)
		}
		if why != "" && wrong == nil {
			wrong = &TriggerError{w, why}
		}
		return why != ""
	})
	if len(kept) > mostTriggers {
		wrong = &TriggerError{kept[mostTriggers], fmt.Sprintf("is one too many: a note has at most %d", mostTriggers)}
		kept = kept[:mostTriggers]
	}
	if wrong != nil && d.By == Agent {
		return wrong
	}
	if len(kept) > 0 && !d.By.Speaks() && g.triggered(n) >= mostTriggered {
		kept = nil
	}
	n.When = kept
	return nil
}

// triggersInForce returns the triggers of a draft that need no person.
func (d *Draft) triggersInForce(n *note.Note) []string {
	switch triggers[d.By] {
	case Create:
		return slices.Clone(n.When)
	case IfNamed:
		return slices.DeleteFunc(slices.Clone(n.When), func(w string) bool { return !d.triggerNamed(w) })
	}
	return nil
}

// wide says why a trigger fits too much, "" when it does not.
func wide(t note.Trigger, known risk.Known) string {
	letters := 0
	for _, r := range t.Pattern {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || t.Kind == note.OnPath && r == '.' {
			letters++
		}
	}
	fields := strings.Fields(t.Pattern)
	switch {
	case letters < leastTrigger:
		return fmt.Sprintf("fits too much: give at least %d letters", leastTrigger)
	case t.Kind == note.OnCommand && len(fields) == 1 && shell.Silent([][]string{fields}),
		t.Kind == note.OnCommand && len(fields) == 1 && known.Often != nil && known.Often(fields[0]):
		return "fits too much: give an argument of the command, too"
	case t.Kind == note.OnError && plainWord().MatchString(t.Pattern):
		return "is one plain word: give more of the error"
	}
	return ""
}

// plainWord is a word as it is in any sentence, and no name, code or number.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\p{L}?\p{Ll}*[:.!]?$`) })

// triggered counts the drafts with triggers that wait for a person, of the session of a note, or of its project in the last day.
func (g *Ingester) triggered(n *note.Note) (count int) {
	since := g.store.Now().Add(-24 * time.Hour)
	for _, had := range g.store.Spool().Held() {
		if len(had.When) == 0 || had.Decided() || had.ID == n.ID || had.Provenance.Session != n.Provenance.Session {
			continue
		}
		if at, ok := had.CreatedAt.Time(); n.Provenance.Session != "" || had.Project == n.Project && ok && at.After(since) {
			count++
		}
	}
	return count
}
