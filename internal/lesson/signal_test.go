package lesson_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
	"anamnesis/internal/lesson"
)

// deny makes the last call of a session one that the user refused, with words or without.
func deny(s *agent.Session, reply string) *agent.Session {
	u := &s.Turns[len(s.Turns)-1].Tools[0]
	u.Denied, u.Error, u.Reply, u.Result = true, true, reply, "it was refused"
	return s
}

func titles(all []lesson.Lesson) (out []string) {
	for i := range all {
		out = append(out, all[i].Title)
	}
	return out
}

func TestCircles(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"varied":            {[]string{"$ a => x", "$ b => x", "$ c => x", "$ a => x"}, nil},
		"twice":             {[]string{"$ a => x", "$ a => x"}, nil},
		"three times":       {[]string{"$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 3 times in a row"}},
		"and on":            {[]string{"$ a => x", "$ a => x", "$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 5 times in a row"}},
		"other arguments":   {[]string{"$ a 1 => x", "$ a 2 => x", "$ a 3 => x"}, nil},
		"by turns":          {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"not yet by turns":  {[]string{"$ a => x", "$ b => x", "$ a => x"}, nil},
		"anew after a hit":  {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"the user spoke":    {[]string{"$ a => x", "$ a => x", "> once more please", "$ a => x"}, nil},
		"others in between": {[]string{"$ a => x", "$ a => x", "$ b => x", "$ a => x"}, nil},
	} {
		var got []string
		for _, c := range lesson.Circles(talk(tt.lines...)) {
			got = append(got, c.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The members of an input in another order are the same call.
func TestCirclesOrder(t *testing.T) {
	s := talk("$ a => x", "$ a => x", "$ a => x")
	for i, input := range []string{`{"command":"a","timeout":1}`, `{"timeout":1,"command":"a"}`, `{"command":"a", "timeout":1}`} {
		s.Turns[i].Tools[0].Input = []byte(input)
	}
	if got := lesson.Circles(s); len(got) != 1 {
		t.Errorf("%d circles, want 1", len(got))
	}
}

// What ends a circle, or comes with a refusal, is a lesson that the same words would not
// be elsewhere.
func TestEnds(t *testing.T) {
	const said = "> use the fake clock"
	if got := lesson.Find(talk("> fix the test", "I look.", said), nil); len(got) != 0 {
		t.Fatalf("without anything to end: %q", titles(got))
	}
	circle := lesson.Find(talk("> fix the test", "$ make t !> FAIL", "$ make t !> FAIL", "$ make t !> FAIL", said), nil)
	if len(circle) != 1 || !strings.Contains(circle[0].Apply, "`make t` 3 times") {
		t.Errorf("after a circle: %+v", circle)
	}
	refusal := deny(talk("> fix the test", "$ sleep 60 => x"), "")
	refusal.Turns = append(refusal.Turns, talk("> no, use the fake clock").Turns...)
	if got := lesson.Find(refusal, nil); len(got) != 1 || !strings.Contains(got[0].Apply, "refused `sleep 60`") {
		t.Errorf("after a refusal: %+v", got)
	}
	if got := lesson.Find(deny(talk("> fix the test", "$ sleep 60 => x"), "use the fake clock in tests"), nil); len(got) != 1 ||
		got[0].Title != "Use the fake clock in tests" {
		t.Errorf("words of a refusal: %+v", got)
	}
}

func TestDecisionOf(t *testing.T) {
	for reply, want := range map[string]lesson.Decided{
		"no, never run that here": lesson.DenyAlways, "never again": lesson.DenyAlways, "don't ever do that": lesson.DenyAlways,
		"yes, always": lesson.AllowAlways, "always allow this": lesson.AllowAlways, "allow this always": lesson.AllowAlways,
		"ok but only for the test database": lesson.AllowScoped,
		"yes, go ahead":                     lesson.AllowOnce, "proceed": lesson.AllowOnce,
		"no": lesson.DenyOnce, "Stop that": lesson.DenyOnce,
		"refactor the parser": lesson.Undecided, "what time is it": lesson.Undecided, "": lesson.Undecided,
		"yes, always, never mind the lint":         lesson.AllowAlways,
		"no, never allow that, always deny it":     lesson.DenyAlways,
		"yes, but never run it on the live system": lesson.DenyAlways,
	} {
		if got, _ := lesson.DecisionOf(reply); got != want {
			t.Errorf("%q is %q, want %q", reply, got, want)
		}
	}
}

func TestPermission(t *testing.T) {
	never := lesson.Find(deny(talk("> clean up", "$ git push --force => x"), "no, never run that here"), nil)
	want := lesson.Lesson{
		Kind: lesson.Permission, Title: "Never run `git push --force`", Rule: "Never run `git push --force`.", Category: "permissions",
		Why: "the user said: “no, never run that here”",
	}
	if len(never) != 1 || never[0].Title != want.Title || never[0].Rule != want.Rule || never[0].Kind != want.Kind ||
		never[0].Why != want.Why || never[0].Category != want.Category {
		t.Fatalf("never: %+v", never)
	}
	if !strings.Contains(never[0].Policy, `"decision":"deny"`) || !strings.Contains(never[0].Policy, `"pattern":"git push --force"`) {
		t.Errorf("the policy that is offered is %s", never[0].Policy)
	}
	if got := lesson.Find(deny(talk("> clean up", "$ git push --force => x"), "no"), nil); len(got) != 0 {
		t.Errorf("once: %q", titles(got))
	}
	asked := func(reply string, noted ...lesson.Noted) []string {
		return titles(lesson.Find(talk("> clean up", "$ make clean => x", "> "+reply), nil, noted...))
	}
	event := lesson.Noted{At: at(1), Kind: lesson.AskedPermission, Tool: "Bash"}
	if diff := cmp.Diff([]string{"Run `make clean` without asking"}, asked("yes, always allow that", event)); diff != "" {
		t.Errorf("an event says that it was asked (-want +got):\n%s", diff)
	}
	if got := asked("yes, always allow that"); len(got) != 0 {
		t.Errorf("nobody was asked: %q", got)
	}
	if got := asked("yes, always allow that", lesson.Noted{At: at(-3600), Kind: lesson.AskedPermission}); len(got) != 0 {
		t.Errorf("an hour before: %q", got)
	}
	if got := asked("yes, go ahead", event); len(got) != 0 {
		t.Errorf("once: %q", got)
	}
}

// A failure that a hook noted makes surer what is said next, and nothing else does.
func TestNotedFailure(t *testing.T) {
	lines := []string{"> fix it", "I look.", "> tests use the fixtures folder"}
	for n, noted := range map[int][]lesson.Noted{0: nil, 1: {{At: at(1), Kind: lesson.ToolFailed}}} {
		if got := lesson.Find(talk(lines...), nil, noted...); len(got) != n {
			t.Errorf("%d events: %q", n, titles(got))
		}
	}
}
