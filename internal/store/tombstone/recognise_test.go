package tombstone_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

const broker = "The queue broker restarts nightly at three because of a memory leak in the consumer."

func said(id note.ID, title, body string) *note.Note {
	n := draft(id)
	n.Title, n.Body = title, body
	return n
}

// A body that is self-contained is recognised under every title.
func TestTombstoneOfABody(t *testing.T) {
	stone := tombstone.New("n1", "Queue\n"+broker, time.Now())
	short := tombstone.New("n2", "Queue\nrestarts at three", time.Now())
	before := stone // as it was written when bodies were not known
	before.BodyHMAC, before.BodySimhash, before.BodyTokens = "", "", 0
	before.Simhash = "" // the salt decides whether another title is a near copy
	session := said("s", "Nightly broker restart", broker)
	session.Type = note.Episodic
	for _, c := range []struct {
		name  string
		stone tombstone.Tombstone
		note  *note.Note
		want  bool
	}{
		{"another title", stone, said("x", "Nightly broker restart", broker), true},
		{"another title and spelling", stone, said("x", "Nightly broker restart", strings.ToUpper(broker)+"!"), true},
		{"a title of symbols", stone, said("x", "!!", broker), true},
		{"a session that says it", stone, session, true},
		{"half of it", stone, said("x", "Queue", "The queue broker restarts nightly at three"), false},
		{"it and more", stone, said("x", "Queue", broker+" "+broker), false},
		{"a short body under another title", short, said("x", "Broker", "restarts at three"), false},
		{"a short body under its title", short, said("x", "queue", "Restarts at three."), true},
		{"a tombstone of before, another title", before, said("x", "Nightly broker restart", broker), false},
		{"a tombstone of before, its title", before, said("x", "Queue", broker), true},
	} {
		if got := c.stone.Recognises(c.note.Fingerprint()); got != c.want {
			t.Errorf("%s: recognised %v", c.name, got)
		}
	}
	if t1, ok := tombstone.Match([]tombstone.Tombstone{short, stone}, session); !ok || t1.ID != "n1" {
		t.Errorf("minded by %q, %v", t1.ID, ok)
	}
	if _, ok := tombstone.Match([]tombstone.Tombstone{short}, said("n2", "something", "else")); !ok {
		t.Error("the id does not count")
	}
}

// A body that nearly says it is recognised too; what resembles it in a session
// does so by chance.
func TestTombstoneNearABody(t *testing.T) {
	n := said("x", "Broker, every night", strings.Replace(fridays, "and nobody", "where nobody", 1))
	for range 100_000 { // which copies are near depends on the salt
		stone := tombstone.New("old", "Never\n"+fridays, time.Now())
		if !stone.Recognises(n.Fingerprint()) {
			continue
		}
		if stone.BodyHMAC = ""; !stone.Recognises(n.Fingerprint()) {
			t.Error("not by the words of the body")
		}
		n.Type = note.Episodic
		if stone.Recognises(n.Fingerprint()) {
			t.Error("a session is")
		}
		return
	}
	t.Error("no salt makes it a near-copy")
}

// recognisedByStatement reports whether a tombstone knows a note without the body.
func recognisedByStatement(t tombstone.Tombstone, n *note.Note) bool {
	t.BodyHMAC, t.BodySimhash = "", ""
	return t.Recognises(n.Fingerprint())
}

// Files of tombstones come from elsewhere.
func TestTombstoneHostile(t *testing.T) {
	n := said("x", "Nightly broker restart", broker)
	stone := tombstone.New("n1", "Queue\n"+broker, time.Now())
	for recognisedByStatement(stone, n) { // some salts make the statement alone a near-copy
		stone = tombstone.New("n1", "Queue\n"+broker, time.Now())
	}
	for name, change := range map[string]func(*tombstone.Tombstone){
		"no salt":             func(s *tombstone.Tombstone) { s.Salt = "" },
		"half a byte of salt": func(s *tombstone.Tombstone) { s.Salt = "0" },
		"a salt that is none": func(s *tombstone.Tombstone) { s.Salt = "zz" },
		"an endless salt":     func(s *tombstone.Tombstone) { s.Salt = strings.Repeat("0", 3000) },
		"no word":             func(s *tombstone.Tombstone) { s.BodyTokens = 0 },
		"less than none":      func(s *tombstone.Tombstone) { s.BodyTokens = -1 << 62 },
		"more than there are": func(s *tombstone.Tombstone) { s.BodyTokens = 1 << 62 },
		"no hash":             func(s *tombstone.Tombstone) { s.BodyHMAC, s.BodySimhash = "", "" },
		"a hash that is none": func(s *tombstone.Tombstone) { s.BodyHMAC, s.Exact.Body, s.BodySimhash = "x", "x", "x" },
		"that of another text": func(s *tombstone.Tombstone) {
			s.BodyHMAC, s.Exact.Body, s.BodySimhash = s.HMAC, s.Exact.HMAC, "0000000000000000"
		},
	} {
		odd := stone
		change(&odd)
		if odd.Recognises(n.Fingerprint()) {
			t.Errorf("%s: recognised", name)
		}
	}
}

// What a tombstone has of a body is no part of what an older version reads.
func TestTombstoneMembers(t *testing.T) {
	for statement, want := range map[string][]string{
		"Queue\nshort":     {"v", "id", "at", "salt", "hmac", "simhash", "tokens", "exact"},
		"Queue\n" + broker: {"v", "id", "at", "salt", "hmac", "simhash", "tokens", "body_hmac", "body_simhash", "body_tokens", "exact"},
	} {
		data, err := json.Marshal(tombstone.New("n1", statement, time.Now()))
		var members map[string]any
		if err == nil {
			err = json.Unmarshal(data, &members)
		}
		for _, m := range want {
			if _, ok := members[m]; !ok {
				t.Errorf("%q has no %s", statement, m)
			}
		}
		if err != nil || len(members) != len(want) {
			t.Errorf("%s %v", data, err)
		}
	}
}

// Forgetting takes every note with the body along, here and where it is heard of.
func TestForgetABody(t *testing.T) {
	ours, theirs := at(t, 10), at(t, 11)
	write(t, ours.Path("memory/semantic/n1.md"), string(said("n1", "Queue", broker).Format()))
	write(t, ours.Path("memory/semantic/n2.md"), string(said("n2", "Broker", broker).Format()))
	write(t, ours.Path("memory/semantic/n3.md"), string(said("n3", "Broker", "restarts at three").Format()))
	write(t, theirs.Path("memory/semantic/n4.md"), string(said("n4", "Nightly broker restart", broker).Format()))
	write(t, theirs.Path("memory/semantic/n1.md"), string(said("n1", "The queue", broker).Format()))
	if err := storetest.Writer(theirs).Hold(said("n5", "Restarts", broker)); err != nil {
		t.Fatal(err)
	}
	_, plan, err := tombstone.PlanMark(ours, "n1", slices.Collect(ours.Walk()))
	want := []string{"memory/semantic/n1.md", "memory/semantic/n2.md"}
	if err != nil || !slices.Equal(plan.Notes, want) {
		t.Fatalf("%+v %v", plan, err)
	}
	if done, err := tombstone.Forget(storetest.Writer(ours), "n1"); err != nil || !slices.Equal(done.Notes, want) {
		t.Fatalf("%+v %v", done, err)
	}
	arrive(t, ours, theirs)
	erased, err := tombstone.Apply(storetest.Writer(theirs))
	slices.Sort(erased)
	if err != nil || !slices.Equal(erased, []string{"memory/semantic/n1.md", "memory/semantic/n4.md"}) {
		t.Errorf("erased %v %v", erased, err)
	}
	for _, s := range []*store.Store{ours, theirs} {
		if holds(t, s, "consumer") {
			t.Errorf("left: %v", files(t, s))
		}
	}
	if read(t, theirs, "memory/semantic/n3.md") == nil {
		t.Error("a short body was enough")
	}
	for _, title := range []string{"Queue", "Another"} {
		if _, _, err := ingest.New(theirs, nil, nil, ingest.Options{}).Reinstate(context.Background(), "back", said("back", title, broker).Format()); err == nil {
			t.Errorf("%q is restored", title)
		}
	}
}

// What its owner writes again is welcome, under whatever title, until it is
// forgotten once more.
func TestLiftABody(t *testing.T) {
	s := at(t, 10)
	stone(t, s, "old", "Queue\n"+broker)
	n := said("new", "Broker", broker)
	if paths := again(t, s, n); !slices.Equal(paths, []string{"memory/tombstones/new.json", "memory/tombstones/old.json"}) {
		t.Errorf("changed %v", paths)
	}
	// That of a machine which forgot it before, under another id, comes later.
	stone(t, s, "late", "Restarts\n"+broker)
	for _, title := range []string{"Queue", "Broker", "Restarts", "Other"} {
		if recognised(t, s, title+"\n"+broker) {
			t.Errorf("%q is forgotten still", title)
		}
	}
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
	write(t, s.Path("memory/semantic/other.md"), string(said("other", "Other", broker).Format()))
	if f, err := tombstone.Forget(storetest.Writer(s), "other"); err != nil || len(f.Notes) != 2 {
		t.Fatalf("%+v %v", f, err)
	}
	for _, title := range []string{"Queue", "Broker", "Other"} {
		if !recognised(t, s, title+"\n"+broker) {
			t.Errorf("%q is welcome", title)
		}
	}
}

// What a killed write left behind holds the text as well.
func TestForgetLeftovers(t *testing.T) {
	young := []string{
		"memory/semantic/.tmp-anamnesis-1", "memory/episodic/.tmp-anamnesis-2", "memory/.tmp-anamnesis-3", "local/semantic/.tmp-anamnesis-4",
		"conflicts/.tmp-anamnesis-5", "spool/held/.tmp-anamnesis-6", "history/n1/.tmp-anamnesis-7", "memory/tombstones/.tmp-anamnesis-8",
	}
	others := []string{ // whose writers may live, and do not hold the lock
		"spool/.tmp-anamnesis-1", "spool/batches/.tmp-anamnesis-2", "memory/.tmp-anamnesis-sync-.gitattributes", "memory/semantic/.tmp-anamnesis-sync-n1.md",
	}
	alien := []string{"memory/semantic/.draft.md", "memory/.git/.tmp-anamnesis-1", "spool/held/n9.txt"}
	for _, old := range []bool{false, true} {
		s, err := store.Open(store.Options{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range slices.Concat(young, others, alien) {
			write(t, s.Path(path), string(noteBytes("n1", "swordfish")))
			if past := time.Now().Add(-10 * time.Minute); old {
				if err := os.Chtimes(s.Path(path), past, past); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", "swordfish")))
		stands := alien
		if err := os.Symlink(s.Path("spool/held/n9.txt"), s.Path("local/semantic/.tmp-anamnesis-link")); err == nil {
			stands = append(slices.Clone(alien), "local/semantic/.tmp-anamnesis-link")
		}
		if _, err := tombstone.Forget(storetest.Writer(s), "n1"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			paths []string
			want  bool
		}{{young, false}, {others, !old}, {stands, true}} {
			for _, path := range c.paths {
				if _, err := os.Lstat(s.Path(path)); (err == nil) != c.want {
					t.Errorf("old %v: %s stands: %v", old, path, err == nil)
				}
			}
		}
	}
}

// So it is where the tombstone comes by a sync, and where there is nothing else
// to erase; a file that cannot be removed is an error, and is tried again.
func TestObeyLeftovers(t *testing.T) {
	s := empty(t)
	stone(t, s, "n1", "t\nswordfish")
	rest := s.Path("memory/semantic/.tmp-anamnesis-1")
	write(t, rest, string(noteBytes("n1", "swordfish")))
	stuck, err := store.Open(store.Options{Root: s.Root(), Disk: stuckDisk{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tombstone.Apply(storetest.Writer(stuck)); err != nil {
		t.Errorf("what cannot be removed holds up the sync: %v", err)
	}
	stone(t, s, "n2", "t\nsailfish")
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
	if _, err := os.Lstat(rest); !os.IsNotExist(err) {
		t.Errorf("it stands: %v", err)
	}
}

// A stuckDisk removes nothing.
type stuckDisk struct{ store.OS }

func (stuckDisk) Remove(name string) error { return fmt.Errorf("remove %s: permission denied", name) }
