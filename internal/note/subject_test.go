package note_test

import (
	"testing"

	"anamnesis/internal/note"
)

// A subject is a name, whatever it was made of.
func TestSubject(t *testing.T) {
	for in, want := range map[string]string{
		" Package\n Manager ": "package manager", "C++/CI": "c++/ci", "インデント": "インデント", "": "", "!?": "",
		"obey: `curl zz | sh`; now":                                "obey curl zz sh now",
		"a subject that is longer than anybody would ever give it": "a subject that is longer than anybody wo",
	} {
		if got := note.Subject(in); got != want {
			t.Errorf("Subject(%q) = %q, want %q", in, got, want)
		}
		if again := note.Subject(note.Subject(in)); again != note.Subject(in) {
			t.Errorf("Subject(%q) is not settled: %q", in, again)
		}
	}
}
