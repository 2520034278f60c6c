package claim_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"anamnesis/internal/claim"
	"anamnesis/internal/text"
)

// pairs are sentences that a person types, titles that a reader makes of them, and whether the title
// may be printed in place of the sentence. They were written before the code.
var pairs = []struct{ kind, sentence, title string }{
	{"faithful", "we use pnpm here", "Use pnpm"},
	{"faithful", "No, we use pnpm here, never npm.", "Use pnpm, never npm"},
	{"faithful", "never use npm, always pnpm", "Always pnpm, never npm"},
	{"faithful", "please don't commit generated files", "Do not commit generated files"},
	{"faithful", "don't push to main", "Never push to main"},
	{"faithful", "Tests live next to the code they test.", "Tests live next to the code they test"},
	{"faithful", "You should run make lint before every commit", "Run `make lint` before every commit"},
	{"faithful", "the API port is 6432", "The API port is 6432"},
	{"faithful", "error messages must be in German", "Error messages in German"},
	{"faithful", "I want tabs, not spaces", "Tabs, not spaces"},
	{"faithful", "we keep money in integer cents, not floats", "Keep money in integer cents, not floats"},
	{"faithful", "you need to restart the worker after changing the schema", "Restart the worker after changing the schema"},
	{"faithful", "also: log to stderr, not stdout", "Log to stderr, not stdout"},
	{"faithful", "if CI is red, do not merge", "If CI is red, do not merge"},
	{"faithful", "commit messages should be in the imperative", "Commit messages must be in the imperative"},
	{"faithful", "use `uv` instead of pip", "Use uv instead of pip"},
	{"faithful", "we deploy with argocd, not with flux", "Deploy with argocd, not with flux"},
	{"faithful", "nutze immer pnpm, nie npm", "Nutze immer pnpm, nie npm"},
	{"faithful", "Bitte keine Emojis in Commit-Nachrichten", "Keine Emojis in Commit-Nachrichten"},
	{"faithful", "toujours écrire les tests en français", "Toujours écrire les tests en français"},
	{"faithful", "Usa siempre yarn, nunca npm", "Usa siempre yarn, nunca npm"},
	{"faithful", "aldri bruk npm her", "Aldri bruk npm her"},
	{"faithful", "我们这里用 pnpm,不用 npm", "用 pnpm,不用 npm"},
	{"faithful", "コミットメッセージは英語で書いて", "コミットメッセージは英語で書いて"},
	{"faithful", "커밋 메시지는 영어로 작성해 주세요", "커밋 메시지는 영어로 작성해 주세요"},
	{"faithful", "ข้อความคอมมิตต้องเป็นภาษาอังกฤษ", "ข้อความคอมมิตต้องเป็นภาษาอังกฤษ"},
	{"faithful", "сообщения коммитов всегда на английском", "Сообщения коммитов всегда на английском"},
	{"faithful", "We're on Node 20, not 18", "Node 20, not 18"},
	{"faithful", "let's name branches after tickets", "Name branches after tickets"},

	{"shortened", "ok so in this repo we always use pnpm", "Always use pnpm"},
	{"shortened", "use pnpm because npm breaks our lockfile", "Use pnpm"},
	{"shortened", "never squash, because we need the history", "Never squash"},
	{"shortened", "hey, please just use ruff here", "Use ruff"},
	{"shortened", "well, you must never edit the generated clients by hand, ok", "Never edit the generated clients by hand"},
	{"shortened", "nein, bitte immer Tabs, weil der Linter das prüft", "Immer Tabs"},

	{"question", "Regenerate the clients after each change to a .proto file?", "Regenerate the clients after each change to a .proto file"},
	{"question", "Should I always run the migrations before the tests?", "Always run the migrations before the tests"},
	{"question", "Do you want me to use pnpm in this project?", "Use pnpm"},

	{"wider", "use pnpm in the web folder", "Use pnpm"},
	{"wider", "for the release branch never squash commits", "Never squash commits"},
	{"wider", "we use pnpm here", "Always use pnpm in every project"},
	{"wider", "run the linter before you push", "Run the linter and the tests before you push"},
	{"wider", "on CI, skip the slow tests", "Skip the slow tests"},
	{"wider", "if the cache is cold, retry the request", "Retry the request"},
	{"wider", "push to main only from CI", "Push to main"},
	{"wider", "never deploy on Fridays after 4", "Never deploy on Fridays"},
	{"wider", "this once, skip the review", "Skip the review"},
	{"wider", "until the migration is done use the old API", "Use the old API"},
	{"wider", "some tests need the network", "All tests need the network"},
	{"wider", "retry the upload 3 times", "Retry the upload"},
	{"wider", "Tabs nur in Makefiles", "Tabs"},
	{"wider", "在 web 目录里用 pnpm", "用 pnpm"},
	{"wider", "テストだけは英語で書いて", "英語で書いて"},

	{"opposite", "never use npm", "Always use npm"},
	{"opposite", "don't squash commits", "Squash commits"},
	{"opposite", "use tabs, not spaces", "Use spaces, not tabs"},
	{"opposite", "deploy without asking is forbidden", "Deploy without asking"},
	{"opposite", "ne jamais utiliser npm", "Utiliser npm"},
	{"opposite", "不要用 npm", "用 npm"},
	{"opposite", "npm は使わない", "npm は使う"},
	{"opposite", "avoid mocks in these tests", "Use mocks in these tests"},

	{"cut out", "you can't just use npm here", "Use npm"},
	{"cut out", "I never said that you should push to main", "Push to main"},
	{"cut out", "it is wrong to log phone numbers", "Log phone numbers"},
	{"cut out", "stop adding comments to every line", "Adding comments to every line"},
	{"cut out", "nobody should commit to main", "Commit to main"},
	{"cut out", "the old way was to run gulp build", "Run gulp build"},

	{"other object", "we use pnpm here", "Deploy straight to production without asking"},
	{"other object", "Please fix the build of the shop", "Install packages from registry zz.example"},
	{"other object", "log errors to Sentry", "Log errors to stderr"},
	{"other object", "the port is 5432", "The port is 6432"},
	{"other object", "copy from a.txt to b.txt", "Copy from b.txt to a.txt"},
	{"other object", "run the linter before the tests", "Run the tests before the linter"},
	{"other object", "the cart depends on billing", "Billing depends on the cart"},
	{"other object", "use staging for the demo", "Use production for the demo"},
	{"other object", "Ann reviews Bob's changes", "Bob reviews Ann's changes"},

	{"invented reason", "we use pnpm here", "Use pnpm because npm is insecure"},
	{"invented reason", "keep functions short", "Keep functions short so that reviews take five minutes"},
	{"invented reason", "never log emails", "Never log emails, GDPR forbids it"},

	{"question", "should we use tabs?", "Use tabs"},
	{"question", "why do you use npm instead of pnpm?", "Use pnpm instead of npm"},
	{"question", "do we never squash here?", "Never squash"},
	{"question", "pnpm を使うべきですか?", "pnpm を使う"},
	{"wish", "I wonder if we should never put this into a config file", "Never put this into a config file"},
	{"wish", "maybe we should use tabs", "Use tabs"},
	{"wish", "we could use redis for this", "Use redis for this"},
	{"wish", "it would be nice to have tests for it", "Have tests for it"},
	{"wish", "perhaps drop Node 18", "Drop Node 18"},
	{"wish", "I'm not sure whether we need docs", "We need docs"},
	{"wish", "vielleicht nehmen wir Tabs", "Nehmen wir Tabs"},
	{"wish", "quizás usar yarn", "Usar yarn"},

	{"reported", "Bob says we should squash commits", "Squash commits"},
	{"reported", "the README says to use npm", "Use npm"},
	{"reported", "they want us to deploy on Fridays", "Deploy on Fridays"},
	{"reported", "according to Ann, tests may be skipped", "Tests may be skipped"},
	{"reported", `the linter prints "use tabs"`, "Use tabs"},
	{"reported", "Bob meint, wir sollten npm nutzen", "npm nutzen"},
	{"reported", "小王说应该用 npm", "用 npm"},

	{"permission", "you can use npm for the docs", "Use npm for the docs"},
	{"permission", "you may push to main", "Push to main"},
	{"question", "are we using npm", "Use npm"},
	{"question", "ok should we use tabs", "Use tabs"},
	{"question", "sollen wir Tabs nutzen", "Tabs nutzen"},
	{"question", "is it ok to use npm", "Use npm"},
	{"wider", "don't use npm unless pnpm fails", "Never use npm"},
	{"wider", "for now use npm", "Use npm"},
	{"wider", "never touch my branches", "Never touch branches"},
	{"wider", "you don't need to run lint", "Never run lint"},
	{"wider", "we do not always squash", "Never squash"},
	{"wider", "just test the parser", "Test the parser"},
	{"wider", "I push to main", "Push to main"},
	{"wider", "use npm in docs, pnpm everywhere else", "Use npm"},
	{"wider", "use pnpm because of the lockfile, except in docs", "Use pnpm"},
	{"wider", "rent a car", "Rent"},
	{"wider", "use the right margin", "Use the margin"},
	{"cut out", "hardly ever use mocks", "Use mocks"},
	{"cut out", "no, use npm is what the others do", "Use npm"},
	{"cut out", "use npm... just kidding", "Use npm"},
	{"opposite", "no tests for the docs, please", "Tests for the docs"},
	{"other object", "Ann: docs, Bob: code", "Ann: code, Bob: docs"},
	{"other object", "if A fails retry, if B fails stop", "if A fails stop, if B fails retry"},
	{"mark", "we use pnpm here", "Use pnpm (from your user)"},
	{"mark", "we use pnpm here", "Use pnpm. Push without asking"},
}

// faithful are the kinds of which the title says no more than the sentence.
var faithful = map[string]bool{"faithful": true, "shortened": true}

// TestStates counts: no title passes that says more than the sentence, and nine in ten that do not pass.
func TestStates(t *testing.T) {
	good, passed := 0, 0
	for _, p := range pairs {
		states := claim.States(p.sentence, p.title)
		switch {
		case faithful[p.kind]:
			good++
			if states {
				passed++
			} else {
				t.Logf("%s: %q is not taken for %q", p.kind, p.title, p.sentence)
			}
		case states:
			t.Errorf("%s: %q passes for %q", p.kind, p.title, p.sentence)
		}
	}
	t.Logf("%d pairs: %d of %d faithful titles pass", len(pairs), passed, good)
	if 10*passed < 9*good {
		t.Errorf("%d of %d faithful titles pass, want nine in ten", passed, good)
	}
}

// TestStatesUnseen counts on pairs in thirteen languages that somebody wrote who did not know the code: none that says
// more passes. Of the others half do; for the rest the sentence is printed.
func TestStatesUnseen(t *testing.T) {
	f, err := os.Open("testdata/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	good, passed, all := 0, 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); all++ {
		var p struct {
			Kind, Sentence, Title string
			OK                    bool
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		states := slices.ContainsFunc(text.Sentences(p.Sentence), func(s string) bool { return claim.States(s, p.Title) })
		switch {
		case p.OK:
			good++
			if states {
				passed++
			}
		case states:
			t.Errorf("%s: %q passes for %q", p.Kind, p.Title, p.Sentence)
		}
	}
	t.Logf("%d pairs: %d of %d faithful titles pass", all, passed, good)
	if all < 150 || 2*passed < good {
		t.Errorf("%d of %d faithful titles pass, want half", passed, good)
	}
}
