package learn

import (
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/claim"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
)

// remedies returns the fixes of a session that a reader is shown. A step that forces, skips a check or
// deletes is none (claim.Risky).
func remedies(s *agent.Session, clean Clean) (all []session.Fix) {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	fixes := session.Fixes(s.Turns)
	for i := range fixes {
		f := &fixes[i]
		steps := strings.Join(append(slices.Clone(f.Did), f.Passed), "\n")
		if !f.Remedy() || session.Symptom(f.Output) == "" || claim.Risky(steps) != "" || takenBack(s.Turns, f.Turn) {
			continue
		}
		f.Failed, f.Passed, f.Output = clean(f.Failed), clean(f.Passed), clean(text.Head(f.Output, 40_000))
		for j := range f.Did {
			f.Did[j] = clean(f.Did[j])
		}
		all = append(all, *f)
	}
	return all
}

// takenBack reports whether the user interrupted the agent right after a pass.
func takenBack(turns []agent.Turn, at int) bool {
	return at+1 < len(turns) && turns[at+1].Interrupted
}
