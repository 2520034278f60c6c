package curate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
	"anamnesis/internal/text"
	"anamnesis/internal/unread"
)

// A Lesson is what a reader makes of unread turns: one statement.
type Lesson struct {
	ID       string   `json:"id,omitempty"`    // of a note that says it already: only its quote, its subject and its asks count
	Title    string   `json:"title,omitempty"` // the rule as an order, or the fact, in one sentence
	Quote    string   `json:"quote,omitempty"` // the user's words that say it
	Why      string   `json:"why,omitempty"`
	When     []string `json:"when,omitempty"`     // triggers
	About    string   `json:"about,omitempty"`    // the subject, as in note.Note
	Replaces string   `json:"replaces,omitempty"` // id of the note that it makes wrong
	Holds    string   `json:"holds,omitempty"`    // a learn.Holds; "" means learn.Project
	Asks     []string `json:"asks,omitempty"`     // what the user might type when it will matter, as in note.Note

	// Whether the quote alone tells a new agent the rule; nil: not said.
	SelfContained *bool `json:"self_contained,omitempty"`
}

// Bounds of an answer.
const (
	maxLessons     = 20
	maxLessonTitle = 300 // characters
	maxLessonText  = 4000
)

// Learning is the answer to a reader.
type Learning struct {
	Lines []string // one for each lesson, in their order: its result
	Kept  []string // titles of the notes that are in force, the first one first
	Open  bool     // the turns stay unread: lessons were refused for their form

	ids   []note.ID // of Kept
	known int       // lessons that a note says already
}

// Learn takes in what a reader made of the turns that were handed out under a name, and closes them. Each lesson is admitted alone:
// one that is refused costs no other. dir is where the reader works. While a lesson is refused for its form, the turns stay
// open, so that it can be sent again.
func Learn(ctx context.Context, r *app.Rooms, by ingest.Author, dir, lease string, lessons []Lesson) (l Learning, err error) {
	if len(lessons) > maxLessons {
		return l, app.Usagef("%d items; send the %d at most that matter", len(lessons), maxLessons)
	}
	q := unread.Of(r.Store)
	sessions, err := q.Leased(lease)
	if err != nil {
		return l, err
	}
	if len(sessions) == 0 {
		return l, noLease(q, dir, lease)
	}
	newest := sessions[0]
	ctx, decision := store.BeginDecision(ctx, r.Store, by.String())
	ctx = store.Deciding(ctx, r.Store, by.String(), "learn from the session of "+newest.Ended.Local().Format("2 Jan 15:04"))
	agreed := make(map[string]bool) // an agreement vouches for one claim
	for i := range lessons {
		item := &lessons[i]
		if wrong := item.mend(); wrong != "" {
			l.Lines, l.Open = append(l.Lines, "refused: "+wrong), true
			continue
		}
		if item.ID != "" {
			l.aboutNote(ctx, r, sessions, item)
			continue
		}
		if learn.Holds(item.Holds).Is(learn.Task) {
			l.Lines = append(l.Lines, "not kept: it ends with its task")
			continue
		}
		out, err := admitLesson(ctx, r, by, sessions, item, agreed)
		if errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrReadOnly) {
			return l, err // nothing was written of it; the turns stay unread
		}
		l.add(out, err)
	}
	if l.Open {
		return l, nil
	}
	lessons = slices.DeleteFunc(slices.Clone(lessons), func(item Lesson) bool { // asks answer for no turn
		return item.ID != "" && item.Quote == ""
	})
	if err := q.Answer(lease, unread.Agent, len(lessons) == 0); err != nil {
		return l, err
	}
	l.log(r, newest, lessons)
	return l, l.tell(r, newest, decision.Number())
}

// log records an answer: what it kept, and its tokens.
func (l *Learning) log(r *app.Rooms, newest *unread.Session, lessons []Lesson) {
	call, err := json.Marshal(lessons)
	if err != nil {
		return
	}
	_ = r.Store.Events().Log(store.Record{
		Kind: store.Answered, Session: newest.Lease.Client, Project: newest.Origin.Project, Count: len(lessons), Notes: l.ids,
		In: recall.Tokens(string(call)), Out: recall.Tokens(strings.Join(l.Lines, "\n")),
		Text: fmt.Sprintf("%d kept, %d known", len(l.Kept), l.known),
	})
}

// mend puts a lesson in order, and says what is wrong with it; "" for nothing.
func (item *Lesson) mend() string {
	item.Title = strings.TrimRight(strings.Join(strings.Fields(item.Title), " "), ".。")
	item.Why = strings.Join(strings.Fields(item.Why), " ")
	switch {
	case item.ID != "":
		return ""
	case item.Title == "":
		return "an item without a title"
	case utf8.RuneCountInString(item.Title) > maxLessonTitle:
		return fmt.Sprintf("the title %q has more than %d characters", text.Cut(item.Title, 40), maxLessonTitle)
	case utf8.RuneCountInString(item.Why)+utf8.RuneCountInString(item.Quote) > 2*maxLessonText:
		return fmt.Sprintf("why and quote of %q have more than %d characters", text.Cut(item.Title, 40), 2*maxLessonText)
	case strings.ContainsFunc(item.Title+item.Why, unicode.IsControl):
		return fmt.Sprintf("%q has a control character", text.Cut(item.Title, 40))
	}
	item.When = note.TriggersOf(item.When) // a bad trigger costs the trigger and not the lesson
	return ""
}

// admitLesson admits one lesson as a note.
func admitLesson(
	ctx context.Context, r *app.Rooms, by ingest.Author, sessions []*unread.Session, item *Lesson, agreed map[string]bool,
) (out ingest.Outcome, err error) {
	quote, from, found := findQuote(sessions, item.Quote)
	if found && quote.Said.Asked != "" {
		found = !agreed[quote.Said.Hash]
		agreed[quote.Said.Hash] = true
	}
	key := project.Canonical(r.Store, from.Project)
	n := &note.Note{
		Type: note.Semantic, Title: item.Title, Body: item.Why, Project: key, When: item.When, Scope: note.Portable,
		About: note.Subject(item.About), Asks: note.AsksOf(item.Asks), MachineID: from.Machine, LearningType: "rule", ProofCount: 1,
		Provenance: note.Provenance{Confidence: 0.8, Session: from.Session},
	}
	d := ingest.Draft{Note: n, By: by, Here: key, Dir: from.Dir}
	if found {
		n.AddTags(learn.Tag)
		n.Evidence = []note.Evidence{quote.Evidence(from)}
		n.Provenance.Confidence = 0.9
		d.Typed = quote.Typed()
		d.Typed.SelfContained = item.SelfContained
		if at := quote.Said.At; !at.IsZero() {
			n.CreatedAt = note.At(at) // of two sentences on one matter the newer one holds
		}
	}
	if item.Replaces != "" {
		row, err := app.Resolve(ctx, r, item.Replaces)
		if err != nil {
			return out, fmt.Errorf("replaces: %w", err)
		}
		d.Replaces = row.ID
	}
	capture.Stamp(n, from.Dir, r.Redactor, from.Edited...)
	return learn.Take(ctx, r.Ingester, d, learn.Holds(item.Holds))
}

// findQuote finds what a reader quotes in sessions, the newest first, and the session that has it. Without it, from is the newest one.
func findQuote(sessions []*unread.Session, words string) (quote learn.Quote, from learn.Origin, found bool) {
	for _, s := range sessions {
		if quote, found = learn.Find(s.Said(), words); found {
			return quote, s.Origin, true
		}
	}
	return quote, sessions[0].Origin, false
}

// aboutNote applies a lesson about a note that already says it: it adds the asks, or the words with which the user repeated it. The
// lesson's line of the answer reports errors.
func (l *Learning) aboutNote(ctx context.Context, r *app.Rooms, sessions []*unread.Session, item *Lesson) {
	line := "kept"
	row, err := app.Resolve(ctx, r, item.ID)
	if err == nil && (len(item.Asks) > 0 || item.Quote == "") {
		_, err = ingest.GiveAsks(ctx, r.Ingester, project.Canonical(r.Store, sessions[0].Origin.Project), row.ID, item.Asks)
	}
	if err == nil && item.Quote != "" {
		quote, from, found := findQuote(sessions, item.Quote)
		if !found || quote.Said.Asked != "" {
			err = errors.New("the quote is not among the messages")
		} else {
			var out ingest.Outcome
			out, err = ingest.Repeat(ctx, r.Ingester, project.Canonical(r.Store, from.Project), from.Dir, ingest.Repetition{
				Note: row.ID, Typed: *quote.Typed(), Evidence: quote.Evidence(from), About: item.About,
			})
			if err == nil {
				line = "counted for " + string(row.ID)
				l.known++
			}
			if err == nil && out.Effect == ingest.Contradicts { // it replaces another note, or waits for the user to choose
				l.Kept, l.ids = append(l.Kept, out.Note.Title), append(l.ids, out.Note.ID)
			}
		}
	}
	if err != nil {
		line = "refused: " + err.Error()
	}
	l.Lines = append(l.Lines, line)
}

// add adds the line of the answer for a lesson.
func (l *Learning) add(out ingest.Outcome, err error) {
	line := ""
	switch {
	case err != nil:
		line = "refused: " + err.Error()
	case out.Note == nil || out.Result == ingest.Dropped:
		line = "not kept: " + out.Why
	case out.Result == ingest.Held:
		line = "waits for your user: " + out.Why
	case out.Effect == ingest.Confirms || out.Result == ingest.Unchanged:
		line = "already known as " + string(cmp.Or(out.Of, out.Note.ID))
		l.known++
	default:
		line = "kept"
		l.Kept, l.ids = append(l.Kept, out.Note.Title), append(l.ids, out.Note.ID)
		if len(out.Waits) > 0 {
			line += "; its triggers wait for your user"
		}
	}
	l.Lines = append(l.Lines, line)
}

// tell leaves a line for the user about what was kept, with the number of the decision: the next prompt of the reader's session
// shows it.
func (l *Learning) tell(r *app.Rooms, s *unread.Session, decision int) error {
	if len(l.Kept) == 0 || s.Lease.Client == "" {
		return nil
	}
	line := fmt.Sprintf("Remembered from %s: %s", text.Day(r.Store.Now(), s.Ended), text.Cut(l.Kept[0], 80))
	if more := len(l.Kept) - 1; more > 0 {
		line += fmt.Sprintf(" (+%d)", more)
	}
	return r.Store.Spool().ShownLog(s.Lease.Client, "").News(fmt.Sprintf("%s. Undo: anamnesis undo %d", line, decision))
}

// noLease is the error for a name under which nothing was handed out.
func noLease(q unread.Queue, dir, lease string) error {
	names, err := q.Leases(dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return app.Errorf(app.NotFound, "no unread messages were handed out as %q, or they were answered; memory_unread hands out the next ones",
			text.Cut(lease, 40))
	}
	return app.Errorf(app.NotFound, "no unread messages were handed out as %q; those handed out here: %s",
		text.Cut(lease, 40), strings.Join(names, ", "))
}
