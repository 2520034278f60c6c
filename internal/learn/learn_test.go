package learn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/learn"
	"anamnesis/internal/session"
)

var (
	at   = agenttest.At
	talk = agenttest.Talk
)

// What a client attached and what was pasted is nobody's word; a quote is found whatever its signs.
func TestSaidIn(t *testing.T) {
	s := talk("> fix the import", "$ npm i => ok", "> no, pnpm!\n```\nnever use yarn\n```\n> always use bun")
	said := learn.SaidIn(s, nil)
	if len(said) != 2 || said[1].Text != "no, pnpm!" || said[1].Did != "`npm i`" {
		t.Fatalf("%+v", said)
	}
	for quote, want := range map[string]bool{
		"No – pnpm!": true, "fix THE import": true, "never use yarn": false, "always use bun": false, "pnp": false, "x": false, "": false,
	} {
		if _, ok := learn.Find(said, quote); ok != want && len(quote) > 3 {
			t.Errorf("%q is found: %v", quote, ok)
		}
	}
}

func TestOrders(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"remember: run make lint before every commit", "Run make lint before every commit"},
		{"Please remember that prices are integers", "Prices are integers"},
		{"from now on use slog for logs", "Use slog for logs"},
		{"make it a rule that every job has an owner", "Every job has an owner"},
		{"merk dir: Tests laufen mit der echten Datenbank", "Tests laufen mit der echten Datenbank"},
		{"désormais, les dates sont en UTC", "Les dates sont en UTC"},
		{"recuerda que los precios van en céntimos", "Los precios van en céntimos"},
		{"记住：时间必须用 UTC，不要本地时间", "时间必须用 UTC，不要本地时间"},
		{"never grep JSON, use jq. record this as a global rule", "Never grep JSON, use jq."},

		{"do you remember that bug?", ""},
		{"remember me?", ""},
		{"I remember that we had this", ""},
		{"no, stop pushing to main without a review", ""},
		{"Please stop adding comments to every line", ""},
		{"always run make lint", ""},
		{"Don't fix it, only explain", ""},
		{"Go with option 2", ""},
		{"```\nremember: x is a secret\n```", ""},
		{"> remember: quoted words are not mine", ""},
	} {
		got := ""
		for _, o := range learn.Orders(talk("> "+tt.said), nil) {
			got = o.Rule
		}
		if got != tt.want {
			t.Errorf("%q orders %q, want %q", tt.said, got, tt.want)
		}
	}
}

// What a reader is shown of commands: the remedies, and no step that forces, skips a check or deletes.
func TestRemedies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"another form of a command", []string{"> deploy", "$ make ship !> error: set ENV", "$ ENV=dev make ship => ok"}, true},
		{"a command between", []string{"> deploy", "$ make ship !> error: not built", "$ make build => ok", "$ make ship => ok"}, true},
		{"code was changed beside a command", []string{"> fix it", "$ go test ./... !> --- FAIL: TestX", "~ a.go", "$ make gen => ok", "$ go test ./... => ok  	x 0.1s"}, false},
		{"code was changed", []string{"> fix it", "$ go test ./... !> --- FAIL: TestX", "~ a.go", "$ go test ./... => ok  	x 0.1s"}, false},
		{"a push that is forced", []string{"> push", "$ git push origin main !> error: rejected", "$ git push origin main --force => ok"}, false},
		{"a folder that is removed", []string{"> go", "$ make data !> error: data exists", "$ rm -rf data => ok", "$ make data => ok"}, false},
		{"hooks that are skipped", []string{"> commit", "$ git commit -m x !> error: hook failed", "$ git commit -m x --no-verify => ok"}, false},
	} {
		if got := learn.SliceOf(talk(tt.lines...), nil, learn.SliceOptions{}); (len(got.Fixes) > 0) != tt.want {
			t.Errorf("%s: %+v", tt.name, got.Fixes)
		}
	}
}

// A turn stops the agent when it follows a refused call, an interruption or a circle.
func TestSaidStops(t *testing.T) {
	s := talk("> set it up", "Done.", "> go on", "$ make x !> no", "$ make x !> no", "$ make x !> no", "> use the cache", "ok", "> next")
	var stops []string
	for _, w := range learn.SaidIn(s, nil) {
		if w.Stops {
			stops = append(stops, w.Text)
		}
	}
	if !slices.Equal(stops, []string{"use the cache"}) {
		t.Errorf("%q", stops)
	}
}

// Everything that was typed stands in the slice, and where that is too much what has cues comes
// first.
func TestSlice(t *testing.T) {
	lines := []string{"> begin", "ok", "> no, never use floats for prices, always integers", "ok"}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("> and now please write the paragraph number %d of the long story about the sea", i), "done")
	}
	s := talk(lines...)
	slice := learn.SliceOf(s, nil, learn.SliceOptions{Tokens: 500})
	if n := len(slice.Text); n > 2000 || !strings.Contains(slice.Text, "never use floats") {
		t.Errorf("%d characters:\n%s", n, slice.Text)
	}
	if len(slice.Said) != 402 {
		t.Errorf("%d of 402 stretches can be quoted", len(slice.Said))
	}
	if later := learn.SliceOf(s, nil, learn.SliceOptions{From: 3}); strings.Contains(later.Text, "floats") {
		t.Error("what was read before is read again")
	}
}

// A rule rests on words that a person typed, or on a remedy that the session showed, without a risky step.
func TestGround(t *testing.T) {
	s := talk("> no, use pnpm here and not npm", "$ make ship !> error: not built", "$ make build => ok", "$ make ship => ok", "> force the push with git push --force")
	said, fixes := learn.SaidIn(s, nil), session.Fixes(s.Turns)
	for _, tt := range []struct {
		rule     learn.Rule
		user, ok bool
	}{
		{learn.Rule{Title: "Use pnpm, never npm", Quote: "use pnpm here and not npm"}, true, true},
		{learn.Rule{Title: "Use pnpm, never npm", Quote: "the user wants pnpm in this project"}, false, false},
		{learn.Rule{Title: "Build before shipping", Quote: "make build", Fix: "make build"}, false, true},
		{learn.Rule{Title: "Push with `git push --force`", Quote: "force the push with git push --force"}, true, true},
		{learn.Rule{Title: "Remove data with rm -rf data", Quote: "make build"}, false, false},
	} {
		_, user, ok := tt.rule.Ground(said, fixes)
		if ok != tt.ok || ok && user != tt.user {
			t.Errorf("%q on %q: user %v, ok %v", tt.rule.Title, tt.rule.Quote, user, ok)
		}
	}
}

func TestPermissions(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{"$ docker image prune => ok", "> yes, you can always run docker image prune"}, "Run `docker image prune` without asking"},
		{[]string{"$ docker image prune => ok", "> yes"}, ""},
		{[]string{"$ docker image prune => ok", "> never again"}, ""}, // nobody was asked
	} {
		got := ""
		for _, p := range learn.Permissions(talk(tt.lines...), nil) {
			got = p.Title()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.lines, got, tt.want)
		}
	}
	denied := &agent.Session{Turns: []agent.Turn{{Role: agent.Assistant, Tools: []agent.ToolUse{{
		Name: "Bash", Input: []byte(`{"command":"git push"}`), Denied: true, Error: true, Reply: "no, never run that",
	}}}}}
	if all := learn.Permissions(denied, nil); len(all) != 1 || all[0].Title() != "Never run `git push`" || all[0].Policy == "" {
		t.Errorf("%+v", all)
	}
}

// TestOrdersInDoubt: an order inside a turn of several lines may have been pasted.
func TestOrdersInDoubt(t *testing.T) {
	const order = "remember: always run the zz tool"
	for typed, doubt := range map[string]bool{
		order: false, "Fix the build.\n" + order: false, order + "\nThen fix the build.": false, "Fix the build.\n\n" + order: false,
		"One.\nTwo.\nThree.\n\n" + order:                   false,
		"See #12 and fix it.\n" + order:                    false,
		"One.\nTwo.\nThree.\n" + order:                     true,
		"Ann 10:01\n" + order + "\nwhat does she mean":     true,
		"What is this?\n\n" + order + "\n\nThen run make.": true,
		"What is this?\n# Shop\n" + order:                  true,
	} {
		orders := learn.Orders(talk("> "+typed), nil)
		if len(orders) != 1 || orders[0].Doubt != doubt {
			t.Errorf("%q: %+v, want doubt %v", typed, orders, doubt)
		}
	}
}

// TestFind: a quote is found wherever it begins, also where words have no blanks between them, and vouches for the whole sentence.
func TestFind(t *testing.T) {
	said := []learn.Said{
		{Text: "Install zod first. You must never use npm here, ok? Then go on."},
		{Text: "我们这个项目里一直用 pnpm，不要用 npm。先修复构建。"},
		{Text: "このリポジトリではコミットメッセージを英語で書いてください。次はテストです。"},
		{Text: "ในโปรเจกต์นี้ข้อความคอมมิตต้องเป็นภาษาอังกฤษ"},
	}
	for quote, want := range map[string]string{
		"use npm here": "You must never use npm here, ok?",
		"ZOD FIRST":    "Install zod first.",
		"first. You":   "Install zod first. You must never use npm here, ok?",
		"pse npm here": "",
		"go":           "",
		"一直用 pnpm":     "我们这个项目里一直用 pnpm，不要用 npm。",
		"项目里一直用":       "我们这个项目里一直用 pnpm，不要用 npm。",
		"コミットメッセージを英語で":      "このリポジトリではコミットメッセージを英語で書いてください。",
		"ต้องเป็นภาษาอังกฤษ": "ในโปรเจกต์นี้ข้อความคอมมิตต้องเป็นภาษาอังกฤษ",
	} {
		if q, _ := learn.Find(said, quote); q.Sentence != want {
			t.Errorf("%q is of %q, want %q", quote, q.Sentence, want)
		}
	}
}

// TestAgreement: what agrees to a question and says nothing else vouches for the question.
func TestAgreement(t *testing.T) {
	s := talk("> fix it", "Fixed. Regenerate the clients after each change to a .proto file?", "> yes", "Done.", "> yes, and never log the emails")
	said := learn.SaidIn(s, nil)
	if len(said) != 3 || said[1].Asked != "Regenerate the clients after each change to a .proto file?" || said[0].Asked+said[2].Asked != "" {
		t.Fatalf("%+v", said)
	}
	q, ok := learn.Find(said[:2], "yes")
	if !ok || q.Typed().Line() != `yes to: "Regenerate the clients after each change to a .proto file?"` {
		t.Errorf("%v: %q", ok, q.Typed().Line())
	}
}
