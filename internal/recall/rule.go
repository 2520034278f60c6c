package recall

import (
	"slices"
	"strings"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
)

// leastRuleConfidence is how sure a machine's note is at least whose triggers are only proposed.
const leastRuleConfidence = 0.5

// IsRule reports whether a note is a rule: it lasts, it is not in doubt, and a person vouches
// for it, a session taught it, or it has triggers.
func IsRule(n *note.Note) bool {
	return stands(n) && n.Author == "" && (n.UserSaid() || n.Learnt() || len(n.Triggers()) > 0)
}

func stands(n *note.Note) bool {
	return n.Type.Durable() && n.Kind == "" && n.Live(time.Time{}) && !n.Speculative && n.Validated != "false"
}

// Triggers returns the triggers of a note, or else those that it has by its form; proposed says
// which. A note that does not last has none, and no machine's in doubt has any by its form. Those of a
// teammate count when the user trusts them, and none by its form.
func Triggers(n *note.Note, runs Runs) (all []note.Trigger, proposed bool) {
	if !stands(n) || n.Author != "" && !n.Believed {
		return nil, false
	}
	if all = n.Triggers(); len(all) > 0 || n.Author != "" || !proposes(n.UserSaid(), n.Provenance.Source, n.Provenance.Confidence) {
		return all, false
	}
	return propose(n, runs), true
}

// proposes reports whether the triggers of a note count that it has by its form.
func proposes(person bool, source string, confidence float64) bool {
	machine := source == note.Agent || slices.Contains(note.LearntSources, source)
	return person || machine && confidence >= leastRuleConfidence
}

// vouched reports whether a rule may be injected before a tool: one with a command that forces,
// skips a check or deletes only where a person vouches for it.
func vouched(n *note.Note) bool {
	return n.UserSaid() ||
		claim.Risky(strings.Join([]string{n.Title, n.Rule, n.Fix, n.HowToApply, n.KeyInsight, cutWords(n.Body, maxRuleBody)}, "\n")) == ""
}

// maxRuleBody is how many bytes of a body are looked at.
const maxRuleBody = 32 << 10
