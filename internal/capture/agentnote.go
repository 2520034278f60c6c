package capture

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// maxAgentNotes is how many notes of one session stand that only the agent vouches for.
const maxAgentNotes = 5

// A toolWrite is a call of our tool that wrote a note.
type toolWrite struct {
	turn  int
	id    note.ID
	quote string
}

// writesOf returns the calls of memory_write of a session that made or changed a note. Agents
// put the name of the server before that of the tool.
func writesOf(turns []agent.Turn) (all []toolWrite) {
	for i := range turns {
		for _, u := range turns[i].Tools {
			if !u.Own || !strings.HasSuffix(u.Name, "memory_write") || u.Error || u.Denied {
				continue
			}
			var in struct {
				Quote string `json:"quote"`
			}
			_ = json.Unmarshal(u.Input, &in) // without a quote nobody vouches
			if id := idIn(u.Answer); id != "" {
				all = append(all, toolWrite{i, id, in.Quote})
			}
		}
	}
	return all
}

// idIn finds the id of the note in the answer of memory_write. Some agents keep the structured
// answer, some its text, some both.
func idIn(result string) note.ID {
	_, rest, ok := strings.Cut(result, `"id":`)
	if !ok {
		if _, rest, ok = strings.Cut(result, `\"id\":`); !ok {
			return ""
		}
	}
	rest = strings.TrimLeft(rest, ` \"`)
	id, err := note.ParseID(rest[:max(0, strings.IndexAny(rest, `\"`))])
	if err != nil {
		return ""
	}
	return id
}

// agentNotes joins what the agent wrote with what a person typed: a note whose quote was typed
// is the user's word. One whose quote a program asked stays the agent's. One that only the agent
// vouches for stays when the session shows something of it (a file that was edited, a command that
// passed, an output), five at most; the others are archived, which can be undone. It returns the turns whose words were written down.
func (r *Recorder) agentNotes(ctx context.Context, s *agent.Session, said []learn.Said, from learn.Origin) (turns []int, err error) {
	var errs []error
	var shown map[string]bool
	var drop []note.ID
	kept, asked := 0, learn.SaidIn(programTurns(s), nil)
	for _, w := range writesOf(s.Turns) {
		n, _, err := store.Get(r.store, w.id)
		if err != nil || n.Provenance.Source != note.Agent && n.Provenance.Source != note.User || n.Decided() {
			continue
		}
		earlier := slices.DeleteFunc(slices.Clone(said), func(x learn.Said) bool { return x.Turn > w.turn })
		q, ok := learn.Find(earlier, w.quote)
		if q.Said.Asked != "" { // an agreement vouches for one claim
			ok = ok && !slices.Contains(turns, q.Said.Turn)
		}
		if ok {
			turns = append(turns, q.Said.Turn)
			_, err := ingest.Vouch(ctx, r.ingester, n.ID, from.Dir, *q.Typed(), q.Evidence(from))
			errs = append(errs, err)
			continue
		}
		if n.Provenance.Source != note.Agent || n.UserSaid() {
			continue
		}
		if _, ok := learn.Find(asked, w.quote); ok {
			continue
		}
		if shown == nil {
			shown = shownIn(s.Turns)
		}
		if kept < maxAgentNotes && grounded(n, shown) {
			kept++
			continue
		}
		drop = append(drop, n.ID)
	}
	if len(drop) > 0 {
		_, err := r.ingester.Archive(ctx, drop, "nothing in its session shows it; `anamnesis archive undo` brings it back")
		errs = append(errs, err)
		_ = r.store.Events().Log(store.Record{Kind: store.Refused, Session: from.Session, Project: from.Project, Notes: drop, Count: len(drop)})
	}
	return turns, errors.Join(errs...)
}

// programTurns returns a session with what programs asked in it, as if it had been typed, in its turns.
func programTurns(s *agent.Session) *agent.Session {
	asked := &agent.Session{Turns: make([]agent.Turn, len(s.Turns))}
	for i := range s.Turns {
		t := &s.Turns[i]
		asked.Turns[i] = agent.Turn{Role: agent.Assistant, At: t.At}
		if t.Role == agent.User && t.Asker == agent.Program {
			asked.Turns[i] = agent.Turn{Role: t.Role, At: t.At, Text: t.Text, Spans: t.Spans, Command: t.Command}
		}
	}
	return asked
}

// maxRemembered is how many of the newest sentences of a session are looked up in the agent's own memory.
const maxRemembered = 40

// remembered joins what a person typed with what an agent wrote into its own memory, which the
// drain has imported by now: a note that states a sentence is the user's word. It returns the turns of these sentences. Of the
// turns done something was kept already.
func (r *Recorder) remembered(ctx context.Context, said []learn.Said, done []int, from learn.Origin) (turns []int, err error) {
	imported, err := ingest.Has(ctx, r.ingester, note.Import, from.Project)
	if err != nil || !imported {
		return nil, err
	}
	looked := 0
	var errs []error
	for i := len(said) - 1; i >= 0 && looked < maxRemembered; i-- {
		if slices.Contains(done, said[i].Turn) {
			continue
		}
		for _, sentence := range text.Sentences(said[i].Text) {
			if text.IsQuestion(sentence) || smalltalk.Of(sentence) != smalltalk.None {
				continue
			}
			looked++
			known, err := r.wroteDown(ctx, learn.QuoteOf(said[i], sentence), from)
			if errs = append(errs, err); known {
				turns = append(turns, said[i].Turn)
			}
		}
	}
	return turns, errors.Join(errs...)
}

// wroteDown reports whether a note of the agent's own memory states a quote, which vouches for it then.
func (r *Recorder) wroteDown(ctx context.Context, q learn.Quote, from learn.Origin) (bool, error) {
	near, err := ingest.Near(ctx, r.ingester, &note.Note{
		Type: note.Semantic, Scope: note.Portable, Project: from.Project, Title: note.Line(q.Words, note.MaxTitle),
	})
	if err != nil {
		return false, err
	}
	words := claim.Text(q.Words)
	for _, x := range near {
		states := claim.Compare(words, claim.Text(x.Note.Title)) // its body may tell what was wrong before
		if x.Note.Provenance.Source != note.Import || states == claim.Opposite || states == claim.Unrelated {
			continue
		}
		_, err := ingest.Vouch(ctx, r.ingester, x.Note.ID, from.Dir, *q.Typed(), q.Evidence(from))
		return true, err
	}
	return false, nil
}

// shownIn returns the names that the acts of a session show: files that were edited, commands
// that passed, outputs of both. What an agent only said or read shows nothing.
func shownIn(turns []agent.Turn) map[string]bool {
	shown := make(map[string]bool)
	for i := range turns {
		for _, u := range turns[i].Tools {
			if u.Denied {
				continue
			}
			addNames(shown, u.Path, maxTurnNames)
			if line := session.CommandOf(u); line != "" {
				addNames(shown, "```sh\n"+line+"\n```", maxTurnNames)
				addNames(shown, u.Result, maxTurnNames)
			}
		}
	}
	return shown
}

// grounded reports whether a session shows something that a note names.
func grounded(n *note.Note, shown map[string]bool) bool {
	for _, name := range index.Identifiers(n.Title+"\n"+n.Body, maxNoteNames) {
		if shown[nameKey(name)] {
			return true
		}
	}
	return false
}
