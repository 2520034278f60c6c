package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/risk"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// A Draft is a note that somebody wants to have in the store.
type Draft struct {
	Note     *note.Note // without an id it gets a new one
	By       Author
	Here     string                                   // the project that the author works on; "" when it is unknown
	Typed    *Typed                                   // the user's words, of an order or quoted by an agent or a model; nil for none
	Shown    string                                   // what the user had in front of them when they said it, and answered: it counts as named
	Replaces note.ID                                  // the note that it makes wrong; "" for none
	Rival    Rival                                    // of a person: what becomes of the user's note that says something else
	Reason   string                                   // for the history, when the note exists: store.Update, store.Capture
	Dir      string                                   // in whose repository the commits are looked up that it names; "" looks none up
	Force    bool                                     // of a person: also if it was forgotten, or is like another
	Once     bool                                     // a stretch of a session that is taken in once, whatever became of it
	Account  bool                                     // what happened, in this program's words: no rule, and judged as none
	Reviewed bool                                     // of a person: it is what somebody else wrote, read and found right
	Change   func(was *note.Note) (*note.Note, error) // makes the note of the one of its id (nil: there is none), under the store lock
	Beside   func(*note.Note) *note.Sidecar           // the sidecar of the note, if it is written; nil for none

	misquotes bool         // its Typed words say the opposite
	risky     risk.Finding // what the note makes an agent run or send; without Why nothing
	named     bool         // typed words name all of it
}

// Admit takes a note in, or not: the author and the situation decide (ActionOf), under the store
// lock. It completes a copy of the note, stamps the author over whatever the draft says, masks the
// secrets of what no person wrote, and validates it. What an agent or a model quotes of the user's typed
// words makes the user its author as far as the words go (Typed.Backs). The index is updated under the lock, and
// Outcome.Stale says when it could not be; one record of the kind store.Written follows.
//
// An error means that nothing was written: there is no author, the note is not valid, the store is
// read-only (store.ErrReadOnly) or locked for too long (store.ErrLocked), or the disk refuses.
func (g *Ingester) Admit(ctx context.Context, d Draft) (out Outcome, err error) {
	began := time.Now()
	if d.By == 0 || d.By == Teammate || d.By == Quoted {
		return Outcome{}, fmt.Errorf("admit note: %s is no author of a note of this store", d.By)
	}
	d.Force = d.Force && d.By == Person
	title := d.Note.Title
	if d.Change == nil {
		if err := d.prepare(ctx, g, &out); err != nil {
			return Outcome{}, fmt.Errorf("admit note %q: %w", shorten(title), err)
		}
	}
	if out.Note != nil && g.checkRefs(ctx, out.Note, d.Dir) && d.By == Agent {
		out = Outcome{Result: Dropped, Why: "no commit that it names is in the repository: " + strings.Join(out.Note.UnverifiedRefs, ", ")}
		g.log(out, time.Since(began))
		return out, nil
	}
	ctx, _ = store.BeginDecision(ctx, g.store, d.By.String())
	err = locked(ctx, g.store, func(w *store.Writer) error {
		a := admission{g: g, w: w, d: d, out: &out}
		return a.run(ctx)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("admit note %q: %w", shorten(title), err)
	}
	if out.Result != Unchanged || out.Effect != Known {
		g.log(out, time.Since(began))
	}
	if out.Effect == Contradicts && out.Note != nil && (d.By == Quoted || d.By == Order) {
		g.contradicted(out.Note, out.Of)
	}
	return out, nil
}

// prepare fills in the note of an outcome.
func (d *Draft) prepare(ctx context.Context, g *Ingester, out *Outcome) error {
	n := g.complete(d.Note)
	out.Note, out.Effect = n, Creates
	n.Vouched, n.Trusted = "", false
	if d.Typed != nil && d.By != Person && d.By != Order {
		d.misquotes = d.Typed.Backs(n) == Opposed
		if slices.Contains([]Author{Agent, Model}, d.By) && d.Typed.vouches(n) {
			d.By = Quoted
			d.Typed.speak(n)
		}
	}
	if !d.Reviewed {
		n.Reviewed, n.Provenance.Source = "", d.By.source(n.Provenance.Source)
	}
	if d.By == Person {
		out.Secrets = g.secrets(n)
	} else {
		unmark(n)
		out.Redacted = g.redact(n)
		n.Quarantine = n.Quarantine || redact.PromptInjection(wordsOf(n)) || redact.PromptInjection(n.Statement())
	}
	if d.Reviewed {
		n.Quarantine, n.Reviewed = false, note.At(g.store.Now())
		if n.Learnt() {
			n.Provenance.Confidence = 1
		}
	}
	if err := d.weigh(ctx, g, n); err != nil {
		return err
	}
	if d.Change != nil {
		return n.Validate()
	}
	return n.ValidateNew()
}

// wordsOf is what a note says and asks for, in all its parts.
func wordsOf(n *note.Note) string {
	return strings.Join([]string{n.Title, n.Body, n.Problem, n.RootCause, n.Fix, n.Rule, n.KeyInsight, n.HowToApply}, "\n")
}

// An admission is one draft on its way into the store, under the store lock.
type admission struct {
	g     *Ingester
	w     *store.Writer
	d     Draft
	out   *Outcome
	was   *note.Note // the note of the id that the draft has, nil when there is none
	ref   store.Ref  // of that note
	other *Neighbour // the note that the situation is about
	twin  *index.Twin
}

func (a *admission) run(ctx context.Context) error {
	if err := a.find(ctx); err != nil {
		return err
	}
	g, n := a.g, a.out.Note
	if a.d.Once {
		if known, err := g.known(ctx, n); err != nil || known {
			a.out.Result, a.out.Effect = Unchanged, Known
			return err
		}
	}
	s, err := a.situation(ctx)
	if err != nil || s == alreadyTaken {
		return err
	}
	return a.apply(ctx, s, ActionOf(a.d.By, s))
}

// alreadyTaken is no situation: the stretch of the session was taken in before.
const alreadyTaken = Situation(-1)

// situation returns the first situation that applies.
func (a *admission) situation(ctx context.Context) (Situation, error) {
	g, n := a.g, a.out.Note
	day, err := g.forgotten(n)
	if err == nil && day == "" && a.d.By == Quoted && n.Rule != "" { // as its writer worded it
		day, err = g.forgotten(worded(n))
	}
	switch {
	case err != nil:
		return 0, err
	case day != "" && !(a.d.Force && a.d.By == Person):
		a.out.Why = "this was forgotten on " + day + " and does not come back on its own"
		return Forgotten, nil
	}
	a.out.Revoked = day != ""
	if n.Quarantine && a.d.By != Person {
		return Instructs, nil
	}
	if a.d.misquotes {
		a.out.Why = fmt.Sprintf("its quote says the opposite: %q", shorten(a.d.Typed.Sentence))
		return Misquotes, nil
	}
	switch {
	case a.was != nil && a.d.By != Person && a.was.UserSaid() && !a.d.Account:
		a.other = &Neighbour{Note: a.was, Ref: a.ref}
		a.out.Why = fmt.Sprintf("it changes %s %q, which is your user's", a.was.ID, shorten(a.was.Title))
		return OwnersNote, nil
	case a.was != nil, a.d.Account, n.Kind != "" && n.Kind != note.Observation:
		return a.conduct(Free), nil
	}
	s, err := a.compare(ctx)
	if err != nil || s == Same || s == alreadyTaken {
		return s, err
	}
	return a.conduct(s), nil
}

// find looks for the note of the draft's id, and makes the draft of it where the caller says how.
func (a *admission) find(ctx context.Context) error {
	id := a.d.Note.ID
	if a.out.Note != nil {
		id = a.out.Note.ID
	}
	at, err := a.g.find(ctx, id)
	if err == nil && at.Path != "" {
		a.was, _, a.ref, err = a.g.store.Read(at.Path)
	}
	if err != nil || a.d.Change == nil {
		return err
	}
	var was *note.Note
	if a.was != nil {
		was = a.was.Clone()
	}
	if a.d.Note, err = a.d.Change(was); err != nil {
		return err
	}
	return a.d.prepare(ctx, a.g, a.out)
}

// conduct returns the situation of a draft by what it asks for and for whom, or else s. Who may write for
// all projects is judged by the notes about the same matter.
func (a *admission) conduct(s Situation) Situation {
	n := a.out.Note
	if a.d.By == Person || a.d.Account {
		return s
	}
	named := ActionOf(a.d.By, RiskyAct) == IfNamed && a.d.mayAct() // an act that typed words name is no risk
	if a.d.risky.Why != "" && !named {
		a.out.Why = "it " + a.d.risky.Why
		return RiskyAct
	}
	if n.Project != a.d.Here && !project.IsBelow(n.Project, a.d.Here) && (s == Free || ActionOf(a.d.By, Elsewhere) != Create) {
		a.out.Why = fmt.Sprintf("it is for %s, and the session works on another project", n.Project)
		if a.d.Here == "" {
			a.out.Why = fmt.Sprintf("it is for %s, and the project of the session is not known", n.Project)
		}
		return Elsewhere
	}
	for _, id := range n.Supersedes {
		if old, _, err := store.Get(a.g.store, id); err == nil && old.UserSaid() && a.d.By != Person {
			a.out.Why = fmt.Sprintf("it replaces %s %q, which is your user's", id, shorten(old.Title))
			return OwnersNote
		}
	}
	return s
}

// compare compares the draft with the notes about the same matter.
func (a *admission) compare(ctx context.Context) (Situation, error) {
	g, n := a.g, a.out.Note
	var same, opposite *Neighbour
	if n.Type.Durable() && !a.d.Force {
		near, err := g.neighbours(ctx, n, true)
		if err != nil {
			return 0, err
		}
		var taken note.ID
		if same, opposite, taken = a.among(near); taken != "" {
			a.out.Result, a.out.Effect, a.out.Of = Unchanged, Known, taken
			return alreadyTaken, nil
		}
		a.out.Near = liveNear(near)
		if opposite == nil {
			if same, opposite, err = a.bySubject(ctx, same); err != nil {
				return 0, err
			}
		}
	}
	if opposite == nil && a.d.Replaces != "" {
		opposite = g.named(a.d.Replaces, n)
	}
	switch {
	case opposite != nil:
		a.other = opposite
		return a.opposes(), nil
	case same != nil:
		a.other = same
		return Same, nil
	}
	twin, err := g.twin(ctx, n)
	if err != nil || twin == nil || a.d.Force && !twin.Exact {
		return Free, err
	}
	a.twin, a.out.Twin = twin, &twin.Row
	if twin.Exact {
		return Same, nil
	}
	if !g.opts.HoldSimilar {
		return Free, nil
	}
	a.out.Why = nearly(&twin.Row)
	return NearDuplicate, nil
}

// among returns the note among some that states what the draft states, and the one that states the opposite; nil for none. taken is a note
// that was made of the same words: then the draft was taken in before.
func (a *admission) among(near []Neighbour) (same, opposite *Neighbour, taken note.ID) {
	n := a.out.Note
	for i := range near {
		x := &near[i]
		switch {
		case a.d.By == Quoted && x.Note.IsArchived() && proves(x.Note, n.Evidence): // it was taken back
			return nil, nil, x.Note.ID
		case a.d.Once && proves(x.Note, n.Evidence):
			if x.dead || same != nil || n.About == "" || x.Note.About != "" {
				return nil, nil, x.Note.ID
			}
			same = x // an order, which a reader has read now
		case x.dead || slices.Contains(n.Supersedes, x.Note.ID) || x.Note.Kind == note.Handoff:
		case x.Note.ID == a.d.Replaces && x.Note.Project == n.Project, opposite == nil && x.Relation == claim.Opposite:
			opposite = x
		case same == nil && a.d.joins() && (x.Relation == claim.Same || a.d.details(x)):
			same = x
		}
	}
	return same, opposite, ""
}

// bySubject looks for the note that settles the subject of the draft. same is a note that states what the draft states, or nil: it settles
// the subject from now on, if another note did (settleSubject).
func (a *admission) bySubject(ctx context.Context, same *Neighbour) (_, opposite *Neighbour, err error) {
	on, err := a.g.onSubject(ctx, a.out.Note)
	switch {
	case err != nil || on == nil || same != nil:
	case claim.Exclude(a.out.Note, on.Note):
		return nil, on, nil
	case on.Relation != claim.Wider && a.d.joins():
		return on, nil, nil
	}
	return same, nil, err
}

// details reports whether the draft is the user's word again, with a condition or a detail more than the user's note x: it becomes evidence
// of that note, and the lines of the note show the quote, too.
func (d *Draft) details(x *Neighbour) bool {
	return d.By.Speaks() && d.mayAct() && x.Relation == claim.Narrower && x.Note.UserSaid() && x.Note.Project == d.Note.Project &&
		slices.Equal(note.PathsOf(x.Note), note.PathsOf(d.Note))
}

// joins reports whether a draft that states what a note states becomes evidence of that note. What
// a person writes, or another memory has, is a separate note unless it is word for word the same.
func (d *Draft) joins() bool { return d.By != Person && d.By != Import && d.By != Guest }

// opposes says whose note the draft contradicts.
func (a *admission) opposes() Situation {
	if !a.other.Note.UserSaid() {
		return OpposesNote
	}
	was := a.other.Note
	a.out.Why = a.other.opposed(a.out.Note, a.d.By)
	if was.Provenance.Source == note.User && !was.IsReviewed() {
		return OpposesTyped
	}
	return OpposesPerson
}

// apply carries an action out.
func (a *admission) apply(ctx context.Context, s Situation, act Action) error {
	n := a.out.Note
	switch s {
	case Same:
		a.out.Effect = Confirms
	case OpposesNote, OpposesTyped, OpposesPerson:
		a.out.Effect = Contradicts
	}
	if a.other != nil {
		a.out.Of = a.other.Note.ID
	}
	if act == IfNamed {
		act = Propose
		if a.d.mayAct() {
			act = Create
		}
	}
	if act == IfNewer {
		act = Propose
		if a.outdates() {
			act = Replace
		}
	}
	switch act {
	case Refuse:
		a.out.Result, a.out.Note = Dropped, nil
		return nil
	case Quarantine:
		n.Quarantine = true
		return a.create(ctx)
	case Confirm:
		return a.confirm(ctx)
	case Propose:
		return a.propose(s)
	case Replace:
		return a.replace(ctx)
	case Ask:
		if a.d.Rival == AskFirst {
			a.out.Result = Asked
			return nil
		}
		if a.d.Rival == ReplaceRival {
			all, err := a.g.rivalsOf(ctx, n)
			if err != nil {
				return err
			}
			a.g.supersede(n, append(all, a.other))
			store.NameDecision(a.w, "replace")
		}
	}
	return a.create(ctx)
}

// outdates reports whether the user's sentence takes the place of what the user said before: it names the subject or
// a word of the old note, and its session has replaced no note of the subject yet. Otherwise the user decides. Of two sentences the
// newer one holds (replace).
func (a *admission) outdates() bool {
	was, n := a.other.Note, a.out.Note
	if a.d.Typed == nil && a.d.By != Order {
		return false
	}
	if older(n, a.other.Note) { // it is captured late, and what is in force took its place
		return true
	}
	sentence := n.Title
	if a.d.Typed != nil {
		sentence = a.d.Typed.Line()
	}
	if claim.Shared(claim.Text(sentence), claim.Text(was.About+". "+note.RuleOf(was))) == 0 {
		return false
	}
	return len(was.Supersedes) == 0 || !slices.ContainsFunc(n.Evidence, func(e note.Evidence) bool {
		return slices.ContainsFunc(was.Evidence, func(had note.Evidence) bool { return had.Session == e.Session })
	})
}

// names reports whether words that a person typed hold an act, as whole words. How they are quoted and spaced makes no
// difference. An agreement holds none.
func (d *Draft) names(act string) bool {
	fold := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune("\"'`\\", r) {
				return -1
			}
			return r
		}, s)
		return strings.ToLower(strings.Join(strings.Fields(s), " "))
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	act = fold(act)
	first, _ := utf8.DecodeRuneInString(act)
	last, _ := utf8.DecodeLastRuneInString(act)
	holds := func(words string) bool {
		before, after, ok := strings.Cut(fold(words), act)
		for ok && act != "" {
			left, _ := utf8.DecodeLastRuneInString(before)
			right, _ := utf8.DecodeRuneInString(after)
			if !(inWord(left) && inWord(first)) && !(inWord(last) && inWord(right)) {
				return true
			}
			before, after, ok = strings.Cut(after, act)
		}
		return false
	}
	return holds(d.Shown) || d.Typed != nil && d.Typed.Agrees == "" && holds(d.Typed.Sentence)
}

// propose keeps the draft until a person decides. The same draft of the same author waits once.
func (a *admission) propose(s Situation) error {
	if a.d.By == Quoted && a.out.Note.Rule != "" { // a person decides on all of its words
		a.out.Note = worded(a.out.Note)
	}
	n := a.out.Note
	a.out.Result, n.StatusReason = Held, a.out.Why
	if s >= OpposesNote && s <= OpposesPerson {
		n.ConflictOf = a.other.Note.ID
	}
	for _, had := range a.g.store.Spool().Held() { // an agent may ask twice
		if had.Title == n.Title && had.Body == n.Body && had.Project == n.Project && slices.Equal(had.When, n.When) && !had.Decided() {
			a.out.Note = had
			return nil
		}
	}
	return a.w.Hold(n)
}

// confirm adds to the note that states what the draft states: the evidence, and to the words of a
// machine those of the user. The date of the note stays: the rule is as old as its first word.
func (a *admission) confirm(ctx context.Context) error {
	n := a.out.Note
	if a.other == nil { // it says the same, word for word
		same := n.Clone()
		same.ID = a.twin.Row.ID
		if err := revoke(a.w, a.out, same); err != nil {
			return err
		}
		a.out.Of = a.twin.Row.ID
		return a.absorb(ctx)
	}
	was := a.other.Note
	now := was.Clone()
	unite(now, n)
	if !a.d.Once {
		now.AddTags(n.Tags...)
	}
	if len(n.AnchorHashes) > 0 { // confirmed for the code as it is now
		now.AnchorHashes = n.AnchorHashes
	}
	if a.d.By.Speaks() && !was.UserSaid() && a.d.mayAct() { // the user has said it, too: the user's words stay
		now.Title, now.Body, now.Rule, now.When = n.Title, n.Body, n.Rule, a.d.triggersInForce(n)
		now.Provenance.Source = n.Provenance.Source
	}
	if was.Learnt() {
		now.Provenance.Confidence = min(0.95, max(was.Provenance.Confidence, n.Provenance.Confidence)+0.05)
	}
	if now.About == "" && n.About != "" {
		now.About = n.About
		if err := a.settleSubject(ctx, now); err != nil {
			return err
		}
	}
	if note.Equal(was, now) {
		a.out.Result, a.out.Note, a.out.Ref = Unchanged, was, a.other.Ref
		return nil
	}
	a.out.Result, a.out.Note, a.out.Near = Updated, now, nil
	return a.put(ctx, now, a.other.Ref, store.Update)
}

// absorb adds what a draft knows beyond its exact twin to the twin: tags and evidence.
func (a *admission) absorb(ctx context.Context) error {
	was, _, ref, err := a.g.store.Read(a.twin.Row.Ref.Path)
	if err != nil {
		return err
	}
	now := was.Clone()
	now.AddTags(a.out.Note.Tags...)
	unite(now, a.out.Note)
	if a.d.By.Speaks() && !was.UserSaid() && a.d.mayAct() {
		now.When, now.Provenance.Source = a.d.triggersInForce(a.out.Note), a.out.Note.Provenance.Source
	}
	return a.rewrite(ctx, was, now, ref, store.Update)
}

// replace lets the draft take the place of the note that it contradicts.
func (a *admission) replace(ctx context.Context) error {
	was, n := a.other.Note, a.out.Note
	store.NameDecision(a.w, "replace")
	if older(n, was) { // a session that was captured late: what is in force replaced it
		if err := a.create(ctx); err != nil {
			return err
		}
		now := was.Clone()
		now.Supersedes = append(now.Supersedes, n.ID)
		return a.g.write(ctx, a.w, now, a.other.Ref, store.Update, &Outcome{})
	}
	if was.Project != n.Project { // both stay until the person decides
		n.ConflictOf = was.ID
	} else {
		n.Supersedes = append(n.Supersedes, was.ID)
	}
	return a.create(ctx)
}

// create writes the draft as a note, or over the note of its id. Its sidecar is written first: a
// note that is there when the machine stops has its sidecar, and one that is not is taken in again.
func (a *admission) create(ctx context.Context) error {
	n := a.out.Note
	if err := a.holdTriggers(); err != nil {
		return err
	}
	if a.was != nil {
		now := revise(a.was, n)
		if err := revoke(a.w, a.out, now); err != nil {
			return err
		}
		return a.rewrite(ctx, a.was, now, a.ref, a.d.Reason)
	}
	a.out.Result = Created
	if err := revoke(a.w, a.out, n); err != nil {
		return err
	}
	if a.d.Beside != nil {
		if side := a.d.Beside(n); side != nil {
			if err := a.w.WriteSidecar(store.NotePath(n.Scope, n.Type, n.ID), note.FormatSidecar(side)); err != nil {
				return fmt.Errorf("write the sidecar of note %s: %w", n.ID, err)
			}
		}
	}
	return a.put(ctx, n, store.Ref{}, store.Update)
}

// holdTriggers takes the triggers off the draft that wait for a person. A draft of the note with
// all of them waits in the inbox.
func (a *admission) holdTriggers() error {
	n := a.out.Note
	if len(n.When) == 0 {
		return nil
	}
	act := triggers[a.d.By]
	if act == Create || n.Quarantine {
		return nil
	}
	all := n.Clone()
	n.When = slices.DeleteFunc(slices.Clone(n.When), func(t string) bool {
		return (a.was == nil || !slices.Contains(a.was.When, t)) && (act != IfNamed || !a.d.triggerNamed(t))
	})
	if len(n.When) == len(all.When) {
		return nil
	}
	all.StatusReason = "it asks to be shown before " + strings.Join(all.When, ", ")
	a.out.Waits = all.When
	return a.w.Hold(all)
}

// triggerNamed reports whether the words that a person typed hold what a trigger is about.
func (d *Draft) triggerNamed(text string) bool {
	_, pattern, _ := strings.Cut(text, ":")
	return d.names(strings.Trim(strings.TrimSpace(pattern), "*/"))
}

// rewrite writes now in the place of was, if it says anything else. A note whose statement was forgotten
// gets a new time: only a changed file outlives its deletion by a machine that has not heard of the
// revocation.
func (a *admission) rewrite(ctx context.Context, was, now *note.Note, ref store.Ref, reason string) error {
	same := now.Clone()
	same.Vouched = was.Vouched // no draft claims who vouches for it
	if note.Equal(was, same) && (was.UserSaid() || !a.d.By.Speaks()) && !a.out.Revoked {
		a.out.Result, a.out.Note, a.out.Ref = Unchanged, was, ref
		return nil
	}
	now.UpdatedAt = note.At(a.g.store.Now())
	if was.Type == note.Episodic && a.out.Note.Type == note.Episodic { // when the session ended, not when it was shown again
		now.UpdatedAt = note.Later(was.UpdatedAt, a.out.Note.UpdatedAt)
	}
	if now.Body != was.Body {
		now.Tags = slices.DeleteFunc(now.Tags, func(t string) bool { return t == "reflected" })
	}
	a.out.Result, a.out.Note = Updated, now
	return a.put(ctx, now, ref, reason)
}

// put writes a note. Where its author speaks as the user, the ledger gets it first.
func (a *admission) put(ctx context.Context, n *note.Note, old store.Ref, reason string) error {
	return a.g.vouched(ctx, a.w, a.d.By.Speaks(), n, old, reason, a.out)
}

// Release writes a held draft as a note: a person has read it and finds it right. With retire it replaces
// the note that it contradicts. The error is fs.ErrNotExist when none of that id waits.
func (b Inbox) Release(ctx context.Context, id note.ID, retire bool) (Outcome, error) {
	n, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return Outcome{}, err
	}
	if n.Quoted() { // the person was shown the title
		n.Rule = ""
	}
	if retire && n.ConflictOf != "" {
		n.Supersedes = append(n.Supersedes, n.ConflictOf)
	}
	n.ConflictOf = ""
	n.Reopen()
	out, err := b.g.Admit(ctx, Draft{Note: n, By: Person, Reviewed: true, Force: true, Reason: store.Update})
	if err == nil && out.Result == Dropped {
		err = errors.New(out.Why)
	}
	if err != nil {
		return out, err
	}
	return out, locked(ctx, b.g.store, func(w *store.Writer) error { return w.Release(id) })
}
