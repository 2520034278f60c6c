package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/text/shell"
)

// A RuleHit is a rule with a trigger that fits what an agent is about to do.
type RuleHit struct {
	Note     *note.Note
	Trigger  note.Trigger
	Proposed bool // the note has the trigger by its form alone
}

// Bounds of the search for rules: passages that one question finds, notes that are read, passages
// of which only words of a path are known, and questions about one action.
const (
	rulePassages  = 200
	rulesRead     = 48
	pathPassages  = 24
	ruleQuestions = 8
)

// Rules returns the rules with a trigger that fits an action: those with triggers of their own
// first, then the longer trigger first. The index finds notes that share words with the action;
// then the triggers of each note decide. q says which notes may be injected.
func Rules(ctx context.Context, e *Engine, q Query, a Action) (hits []RuleHit, err error) {
	names := a.names()
	f := e.filter(q)
	f.Types = []note.Type{note.Procedural, note.Semantic}
	var own, proposed []int64
	for _, ask := range names.questions() {
		m, err := e.index.Ask(ctx, ask.kind+" "+ask.text, f, rulePassages)
		if err != nil {
			return nil, err
		}
		kind, words, heads := tokenHashes(ask.kind), tokenHashes(ask.text), tokenHashes(ask.heads)
		for i := range m.Candidates {
			c := &m.Candidates[i]
			switch {
			case holds(c.Tokens[index.Tags:index.Tags+1], kind) && holds(c.Tokens[:], words):
				own = append(own, c.Key)
			case ask.kind == string(note.OnPath) && i < pathPassages && holds(c.Tokens[:], words),
				ask.kind == string(note.OnCommand) && mayPropose(c, heads, words):
				proposed = append(proposed, c.Key)
			}
		}
	}
	for i, keys := range [][]int64{distinct(own), distinct(proposed)} {
		some, err := e.fitting(ctx, &names, keys, i == 1)
		if err != nil {
			return nil, err
		}
		for _, h := range some {
			if !slices.ContainsFunc(hits, func(o RuleHit) bool { return o.Note.ID == h.Note.ID }) {
				hits = append(hits, h)
			}
		}
	}
	slices.SortStableFunc(hits, func(x, y RuleHit) int {
		if x.Proposed != y.Proposed {
			if x.Proposed {
				return 1
			}
			return -1
		}
		return cmp.Compare(len(y.Trigger.Pattern), len(x.Trigger.Pattern))
	})
	return hits, nil
}

// fitting reads the notes of some keys, as many as are read at most, and returns those with a
// trigger that fits. With proposed, only those are read whose proposed triggers count.
func (e *Engine) fitting(ctx context.Context, names *actionNames, keys []int64, proposed bool) (hits []RuleHit, err error) {
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	believed := e.index.Believed()
	rows = slices.DeleteFunc(rows, func(r index.Row) bool {
		if e.index.Theirs(&r) && (proposed || !believed(&r)) { // it takes no place of one that counts
			return true
		}
		return r.Kind != "" || r.Speculative || proposed && !r.Vouched()
	})
	for i, c := range e.index.Contents(ctx, rows[:min(len(rows), rulesRead)]) {
		if c.Err != nil || c.Note.ID != rows[i].ID {
			continue
		}
		triggers, proposed := Triggers(c.Note, names.runs)
		if t, ok := names.fit(triggers); ok && vouched(c.Note) {
			hits = append(hits, RuleHit{c.Note, t, proposed})
		}
	}
	return hits, nil
}

// holds reports whether any of some lists of tokens has one of the words.
func holds(lists [][]uint32, words []uint32) bool {
	return slices.ContainsFunc(lists, func(tokens []uint32) bool {
		return slices.ContainsFunc(tokens, func(t uint32) bool { return slices.Contains(words, t) })
	})
}

// ruling are the words before a program that a rule rules out, as ruledOut knows them.
var ruling = sync.OnceValue(func() []uint32 {
	return []uint32{index.TokenHash("not"), index.TokenHash("never"), index.TokenHash("of")}
})

// rulingReach is how many words may stand between them and the program.
const rulingReach = 4

// mayPropose reports whether a note can have a proposed trigger that fits a command, by the
// order of its words: it is not read otherwise. heads are the programs of the command.
func mayPropose(c *index.Candidate, heads, words []uint32) bool {
	for field, tokens := range c.Tokens {
		for i, t := range tokens {
			if i+1 < len(tokens) && slices.Contains(heads, t) && slices.Contains(words, tokens[i+1]) {
				return true
			}
			before := tokens[max(0, i-rulingReach):i]
			if index.Field(field) != index.Body && slices.Contains(words, t) && holds([][]uint32{before}, ruling()) {
				return true
			}
		}
	}
	return false
}

func distinct(keys []int64) (all []int64) {
	for _, k := range keys {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

func tokenHashes(text string) (all []uint32) {
	for _, t := range index.Tokens(text) {
		all = append(all, index.TokenHash(t))
	}
	return all
}

// Touches reports whether an action touches anything that a rule could be about.
func (a Action) Touches() bool {
	names := a.names()
	return len(names.questions()) > 0
}

// runs is a Runs of the programs that the action runs: that they exist needs no further proof.
func (n *actionNames) runs(name string) (patterns []string) {
	for _, c := range n.commands {
		for _, f := range c.Forms {
			switch {
			case shell.Program(f[0]) == name:
				patterns = append(patterns, name)
			case len(f) > 1 && f[1] == name && slices.Contains(targetPrograms, shell.Program(f[0])):
				patterns = append(patterns, shell.Program(f[0])+" "+name)
			case len(f) > 2 && f[1] == "run" && f[2] == name:
				patterns = append(patterns, shell.Program(f[0])+" run "+name)
			}
		}
	}
	return patterns
}

// An askedFor is a question to the index: the words of an action, the kind of triggers that they
// may be of, and the words of which a note has one whose proposed triggers may fit.
type askedFor struct{ kind, text, heads string }

// questions returns the words by which the index finds notes about the action: none when it
// touches nothing that a rule could be about.
func (n *actionNames) questions() (all []askedFor) {
	var programs, arguments, files []string
	add := func(to *[]string, w string) {
		if w != "" && len(w) <= questionWord && !slices.Contains(*to, w) {
			*to = append(*to, w)
		}
	}
	for i := range n.commands {
		if forms := n.commands[i].Forms; !shell.Silent(forms) {
			for _, f := range forms {
				add(&programs, shell.Program(f[0]))
			}
			for _, f := range forms[0][1:min(len(forms[0]), 1+questionWords)] {
				add(&arguments, f)
			}
		}
	}
	for _, f := range n.files {
		add(&files, lastSegments(f.rel, questionSegments))
	}
	ask := func(kind note.TriggerKind, heads, words []string) {
		if len(heads)+len(words) > 0 && len(all) < ruleQuestions {
			first := strings.Join(heads, "\n")
			all = append(all, askedFor{string(kind), first + "\n" + strings.Join(words, "\n"), first})
		}
	}
	ask(note.OnCommand, programs, arguments)
	ask(note.OnPath, files, nil)
	if words := strings.Fields(n.output); len(words) > 0 { // what stopped a command stands at an end of its output
		chunks := slices.Collect(slices.Chunk(words, outputWords))
		ask(note.OnError, nil, chunks[0])
		for _, c := range slices.Backward(chunks[1:]) {
			ask(note.OnError, nil, c)
		}
	}
	return all
}

func lastSegments(p string, most int) string {
	segments := strings.Split(p, "/")
	return strings.Join(segments[max(0, len(segments)-most):], "/")
}

// Bounds of the words that are asked about.
const (
	questionWords    = 8   // of a command, behind its program
	questionWord     = 200 // bytes of one
	questionSegments = 8   // of a path, the last ones
	outputWords      = 30
)

// targetPrograms run the targets of a project by their names.
var targetPrograms = []string{"make", "gmake", "just", "task", "rake"}
