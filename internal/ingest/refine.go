package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// A Refinement is a learning in the words of a model.
type Refinement struct {
	Title    string   // in the imperative, one line
	Rule     string   // what holds from now on
	Why      string   // the reason
	Apply    string   // when and where
	Category string   // "" leaves the one that it has
	Anchors  []string // nil leaves those that it has
	Model    string   // its name
}

// An Unrefined is what waits for the words of a model: the payload of a job of the kind
// queue.Refine, whose id is that of the learning.
type Unrefined struct {
	Hash    string   `json:"hash"`              // SummaryHash of what stands in the note
	Window  string   `json:"window"`            // the stretch of the session, redacted
	Streak  int      `json:"streak,omitempty"`  // answers in a row that could not be used
	Classes []string `json:"classes,omitempty"` // theirs
}

// The bounds of a refinement, in characters and pieces.
const (
	maxRefinedTitle  = 100
	maxRefined       = 600
	maxRefinedAnchor = 80
	maxAnchorCount   = 6
)

// Check says what is wrong with a refinement of a learning, in words that the model which
// wrote it understands. window is the stretch of the session that it was given: what it
// names must stand there or in the learning.
func (f *Refinement) Check(n *note.Note, window string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, p := range []struct {
		name, text string
		most       int
		needed     bool
	}{
		{"title", f.Title, maxRefinedTitle, true},
		{"rule", f.Rule, maxRefined, true},
		{"why", f.Why, maxRefined, true},
		{"apply", f.Apply, maxRefined, false},
		{"category", f.Category, 40, false},
	} {
		switch length := len([]rune(p.text)); {
		case p.needed && strings.TrimSpace(p.text) == "":
			say("%s is empty", p.name)
		case length > p.most:
			say("%s has %d characters, at most %d", p.name, length, p.most)
		case strings.ContainsAny(p.text, "\n\r\x00"):
			say("%s has more than one line", p.name)
		}
	}
	if redact.PromptInjection(strings.Join([]string{f.Title, f.Rule, f.Why, f.Apply}, "\n")) {
		say("it reads like an order to an agent; a rule says how work on this project is done")
	}
	known := strings.ToLower(strings.Join(append([]string{n.Title, n.Rule, n.Body, n.HowToApply, window}, n.Anchors...), "\n"))
	for _, name := range NotIn(f.Title+"\n"+f.Rule+"\n"+f.Apply, known) {
		say("%q stands neither in the draft nor in the session", name)
	}
	if len(f.Anchors) > maxAnchorCount {
		say("anchors has %d elements, at most %d", len(f.Anchors), maxAnchorCount)
	}
	for _, a := range f.Anchors {
		if a == "" || len([]rune(a)) > maxRefinedAnchor || !strings.Contains(known, strings.ToLower(a)) {
			say("the anchor %q does not stand in the session", a)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	now := n.Clone()
	f.apply(now)
	says, said := claimOf(now), claimOf(n)
	switch {
	case part(says.denied, said) > 0, part(said.denied, says) > 0:
		say("it says the opposite of the draft, or leaves out what the draft speaks against")
	case sharedOf(says, said) == 0:
		say("it is about something else than the draft")
	}
	return wrong
}

func sharedOf(a, b claim) (n int) {
	for w := range a.words {
		if _, ok := b.words[w]; ok {
			n++
		}
	}
	return n
}

// names are what a reader would look up: code, numbers, paths, words with capitals inside.
var names = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`[^`\n]+`|[0-9][0-9.,:]*[0-9]|[0-9]|[\\pL0-9_.@/-]*[/_@][\\pL0-9_.@/-]+")
})

func named(text string) (all []string) {
	for _, m := range names().FindAllString(text, 60) {
		if m = strings.Trim(m, "`.,"); m != "" && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// NotIn returns the names, numbers and paths of a text that another does not have.
func NotIn(text, known string) []string {
	known = strings.ToLower(known)
	return slices.DeleteFunc(named(text), func(name string) bool { return strings.Contains(known, strings.ToLower(name)) })
}

// apply gives a learning the words of the model. What the user said stays in the body, so
// that a reader need not believe the model.
func (f *Refinement) apply(n *note.Note) {
	n.Title, n.Rule, n.HowToApply = strings.TrimSpace(f.Title), strings.TrimSpace(f.Rule), strings.TrimSpace(f.Apply)
	if f.Category != "" {
		n.Category = f.Category
	}
	if f.Anchors != nil {
		n.Anchors = f.Anchors
	}
	n.Provenance.Model = f.Model
	var b strings.Builder
	if strings.TrimRight(n.Rule, ".。") != strings.TrimRight(n.Title, ".。…") {
		fmt.Fprintf(&b, "%s\n\n", n.Rule)
	}
	fmt.Fprintf(&b, "**Why:** %s\n", strings.TrimSpace(f.Why))
	if len(n.Evidence) > 0 && n.Evidence[0].Quote != "" {
		fmt.Fprintf(&b, "**Said:** “%s”\n", n.Evidence[0].Quote)
	}
	if n.HowToApply != "" {
		fmt.Fprintf(&b, "**When:** %s\n", n.HowToApply)
	}
	n.Body = strings.TrimRight(b.String(), "\n")
}

// Refinable reports whether a note is still the learning that a machine wrote: nobody
// edited, read or retired it, no model wrote it, and hash is its SummaryHash.
func Refinable(n *note.Note, hash string) bool {
	return n.Provenance.Source == note.Learning && n.Provenance.Model == "" && !n.HasTag(Reviewed) && n.Status == "" && !n.Quarantine &&
		SummaryHash(n.Title, n.Body) == hash
}

// Refine gives a learning the words of a model. It is the same door as for what machines
// write: secrets are masked, the form is validated, the former form stands in the history.
// A learning that is not what it was (Refinable) stays as it is: ErrChanged, or
// fs.ErrNotExist for one that is gone.
func (b Beliefs) Refine(ctx context.Context, id note.ID, hash string, f Refinement) (Outcome, error) {
	masked := false
	out, err := b.g.amend(ctx, id, "refine", func(n *note.Note, _ []byte) (*note.Note, error) {
		if !Refinable(n, hash) {
			return nil, ErrChanged
		}
		f.apply(n)
		masked = b.g.redact(n)
		n.UpdatedAt = note.At(b.g.store.Now())
		return n, n.Validate()
	})
	out.Redacted = masked
	return out, err
}

// Gone reports whether an error says that a note is not any more what it was, or not at all.
func Gone(err error) bool { return errors.Is(err, ErrChanged) || errors.Is(err, fs.ErrNotExist) }
