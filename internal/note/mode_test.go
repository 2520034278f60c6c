package note_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"anamnesis/internal/note"
)

func TestReadMode(t *testing.T) {
	files := map[string]string{
		"base": `{"name":"Base","settings":{"a":{"b":1,"c":2}},"told_types":["x","y"]}`, "base--sub": `{"settings":{"a":{"c":3}},"told_types":["z"]}`,
		"broken": `{"name":`, "odd": `{"name":3}`, "base--broken": `[]`,
	}
	read := func(id string) ([]byte, error) {
		if text, ok := files[id]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	m, err := note.ReadMode("base--sub", read)
	if err != nil || m.Name != "Base" || fmt.Sprint(m.Settings) != "map[a:map[b:1 c:3]]" || fmt.Sprint(m.ShownTypes) != "[z]" {
		t.Errorf("base--sub: %+v, %v", m, err)
	}
	if m, err := note.ReadMode("base--none", read); err != nil || fmt.Sprint(m.ShownTypes) != "[x y]" || m.ID != "base--none" {
		t.Errorf("a change without a file: %+v, %v", m, err)
	}
	for _, id := range []string{"", "none", "a--b--c", "a--", "--a", "A", "../x", "a/b", "none--sub"} {
		if _, err := note.ReadMode(id, read); !errors.Is(err, note.ErrNoMode) {
			t.Errorf("%q: %v, want no such mode", id, err)
		}
	}
	for _, id := range []string{"broken", "odd", "base--broken"} {
		if _, err := note.ReadMode(id, read); err == nil || errors.Is(err, note.ErrNoMode) {
			t.Errorf("%q: %v, want what is wrong with it", id, err)
		}
	}
}

func TestDirective(t *testing.T) {
	for locale, want := range map[string]string{
		"": "", "en": "", "en-GB": "", "de_AT": "Write titles and texts in German; leave names, commands, paths and quotes as they are.",
		"xx": "Write titles and texts in the language with the tag xx; leave names, commands, paths and quotes as they are.",
	} {
		if got := (&note.Mode{Locale: locale}).Directive(); got != want {
			t.Errorf("%q: got %q, want %q", locale, got, want)
		}
	}
}

func FuzzReadMode(f *testing.F) {
	f.Add(`{"name":"a","settings":{"inject":{"k":1}}}`, `{"settings":{"inject":3}}`)
	f.Fuzz(func(t *testing.T, base, over string) {
		m, err := note.ReadMode("a--b", func(id string) ([]byte, error) {
			if id == "a" {
				return []byte(base), nil
			}
			return []byte(over), nil
		})
		if err == nil && (m.ID != "a--b" || m.Name == "") {
			t.Errorf("%+v has no name", m)
		}
	})
}
