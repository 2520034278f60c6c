package curate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/recall"
)

// GapOptions say which gaps are listed.
type GapOptions struct {
	app.Question
	MinSessions, Limit int
	Weak, Resolved     bool
}

// GapsAnswer lists questions that no note answers, the most wanted first.
type GapsAnswer struct {
	MinSessions int          `json:"min_sessions"`
	Total       int          `json:"total_gaps"`
	Gaps        []recall.Gap `json:"repeat_gaps"`
	Everywhere  int          `json:"open_everywhere"` // what app.OpenGaps lists, which is what other answers count
}

// Gaps lists questions that no note answers. Each is asked again with the gate.
func Gaps(ctx context.Context, r *app.Rooms, o GapOptions) (GapsAnswer, error) {
	if o.MinSessions < 1 || o.Limit < 0 {
		return GapsAnswer{}, app.Usagef("gaps: --min-sessions is at least 1, --limit at least 0")
	}
	o.Listed = true
	q, _, err := o.NewQuery(ctx, r, "")
	if err != nil {
		return GapsAnswer{}, err
	}
	gaps, err := r.Engine.Gaps(ctx, recall.GapOptions{MinSessions: o.MinSessions, Limit: o.Limit, Weak: o.Weak, Resolved: o.Resolved, Ask: q})
	if err != nil {
		return GapsAnswer{}, err
	}
	everywhere, err := app.OpenGaps(ctx, r)
	return GapsAnswer{o.MinSessions, len(gaps), gaps, len(everywhere)}, err
}

// GapWords are the words of a question by which a gap is known, as they were
// asked and in their order, without those that carry no topic.
func GapWords(g recall.Gap) string {
	var words []string
	terms := strings.Fields(g.Terms)
	for _, w := range strings.Fields(g.Query) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		known := slices.ContainsFunc(index.Tokens(w), func(t string) bool { return slices.Contains(terms, t) })
		if known && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return g.Terms
	}
	return strings.Join(words, " ")
}

// A ClosedGap is a gap that was taken out of the list.
type ClosedGap struct {
	Query string `json:"query"`
	Words string `json:"normalized"`
}

// CloseGap takes a gap out of the list, until somebody asks for it again. words
// are the question or its normalised form; the error is of kind NotFound when no
// open gap is like that.
func CloseGap(ctx context.Context, r *app.Rooms, words string) (ClosedGap, error) {
	g, err := r.Engine.CloseGap(ctx, words)
	if errors.Is(err, recall.ErrNoGap) {
		err = &app.Error{Kind: app.NotFound, Err: err}
	}
	return ClosedGap{g.Query, g.Terms}, err
}
