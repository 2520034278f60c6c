package quality_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"anamnesis/lab/quality"
)

const smallPromptSet = `# about a shop
project: shop
note tax: Tax is rounded once
| At the end, in cart.go.
|
| Never before.
note dns: Names of the office

session: first
task tax dns: where is it rounded?
work cart.go tax.go
work cart_test.go
ack: thanks: all is well
error tax: it fails
| panic: no tax
session: second
slash: /clear
`

func TestParsePromptSet(t *testing.T) {
	s, err := quality.ParsePromptSet("shop", []byte(smallPromptSet))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Notes) != 2 || s.Notes[0].Text != "At the end, in cart.go.\n\nNever before." || s.Notes[1].Meta.Project != "shop" {
		t.Errorf("notes %+v", s.Notes)
	}
	if len(s.Sessions) != 2 || s.Sessions[0].Name != "first" {
		t.Fatalf("sessions %+v", s.Sessions)
	}
	p := s.Sessions[0].Prompts
	if len(p) != 3 || !slices.Equal(p[0].Wanted, []string{"tax", "dns"}) || p[0].Work != nil {
		t.Errorf("prompts %+v", p)
	}
	if p[1].Text != "thanks: all is well" || !slices.Equal(p[1].Work, []string{"cart.go", "tax.go", "cart_test.go"}) || len(p[1].Wanted) > 0 {
		t.Errorf("the second prompt %+v", p[1])
	}
	if p[2].Text != "it fails\npanic: no tax" || p[2].Kind != "error" || p[2].Work != nil {
		t.Errorf("the third prompt %+v", p[2])
	}
}

func TestParsePromptSetNamesTheFault(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"", "a set has a project and notes"},
		{"project: x", "a set has a project and notes"},
		{"project: x\nnote a: b\nack: yes", "line 3: a prompt stands in no session"},
		{"project: x\nnote a: b\nnote a: c", "line 3: a note has its own id"},
		{"project: x\nnote a b: c", "line 2: a note has its own id"},
		{"project: x\nnote a: b\nsession: s\ntask c: d", `line 4: there is no note "c"`},
		{"project: x\nnote a: b\nsession: s\nack:", "line 4: the prompt is empty"},
		{"| lost", "line 1: nothing stands above"},
		{"no colon", `line 1: "no colon" is no note`},
	} {
		if _, err := quality.ParsePromptSet("x", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q: %v, wanted %q", c.text, err, c.fault)
		}
	}
}

func TestReadPromptSets(t *testing.T) {
	sets, err := quality.ReadPromptSets(fstest.MapFS{
		"b.txt": {Data: []byte(smallPromptSet)}, "a.txt": {Data: []byte(smallPromptSet)}, "readme.md": {Data: []byte("x")},
	})
	if err != nil || len(sets) != 2 || sets[0].Name != "a" {
		t.Errorf("%+v, %v", sets, err)
	}
	if _, err := quality.ReadPromptSets(fstest.MapFS{}); err == nil {
		t.Error("an empty folder is no set")
	}
	if _, err := quality.ReadPromptSets(fstest.MapFS{"x.txt": {Data: []byte("y")}}); err == nil || !strings.Contains(err.Error(), "x.txt: line 1") {
		t.Errorf("%v does not name the file", err)
	}
	if _, err := quality.ReadPromptSets(fstest.MapFS{"x.txt": {Data: make([]byte, 4<<20+1)}}); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a file without bound: %v", err)
	}
}

// The built-in sessions are many, of many kinds, and most prompts want silence.
func TestBuiltInPrompts(t *testing.T) {
	sessions, prompts, silent := 0, 0, 0
	kinds := make(map[string]bool)
	for _, half := range []string{quality.TuningHalf, quality.HeldOutHalf} {
		folder, err := quality.BuiltInPrompts(half)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := quality.ReadPromptSets(folder)
		if err != nil || len(sets) != 10 {
			t.Fatalf("%s: %d domains, %v", half, len(sets), err)
		}
		for _, s := range sets {
			if len(s.Notes) < 20 {
				t.Errorf("%s/%s has %d notes", half, s.Name, len(s.Notes))
			}
			for _, session := range s.Sessions {
				sessions++
				for _, p := range session.Prompts {
					kinds[p.Kind] = true
					prompts++
					if len(p.Wanted) == 0 {
						silent++
					}
				}
			}
		}
	}
	if sessions < 60 || prompts < 600 || float64(silent) < 0.7*float64(prompts) || len(kinds) != 12 {
		t.Errorf("%d sessions, %d prompts, %d of them silent, kinds %v", sessions, prompts, silent, kinds)
	}
}

// Whatever a file holds, reading it ends with a set that is whole, or an error.
func FuzzParsePromptSet(f *testing.F) {
	f.Add([]byte(smallPromptSet))
	f.Add([]byte("project: x\nnote a: b\n| c\nsession:\nack a a: \xff\n"))
	f.Add([]byte("|\n:\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := quality.ParsePromptSet("x", text)
		if err != nil {
			return
		}
		ids := make(map[string]bool)
		for _, d := range s.Notes {
			if d.ID == "" || d.Title == "" || ids[d.ID] {
				t.Errorf("note %+v", d)
			}
			ids[d.ID] = true
		}
		for _, session := range s.Sessions {
			for _, p := range session.Prompts {
				if p.Kind == "" || p.Text == "" || slices.ContainsFunc(p.Wanted, func(id string) bool { return !ids[id] }) {
					t.Errorf("prompt %+v", p)
				}
			}
		}
	})
}
