package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/session"
)

// Two occurrences of one error are one line, whatever machine, run and version printed them.
func TestNormal(t *testing.T) {
	for _, c := range [][2]string{
		{"/home/ada/shop/pay/vat_test.go:12:3: undefined: roundHalf", `C:\src\shop\pay\vat_test.go:40:9: undefined: roundHalf`},
		{"2026-05-01 10:00:00 ERROR worker 7: cannot open /var/run/a/app.sock after 30s", "2025-01-31T23:11:09Z ERROR worker 12: cannot open /tmp/x/app.sock after 1.5s"},
		{"error: package tokio v1.38.0 cannot be built", "error: package tokio v1.40.2 cannot be built"},
		{"panic: nil pointer at 0xc0000140a0 in commit 3f2a91c0", "panic: nil pointer at 0xdeadbeef in commit 99aa0b1c"},
		{"\x1b[31mFATAL:\x1b[0m sorry, too many clients already", "FATAL: sorry, too many clients already"},
	} {
		if a, b := session.Normal(c[0]), session.Normal(c[1]); a != b || a == "" {
			t.Errorf("%q and %q", a, b)
		}
	}
	for _, same := range []string{"undefined: roundHalf", "undefined: roundDown"} {
		if session.Normal("a.go:1: "+same) == session.Normal("a.go:1: undefined: other") {
			t.Errorf("%q is one with another error", same)
		}
	}
	for _, nothing := range []string{"", "42", "exit", "=====", "FAIL"} {
		if got := session.Normal(nothing); got != "" {
			t.Errorf("%q is the error %q", nothing, got)
		}
	}
	if got := session.ErrorLines("error: cannot open tabs.conf\n3 errors found\nTests: 2 failed, 7 passed\nerror: 4 tests failed"); len(got) != 1 {
		t.Errorf("of an error and three counts: %q", got)
	}
	if got := session.ErrorLines("Please fix the failing test, it should not error.\nexit status 1\n--- FAIL: TestVAT (0.00s)\nvat.go:3: undefined: roundHalf"); !slices.Equal(got, []string{"undefined roundhalf", "fail testvat"}) {
		t.Errorf("the lines of an error are %q", got)
	}
}

// How an error ended: the same command passed, or the user who brought it did not say that it comes still.
func TestSolve(t *testing.T) {
	for name, c := range map[string]struct {
		lines                []string
		error, cause, remedy string
		exchange             int
	}{
		"the command passes": {
			[]string{
				"> make the tests pass", "$ go test ./pay !> vat.go:3: undefined: roundHalf", "The helper was removed because nobody used it.",
				"~ round.go", "$ go test ./pay => ok  pay 0.1s", "I added roundHalf back.",
			}, "vat.go:3: undefined: roundHalf", "The helper was removed because nobody used it.", "round.go", 1,
		},
		"the user brought it": {
			[]string{
				"> I get this:\n```\nFATAL: sorry, too many clients already\n```", "The pool is not closed, which is caused by the early return.", "~ db.go",
				"Fixed by closing the pool in a defer.", "> great, now the docs", "Written.",
			}, "FATAL: sorry, too many clients already", "caused by the early return", "closing the pool", 1,
		},
		"another way": {
			[]string{"> install it", "$ npm install left !> npm ERR! code ERESOLVE could not resolve", "$ npm install --legacy-peer-deps left => added 1 package", "Installed."},
			"npm ERR! code ERESOLVE could not resolve", "", "npm install --legacy-peer-deps left", 1,
		},
		"still there": {
			[]string{
				"> I get this:\n```\nFATAL: sorry, too many clients already\n```", "~ db.go", "Fixed by closing the pool.",
				"> still the same error", "I do not know.",
			}, "FATAL: sorry, too many clients already", "", "", 0,
		},
		"never passed":  {[]string{"> test it", "$ go test ./pay !> vat.go:3: undefined: roundHalf", "It fails."}, "vat.go:3: undefined: roundHalf", "", "", 0},
		"another error": {[]string{"> test it", "$ go test ./pay !> vat.go:3: undefined: other", "$ go test ./pay => ok  pay 0.1s"}, "vat.go:3: undefined: roundHalf", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			all := session.Cut(agenttest.Talk(c.lines...), strings.TrimSpace)
			got, ok := session.Solve(all, session.Normal(c.error))
			if !ok && c.exchange == 0 {
				return
			}
			if !ok || got.Exchange != c.exchange || got.Error != c.error || !strings.Contains(got.Cause, c.cause) || !strings.Contains(got.Remedy, c.remedy) {
				t.Errorf("solved %v: %+v", ok, got)
			}
		})
	}
}

// The exchanges that ended an error stand first, the newest before the others.
func TestFix(t *testing.T) {
	r := newRoom(t, session.Options{})
	broken := "$ go test ./pay !> /src/a/vat.go:3: undefined: roundHalf"
	r.put("gave up", noon.Add(48*time.Hour), "> test it", broken, "I cannot find it.")
	old := r.put("old", noon, "> test it", broken, "~ round.go", "$ go test ./pay => ok  pay 0.1s", "I added it.")
	last := r.put("new", noon.Add(24*time.Hour), "> test it", broken, "~ pay.go", "$ go test ./pay => ok  pay 0.1s", "I renamed the call.")
	got, err := r.Fix(t.Context(), session.Query{Text: "/other/vat.go:77: undefined: roundHalf", Limit: 3}, false)
	if err != nil || len(got) != 3 || got[0].Hit.Session.Key != last.Key() || got[1].Hit.Session.Key != old.Key() || !got[1].Solved || got[2].Solved {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Fix(t.Context(), session.Query{Text: "undefined: somethingElse", Limit: 3}, true); err != nil || len(got) > 0 {
		t.Errorf("another error: %+v, %v", got, err)
	}
}

// Commands that passed for a task are counted; what failed only was given up; what forces says so.
func TestHow(t *testing.T) {
	r := newRoom(t, session.Options{})
	r.put("a", noon, "> deploy the staging site", "$ make deploy-staging => deployed", "Deployed.")
	r.put("b", noon.Add(time.Hour), "> deploy the staging site again", "$ make deploy-staging => deployed", "$ ls site => index.html", "Deployed.")
	r.put("c", noon, "> deploy the staging site", "$ kubectl apply -f staging.yaml !> error: no context", "$ git push --force origin staging => ok", "Pushed.")
	got, err := r.How(t.Context(), session.Query{Text: "deploy the staging site", Limit: 9})
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	ways := make(map[string]session.Way)
	for _, w := range got {
		ways[w.Command] = w
	}
	if w := got[0]; w.Command != "make deploy-staging" || w.Passed != 2 || w.GivenUp || w.Risky != "" {
		t.Errorf("the first is %+v", w)
	}
	if w := ways["kubectl apply -f staging.yaml"]; !w.GivenUp || w.Failed != 1 {
		t.Errorf("what failed is %+v", w)
	}
	if w := ways["git push --force origin staging"]; w.Risky != "--force" {
		t.Errorf("what forces is %+v", w)
	}
}

// A file is found by the end of its path, with the commit that came of the edit.
func TestTouched(t *testing.T) {
	r := newRoom(t, session.Options{})
	h := r.put("a", noon, "> round the tax", "~ pay/vat.go", "Rounded.", "> commit it", "$ git commit -am vat => [main abc1234] Round", "Done.")
	r.put("b", noon, "> colours", "~ web/vat.go", "Changed.")
	got, err := r.Touched(t.Context(), session.Query{Limit: 9}, "pay/vat.go")
	if err != nil || len(got) != 1 || got[0].Hit.ID() != h.Key()+".1" || !slices.Equal(got[0].Commits, []string{"abc1234"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Touched(t.Context(), session.Query{Limit: 9}, "vat.go"); err != nil || len(got) != 2 {
		t.Errorf("by its last name: %d, %v", len(got), err)
	}
}

// A title says what a session was about.
func TestTitleOf(t *testing.T) {
	for _, c := range []struct {
		own   string
		lines []string
		want  string
	}{
		{"Rework the ledger export", []string{"> fix it"}, "Rework the ledger export"},
		{"Conversation", []string{"> continue", "> the ledger export writes a wrong total"}, "the ledger export writes a wrong total"},
		{"", []string{"> Implement the following plan:\n\n# Plan: Encrypt the session cookie\n\n## Context\n\nAll read it."}, "Encrypt the session cookie"},
		{"", []string{"> Hello there! I would like to know how the ledger export rounds."}, "I would like to know how the ledger export rounds"},
		{"", []string{"> yes", "~ ledger.go", "~ export.go"}, "Changes to ledger.go, export.go"},
		{"", []string{"> go on", "The exporter of ledgers now writes one file for each month."}, "The exporter of ledgers now writes one file for each month."},
		{"", []string{"> In the export view [Image #1]\n\nwhere the total stands, write the tax"}, "In the export view where the total stands, write the tax"},
		{"", nil, ""},
	} {
		if got := session.TitleOf(c.own, nil, session.Cut(agenttest.Talk(c.lines...), strings.TrimSpace)); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.lines, c.own, got, c.want)
		}
	}
	asked := session.Cut(agenttest.Talk("> add the agent name to the logs"), strings.TrimSpace)
	if got := session.TitleOf("", []string{"Add agent name to logs", "Rename the theme colours"}, asked); got != "Add agent name to logs" {
		t.Errorf("of two summaries, one of another conversation: %q", got)
	}
}
