package inject

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
	"anamnesis/internal/text"
)

// repeated says of a rule that its user has stated in several sessions how often, and when last: " (said 3 times, last on Tuesday)".
func repeated(n *note.Note, now time.Time) string {
	times, last := note.Said(n)
	if times < 2 || !n.UserSaid() {
		return ""
	}
	s := fmt.Sprintf(" (said %d times", times)
	if times == 2 {
		s = " (said twice"
	}
	if at, ok := last.Time(); ok {
		day := text.Day(now, at)
		if day != "today" {
			day = "on " + day
		}
		s += ", last " + day
	}
	return s + ")"
}

// Bounds of what the line of a rule quotes besides its title.
const (
	maxDetails = 2
	maxDetail  = 160 // characters
)

// details quotes what the user said again with a condition or a detail more, the newest first: " (also: “in the Go files, too”)". The
// sentences became evidence of the rule (ingest), so that no other line has them.
func details(n *note.Note) string {
	if !n.UserSaid() || len(n.Evidence) == 0 {
		return ""
	}
	var all []string
	title := claim.Text(n.Title)
	for _, e := range slices.Backward(n.Evidence) {
		if len(all) == maxDetails {
			break
		}
		if e.Chunk == "" || strings.HasPrefix(e.Quote, n.Title) && len(e.Quote) <= len(n.Title)+1 || claim.States(e.Quote, n.Title) {
			continue
		}
		if quote := cutLine(oneLine(neutralise(e.Quote)), maxDetail); claim.Adds(claim.Text(e.Quote), title) &&
			!slices.Contains(all, quote) {
			all = append(all, quote)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (also: “" + strings.Join(all, "”, “") + "”)"
}
