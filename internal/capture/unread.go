package capture

import (
	"cmp"
	"slices"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/unread"
)

// leaveUnread leaves what was typed in a session to its reader. Something of the turns kept is a note already.
func (r *Recorder) leaveUnread(q Request, s *agent.Session, said []learn.Said, kept []int, from learn.Origin, clean learn.Clean) error {
	if q.History || s.Headless || r.forgotten(note.EpisodicID(from.Started, from.Harness, from.Session)) {
		return nil
	}
	said = slices.Clone(said)
	for i := range said { // what the agent said may repeat what a page says
		for _, line := range []*string{&said[i].Did, &said[i].Asked, &said[i].Options} {
			if redact.PromptInjection(*line) {
				*line = ""
			}
		}
	}
	c := unread.Captured{
		Origin: from, Ended: cmp.Or(s.Ended, s.Started), Said: said, Kept: kept,
		Open: openIn(q), Transcript: absolute(stored(q)),
	}
	for _, w := range learn.SaidIn(goneFrom(s), clean) {
		c.Gone = append(c.Gone, w.Hash)
	}
	return unread.Of(r.store).Put(c)
}

// PastSource is the source of a capture of a past session.
const PastSource = "import"

// ended notes that a session in some projects ended: what it was shown of earlier sessions, and has not answered for, is free
// for others, and not handed out for ever if its agent worked.
func (r *Recorder) ended(q Request, s *agent.Session, session string, projects []string) error {
	if openIn(q) {
		return nil
	}
	worked := !s.Headless && slices.ContainsFunc(s.Turns, func(t agent.Turn) bool { return t.Role == agent.Assistant })
	return unread.Of(r.store).Ended(session, worked, projects...)
}

// openIn reports whether a capture does not say that its session ended.
func openIn(q Request) bool { return q.Source != note.SessionEnd && q.Source != PastSource }
