package capture

import (
	"encoding/json"
	"errors"
	"path"
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
// agent then named or ran what only the note had named, or repeated its statement; opposed, when
// the user's next corrections name the matter of the note. A note that names nothing, or nothing
// new to the session, has no verdict. What is stored are ids.
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
	corrected []correction
	stated    []saying
}

type naming struct {
	at    time.Time
	agent bool
}

// A correction is a turn of the user that says that what was done is not what was meant.
type correction struct {
	saying
	names map[string]bool
}

// A saying is a sentence in the form in which two are compared.
type saying struct {
	at    time.Time
	claim claim.Claim
}

// namesSaid reads the turns of a session. Results of tools say nothing: a list of files
// names everything.
func namesSaid(turns []agent.Turn) saidNames {
	s := saidNames{first: make(map[string]naming)}
	for i := range turns {
		t := &turns[i]
		names := turnNames(t)
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
			names = make(map[string]bool)
			addNames(names, typed, maxTurnNames)
			s.corrected = append(s.corrected, correction{saying{t.At, claim.Text(typed)}, names})
		}
	}
	return s
}

// verdict says what became of a note that was shown at a time, "" when nothing shows.
func (s *saidNames) verdict(n *note.Note, at time.Time) store.Verdict {
	names := make(map[string]bool)
	addNames(names, n.Title+"\n"+n.KeyInsight+"\n"+n.HowToApply+"\n"+n.Body, maxNoteNames)
	states := claim.Of(n)
	for _, c := range s.corrected {
		r := claim.Compare(states, c.claim)
		agrees := r == claim.Same || r == claim.Narrower || r == claim.Wider
		switch {
		case !c.at.After(at), agrees:
			continue
		case r == claim.Opposite, claim.Near(states, c.claim) && claim.Shared(states, c.claim) > 1:
			return store.Opposed
		}
		for name := range names {
			if c.names[name] {
				return store.Opposed
			}
		}
	}
	for _, t := range s.stated {
		if r := claim.Compare(states, t.claim); t.at.After(at) && (r == claim.Same || r == claim.Wider) {
			return store.Used // the agent repeats it
		}
	}
	names[strings.ToLower(string(n.ID))] = true // an agent that names the note has used it
	open := false
	for name := range names {
		first, ok := s.first[name]
		switch {
		case ok && first.at.After(at) && first.agent:
			return store.Used
		case !ok && name != strings.ToLower(string(n.ID)):
			open = true
		}
	}
	if open {
		return store.Unused
	}
	return ""
}

// turnNames returns what a turn names.
func turnNames(t *agent.Turn) map[string]bool {
	names := make(map[string]bool)
	addNames(names, t.Text, maxTurnNames)
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
