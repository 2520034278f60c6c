package team_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/team"
)

// try pushes like push, and returns the error.
func (m *machine) try() (team.Sent, error) {
	m.t.Helper()
	if _, err := m.own.Sync(m.t.Context(), index.SyncOptions{}); err != nil {
		m.t.Fatal(err)
	}
	return team.Push(m.t.Context(), m.client, m.sender())
}

// A machine and its copy that take turns do not replace each other's rows: who did not
// write last is shown, and writes nothing until it is settled.
func TestCopiesTakeTurns(t *testing.T) {
	h := newHub()
	one := newMachine(t, h, "alice")
	one.write(&note.Note{ID: "rule", Title: "Use pgx"})
	one.push()
	two := newMachine(t, h, "alice") // its copy, with the same origin
	two.marks = slices.Clone(one.marks)
	two.write(&note.Note{ID: "rule", Title: "Use pgx"})
	if sent := two.push(); sent.Put+sent.Dropped > 0 {
		t.Errorf("a copy that has nothing new sends %+v", sent)
	}
	one.push() // nobody has written since
	two.write(&note.Note{ID: "ofcopy", Title: "Of the copy"})
	two.push()

	one.write(&note.Note{ID: "later", Title: "Later"})
	for range 2 {
		if sent, err := one.try(); !errors.Is(err, team.ErrCopied) || sent.Put+sent.Dropped > 0 {
			t.Fatalf("the original: %+v, %v", sent, err)
		}
	}
	if _, err := team.PushNewest(t.Context(), one.client, one.sender(), 8); !errors.Is(err, team.ErrCopied) {
		t.Errorf("of the newest: %v", err)
	}
	two.push() // is not disturbed
	bob := newMachine(t, h, "bob")
	bob.pull()
	equal(t, "what Bob knows", map[string]string{"rule": "alice Use pgx", "ofcopy": "alice Of the copy"}, bob.knows())

	// A new name: both share, and each has its own.
	one.client.origin, one.marks = "alice/other", nil
	one.push()
	two.push()
	one.push()
	bob.pull()
	equal(t, "what Bob knows of both", map[string]string{
		"rule": "alice Use pgx", "ofcopy": "alice Of the copy", "later": "alice Later",
	}, bob.knows())
}

// Who goes on under the old name brings the rows into step with its files, and the other
// is the one that is shown.
func TestCopyKeepsTheName(t *testing.T) {
	h := newHub()
	one := newMachine(t, h, "alice")
	one.write(&note.Note{ID: "rule", Title: "Use pgx"})
	one.push()
	two := newMachine(t, h, "alice")
	two.marks = slices.Clone(one.marks)
	two.write(&note.Note{ID: "ofcopy", Title: "Of the copy"})
	two.push()
	standing, err := one.client.Standing(t.Context())
	if err != nil || !standing.Copied(one.marks) || standing.Copied(two.marks) {
		t.Fatalf("%+v, %v", standing, err)
	}
	one.marks = append(one.marks, standing.Mark)
	one.push()
	if _, err := two.try(); !errors.Is(err, team.ErrCopied) {
		t.Errorf("the other: %v", err)
	}
	bob := newMachine(t, h, "bob")
	bob.pull()
	equal(t, "what Bob knows", map[string]string{"rule": "alice Use pgx"}, bob.knows())
}

// Of an origin that is another member's now nothing is written.
func TestOriginOfAnother(t *testing.T) {
	m := newMachine(t, newHub(), "alice")
	m.write(&note.Note{ID: "rule", Title: "Use pgx"})
	m.client.holder = "olga"
	if sent, err := m.try(); !errors.Is(err, team.ErrHeld) || sent.Put > 0 {
		t.Errorf("%+v, %v", sent, err)
	}
	m.client.holder = ""
	if sent := m.push(); sent.Put != 1 {
		t.Errorf("%+v", sent)
	}
}

// A mark that could not be written down here is never left there: the next run would take
// its own for that of another.
func TestMarkIsWrittenFirst(t *testing.T) {
	h := newHub()
	m := newMachine(t, h, "alice")
	m.write(&note.Note{ID: "rule", Title: "Use pgx"})
	if _, err := m.own.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	s := m.sender()
	s.Mark = func() (string, error) { return "lost", full }
	if sent, err := team.Push(t.Context(), m.client, s); !errors.Is(err, full) || sent.Put > 0 || len(h.rows)+len(h.marks) > 0 {
		t.Errorf("%+v, %v, %d rows", sent, err, len(h.rows))
	}
	s.Mark = m.sender().Mark
	h.fail = errors.New("the server is gone") // after the mark was written down
	if _, err := team.Push(t.Context(), m.client, s); err == nil {
		t.Error("no error")
	}
	h.fail = nil
	m.push()
	m.push()
}

// A note that an owner took away does not come back, edited or not, and its author is shown;
// returned, it goes again on its own.
func TestWithdrawn(t *testing.T) {
	h := newHub()
	alice, bob := newMachine(t, h, "alice"), newMachine(t, h, "bob")
	alice.write(&note.Note{ID: "Rule", Title: "Use pgx"})
	alice.write(&note.Note{ID: "other", Title: "Other"})
	alice.push()
	bob.pull()
	why := team.Withdrawal("olga", "out of date\nand more")
	equal(t, "the reason", "an owner of the team took it away (olga): out of date", why)
	equal(t, "no reason", "an owner of the team took it away (olga)", team.Withdrawal("olga", " "))

	// As the database does it: the row goes, and the file counts as held back.
	row := h.rows["alice/laptop\x00memory/semantic/Rule.md"]
	h.generation++
	h.rows["alice/laptop\x00"+row.Path] = index.Change{Generation: h.generation, Origin: row.Origin, Member: row.Member, Path: row.Path, Dropped: true}
	h.held["alice/laptop\x00"+row.Path] = index.FileState{Size: row.Size, ModTime: row.ModTime, Hash: row.Hash, Problem: why}
	h.withdrawn["rule"] = why
	check := func(what string, held []team.Held) {
		t.Helper()
		equal(t, what, []team.Held{{"Rule", why}}, held)
		bob.pull()
		equal(t, what+", to Bob", map[string]string{"other": "alice Other"}, bob.knows())
	}
	check("as it was", alice.push().Held)
	alice.write(&note.Note{ID: "Rule", Title: "Use pgx 5"})
	check("of the newest", alice.pushNewest().Held)
	check("edited", alice.push().Held)
	s := alice.sender()
	s.Again = true
	sent, err := team.Push(t.Context(), alice.client, s)
	if err != nil {
		t.Fatal(err)
	}
	check("again", sent.Held)
	h.fail = errors.New("the server is gone")
	sent, err = team.Preview(t.Context(), alice.sender())
	if err != nil {
		t.Fatal(err)
	}
	h.fail = nil
	check("without the server", sent.Held)
	if _, ok, err := alice.own.Lookup(t.Context(), "Rule"); !ok || err != nil {
		t.Errorf("Alice has lost her note: %v", err)
	}
	// A copy of it on another machine stays there, too.
	carol := newMachine(t, h, "carol")
	carol.write(&note.Note{ID: "rule", Title: "Use pgx"})
	equal(t, "of another machine", []team.Held{{"rule", why}}, carol.push().Held)

	delete(h.withdrawn, "rule")
	equal(t, "returned", []int{1, 0}, []int{alice.push().Put, len(alice.push().Held)})
	bob.pull()
	equal(t, "what Bob knows then", "alice Use pgx 5", bob.knows()["Rule"])
}

// Machines whose clocks are hours and years apart: what is shared, changed and taken back
// reaches all, in whatever order the clocks say it happened.
func TestClocksApart(t *testing.T) {
	h := newHub()
	var all []*machine
	for i, off := range []time.Duration{0, -9 * time.Hour, 11 * time.Hour, -30 * 365 * 24 * time.Hour} {
		m := newMachine(t, h, fmt.Sprint("m", i))
		m.now = func() time.Time { return time.Now().Add(off) }
		all = append(all, m)
	}
	exchange := func() {
		t.Helper()
		for range 2 {
			for _, m := range all {
				m.push()
				m.pull()
			}
		}
	}
	want := make(map[string]string)
	for i, m := range all {
		id := note.ID(fmt.Sprint("n", i))
		m.write(&note.Note{ID: id, Title: "First"})
		want[string(id)] = m.client.member + " First"
	}
	check := func(what string) {
		t.Helper()
		exchange()
		for i, m := range all {
			for id, said := range want {
				if own := strings.HasPrefix(said, m.client.member+" "); own {
					said = strings.TrimPrefix(said, m.client.member+" ")
				}
				if got := m.knows()[id]; got != said {
					t.Errorf("%s: machine %d knows of %s %q, want %q", what, i, id, got, said)
				}
			}
			if got := len(m.knows()); got != len(want) {
				t.Errorf("%s: machine %d knows %d notes, want %d", what, i, got, len(want))
			}
			state, err := team.ReadState(t.Context(), m.all)
			if age := state.Age(m.now()); err != nil || age < 0 || age > time.Hour {
				t.Errorf("%s: the mirror of machine %d is %v old, %v", what, i, age, err)
			}
		}
	}
	check("shared")
	for i, m := range all { // a change of the slow clock counts as one of the fast
		m.write(&note.Note{ID: note.ID(fmt.Sprint("n", i)), Title: "Second", Body: m.now().String()})
		want[fmt.Sprint("n", i)] = m.client.member + " Second"
	}
	check("changed")
	all[3].projects, all[2].projects = nil, nil // the slowest and the fastest take theirs back
	delete(want, "n2")
	delete(want, "n3")
	exchange()
	for i, m := range all[:2] {
		if got := len(m.knows()); got != 2 {
			t.Errorf("machine %d knows %d notes, want 2: %v", i, got, m.knows())
		}
	}
	all[3].projects, all[2].projects = []string{"shop"}, []string{"shop"}
	want["n2"], want["n3"] = "m2 Second", "m3 Second"
	check("shared again")

	// A clock that is set back makes a mirror no older than new.
	all[0].now = func() time.Time { return time.Now().Add(-48 * time.Hour) }
	state, err := team.ReadState(t.Context(), all[0].all)
	if age := state.Age(all[0].now()); err != nil || age != 0 {
		t.Errorf("a mirror of the future is %v old, %v", age, err)
	}
	check("after the clock was set back")
}

// Of a note that several machines share, the copy that its own text says was updated last
// is seen by those who have none, whenever the rows came and whatever the clocks said.
func TestNewestCopyByItsText(t *testing.T) {
	for _, newestFirst := range []bool{false, true} {
		h := newHub()
		fast, slow, bob := newMachine(t, h, "fast"), newMachine(t, h, "slow"), newMachine(t, h, "bob")
		fast.now = func() time.Time { return time.Now().Add(20 * time.Hour) }
		slow.now = func() time.Time { return time.Now().Add(-20 * time.Hour) }
		fast.writeAt(&note.Note{ID: "both", Title: "Old words"}, time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC))
		slow.writeAt(&note.Note{ID: "both", Title: "New words"}, time.Date(2026, 7, 2, 12, 0, 1, 0, time.UTC))
		order := []*machine{fast, slow}
		if newestFirst {
			slices.Reverse(order)
		}
		for _, m := range order {
			m.push()
			bob.pull()
		}
		equal(t, "what Bob sees", "slow New words", bob.knows()["both"])
		fast.pull()
		equal(t, "who has one of its own", "Old words", fast.knows()["both"])
	}
}
