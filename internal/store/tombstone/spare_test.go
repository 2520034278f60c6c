package tombstone_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/bundle"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

const rotation = "keys rotate on monday"

func export(t *testing.T, s *store.Store) ([]byte, bundle.Manifest) {
	t.Helper()
	var b bytes.Buffer
	m, err := bundle.Export(t.Context(), s, &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

func empty(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// arrive brings the tree of one store into another, as a sync does.
func arrive(t *testing.T, from, to *store.Store) {
	t.Helper()
	var changes []ingest.RemoteChange
	err := walkFiles(os.DirFS(from.Path("memory")), func(name string) {
		changes = append(changes, ingest.RemoteChange{Path: name, Old: read(t, to, "memory/"+name), New: read(t, from, "memory/"+name)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if late, err := ingest.NewIncoming(to).Apply(changes); err != nil || len(late) > 0 {
		t.Fatal(late, err)
	}
}

// A machine that joins gets a note together with a tombstone of what it says: it
// was written since. What stood there before the tombstone came goes.
func TestObeySparesWhatCameAlong(t *testing.T) {
	hub := empty(t)
	stone(t, hub, "old", "t\n"+rotation)
	write(t, hub.Path("memory/semantic/new.md"), string(noteBytes("new", rotation)))
	for _, c := range []struct {
		name  string
		here  map[string][]byte // before the two arrive
		gone  []string
		stays bool
	}{
		{"a new machine", nil, nil, true},
		{"a machine with its own copy", map[string][]byte{"memory/semantic/mine.md": noteBytes("mine", rotation)}, []string{"memory/semantic/mine.md"}, true},
		{"a machine that had the note", map[string][]byte{"memory/semantic/new.md": noteBytes("new", rotation)}, []string{"memory/semantic/new.md"}, false},
		{"and it was moved since", map[string][]byte{"memory/procedural/new.md": noteBytes("new", rotation)}, []string{"memory/procedural/new.md", "memory/semantic/new.md"}, false},
		{"and it was deleted since", map[string][]byte{"history/new/01K2M3N4P5Q6R7S8T9V0W1X2Y3-delete.md": noteBytes("new", rotation)}, []string{"memory/semantic/new.md"}, false},
		{"a machine where the note said something else", map[string][]byte{"memory/semantic/new.md": noteBytes("new", "on tuesday")}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := empty(t)
			for path, data := range c.here {
				write(t, s.Path(path), string(data))
			}
			arrive(t, hub, s)
			again, err := store.Open(store.Options{Root: s.Root()}) // whatever stops the first run
			if err != nil {
				t.Fatal(err)
			}
			erased, err := tombstone.Apply(storetest.Writer(again))
			if slices.Sort(erased); err != nil || !slices.Equal(erased, c.gone) {
				t.Errorf("erased %v %v, want %v", erased, err, c.gone)
			}
			if got := read(t, s, "memory/semantic/new.md") != nil; got != c.stays {
				t.Errorf("it stands: %v", got)
			}
			if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
				t.Errorf("erased %v %v when asked once more", erased, err)
			}
			// The door knows it as long as there is the tombstone.
			spared := strings.Contains(string(read(t, s, "obeyed.json")), "spared")
			if n, _, _, err := s.Read("memory/semantic/new.md"); err == nil {
				if _, forgotten := tombstone.NewDoor(s).Forgotten(note.Portable, n); forgotten {
					t.Error("it is taken for a file that came back")
				}
			}
			if err := os.Remove(s.Path("memory/tombstones/old.json")); err != nil {
				t.Fatal(err)
			}
			if err := tombstone.Write(storetest.Writer(s), note.Portable, tombstone.New("other", "t\nx", s.Now())); err != nil {
				t.Fatal(err)
			}
			if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
				t.Fatal(err)
			}
			if text := string(read(t, s, "obeyed.json")); strings.Contains(text, "spared") {
				t.Errorf("it is remembered for ever: %v, %s", spared, text)
			}
		})
	}
	// A folder that another program filled tells nobody what came first.
	s := empty(t)
	stone(t, s, "old", "t\n"+rotation)
	write(t, s.Path("memory/semantic/new.md"), string(noteBytes("new", rotation)))
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) != 1 {
		t.Errorf("erased %v %v", erased, err)
	}
	// A tombstone that comes later is a later decision.
	s = empty(t)
	arrive(t, hub, s)
	if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
		t.Fatal(err)
	}
	stone(t, s, "other", "t\n"+rotation)
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) != 1 {
		t.Errorf("erased %v %v", erased, err)
	}
}

// A backup brings back what stood in the store it was made of.
func TestImportSparesItsOwnNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		place string
		tree  note.Scope // of the tombstone
	}{
		{"both travel", "memory/semantic/new.md", note.Portable},
		{"both stay on the machine", "local/semantic/new.md", note.Local},
		{"forgotten on the machine", "memory/semantic/new.md", note.Local},
		{"written on the machine", "local/semantic/new.md", note.Portable},
	} {
		s := empty(t)
		if err := tombstone.Write(storetest.Writer(s), c.tree, tombstone.New("old", "t\n"+rotation, time.Unix(1e9, 0))); err != nil {
			t.Fatal(err)
		}
		n := draft("new")
		n.Body, n.Scope = rotation, note.Portable
		if strings.HasPrefix(c.place, "local/") {
			n.Scope = note.Local
		}
		write(t, s.Path(c.place), string(n.Format()))
		data, _ := export(t, s)
		into := empty(t)
		u, err := bundle.Import(storetest.Writer(into), bytes.NewReader(data), bundle.Options{})
		if err != nil || len(u.Erases)+len(u.Erasing) > 0 {
			t.Errorf("%s: %+v %v", c.name, u, err)
		}
		if erased, err := tombstone.Apply(storetest.Writer(into)); err != nil || len(erased) > 0 || read(t, into, c.place) == nil {
			t.Errorf("%s: erased %v %v", c.name, erased, err)
		}
	}
}

// A bundle does not erase what stands here, unless that is asked for.
func TestImportErases(t *testing.T) {
	from := empty(t)
	stone(t, from, "n1", "t\nhttps://api.internal v2")
	stone(t, from, "n9", "t\nnobody here says this")
	write(t, from.Path("memory/semantic/other.md"), string(noteBytes("other", "another matter")))
	data, _ := export(t, from)
	for _, c := range []struct {
		name   string
		here   map[string][]byte
		erases []string
		gone   bool
	}{
		{"a note that says it", map[string][]byte{"memory/semantic/n2.md": noteBytes("n2", "https://api.internal v2")}, []string{"memory/semantic/n2.md"}, true},
		{"a machine-local note that says it", map[string][]byte{"local/semantic/n2.md": noteBytes("n2", "https://api.internal v2")}, []string{"local/semantic/n2.md"}, true},
		{"the note, changed since", map[string][]byte{"memory/semantic/n1.md": noteBytes("n1", "v3")}, []string{"memory/semantic/n1.md"}, true},
		{"its history alone", map[string][]byte{"history/n1/01K2M3N4P5Q6R7S8T9V0W1X2Y3-delete.md": noteBytes("n1", "v1")}, []string{"history/n1"}, true},
		{"a draft", map[string][]byte{"spool/held/n2.md": noteBytes("n2", "https://api.internal v2")}, []string{"spool/held/n2.md"}, true},
		{"something else", map[string][]byte{"memory/semantic/n2.md": noteBytes("n2", "v3")}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, obey := range []bool{false, true} {
				s := empty(t)
				for path, data := range c.here {
					write(t, s.Path(path), string(data))
				}
				before := files(t, s)
				plan, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true, Dry: true, Obey: obey})
				if err != nil || !slices.Equal(plan.Erases, c.erases) || (len(plan.Erasing) == 1) != c.gone {
					t.Errorf("plan %+v %v", plan, err)
				}
				if !slices.Equal(files(t, s), before) {
					t.Error("the plan was carried out")
				}
				u, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true, Obey: obey})
				if err != nil || !slices.Equal(u.Erases, plan.Erases) || !slices.Equal(u.Written, plan.Written) {
					t.Errorf("%+v %v", u, err)
				}
				if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
					t.Fatal(err)
				}
				for path := range c.here {
					if stands := read(t, s, path) != nil; stands != (!c.gone || !obey) {
						t.Errorf("obey %v: %s stands: %v", obey, path, stands)
					}
				}
				if taken := read(t, s, "memory/tombstones/n1.json") != nil; taken != (!c.gone || obey) {
					t.Errorf("obey %v: its tombstone was taken: %v", obey, taken)
				}
				if read(t, s, "memory/tombstones/n9.json") == nil || read(t, s, "memory/semantic/other.md") == nil {
					t.Error("the rest of the bundle is missing")
				}
			}
		})
	}
	// What its owner wrote again here is no business of an old tombstone.
	s := at(t, 10)
	stone(t, s, "n5", "t\nhttps://api.internal v2")
	n := draft("n2")
	n.Body = "https://api.internal v2"
	again(t, s, n)
	if u, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true}); err != nil || len(u.Erasing)+len(u.Erases) > 0 {
		t.Errorf("%+v %v", u, err)
	}
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
}

// A copy that goes together with the tombstone of what it says leaves no former form.
func TestAdoptLeavesNoTrace(t *testing.T) {
	s, other := empty(t), empty(t)
	data := noteBytes("copy", rotation)
	write(t, s.Path("memory/semantic/copy.md"), string(data))
	arrived := stone(t, other, "old", "t\n"+rotation)
	if late, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{
		{Path: "semantic/copy.md", Old: data}, {Path: "tombstones/old.json", New: []byte(arrived)},
	}); err != nil || len(late) > 0 {
		t.Fatal(late, err)
	}
	if holds(t, s, "rotate") {
		t.Errorf("left: %v", files(t, s))
	}
}
