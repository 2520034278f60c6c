package inject

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/recall"
)

// Announcement is one line for the user about the page that a session is shown, "" when there is
// no page: "anamnesis: 14 rules, 23 facts, last session yesterday, 1.1k tokens".
func (b *Block) Announcement(now time.Time) string {
	if b.Text == "" || b.Laid+b.Known+len(b.Left) == 0 && b.Last.IsZero() {
		return ""
	}
	var parts []string
	count := func(n int, one, many string) {
		switch n {
		case 0:
		case 1:
			parts = append(parts, "1 "+one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(b.Laid, "rule", "rules")
	count(b.Known, "fact", "facts")
	count(len(b.Left), "more by topic", "more by topic")
	if !b.Last.IsZero() {
		parts = append(parts, "last session "+daysAgo(now, b.Last))
	}
	tokens := b.Tokens()
	if tokens < 1000 {
		parts = append(parts, fmt.Sprintf("%d tokens", tokens))
	} else {
		parts = append(parts, fmt.Sprintf("%.1fk tokens", float64(tokens)/1000))
	}
	return "anamnesis: " + strings.Join(parts, ", ")
}

// daysAgo says on which day something was, seen from now.
func daysAgo(now, then time.Time) string {
	day := func(t time.Time) time.Time {
		y, m, d := t.In(now.Location()).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	switch days := int(day(now).Sub(day(then)).Hours() / 24); {
	case days <= 0:
		return "today"
	case days == 1:
		return "yesterday"
	default:
		return fmt.Sprintf("%d days ago", days)
	}
}

// Tokens is about what the block costs a model.
func (b *Block) Tokens() int { return recall.Tokens(b.Text) }
