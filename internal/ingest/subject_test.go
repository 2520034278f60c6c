package ingest_test

import (
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// about is a rule that a session taught on a day, with its subject and paths.
func about(day int, subject, rule string, paths ...string) ingest.Draft {
	l := learning(day, rule)
	l.Note.About, l.Note.When = subject, paths
	return l
}

// inForce returns the titles of the notes in force about a subject.
func inForce(d *door, subject string) (titles []string) {
	d.Helper()
	for ref := range d.store.Walk() {
		n, _, _, err := d.store.Read(ref.Path)
		if err != nil {
			d.Fatal(err)
		}
		row, ok, err := d.index.Lookup(d.Context(), n.ID)
		if err == nil && ok && row.SupersededBy == "" && n.Live(time.Now()) && note.Subject(n.About) == subject {
			titles = append(titles, n.Title)
		}
	}
	return titles
}

// TestSubject: of one subject, project and path one value is in force. A newer sentence takes the place of an older one when it names the
// subject or what it replaces; else the user is asked, and the older one holds.
func TestSubject(t *testing.T) {
	for name, c := range map[string]struct {
		first, second ingest.Draft
		want          string // the result: replaces, asks, confirms, is replaced, or stays (both hold)
	}{
		"the subject is named": {
			about(1, "indentation", "use tabs for indentation"), about(2, "Indentation ", "use spaces for indentation"), "replaces",
		},
		"the old value is named": {
			about(1, "deploy tool", "deployments go through argo"), about(2, "deploy tool", "we moved from argo to flux"), "replaces",
		},
		"a port": {
			about(1, "database port", "the database listens on port 5432"), about(2, "database port", "it is on port 6432 since Monday"), "replaces",
		},
		"neither is named": {
			about(1, "session storage", "we use JWT"), about(2, "session storage", "cookies and a table on the server, that's it"), "asks",
		},
		"said later, captured earlier": {
			about(5, "indentation", "use tabs for indentation"), about(2, "indentation", "use spaces for indentation"), "is replaced",
		},
		"the same in a narrower form": {
			about(1, "linter", "run the linter before a commit"), about(2, "linter", "run the linter before a commit to main"), "confirms",
		},
		"at another path": {
			about(1, "indentation", "use tabs for indentation"), about(2, "indentation", "use spaces for indentation in web/app.ts", "path:web/app.ts"),
			"stays",
		},
		"another subject": {
			about(1, "package manager", "use pnpm"), about(2, "test runner", "use vitest"), "stays",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			first := d.learn(c.first)
			b := d.learn(c.second)
			got := "stays"
			switch {
			case b.Result == ingest.Held && b.Note.ConflictOf == first.Note.ID:
				got = "asks"
			case b.Effect == ingest.Confirms && d.read(first.Note.ID).ProofCount == 2:
				got = "confirms"
			case b.Result == ingest.Created && len(b.Note.Supersedes) == 1:
				got = "replaces"
			case b.Result == ingest.Created && len(d.read(first.Note.ID).Supersedes) == 1:
				got = "is replaced"
			}
			if got != c.want {
				t.Fatalf("%s, want %s (%s %s: %s)", got, c.want, b.Result, b.Effect, b.Why)
			}
			if left := inForce(d, note.Subject(c.first.Note.About)); c.want != "stays" && len(left) != 1 {
				t.Errorf("in force: %q", left)
			}
		})
	}
}

// TestSubjectOnceASession: a session replaces the rule of a subject once.
func TestSubjectOnceASession(t *testing.T) {
	d := newDoor(t)
	d.learn(about(1, "indentation", "use tabs for indentation"))
	second, third := about(2, "indentation", "use spaces for indentation"), about(2, "indentation", "use tabs for the indentation of Go")
	if b := d.learn(second); len(b.Note.Supersedes) != 1 {
		t.Fatalf("%s: %s", b.Result, b.Why)
	}
	if b := d.learn(third); b.Result != ingest.Held {
		t.Errorf("%s: %q", b.Result, b.Note.Supersedes)
	}
}

// TestSubjectOfPerson: a person who settles a subject otherwise than the user did before is asked, and nothing is written until then. The
// note of a machine gives way without a question.
func TestSubjectOfPerson(t *testing.T) {
	write := func(d *door, rival ingest.Rival) ingest.Outcome {
		return d.learn(ingest.Draft{By: ingest.Person, Here: "p", Rival: rival, Note: &note.Note{
			Type: note.Semantic, Title: "Deploy with flux", About: "deploy tool", Project: "p", Scope: note.Portable,
		}})
	}
	for name, before := range map[string]func(d *door) note.ID{
		"written": func(d *door) note.ID {
			return d.learn(ingest.Draft{By: ingest.Person, Note: &note.Note{
				Type: note.Semantic, Title: "Argo brings releases out", About: "Deploy tool", Project: "p", Scope: note.Portable,
			}}).Note.ID
		},
		"said": func(d *door) note.ID { return d.learn(about(1, "deploy tool", "argo brings releases out")).Note.ID },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			was := before(d)
			if b := write(d, ingest.AskFirst); b.Result != ingest.Asked || b.Of != was {
				t.Fatalf("%s of %q: %s", b.Result, b.Of, b.Why)
			}
			if left := inForce(d, "deploy tool"); len(left) != 1 {
				t.Errorf("before the answer: %q", left)
			}
			if b := write(d, ingest.ReplaceRival); b.Result != ingest.Created || len(b.Note.Supersedes) != 1 || b.Note.Supersedes[0] != was {
				t.Errorf("%s, replaces %q", b.Result, b.Note.Supersedes)
			}
			if left := inForce(d, "deploy tool"); len(left) != 1 || left[0] != "Deploy with flux" {
				t.Errorf("replaced: %q", left)
			}
		})
	}
	t.Run("both", func(t *testing.T) {
		d := newDoor(t)
		d.learn(about(1, "deploy tool", "argo brings releases out"))
		if b := write(d, ingest.KeepRival); b.Result != ingest.Created || len(b.Note.Supersedes) != 0 || len(inForce(d, "deploy tool")) != 2 {
			t.Errorf("%s, %q", b.Result, inForce(d, "deploy tool"))
		}
	})
	t.Run("of a machine", func(t *testing.T) {
		d := newDoor(t)
		l := byAgent(1, "Argo brings releases out")
		l.Note.About = "deploy tool"
		d.learn(l)
		if b := write(d, ingest.AskFirst); b.Result != ingest.Created || len(b.Note.Supersedes) != 1 {
			t.Errorf("%s (%s), replaces %q", b.Result, b.Why, b.Note.Supersedes)
		}
	})
}

// TestContradicted: a sentence that takes the place of a note which its session was shown counts as a contradiction of that note, once; in
// a session that was not shown it, and by an agent alone, nothing counts (A4).
func TestContradicted(t *testing.T) {
	d := newDoor(t)
	was := d.learn(about(1, "indentation", "use tabs for indentation")).Note
	opposed := func(session string) (n int) {
		t.Helper()
		files, err := d.store.Events().Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if _, err := d.store.Events().Records(f, 0, func(r store.Record) {
				if r.Kind == store.FollowedUp && r.Session == session && r.Text == string(store.Opposed) {
					n += len(r.Notes)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	for _, session := range []string{"s3", "s5"} {
		if err := d.store.Spool().ShownLog(session, "").ShowLines(store.InjectionOf(was)); err != nil {
			t.Fatal(err)
		}
	}
	machine := byAgent(3, "use four spaces for indentation")
	machine.Note.About = "indentation"
	d.learn(machine)
	if n := opposed("s3"); n != 0 {
		t.Errorf("an agent contradicts: %d", n)
	}
	d.learn(about(4, "indentation", "two spaces are the indentation of the tests, nothing else", "path:tests/**"))
	d.learn(about(5, "indentation", "use spaces for indentation"))
	d.learn(about(5, "indentation", "use tabs for the indentation again"))
	if n := opposed("s5"); n != 1 {
		t.Errorf("the user contradicts: %d, want 1", n)
	}
	if n := opposed("s4"); n != 0 {
		t.Errorf("a session that was not shown it: %d", n)
	}
}

// TestSubjectNamedLater: orders have no subject until a reader has read them. Then what was said later holds, and the user is asked where
// that is not clear.
func TestSubjectNamedLater(t *testing.T) {
	order := func(day int, rule string) ingest.Draft {
		l := learning(day, rule)
		l.By = ingest.Order
		return l
	}
	read := func(day int, subject, rule string) ingest.Draft { // the reader of the same turn
		l := about(day, subject, rule)
		l.Note.ID = ""
		l.Once = false
		return l
	}
	for name, c := range map[string]struct {
		first, second string
		order         []int // in which the reader reads the two
		want          string
	}{
		"in order":       {"use tabs for indentation", "use spaces for indentation", []int{0, 1}, "use spaces for indentation"},
		"in reverse":     {"use tabs for indentation", "use spaces for indentation", []int{1, 0}, "use spaces for indentation"},
		"without a word": {"tabs, please", "four spaces everywhere", []int{0, 1}, "asks"},
	} {
		d := newDoor(t)
		notes := []*note.Note{d.learn(order(1, c.first)).Note, d.learn(order(3, c.second)).Note}
		for _, i := range c.order {
			again := read(1+2*i, "indentation", []string{c.first, c.second}[i])
			if i == 1 { // as a reader says it who sees the line of the note
				if _, err := ingest.Repeat(t.Context(), d.Ingester, "p", "", saidAgain(notes[i].ID, again)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if out := d.learn(again); out.Note == nil || out.Note.ID != notes[i].ID {
				t.Fatalf("%s: %s %s of %s", name, out.Result, out.Effect, out.Of)
			}
		}
		switch left := inForce(d, "indentation"); {
		case c.want == "asks":
			if n := d.read(notes[1].ID); len(left) != 2 || n.ConflictOf != notes[0].ID {
				t.Errorf("%s: in force %q, against %s", name, left, n.ConflictOf)
			}
		case len(left) != 1 || left[0] != c.want:
			t.Errorf("%s: in force %q", name, left)
		}
	}

	d := newDoor(t)
	was := d.learn(order(1, "use tabs for indentation")).Note
	if _, err := d.Archive(t.Context(), []note.ID{was.ID}, "not right"); err != nil {
		t.Fatal(err)
	}
	if out := d.learn(read(1, "indentation", "use tabs for indentation")); out.Effect != ingest.Known {
		t.Errorf("what the user took back comes back: %s %s", out.Result, out.Effect)
	}
}
