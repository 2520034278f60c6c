package capture

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// Bounds of what is looked at to see what became of a note (A4).
const (
	maxNoteNames = 48
	maxTurnNames = 512
	maxTurnText  = 64 << 10 // bytes of one text of a turn
	maxJudged    = 64       // notes of one session
)

// followUp works out what became of the notes that were injected into a session: used, when the
// agent then ran, opened or edited what only the note had named, repeated its statement, or named the note; opposed, when
// the user corrected the agent with the opposite of its statement, or forbade a command of it. That a sentence of the user became a
// note which contradicts it, ingest finds. A note that names nothing, or nothing new to the session, has no verdict. What is stored
// are ids.
func (r *Recorder) followUp(session, project string, s *agent.Session) error {
	if !r.opts.FollowUp || session == "" {
		return nil
	}
	shown := r.store.Spool().ShownLog(session, "")
	h, err := shown.History()
	if err != nil || len(h.Notes) == 0 {
		return err
	}
	said := namesSaid(s.Turns)
	found := make(map[store.Verdict][]note.ID)
	for _, t := range h.Notes[max(0, len(h.Notes)-maxJudged):] {
		n, _, err := store.Get(r.store, t.Note) // it may be gone
		if err != nil || n.Kind == note.Slot || n.Kind == note.Handoff {
			continue
		}
		v := said.verdict(n, t.At)
		if t.Line && v == store.Unused { // its line names little of what it names
			continue
		}
		was := h.Verdicts[t.Note]
		if was == store.Unused && v == store.Used {
			v = store.UsedLater
		} else if was != "" && v != store.Opposed || was == v {
			continue
		}
		if v != "" {
			found[v] = append(found[v], t.Note)
		}
	}
	var errs []error
	for _, v := range []store.Verdict{store.Used, store.Unused, store.UsedLater, store.Opposed} {
		if len(found[v]) == 0 {
			continue
		}
		if err := shown.Judge(v, found[v]...); err != nil { // else they would be counted twice
			errs = append(errs, err)
			continue
		}
		errs = append(errs, r.store.Events().Log(store.Record{
			Kind: store.FollowedUp, Session: session, Project: project, Notes: found[v], Count: len(found[v]), Text: string(v),
		}))
	}
	return errors.Join(errs...)
}

// A saidNames is who named what when in a session.
type saidNames struct {
	first     map[string]naming // of a name, whoever said it
	acted     map[string]bool   // names in calls of tools
	corrected []saying          // turns of the user that say that what was done is not what was meant
	stated    []saying          // sentences of the agent
}

type naming struct {
	at    time.Time
	agent bool
}

// A saying is a sentence in the form in which two are compared.
type saying struct {
	at    time.Time
	claim claim.Claim
}

// namesSaid reads the turns of a session. Results of tools say nothing: a list of files
// names everything.
func namesSaid(turns []agent.Turn) saidNames {
	s := saidNames{first: make(map[string]naming), acted: make(map[string]bool)}
	for i := range turns {
		t := &turns[i]
		names := toolNames(t)
		maps.Copy(s.acted, names)
		addNames(names, t.Text, maxTurnNames)
		for name := range names {
			if _, ok := s.first[name]; !ok {
				s.first[name] = naming{t.At, t.Role == agent.Assistant}
			}
		}
		if t.Role == agent.Assistant {
			for _, sentence := range text.Sentences(t.Text[:min(len(t.Text), maxTurnText)]) {
				s.stated = append(s.stated, saying{t.At, claim.Text(sentence)})
			}
			continue
		}
		if typed := strings.Join(t.Typed(), "\n"); t.Human() && smalltalk.TurnOf(typed) == smalltalk.Correction {
			s.corrected = append(s.corrected, saying{t.At, claim.Text(typed)})
		}
	}
	return s
}

// verdict says what became of a note that was shown at a time, "" when nothing shows.
func (s *saidNames) verdict(n *note.Note, at time.Time) store.Verdict {
	words := n.Title + "\n" + note.Whole(n)
	states, whole, commands := claim.Of(n), claim.Text(words), commandsIn(words)
	for _, c := range s.corrected {
		forbids := func(command string) bool { return c.claim.Denies(command) && !whole.Denies(command) }
		if c.at.After(at) && (claim.Compare(states, c.claim) == claim.Opposite || slices.ContainsFunc(commands, forbids)) {
			return store.Opposed
		}
	}
	for _, t := range s.stated {
		if r := claim.Compare(states, t.claim); t.at.After(at) && (r == claim.Same || r == claim.Wider) {
			return store.Used // the agent repeats it
		}
	}
	byAgent := func(name string) bool {
		first, ok := s.first[name]
		return ok && first.at.After(at) && first.agent
	}
	if byAgent(strings.ToLower(string(n.ID))) {
		return store.Used
	}
	names := make(map[string]bool)
	addNames(names, words, maxNoteNames)
	open := false
	for name := range names {
		if byAgent(name) && s.acted[name] {
			return store.Used
		}
		_, known := s.first[name]
		open = open || !known
	}
	if open {
		return store.Unused
	}
	return ""
}

// commandsIn returns what a text gives to run: its code, and the names that are no files and no addresses.
func commandsIn(text string) (all []string) {
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 && strings.TrimSpace(part) != "" {
			all = append(all, part)
		}
	}
	for _, name := range index.Identifiers(text, maxNoteNames) {
		if !strings.ContainsAny(name, "./:") {
			all = append(all, name)
		}
	}
	return all
}

// toolNames returns what the calls of tools of a turn name.
func toolNames(t *agent.Turn) map[string]bool {
	names := make(map[string]bool)
	for i := range t.Tools {
		u := &t.Tools[i]
		addNames(names, u.Path, maxTurnNames)
		if command := session.CommandOf(*u); command != "" {
			addNames(names, "```sh\n"+command+"\n```", maxTurnNames)
			continue
		}
		var input any
		if json.Unmarshal(u.Input, &input) == nil {
			addValues(names, input, 0)
		}
	}
	return names
}

// addValues adds what the texts of a JSON value name.
func addValues(names map[string]bool, v any, depth int) {
	if depth > 8 {
		return
	}
	switch v := v.(type) {
	case string:
		addNames(names, v, maxTurnNames)
	case []any:
		for _, e := range v {
			addValues(names, e, depth+1)
		}
	case map[string]any:
		for _, e := range v {
			addValues(names, e, depth+1)
		}
	}
}

func addNames(names map[string]bool, text string, most int) {
	for _, name := range index.Identifiers(strings.ToValidUTF8(text[:min(len(text), maxTurnText)], ""), most) {
		if name = nameKey(name); len(name) > 2 && len(names) < 8*most {
			names[name] = true
		}
	}
	for word := range strings.FieldsFuncSeq(text[:min(len(text), maxTurnText)], func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		if len(word) == 26 && word == strings.ToUpper(word) { // the id of a note
			names[strings.ToLower(word)] = true
		}
	}
}

// nameKey is a name in the form in which two namings of it are the same: a file by its
// base name, wherever it stands, without a line; a symbol without brackets.
func nameKey(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimSuffix(strings.ReplaceAll(name, `\`, "/"), "()"))
	name = strings.Trim(name, "./")
	host, _, _ := strings.Cut(name, "/")
	if path.Ext(name) != "" && !strings.Contains(host, ".") {
		name = path.Base(name)
	}
	return name
}
