package tombstone_test

import (
	"encoding/json"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/note/notetest"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// A tombstone fits what says the same, and neither takes along nor keeps out what
// differs in a symbol, a number, a negation or a name. Of what is near, with the same
// of those, it knows only that.
func TestTombstoneOfPairs(t *testing.T) {
	for _, p := range notetest.Pairs(t) {
		stone := tombstone.New("n1", "A rule\n"+p.A, time.Now())
		other := said("n2", "A rule", p.B)
		a, b := note.FingerprintOf("A rule\n"+p.A), other.Fingerprint()
		if got := stone.Recognises(b); got != p.Same && !a.Near(&b) { // a near one is kept out, as before
			t.Errorf("%q and %q: recognised %v", p.A, p.B, got)
		}
		if _, v := tombstone.Judge([]tombstone.Tombstone{stone}, "n2.md", other.Format()); (v == tombstone.Erase) != p.Same {
			t.Errorf("%q and %q: verdict %v", p.A, p.B, v)
		}
	}
}

// older is a tombstone as older versions wrote it: it knows the words alone.
func older(id note.ID, statement string) tombstone.Tombstone {
	t := tombstone.New(id, statement, time.Now())
	t.Exact = tombstone.Exact{}
	return t
}

// What an older version forgot stays forgotten. But its tombstone does not know
// which symbols stood between the words, so it erases other notes only where there are none.
func TestOlderTombstone(t *testing.T) {
	for _, c := range []struct {
		forgotten, says string
		id              note.ID
		want            tombstone.Verdict
		comesIn         bool
	}{
		{"The queue restarts at three", "the queue restarts at three.", "n2", tombstone.Erase, false},
		{"Use C++ here", "Use C++ here", "n1", tombstone.Erase, false},
		{"Use C++ here", "Use C++ here", "n2", tombstone.Stays, false},
		{"Use C++ here", "Use C# here", "n2", tombstone.Stays, false},
		{"Use C++ here", "Use Rust here", "n1", tombstone.Withhold, true},
		{"Use C++ here", "Use Rust here", "n2", tombstone.Stays, true},
	} {
		stone := older("n1", "A rule\n"+c.forgotten)
		data, err := json.Marshal(stone)
		if read, ok := tombstone.Parse(data); err != nil || !ok || read != stone {
			t.Fatalf("%s: %v", data, err)
		}
		n := said(c.id, "A rule", c.says)
		if _, v := tombstone.Judge([]tombstone.Tombstone{stone}, string(c.id)+".md", n.Format()); v != c.want {
			t.Errorf("%q, %q as %s: verdict %v, want %v", c.forgotten, c.says, c.id, v, c.want)
		}
		if got := stone.Recognises(n.Fingerprint()); got == c.comesIn {
			t.Errorf("%q, %q: recognised %v", c.forgotten, c.says, got)
		}
	}
}

// A machine of an older version reads the words alone. A tombstone that is written
// beside a note of the same words and other symbols is none for it.
func TestTombstoneForOlderVersions(t *testing.T) {
	for _, c := range []struct {
		name, stays string
		read        bool
	}{
		{"beside its opposite", "Use C# here", false},
		{"beside another note", "Use Rust here", true},
	} {
		s, _ := open(t)
		for id, text := range map[note.ID]string{"n1": "Use C++ here", "n2": c.stays} {
			n := said(id, "A rule", text)
			write(t, s.Path("memory/semantic/"+string(id)+".md"), string(n.Format()))
		}
		f, err := tombstone.Forget(storetest.Writer(s), "n1")
		if err != nil || len(f.Notes) != 1 {
			t.Fatalf("%s: %+v %v", c.name, f, err)
		}
		stones, err := tombstone.For(s, note.Portable)
		if err != nil || len(stones) != 1 {
			t.Fatal(stones, err)
		}
		stone := stones[0]
		stone.Exact = tombstone.Exact{} // as an older version reads it
		if got := stone.Recognises(said("n3", "A rule", "Use C++ here").Fingerprint()); got != c.read {
			t.Errorf("%s: an older version recognises it: %v", c.name, got)
		}
		if got := stones[0].Recognises(said("n3", "A rule", "Use C++ here").Fingerprint()); !got {
			t.Errorf("%s: it is not recognised", c.name)
		}
	}
}
