package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/text/smalltalk"
)

// A Persona is an answer to a question about habits: one field of what is known of the
// user, the team or the project (O3). It stands before all hits.
type Persona struct {
	Field      string  `json:"field_name"`
	Value      string  `json:"value"`
	Confidence float64 `json:"confidence"`
	Project    string  `json:"project_id"`
	Note       note.ID `json:"note"`
}

// What a field is made of: an observation with this tag, whose name stands behind
// fieldTag. A field is shown from personaLeast on, which ten of twelve sources reach.
const (
	personaTag   = "persona"
	fieldTag     = "field:"
	personaLeast = 0.8
)

// personaWords are words that ask for a habit, not for what happened.
var personaWords = []string{
	"convention", "conventions", "prefer", "prefers", "preferred", "preference", "preferences", "generally", "typically", "usually",
	"persona", "style", "policy", "habit", "habits",
}

// personaStarts begin a question about the user or the team.
var personaStarts = []string{
	"how do we", "how does the team", "how do i usually", "what do we", "what does the team", "what is our", "what are our", "what is my",
	"what are my", "what do i",
}

// personaSlots are the slots that answer questions about the user as a whole.
var personaSlots = []struct {
	slot    string
	phrases []string
}{
	{"persona", []string{"who am i", "what do you know about me", "tell me about me", "tell me about myself"}},
	{"user_preferences", []string{"what do i prefer", "what are my preferences", "what do i like", "my preferences"}},
}

// fieldSynonyms are other words for the words of field names.
var fieldSynonyms = map[string][]string{
	"testing": {"test", "tests"}, "commit": {"commits"}, "naming": {"name", "names"}, "error": {"errors"}, "dependency": {"dependencies"},
	"documentation": {"docs", "document"}, "review": {"reviews"}, "language": {"languages"}, "handling": {"handle", "handled"},
	"convention": {"conventions"}, "style": {"styles"}, "preference": {"prefer", "preferences"}, "strictness": {"strict"},
}

// personaFrame are words that a question about a habit may hold besides the name of the
// field. Two others make it a question about something else: "fix the naming convention
// checker".
var personaFrame = []string{
	"what", "which", "how", "do", "does", "we", "i", "is", "are", "our", "my", "the", "a", "an", "of", "for", "in", "to", "here",
	"team", "this",
	"project", "codebase", "use", "should", "follow", "have", "with", "on", "about", "code", "house", "me", "tell", "by", "default", "like",
	"it", "s", "when", "and",
}

// persona answers a question about habits from the fields of a persona: its note is the
// first hit. It does nothing when the question is none or nothing sure enough is known. A field of the project stands before one of all
// projects, the surer before the less sure.
func (e *Engine) persona(ctx context.Context, q Query, res *Result) {
	if !e.opts.Persona || q.Synthetic || q.OwnWords || len(q.Arms) > 0 || q.Corpus != "" || q.reading {
		return
	}
	words := smalltalk.Words(q.Text)
	if len(words) == 0 || len(words) > 20 {
		return
	}
	text := strings.Join(words, " ")
	f := e.filter(q)
	for _, s := range personaSlots {
		if slices.Contains(s.phrases, text) {
			f.Kind = note.Slot
			e.ofPersona(ctx, q, f, res, func(r *index.Row) (string, bool) { return s.slot, r.Title == s.slot })
			return
		}
	}
	if !asksForHabit(text, words) {
		return
	}
	f.Kind, f.Tags = note.Observation, append(slices.Clone(f.Tags), personaTag)
	e.ofPersona(ctx, q, f, res, func(r *index.Row) (string, bool) {
		field := fieldOf(r.Tags)
		return field, field != "" && r.Confidence >= personaLeast && namesField(words, field)
	})
}

// ofPersona puts the best of the rows that match first.
func (e *Engine) ofPersona(ctx context.Context, q Query, f index.Filter, res *Result, match func(*index.Row) (string, bool)) {
	rows, err := e.index.Select(ctx, f, 0)
	if err != nil {
		res.Failed = append(res.Failed, "persona: "+err.Error())
		return
	}
	rows = slices.DeleteFunc(rows, func(r index.Row) bool { _, ok := match(&r); return !ok })
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b index.Row) int {
		if own := a.Project != note.Global; own != (b.Project != note.Global) {
			return map[bool]int{true: -1, false: 1}[own]
		}
		return cmp.Compare(b.Confidence, a.Confidence)
	})
	field, _ := match(&rows[0])
	h := &Hit{Row: rows[0], Coverage: 1}
	why := "persona field " + field
	h.add(why, 1)
	h.Found = map[string]Found{"persona": {Rank: 1, Score: h.Row.Confidence, Norm: 1, Why: why}}
	if e.pack(ctx, q, []*Hit{h}, res); len(res.Hits) > 0 { // its file can be read
		res.Persona = &Persona{field, strings.TrimSpace(h.Note.Body), h.Row.Confidence, h.Row.Project, h.Row.ID}
	}
}

// asksForHabit reports whether a question asks how things are generally done.
func asksForHabit(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(personaWords, w) }) ||
		slices.ContainsFunc(personaStarts, func(s string) bool { return text == s || strings.HasPrefix(text, s+" ") })
}

// namesField reports whether a question names all words of a field, and hardly anything
// else.
func namesField(words []string, field string) bool {
	var named []string
	for _, part := range strings.Split(field, "_") {
		forms := append([]string{part}, fieldSynonyms[part]...)
		asks := part == "style" || part == "convention" || part == "preference" || part == "policy" || part == "strictness"
		if !slices.ContainsFunc(forms, func(f string) bool { return slices.Contains(words, f) }) && !asks {
			return false
		}
		named = append(named, forms...)
	}
	others := 0
	for _, w := range words {
		if !slices.Contains(named, w) && !slices.Contains(personaFrame, w) && !slices.Contains(personaWords, w) {
			others++
		}
	}
	return others < 2 && slices.ContainsFunc(named, func(n string) bool { return slices.Contains(words, n) })
}

func fieldOf(tags []string) string {
	for _, t := range tags {
		if field, ok := strings.CutPrefix(t, fieldTag); ok {
			return field
		}
	}
	return ""
}
