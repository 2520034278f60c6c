package recall

import (
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
)

// IsRule reports whether a note is a rule: it lasts, it is not in doubt, and a person vouches
// for it, a session taught it, or it has triggers.
func IsRule(n *note.Note) bool {
	return stands(n) && n.Author == "" && (n.UserSaid() || n.Learnt() || len(n.Triggers()) > 0)
}

func stands(n *note.Note) bool {
	return n.Type.Durable() && n.Kind == "" && n.Live(time.Time{}) && !n.Speculative && n.Validated != "false"
}

// Triggers returns the triggers of a note, or else those that it has by its form; proposed says
// which. A note that does not last has none, and neither has one that its user has not confirmed or a teammate's
// whom the user does not trust. By its form a note has triggers only if the user vouches for it.
func Triggers(n *note.Note, runs Runs) (all []note.Trigger, proposed bool) {
	if !stands(n) || n.Author != "" && !n.Believed || n.Author == "" && note.Changed(n) {
		return nil, false
	}
	if all = n.Triggers(); len(all) > 0 || n.Author != "" || !n.UserSaid() {
		return all, false
	}
	return propose(n, runs), true
}

// vouched reports whether a rule may be injected before a tool: one with a command that forces,
// skips a check or deletes only where a person vouches for it.
func vouched(n *note.Note) bool {
	return n.UserSaid() ||
		claim.Risky(n.Title+"\n"+cutWords(note.Whole(n), maxRuleBody)) == ""
}

// maxRuleBody is how many bytes of a note are looked at besides its title.
const maxRuleBody = 32 << 10
