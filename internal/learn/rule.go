package learn

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/claim"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
)

// Tag is the tag of every note that sessions taught.
const Tag = "learning"

// A Rule is what a reader makes of a stretch of a session: one statement.
type Rule struct {
	Title     string   `json:"title"` // the rule as an order, or the fact, in one sentence
	Why       string   `json:"why"`
	Quote     string   `json:"quote"`    // the user's words that lay it down, or the command that passed
	When      []string `json:"when"`     // triggers, as in note.ParseTrigger
	About     string   `json:"about"`    // the subject, as in note.Note
	Replaces  string   `json:"replaces"` // id of a note in force
	Repeats   string   `json:"repeats"`  // id of a note in force that says it already: only the quote and the subject count
	Holds     Holds    `json:"holds"`
	Asks      []string `json:"asks"`    // what the user might type when it will matter, as in note.Note
	Problem   string   `json:"problem"` // of a fix
	RootCause string   `json:"root_cause"`
	Fix       string   `json:"fix"`

	SelfContained *bool `json:"self_contained"` // whether the quote tells it without the session; nil: not said
}

// Bounds of a rule, in characters.
const (
	MaxRuleTitle = 160
	maxWhy       = 600
)

// Holds says for what a rule holds. Anything but the three counts as Project.
type Holds string

// For what a rule holds.
const (
	Always  Holds = "always"  // in every project of the user
	Project Holds = "project" // in the project of its session
	Task    Holds = "task"    // while the task of the session is worked on: it is not kept
)

// Is reports whether the rule holds for that.
func (h Holds) Is(other Holds) bool {
	return strings.EqualFold(strings.TrimSpace(string(h)), string(other))
}

// tidy puts a rule in order and says why it is not kept; "" for one that may be. What is wrong with a trigger costs
// the trigger, and what is wrong with an ask costs the ask.
func (r *Rule) tidy() (why string) {
	r.Title = strings.TrimRight(strings.TrimSpace(r.Title), ".。")
	for _, p := range []struct {
		name, text string
		most       int
	}{
		{"title", r.Title, MaxRuleTitle},
		{"why", r.Why, maxWhy},
		{"quote", r.Quote, 2000},
		{"problem", r.Problem, maxWhy},
		{"root_cause", r.RootCause, maxWhy},
		{"fix", r.Fix, maxWhy},
	} {
		switch {
		case utf8.RuneCountInString(p.text) > p.most:
			return fmt.Sprintf("its %s has more than %d characters", p.name, p.most)
		case strings.ContainsAny(p.text, "\x00") || p.name != "quote" && strings.ContainsAny(p.text, "\n\r"):
			return fmt.Sprintf("its %s has more than one line", p.name)
		}
	}
	switch {
	case r.Title == "":
		return "it has no title"
	case r.Holds.Is(Task):
		return "it holds for the task of its session only"
	case redact.PromptInjection(r.Title + "\n" + r.Why):
		return instructs
	}
	r.When, r.Asks = note.TriggersOf(r.When), note.AsksOf(r.Asks)
	return ""
}

// instructs is why a rule is not kept that would be in quarantine.
const instructs = "it reads like an order that redirects an agent"

// Ground finds what a rule rests on in a session: words that a person typed, or a remedy that the session
// showed, which names no risky act. ok is false when it rests on nothing.
func (r *Rule) Ground(said []Said, fixes []session.Fix) (q Quote, user, ok bool) {
	if q, ok = Find(said, r.Quote); ok {
		return q, true, true
	}
	if claim.Risky(r.Title+"\n"+r.Fix) != "" {
		return q, false, false
	}
	for i := range fixes {
		f := &fixes[i]
		quoted := letters(r.Quote)
		for _, line := range append([]string{f.Failed, f.Passed}, f.Did...) {
			if line = letters(line); len(quoted) > leastQuote && (strings.Contains(quoted, line) || strings.Contains(line, quoted)) {
				said := Said{Turn: f.Turn, At: f.At, Text: f.String(), Hash: hash(f.At, f.Failed+"\x00"+f.Passed)}
				return QuoteOf(said, f.String()), false, true
			}
		}
	}
	return q, false, false
}

// An Origin is the session that taught a rule.
type Origin struct {
	Harness string    `json:"harness"`
	Session string    `json:"session"`
	Project string    `json:"project"`
	Dir     string    `json:"dir"`
	Machine string    `json:"machine"`
	Started time.Time `json:"started"`
	Edited  []string  `json:"edited,omitempty"` // files, at most 20: where names are looked up
}

// Note makes the note of a rule: its title states the rule, its body says why, and its evidence
// quotes the words. No sentence stands in it twice.
func (r *Rule) Note(o Origin, q Quote, user bool, model string) *note.Note {
	n := noteOf(o, q, r.Title)
	n.Body = strings.TrimSpace(r.Why)
	n.When, n.Asks, n.About, n.Provenance.Model = r.When, r.Asks, note.Subject(r.About), model
	n.Problem, n.RootCause, n.Fix = r.Problem, r.RootCause, r.Fix
	if !user {
		n.Provenance.Source, n.Type = note.Learning, note.Procedural
		n.Provenance.Confidence = 0.6
	}
	if r.Fix != "" || r.Problem != "" {
		n.LearningType = "fix"
	}
	n.Quarantine = redact.PromptInjection(n.Title + "\n" + n.Body)
	return n
}

// noteOf is a note of what a person typed.
func noteOf(o Origin, q Quote, title string) *note.Note {
	n := &note.Note{
		ID: note.LearningID(q.Said.At, q.Chunk()), Type: note.Semantic, Title: note.Line(title, note.MaxTitle), Project: o.Project,
		MachineID: o.Machine, Scope: note.Portable, LearningType: "rule",
		Provenance: note.Provenance{Source: note.User, Confidence: 0.9, Session: o.Session},
		Evidence:   []note.Evidence{q.Evidence(o)},
		ProofCount: 1,
	}
	if at := q.Said.At; !at.IsZero() {
		n.CreatedAt, n.UpdatedAt = note.At(at), note.At(at)
	}
	n.AddTags(Tag)
	return n
}

// Evidence is the quote as a piece of evidence, an agreement with what it agrees to.
func (q Quote) Evidence(o Origin) note.Evidence {
	e := note.Evidence{Session: o.Harness + "/" + o.Session, Chunk: q.Chunk(), Quote: note.CutRunes(q.Typed().Line(), note.MaxQuote)}
	if !q.Said.At.IsZero() {
		e.At = note.At(q.Said.At)
	}
	return e
}

// Typed is the quote as what vouches for a note.
func (q Quote) Typed() *ingest.Typed {
	return &ingest.Typed{Sentence: q.Sentence, Agrees: q.Said.Asked}
}

// Note makes the note of an order, word for word. It says that nobody has read it.
func (o *Order) Note(from Origin) *note.Note {
	n := noteOf(from, o.Quote, strings.TrimRight(o.Rule, ".。!！"))
	n.Quarantine = redact.PromptInjection(o.Rule)
	return n
}

// Note makes the note of a decision about a tool.
func (p *Permission) Note(from Origin) *note.Note {
	n := noteOf(from, p.Quote, p.Title())
	n.LearningType, n.Category, n.Provenance.Confidence = "permission", "permissions", 0.8
	if p.Policy != "" {
		n.Body = "A line of policy-rules.jsonl that would hold it: `" + p.Policy + "`"
	}
	if strings.HasPrefix(p.Call, "`") {
		if t, err := note.ParseTrigger("cmd:" + strings.Join(firstWords(strings.Trim(p.Call, "`"), 3), " ")); err == nil {
			n.When = []string{t.String()}
		}
	}
	return n
}

func firstWords(s string, n int) []string {
	words := strings.Fields(s)
	return words[:min(n, len(words))]
}
