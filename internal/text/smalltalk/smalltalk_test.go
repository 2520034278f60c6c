package smalltalk_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"anamnesis/internal/text/smalltalk"
)

func TestOf(t *testing.T) {
	for kind, texts := range map[smalltalk.Kind][]string{
		smalltalk.Closing: {
			"Great, thanks!", "thanks, looks good", "Thank you so much!!", "👍", "🎉 Perfect", "", " \n", "You're welcome!", "Danke, passt so.",
			"¡Muchas gracias!", "Merci beaucoup, c'est parfait", "谢谢，太好了！", "ありがとうございます！", "Спасибо, всё работает", "감사합니다!", "❤️",
		},
		smalltalk.GoAhead: {
			"continue", "go ahead", "yes do that", "Yes, please.", "ok", "OK, thanks", "sounds good, go on", "weiter", "Ja, mach das bitte", "vale, adelante",
			"d'accord, vas-y", "好的，继续", "はい、お願いします", "да, продолжай", "네, 계속해주세요", "1", "option 2", "do both", "k", "next step please",
		},
		smalltalk.Stop: {"stop", "no", "No, stop that.", "wait a sec", "nein, nicht jetzt", "espera", "para", "等一下", "ちょっと待って", "отмена"},
		smalltalk.None: {
			"no, use tabs", "continue with the parser", "thanks, now fix the login", "yes, but only on main", "Great job queue", "stop the server",
			"next.js", "commit", "what next", "run the tests", "ok so why does it fail", "go test ./...", "谢谢，请修复登录", "danke, jetzt die Tests",
			"good morning glory", "undo the migration",
		},
	} {
		for _, text := range texts {
			if got := smalltalk.Of(text); got != kind {
				t.Errorf("Of(%.60q) = %d, want %d", text, got, kind)
			}
		}
	}
	for _, text := range []string{strings.Repeat("ok ", 100), strings.Repeat("o", 10_000)} {
		if smalltalk.Of(text) != smalltalk.None {
			t.Errorf("a text of %d bytes is small talk", len(text))
		}
	}
}

func TestSections(t *testing.T) {
	const list = "# a list\n\n[b]\ntwo\n# not this\n three \n[a]\none\n"
	want := [][]string{{"one"}, {"two", "three"}, nil}
	if got := smalltalk.Sections(list, "a", "b", "c"); !reflect.DeepEqual(got, want) {
		t.Errorf("the sections are %q, want %q", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown section is taken for one of the others")
		}
	}()
	smalltalk.Sections(list, "a")
}

func FuzzOf(f *testing.F) {
	f.Add("Great, thanks!")
	f.Add("no\xff\x00继续")
	f.Fuzz(func(t *testing.T, text string) {
		kind := smalltalk.Of(text)
		if kind < smalltalk.None || kind > smalltalk.Stop {
			t.Fatal(kind)
		}
		if len(text) < 200 && smalltalk.Of("  "+text+" ! ") != kind {
			t.Errorf("white space and punctuation around %q change it", text)
		}
		if kind == smalltalk.None && smalltalk.Of(text+" thanks") != smalltalk.None {
			t.Errorf("%q has a subject, and none with thanks behind it", text)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		smalltalk.Of("yes, please go ahead with the first one")
	}
}

// Of what people type in passing no more than one text in a hundred seems to have a
// subject. Half of the texts were never looked at while the words were chosen.
func TestSubjectPrompts(t *testing.T) {
	data, err := os.ReadFile("testdata/prompts.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, missed := 0, 0
	for line := range strings.Lines(string(data)) {
		_, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		if all++; smalltalk.Subject(text) {
			missed++
			t.Logf("%q seems to have a subject", text)
		}
	}
	if all < 300 || float64(missed) > 0.01*float64(all) {
		t.Errorf("%d of %d texts seem to have a subject, at most one in a hundred may", missed, all)
	}
}

func TestSubject(t *testing.T) {
	for _, text := range []string{
		"start storybook", "how do we commit", "how do we test it", "commit messages", "run the migrations", "stop the container",
		"retry policy", "undo the migration", "redo log", "what did we decide last week", "what did we do yesterday", "next.js",
		"go modules", "who owns auth", "where is it deployed", "push notifications", "why does it fail on windows", "which branch",
		"which os", "the plan for payments", "c++", "git rebase", "git", "continue with the parser", "no, use tabs",
		"weiter mit den Tests", "继续测试", "テストを続けて", "配置怎么做", "what changed", "do something n times", "./run",
		strings.Repeat("ok ", 100),
	} {
		if !smalltalk.Subject(text) {
			t.Errorf("%.40q has no subject", text)
		}
	}
	for _, text := range []string{"", "!", "continue", "go ahead", "thanks, looks good", "stop", "more", "yes do that", "fix it", "2", "ok, now the next one please"} {
		if smalltalk.Subject(text) {
			t.Errorf("%q has a subject", text)
		}
	}
}
