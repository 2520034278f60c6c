package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Kinds of changes in the journal. A kind that this program does not know stays in it, and is not
// taken back.
const (
	NoteChange   = "note"
	DraftChange  = "draft"
	AuthorChange = "author"
	AliasChange  = "alias"
	TrustChange  = "trust"
)

// A Change is one thing that a decision did. Former and Now are the SHA-256 of a note or a draft
// before and after, "" where there was none; of an author they are the entry of the ledger, of an
// alias the project that the name meant, of a teammate the id that is trusted (To).
type Change struct {
	Kind   string  `json:"kind"`
	ID     note.ID `json:"id,omitempty"`
	Name   string  `json:"name,omitempty"` // of an alias or a teammate
	From   string  `json:"from,omitempty"` // where a note stood, relative to the root; "" when there was none
	Former string  `json:"former,omitempty"`
	Text   string  `json:"text,omitempty"` // of a draft: the whole of it; "" after it was forgotten
	To     string  `json:"to,omitempty"`   // the path of a note, or the project of an alias
	Now    string  `json:"now,omitempty"`
}

// A DecisionHead says what was decided. It begins every line of the journal.
type DecisionHead struct {
	V      int    `json:"v"`
	N      int    `json:"n"` // counts the decisions of this machine
	At     string `json:"at"`
	What   string `json:"what"`             // keep, reject, edit, undo …
	By     string `json:"by,omitempty"`     // the interface, or the author that is no person
	Undoes int    `json:"undoes,omitempty"` // the decision that this one takes back
}

// A journalLine is one line of the journal.
type journalLine struct {
	DecisionHead
	Change *Change `json:"change,omitempty"`
	Done   bool    `json:"done,omitempty"` // of an undo: all is taken back that can be
}

// A DecisionLog is a decision as the journal has it.
type DecisionLog struct {
	DecisionHead
	Changes  []Change
	UndoneBy int // the decision that took it back and is in force, 0 for none

	done bool
}

// About reports whether a decision is about a note or a draft.
func (l *DecisionLog) About(id note.ID) bool {
	return slices.ContainsFunc(l.Changes, func(c Change) bool { return c.ID == id })
}

// A Decision is what one person decided with one command, one click or one key. What the Writers
// write that are begun with its context is written into the journal before it is done, under the
// same lock: a machine that stops in between leaves a line whose undo finds nothing changed. It is
// safe for concurrent use.
type Decision struct {
	s    *Store
	mu   sync.Mutex
	head DecisionHead
}

type decisionKey struct{}

// BeginDecision returns a context for a decision that is made by way of an interface, or the
// context and the decision that it has already. Nothing is written down until it has a name.
func BeginDecision(ctx context.Context, s *Store, by string) (context.Context, *Decision) {
	if d := decisionOf(ctx, s); d != nil {
		return ctx, d
	}
	d := &Decision{s: s, head: DecisionHead{V: 1, By: by}}
	return context.WithValue(ctx, decisionKey{}, d), d
}

// name names a decision. What is part of a larger one leaves its name.
func (d *Decision) name(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head.What == "" {
		d.head.What = what
	}
}

// Deciding begins a decision and names it.
func Deciding(ctx context.Context, s *Store, by, what string) context.Context {
	ctx, d := BeginDecision(ctx, s, by)
	d.name(what)
	return ctx
}

// NameDecision names the decision of a Writer, if it has one: only now is it known to be one.
func NameDecision(w *Writer, what string) {
	if w.decision != nil {
		w.decision.name(what)
	}
}

// Undoing is Deciding for what takes a decision back.
func Undoing(ctx context.Context, s *Store, by string, n int) (context.Context, *Decision) {
	ctx, d := BeginDecision(ctx, s, by)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.head.What, d.head.Undoes = "undo", n
	return ctx, d
}

// decisionOf returns the decision of a context, nil when it has none or one of another store.
func decisionOf(ctx context.Context, s *Store) *Decision {
	if d, ok := ctx.Value(decisionKey{}).(*Decision); ok && d.s == s {
		return d
	}
	return nil
}

// Number returns the number of a decision, 0 while nothing was written.
func (d *Decision) Number() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head.N
}

// named reports whether what is written belongs to a decision.
func (d *Decision) named() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head.What != ""
}

// Decide writes a change into the journal that a room of the store is about to make, if it is part
// of a decision.
func Decide(w *Writer, c Change) error { return w.decision.add(&c) }

// EndUndo writes into the journal that what the decision takes back is taken back as far as it can
// be. An undo without that line stopped half way, and is made again.
func EndUndo(w *Writer) error { return w.decision.append(journalLine{Done: true}) }

// add appends changes to the journal.
func (d *Decision) add(changes ...*Change) error {
	lines := make([]journalLine, len(changes))
	for i, c := range changes {
		lines[i].Change = c
	}
	return d.append(lines...)
}

// append appends lines to the journal. The caller holds the store lock.
func (d *Decision) append(lines ...journalLine) error {
	if !d.named() || len(lines) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	head, now := d.head, d.s.now().UTC()
	if head.N == 0 {
		all, err := Decisions(d.s)
		if err != nil {
			return err
		}
		head.N = 1
		if len(all) > 0 {
			head.N = all[len(all)-1].N + 1
		}
	}
	head.At = now.Format(time.RFC3339)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, l := range lines {
		l.DecisionHead = head
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	if err := d.s.appendJournal(layout.Journal+"/"+now.Format("2006-01")+".jsonl", out.Bytes()); err != nil {
		return fmt.Errorf("write the decision down: %w", err)
	}
	d.head = head
	return nil
}

func (s *Store) appendJournal(name string, data []byte) error {
	if err := s.folders(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := s.lstat(name)
	if err == nil {
		return s.disk.AppendSynced(s.Path(name), data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = s.disk.MkdirAll(s.Path(layout.Journal)); err == nil {
		err = s.disk.SyncDir(s.Path(""))
	}
	if err == nil {
		err = s.disk.AppendSynced(s.Path(name), data)
	}
	if err == nil {
		err = s.disk.SyncDir(s.Path(layout.Journal))
	}
	return err
}

// maxJournal is the largest file of the journal that is read, in bytes.
const maxJournal = 256 << 20

// months calls each for the files of the journal, oldest first.
func months(s *Store, each func(name string, data []byte) error) error {
	entries, err := s.entries(layout.Journal)
	if err != nil {
		return fmt.Errorf("read the journal of decisions: %w", err)
	}
	for _, e := range entries {
		if name := layout.Journal + "/" + e.Name(); strings.HasSuffix(name, ".jsonl") && e.Type().IsRegular() {
			data, err := s.ReadFile(name, maxJournal)
			if err == nil {
				err = each(name, data)
			}
			if err != nil {
				return fmt.Errorf("read the journal of decisions %s: %w", s.Path(name), err)
			}
		}
	}
	return nil
}

// Decisions reads the journal, in the order of the numbers. Lines that cannot be read are passed
// over: the last one may be torn.
func Decisions(s *Store) ([]DecisionLog, error) {
	var all []byte
	err := months(s, func(_ string, data []byte) error {
		all = append(append(all, data...), '\n')
		return nil
	})
	return ParseJournal(all), err
}

// ParseJournal reads lines of the journal.
func ParseJournal(data []byte) (all []DecisionLog) {
	at := make(map[int]int)
	for line := range bytes.Lines(data) {
		var l journalLine
		if json.Unmarshal(line, &l) != nil || l.V != 1 || l.N < 1 || l.Undoes >= l.N || l.Undoes < 0 {
			continue
		}
		if _, ok := at[l.N]; !ok {
			at[l.N] = len(all)
			all = append(all, DecisionLog{DecisionHead: l.DecisionHead})
		}
		d := &all[at[l.N]]
		d.done = d.done || l.Done
		if l.Change != nil && l.Change.sound() {
			d.Changes = append(d.Changes, *l.Change)
		}
	}
	slices.SortStableFunc(all, func(a, b DecisionLog) int { return a.N - b.N })
	undone(all)
	return all
}

// undone works out which decisions are taken back. An undo, an undo of that one, and so on are about one decision. The last
// of them that is done is in force, what it takes back is not, what that one took back is in force again, and so on. The
// others before it have no effect any more.
func undone(all []DecisionLog) {
	at, about, last := make(map[int]int), make(map[int]int), make(map[int]int)
	for i := range all {
		d := &all[i]
		at[d.N], about[d.N] = i, d.N
		if to, ok := about[d.Undoes]; ok {
			about[d.N] = to
		}
		if d.Undoes > 0 && d.done {
			last[about[d.N]] = d.N
		}
	}
	for i := range all {
		if d := &all[i]; d.Undoes > 0 && d.N < last[about[d.N]] {
			d.UndoneBy = last[about[d.N]]
		}
	}
	for _, by := range last {
		for i, ok := at[by]; ok; i, ok = at[by] { // numbers fall
			all[i].UndoneBy = 0
			j, known := at[all[i].Undoes]
			if !known {
				break
			}
			all[j].UndoneBy, by = by, all[j].Undoes
		}
	}
}

// sound reports whether the names in a change are such as the program writes.
func (c *Change) sound() bool {
	switch c.Kind {
	case NoteChange:
		for _, path := range []string{c.From, c.To} {
			if path != "" && !(layout.IsNotePath(path) && fs.ValidPath(path)) {
				return false
			}
		}
	case AliasChange, TrustChange:
		return c.Name != "" && c.To != ""
	case DraftChange, AuthorChange:
	default:
		return c.Kind != ""
	}
	_, err := note.ParseID(string(c.ID))
	return err == nil
}

// EraseDecided takes the text of drafts out of the journal for which goes returns true. What is
// not known in a line stays.
func EraseDecided(w *Writer, goes func(id note.ID, data []byte) bool) error {
	return months(w.s, func(name string, data []byte) error {
		var out bytes.Buffer
		for line := range bytes.Lines(data) {
			out.Write(eraseText(line, goes))
		}
		if bytes.Equal(out.Bytes(), data) {
			return nil
		}
		return w.Replace(name, out.Bytes())
	})
}

// eraseText returns a line of the journal without the text of a draft that goes.
func eraseText(line []byte, goes func(id note.ID, data []byte) bool) []byte {
	var l journalLine
	if json.Unmarshal(line, &l) != nil {
		return nil // a torn line may hold half a draft
	}
	if l.Change == nil || l.Change.Text == "" || !goes(l.Change.ID, []byte(l.Change.Text)) {
		return line
	}
	var whole, change map[string]json.RawMessage
	if json.Unmarshal(line, &whole) != nil || json.Unmarshal(whole["change"], &change) != nil {
		return nil
	}
	delete(change, "text")
	var err error
	if whole["change"], err = json.Marshal(change); err == nil {
		line, err = json.Marshal(whole)
	}
	if err != nil {
		return nil
	}
	return append(line, '\n')
}

// sumOf is the digest of a file, "" for one that is not there.
func sumOf(data []byte) string {
	if data == nil {
		return ""
	}
	return Digest(data)
}
