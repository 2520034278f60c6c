package inject

import (
	"context"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/risk"
	"anamnesis/internal/store"
)

// A Line is one note on the page of a project.
type Line struct {
	ID    note.ID `json:"id"`
	Title string  `json:"title"`
	Why   string  `json:"why"` // it stands on the page, or does not
}

// A Topic stands on the page for notes that have no room there.
type Topic struct {
	Name  string    `json:"name"`
	Words []string  `json:"words"` // that tell its notes apart
	Notes []note.ID `json:"notes"`
}

// The sections of a page, in their order.
const (
	laidHeading  = "## From your user"
	laidIntro    = "Your user's own words, from earlier sessions or notes. Follow them."
	teamHeading  = "## From your team"
	teamIntro    = "What teammates share, each with a name. Your user has not confirmed it."
	knownHeading = "## Noted by agents, check before you rely on it"
	skillHeading = "## Skills for this work"
	lastHeading  = "## Last time"
	topicHeading = "## More notes, by topic"
	topicIntro   = "`memory_search` with words of a line opens them."
	useHeading   = "## How to use it"
	useIntro     = "`memory_get` opens a line by its id; `memory_search` before you work something out."
)

// A draftLine is a note that may get a line.
type draftLine struct {
	row   index.Row
	note  *note.Note // once it was read
	laid  bool       // the user vouches for it
	text  string     // the line
	whole bool       // it says all that the note says
}

// A draft is a page that is being made.
type draft struct {
	known    risk.Known // in the project
	p        Place
	now      time.Time
	size     measure
	lines    []draftLine // the order of the page: project before global, newest first
	handoffs []*note.Note
	slots    []*note.Note // the user's
	open     []string     // items of the last sessions
	skills   []*note.Note
	last     []*note.Note // the last session
	topics   []Topic
	rest     []draftLine // no room
	b        *Block
}

// Page returns the page of a project: a line for each note that holds there, and for more notes
// than fit a line for each topic. It does not change from start to start of one day while no note does.
// q says which notes may be looked up where there are more than fit.
func (in *Injector) Page(ctx context.Context, p Place, q recall.Query) (Block, error) {
	var b Block
	d := &draft{p: p, now: in.store.Now(), size: measure(p.Size), b: &b}
	if in.known != nil {
		d.known = in.known(ctx, p.Root, p.Project)
	}
	if err := in.gather(ctx, d); err != nil {
		return Block{}, err
	}
	t, err := in.tierOfPage(ctx, d, q)
	if err != nil {
		b.Missing = append(b.Missing, "look up notes for the session's start: "+err.Error())
	}
	b.LookedUp, b.Settled, d.skills = t.runs, t.why, t.skills
	if err := in.choose(ctx, d, t.hits); err != nil {
		return Block{}, err
	}
	in.write(d)
	return b, nil
}

// gather reads what may stand on a page.
func (in *Injector) gather(ctx context.Context, d *draft) error {
	p := d.p
	rows, err := recall.PageSourceOf(in.engine).Known(ctx, p.Projects, p.Branches)
	if err != nil {
		return err
	}
	rows = since(p, rows)
	for _, global := range []bool{false, true} {
		for _, r := range rows {
			if (r.Project == note.Global) == global && !p.own(r.Session) {
				d.lines = append(d.lines, draftLine{row: r, laid: r.Vouched()})
			}
		}
	}
	waiting, slots, err := in.engine.First(ctx, p.Projects)
	if err != nil {
		return err
	}
	d.handoffs = in.read(ctx, since(p, waiting), d.b)
	if in.opts.Slots {
		all := in.read(ctx, since(p, slots), d.b)
		d.open = slices.DeleteFunc(openItems(all), func(item string) bool { _, risky := risk.Find(item, d.known); return risky })
		if !p.Since.IsZero() {
			d.open = nil
		}
		all = slices.DeleteFunc(all, func(n *note.Note) bool { return note.SlotOf(n.Title).Automatic })
		d.slots = in.fitSlots(all, d.size, d.b)
	}
	if i := slices.IndexFunc(p.Pending, func(n *note.Note) bool {
		return !p.own(n.Provenance.Session) && !n.HasTag(note.ProgramTag)
	}); i >= 0 {
		d.last = p.Pending[i : i+1]
		return nil
	}
	sessions, err := recall.PageSourceOf(in.engine).Sessions(ctx, p.Projects, 2)
	if err != nil {
		return err
	}
	sessions = slices.DeleteFunc(since(p, sessions), func(r index.Row) bool { return p.own(r.Session) })
	d.last = in.read(ctx, sessions[:min(1, len(sessions))], d.b)
	return nil
}

// since returns the rows of files that changed after a session was shown the others.
func since(p Place, rows []index.Row) []index.Row {
	if p.Since.IsZero() {
		return rows
	}
	return slices.DeleteFunc(rows, func(r index.Row) bool { return !r.Ref.ModTime.After(p.Since) })
}

// own reports whether a note is of the session that is resumed, which knows it.
func (p Place) own(session string) bool {
	return p.Resumed && p.Session != "" && session == p.Session
}

// read reads the notes of rows; what cannot be read is named in b.
func (in *Injector) read(ctx context.Context, rows []index.Row, b *Block) (notes []*note.Note) {
	for i, c := range in.engine.Contents(ctx, rows) {
		switch {
		case c.Err != nil:
			b.Missing = append(b.Missing, c.Err.Error())
		case c.Note.ID == rows[i].ID && in.mayShow(c.Note):
			notes = append(notes, c.Note)
		}
	}
	return notes
}

// tierOfPage finds the skills of a page, and, where not all notes fit, those that the branch and
// the files in work name.
func (in *Injector) tierOfPage(ctx context.Context, d *draft, q recall.Query) (t startTier, err error) {
	all := 0
	for i := range d.lines {
		all += d.cost(&d.lines[i])
	}
	if all > in.room(d) {
		return in.tier(ctx, d.p, q, d.slots, d.open)
	}
	if !in.opts.tiered() {
		return t, nil
	}
	var files []string
	if d.p.Work != nil {
		files = d.p.Work()
		files = files[max(0, len(files)-maxStartFiles):]
	}
	_, err = in.skillTier(ctx, d.p, files, d.open, &t)
	return t, err
}

// lineFrame is what a line takes besides its title and id: a dash, brackets, a line feed.
const lineFrame = 6

// room is the size of a page, in the units of its agent.
func (in *Injector) room(d *draft) int {
	room := in.opts.PageTokens * recall.CharsPerToken
	if d.p.Limit > 0 {
		room = min(room, d.p.Limit)
	}
	return room
}

// standing says who vouches for a note.
func standing(n *note.Note) string {
	switch {
	case n.Author != "":
		return "shared by " + oneLine(n.Author)
	case n.IsReviewed():
		return "reviewed"
	case note.Changed(n):
		return "changed outside this program, not confirmed"
	case n.Provenance.Source == note.Human:
		return "written by the user"
	case n.Provenance.Source == note.User:
		return "said by the user in a session"
	case n.Provenance.Source == note.Agent:
		return "written by an agent, not reviewed"
	case n.Provenance.Source == note.Learning:
		return "learnt from a session, not reviewed"
	case n.Provenance.Source == note.Program:
		return "written by a command that no person watched, not reviewed"
	case n.Provenance.Source == note.Guest:
		return "written on a machine without a store, not reviewed"
	}
	return "source: " + n.Provenance.Source
}

// show counts a note as shown to the session. whole says that it was shown whole: then no prompt
// opens it again.
func (d *draft) show(n *note.Note, why string, whole bool) {
	d.b.Shown = append(d.b.Shown, n.ID)
	d.b.Lines = append(d.b.Lines, Line{n.ID, oneLine(n.Title), why})
	if whole {
		d.b.Injections = append(d.b.Injections, store.InjectionOf(n))
	} else {
		d.b.Named = append(d.b.Named, store.InjectionOf(n))
	}
}

// leave names a note that is not on the page, and why.
func (d *draft) leave(id note.ID, title, why string) {
	d.b.Dropped = append(d.b.Dropped, Line{id, oneLine(title), why})
}

// shortID is the end of an id that we made, by which every command and memory_get find it: 30
// random bits, so the same in every state of the store.
func shortID(id note.ID) string {
	if s := string(id); len(s) == 26 {
		return s[len(s)-6:]
	}
	return string(id)
}

// reason is what a rule's note gives as its reason, on one line; "" when it gives none.
func reason(n *note.Note) string {
	for line := range strings.Lines(n.Body) {
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), "Why:"); ok {
			return oneLine(strings.TrimSpace(why))
		}
	}
	return ""
}
