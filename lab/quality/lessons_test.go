package quality_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/lab/quality"
)

// The built-in scripts are read, and each of their sessions is one that the reader of
// transcripts reads whole.
func TestBuiltInLessons(t *testing.T) {
	for _, half := range []string{quality.TuningHalf, quality.HeldOutHalf} {
		folder, err := quality.BuiltInLessons(half)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := quality.ReadLessonSets(folder)
		if err != nil {
			t.Fatal(err)
		}
		sessions, lessons, decoys := 0, 0, 0
		for i := range sets {
			lessons, decoys = lessons+len(sets[i].Lessons), decoys+sets[i].Decoys
			for j := range sets[i].Sessions {
				sessions++
				s := &sets[i].Sessions[j]
				data := s.Transcript("id", "/src/app", time.Unix(1.7e9, 0))
				read, err := agent.Default().Sessions.ReadSession(bytes.NewReader(data), agent.Limits{})
				if err != nil || read.ID != "id" || len(read.Turns) != len(s.Steps) || read.Skipped.Bad() > 0 {
					t.Errorf("%s %s: %v, %d turns of %d steps, skipped %+v", half, s.Name, err, len(read.Turns), len(s.Steps), read.Skipped)
				}
			}
		}
		if sessions < 40 || lessons < 120 || decoys < 110 {
			t.Errorf("%s: %d sessions, %d lessons, %d decoys", half, sessions, lessons, decoys)
		}
	}
}

func TestParseLessonSetErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "a project and sessions"},
		{"project: p\nuser: hello", "line 2: it stands in no session"},
		{"project: p\nsession: s\nout: x", "line 3: no tool stands above"},
		{"project: p\nsession: s\nlesson a rule: x", "line 3: a lesson has"},
		{"project: p\nsession: s\nlesson a rule [x: y", "the keys have no end"},
		{"project: p\nsession: s\nsing: la", `"sing" is no line`},
		{"| more", "nothing stands above"},
		{"project: p\nsession: s\nask b: x", `there is no lesson "b"`},
		{"project: p\nsession: s\nlesson a reversal z [x]: y", `there is no lesson "z"`},
		{"project: p\nsession: s\nlesson a rule [x]: y\nlesson a rule [x]: y", "two lessons"},
		{"project: p\nsession: s\ntool Bash: x\nfail many: y", "line 4"},
	} {
		if _, err := quality.ParseLessonSet("x", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParseLessonSet(f *testing.F) {
	f.Add("project: p\nsession: s\nlesson a rule [x]: y\ntool Bash: x\nfail 1: no\n| more\nfixed b [x]: ok\ndecoy order: tool Read: x\nask a: z\n")
	f.Add("decoy tdd out: x\nsame a: b\nedit a: b => c")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := quality.ParseLessonSet("x", []byte(text))
		if err != nil {
			return
		}
		for i := range set.Sessions {
			data := set.Sessions[i].Transcript("id", "/src", time.Unix(1.7e9, 0))
			if read, err := agent.Default().Sessions.ReadSession(bytes.NewReader(data), agent.Limits{}); err != nil || read.Skipped.Bad() > 0 {
				t.Errorf("%v, skipped %+v", err, read.Skipped)
			}
		}
	})
}
