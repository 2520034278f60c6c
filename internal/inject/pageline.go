package inject

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// Bounds of the lines of a page, in characters.
const (
	maxLine   = 240 // of a statement
	maxReason = 120 // of the reason of a rule
	maxWhole  = 160 // of a body that the line of its note quotes whole, and of a field
	maxGist   = 320 // of all that the line says besides the title
	topicCost = 14  // of a note that is in a topic
)

// The shares of the page, one in so many, that the lines of a very large store have before its
// topics: what the user laid down, and with all others.
const (
	laidShare   = 2
	othersShare = 6
)

// choose says which notes get a line, reads them, and leaves the others to topics. near are
// notes that the branch and the files in work name.
func (in *Injector) choose(ctx context.Context, d *draft, near []*note.Note) error {
	room := in.room(d) - d.fixed()
	total := 0
	for i := range d.lines {
		total += d.cost(&d.lines[i])
	}
	if total > room {
		if err := in.rank(ctx, d, near, room); err != nil {
			return err
		}
	}
	in.readLines(ctx, d)
	d.settle()
	d.fold()
	used := d.word()
	for used > room && len(d.lines) > 0 { // marks behind lines take room too
		last := len(d.lines) - 1
		used -= d.lineSize(&d.lines[last])
		d.rest = append(d.rest, d.lines[last])
		d.lines = d.lines[:last]
	}
	d.topics = in.topics(d.rest, room-used)
	for i := range d.topics {
		used += d.size.of(d.topics[i].String())
	}
	d.explain(room - used)
	return nil
}

// cost is about the size of the line of a note that was not read yet.
func (d *draft) cost(l *draftLine) int {
	return lineFrame + len(shortID(l.row.ID)) + min(maxLine, d.size.of(l.row.Title)) + len(d.age(l))
}

// rank keeps the lines that fit, beside topics for the others: first those of the user, then
// what is near the work, was used, or is new.
func (in *Injector) rank(ctx context.Context, d *draft, near []*note.Note, room int) error {
	ids := make([]note.ID, len(d.lines))
	for i := range d.lines {
		ids[i] = d.lines[i].row.ID
	}
	tallies, err := recall.PageSourceOf(in.engine).Tallies(ctx, ids)
	if err != nil {
		return err
	}
	isNear := func(l *draftLine) int {
		branch := d.p.Branch != "" && l.row.Branch == d.p.Branch
		if branch || slices.ContainsFunc(near, func(n *note.Note) bool { return n.ID == l.row.ID }) {
			return 1
		}
		return 0
	}
	order := make([]int, len(d.lines))
	for i := range order {
		order[i] = i
	}
	laid := func(l *draftLine) int {
		if l.laid {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(x, y int) int {
		a, b := &d.lines[x], &d.lines[y]
		return cmp.Or(isNear(b)-isNear(a), laid(b)-laid(a), min(1, tallies[b.row.ID].Used)-min(1, tallies[a.row.ID].Used),
			b.row.Effective().Compare(a.row.Effective()))
	})
	kept, rest := d.keep(order, room, topicCost)
	if size := topicsSize(in.topics(rest, topicCost*len(rest))); len(rest) > 0 && size < topicCost*len(rest) { // many share their words
		kept, rest = d.keep(order, room, size/len(rest)+1)
	}
	d.rest = rest
	d.lines = slices.DeleteFunc(d.lines, func(l draftLine) bool { return !kept[l.row.ID] })
	return nil
}

// keep returns which of the lines, in their order of standing, fit into a room beside topics for the
// rest, of which each note takes so much.
func (d *draft) keep(order []int, room, perNote int) (kept map[note.ID]bool, rest []draftLine) {
	kept = make(map[note.ID]bool)
	used, left := 0, len(order)
	for _, i := range order {
		l := &d.lines[i]
		cost := d.cost(l)
		share := room / othersShare
		if l.laid {
			share = room / laidShare
		}
		if used+cost+(left-1)*perNote > room && used+cost > share {
			continue
		}
		kept[l.row.ID] = true
		used += cost
		left--
	}
	for _, l := range d.lines {
		if !kept[l.row.ID] {
			rest = append(rest, l)
		}
	}
	return kept, rest
}

// readLines reads the notes of the lines. Left out are those of which no code is left, and those
// that the agent loads from its own files.
func (in *Injector) readLines(ctx context.Context, d *draft) {
	rows := make([]index.Row, len(d.lines))
	for i := range d.lines {
		rows[i] = d.lines[i].row
	}
	var notes []*note.Note
	byID := make(map[note.ID]*note.Note)
	for i, c := range in.engine.Contents(ctx, rows) {
		if c.Err != nil {
			d.b.Missing = append(d.b.Missing, c.Err.Error())
		} else if c.Note.ID == rows[i].ID && in.mayShow(c.Note) {
			notes = append(notes, c.Note)
		}
	}
	if !d.p.Since.IsZero() {
		notes = in.news(d.p, notes)
	}
	for _, n := range in.sift(ctx, d.p, notes, d.b) {
		byID[n.ID] = n
	}
	for _, id := range d.b.Withheld {
		d.leave(id, "", "nothing is left of the code that it names")
	}
	d.lines = slices.DeleteFunc(d.lines, func(l draftLine) bool {
		n := byID[l.row.ID]
		return n == nil || n.Author != "" && n.Project == note.Global // what a teammate says of all projects is found by search
	})
	for i := range d.lines {
		d.lines[i].note = byID[d.lines[i].row.ID]
		d.lines[i].laid = d.lines[i].note.UserSaid()
	}
}

// news returns the notes that a session was not shown, as they are now.
func (in *Injector) news(p Place, notes []*note.Note) []*note.Note {
	st, err := in.store.Spool().ShownLog(p.Session, "").State()
	if err != nil { // shown twice is better than never
		return notes
	}
	return slices.DeleteFunc(notes, func(n *note.Note) bool {
		shown, _ := st.Line(n)
		return shown || st.Has(n)
	})
}

// settle keeps one of several user notes that exclude each other: one of the project before one for all projects, what the user wrote
// or read before what the user said, and of two sentences the later one. Ingest keeps more than one only where two machines wrote
// them before a sync, or where the user keeps both: two notes of one project that the user wrote or read both stay.
func (d *draft) settle() {
	best := make(map[string]*note.Note)
	key := func(n *note.Note) string {
		if s := note.Subject(n.About); s != "" && n.UserSaid() {
			return s + "\x00" + strings.Join(note.PathsOf(n), "\x00")
		}
		return ""
	}
	for i := range d.lines {
		n := d.lines[i].note
		if k := key(n); k != "" && (best[k] == nil || order(n, best[k]) < 0) {
			best[k] = n
		}
	}
	d.lines = slices.DeleteFunc(d.lines, func(l draftLine) bool {
		first := best[key(l.note)]
		if first == nil || first == l.note || first.Project == l.note.Project && !l.note.Quoted() {
			return false
		}
		if !claim.Exclude(l.note, first) {
			return false
		}
		d.leave(l.note.ID, l.note.Title, fmt.Sprintf("the note %s settles %s", shortID(first.ID), note.Subject(first.About)))
		return true
	})
}

// order is negative where a comes before b for settle.
func order(a, b *note.Note) int {
	flag := func(x, y bool) int {
		switch {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	}
	if a.ConflictOf == b.ID || b.ConflictOf == a.ID { // the user is asked which holds; until then the other one does
		return flag(a.ConflictOf == b.ID, b.ConflictOf == a.ID)
	}
	x, _ := a.CreatedAt.Time()
	y, _ := b.CreatedAt.Time()
	global := flag(a.Project == note.Global, b.Project == note.Global)
	return cmp.Or(global, flag(a.Quoted(), b.Quoted()), y.Compare(x), cmp.Compare(a.ID, b.ID))
}

// fold takes out what the page would say twice: of notes that state the same the first one
// stays, and none that stands in a file which the agent loads anyway.
func (d *draft) fold() {
	said := newStatements()
	if d.p.Loaded != nil {
		for _, f := range d.p.Loaded() {
			for line := range strings.Lines(f.Text) {
				said.add(strings.TrimLeft(strings.TrimSpace(line), "-*+•0123456789.) \t"), f.Name)
			}
		}
	}
	d.lines = slices.DeleteFunc(d.lines, func(l draftLine) bool {
		of := said.find(l.note.Title)
		if rule := note.RuleOf(l.note); of == "" && rule != l.note.Title {
			of = said.find(rule)
		}
		if of == "" {
			said.add(l.note.Title, "the note "+shortID(l.note.ID))
			return false
		}
		d.leave(l.note.ID, l.note.Title, of+" says the same")
		return true
	})
}

// statements finds statements that say the same, by their words of content.
type statements map[string][]statement

type statement struct{ text, of string }

func newStatements() statements { return make(statements) }

// maxStatement is how much of a line of a file is looked at, in bytes.
const maxStatement = 1000

func (s statements) key(text string) string {
	words := index.Tokens(text[:min(len(text), maxStatement)])
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (s statements) add(text, of string) {
	if key := s.key(text); key != "" {
		s[key] = append(s[key], statement{text, of})
	}
}

// find returns where a text stands that says the same, "" for nowhere.
func (s statements) find(text string) string {
	for _, other := range s[s.key(text)] {
		if claim.Compare(claim.Text(text), claim.Text(other.text)) == claim.Same {
			return other.of
		}
	}
	return ""
}

// word writes the lines, without what explains them, and returns their size.
func (d *draft) word() (used int) {
	for i := range d.lines {
		l := &d.lines[i]
		l.text = "- " + cutLine(oneLine(neutralise(l.note.Title)), maxLine) + marks(l.note, l.laid, d.b.moved[l.note.ID])
		l.text += d.p.branchOf(l.note) + repeated(l.note, d.now) + d.age(l)
		used += d.lineSize(l)
	}
	return used
}

// oldMonths is after how many months a fact shows its date: what was true then may have changed.
const oldMonths = 6

// age is the month of an old fact. It is a date, so that the line stays the same while the note does. What the user laid
// down does not grow old.
func (d *draft) age(l *draftLine) string {
	at := l.row.Effective()
	if l.laid || at.IsZero() || at.After(d.now.AddDate(0, -oldMonths, 0)) {
		return ""
	}
	return at.Format(" (2006-01)")
}

// lineSize is the size of a line with the id at its end.
func (d *draft) lineSize(l *draftLine) int {
	return d.size.of(l.text) + len(shortID(l.note.ID)) + 4 // brackets, a space, a line feed
}

// explain adds to the lines, while there is room, what they leave open: what to do and why. A line that then
// says all of its note needs no prompt to open it.
func (d *draft) explain(room int) {
	for _, laid := range []bool{true, false} {
		for i := range d.lines {
			l := &d.lines[i]
			if l.laid != laid {
				continue
			}
			more, whole := gist(l.note)
			for j, part := range more {
				part = joint(j) + part
				cost := d.size.of(part)
				if cost > room {
					whole = false
					break
				}
				l.text += part
				room -= cost
			}
			l.whole = whole
		}
	}
	for i := range d.lines {
		d.lines[i].text += " [" + shortID(d.lines[i].note.ID) + "]"
	}
}

// joint returns what separates a part of a gist.
func joint(place int) string {
	if place == 0 {
		return " — "
	}
	return "; "
}

// LineOf is the line that a note has on the page of its project, where there is room for all of it.
func LineOf(n *note.Note) string {
	line := cutLine(oneLine(neutralise(n.Title)), maxLine) + marks(n, n.UserSaid(), false)
	line += gistLine(n)
	if n.ID != "" {
		line += " [" + shortID(n.ID) + "]"
	}
	return line
}

// gist is what a note says besides its title, in parts of a line: its fields, what to do first, then its body, or the reason in a body
// that is too long. whole says that there is no more.
func gist(n *note.Note) (parts []string, whole bool) {
	body := oneLine(neutralise(n.Body))
	if body == oneLine(n.Title) || body == oneLine(n.Rule) {
		body = ""
	}
	details := note.Details(n)
	if n.UserSaid() && n.Quoted() { // the user said none of it
		return nil, body == "" && len(details) == 0
	}
	whole, left := true, maxGist
	add := func(text string, most int) {
		if most = min(most, left); text == "" || most < leastBody && len([]rune(text)) > most {
			whole = whole && text == ""
			return
		}
		short := cutLine(text, most)
		parts, left, whole = append(parts, short), left-len([]rune(short)), whole && short == text
	}
	for _, d := range details {
		add(oneLine(neutralise(d.String())), maxWhole)
	}
	switch {
	case len([]rune(body)) <= maxWhole:
		add(strings.TrimPrefix(body, "Why: "), maxWhole)
	default:
		add(reason(n), maxReason)
		whole = false
	}
	return parts, whole
}

// gistLine is the gist of a note behind its title, "" for none.
func gistLine(n *note.Note) (line string) {
	parts, _ := gist(n)
	for i, part := range parts {
		line += joint(i) + part
	}
	return line
}

// cutLine cuts a line to at most n characters, between words, and marks that.
func cutLine(s string, n int) string {
	if len([]rune(s)) <= n {
		return s
	}
	s = note.CutRunes(s, n-2)
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + " …"
}
