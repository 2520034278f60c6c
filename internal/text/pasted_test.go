package text_test

import (
	"strings"
	"testing"

	"anamnesis/internal/text"
)

// own is what of a text was not pasted: without white space around lines, and blank ones.
func own(s string) string {
	var b strings.Builder
	at := 0
	for _, r := range append(text.Pasted(s), text.Range{From: len(s), To: len(s)}) {
		b.WriteString(s[at:r.From])
		b.WriteByte('\n')
		at = r.To
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Each of these is pasted below a sentence, and has a typed one below itself.
func TestPasted(t *testing.T) {
	for name, pasted := range map[string]string{
		"fence":              "```go\nfmt.Println(\"always\")\n\n// never do this\n```",
		"fence of tildes":    "~~~~\nalways\n```\nnever\n~~~~",
		"triple quotes":      "\"\"\"\nThe function lacks a check. Always add one.\n\nNever skip it.\n\"\"\"",
		"log":                "2026-11-24T03:38:59Z WARN pool exhausted\n2026-11-24T03:39:00Z INFO you must always restart the pool",
		"log of syslog":      "Nov 24 03:38:59 web-1 shop[12]: started\nNov 24 03:39:01 web-1 shop[12]: never run this as root",
		"log of containers":  "api-1  | Server started\napi-1  | You should never use this in production\nweb-1  | always set NODE_ENV",
		"log with a prefix":  "[shop] listening\n[shop] always set NODE_ENV\n[shop] ready",
		"logfmt":             "level=warn msg=\"always retry\" code=3\nlevel=info msg=\"never mind\" code=0",
		"npm":                "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nFix the upstream conflict, never use --force.",
		"trace of Python":    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    foo()\nValueError: never do this",
		"trace of Java":      "java.lang.NullPointerException: Cannot invoke it\n\tat com.x.A.b(A.java:12)\nCaused by: java.io.IOException: always close the stream\n\t... 12 more",
		"trace of Go":        "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/a.go:12 +0x1d",
		"trace of Node":      "TypeError: x is not a function\n    at Object.<anonymous> (/src/a.js:1:2)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)",
		"trace of Ruby":      "a.rb:3:in `foo': never (RuntimeError)\n\tfrom a.rb:7:in `<main>'",
		"trace of .NET":      "System.InvalidOperationException: Sequence contains no elements\n   at Shop.Cart.Total() in /src/Cart.cs:line 12",
		"trace of PHP":       "PHP Fatal error:  Uncaught Exception: always in /src/a.php:3\n#0 /src/a.php(7): foo()\n#1 {main}",
		"compiler of Rust":   "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:3:5\n  |\n3 |     foo(x);\n  |         - value moved here\nhelp: consider cloning the value, always",
		"compiler of Go":     "./a.go:12:3: undefined: x\n./a.go:14:9: you must return a value",
		"compiler of TS":     "src/a.ts:12:3 - error TS2322: Type 'string' is not assignable\n\n12   x = 'always';\n     ~",
		"test of Go":         "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: always got 3\nFAIL\nFAIL\tshop/cart\t0.012s",
		"test of Jest":       "FAIL src/cart.test.ts\n  ✕ never rounds down (5 ms)\n  ✓ rounds up (1 ms)\n\nTests:       1 failed, 1 passed, 2 total",
		"test of pytest":     "=========== FAILURES ===========\ntests/test_cart.py:12: AssertionError\n=========== 1 failed in 0.12s ===========",
		"diff":               "diff --git a/a.go b/a.go\nindex 1234567..89abcde 100644\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n-never\n+always use tabs",
		"git status":         "On branch main\nYour branch is up to date with 'origin/main'.\n\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n\tmodified:   a.go\n\nno changes added to commit (use \"git add\" and/or \"git commit -a\")",
		"git push":           "To https://example.org/shop.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs\nhint: Updates were rejected, always pull first.",
		"shell":              "$ npm test\n> shop@1.0.0 test\n> vitest run\nTests always need a database.",
		"shell loop":         "for d in ~/src/shop-*; do\n  echo \"always $d\"\n  cd \"$d\" || continue\ndone",
		"long listing":       "total 8\ndrwxr-xr-x 2 ada ada 4096 Nov 24 03:38 src\n-rw-r--r-- 1 ada ada   12 Nov 24 03:38 always",
		"columns":            "NAME      READY   STATUS    AGE\napi-1     1/1     Running   3d\nweb-2     0/1     CrashLoop 1d",
		"table":              "| rule | why |\n|---|---|\n| always use tabs | so |",
		"CSV":                "id,name,rule\n1,a,always use pnpm\n2,b,never npm",
		"drawing":            "┌──────┐\n│ always │\n└──────┘",
		"JSON":               "{\n  \"rule\": \"always use pnpm\",\n  \"strict\": true\n}",
		"JSON in a line":     `{"rule": "always use pnpm", "strict": true}`,
		"YAML":               "name: build\non: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: always",
		"XML":                "<ticket id=\"12\">\n  <title>Always use UTC</title>\n</ticket>",
		"HTML":               "<div class=\"note\">\n  <p>Never use tables.</p>\n</div>",
		"code of JavaScript": "import { z } from \"zod\";\n\nexport const Rule = z.object({\n  name: z.string(),\n  always: z.boolean().default(false), // never null\n});\n\nexport type T = z.infer<typeof Rule>;",
		"code of Python":     "def total(items):\n    # always round down\n    return sum(items)",
		"code of Go":         "func Total(items []Item) int {\n\t// Never round here.\n\treturn len(items)\n}",
		"SQL":                "SELECT id, rule FROM rules WHERE always = 1;",
		"mail": "From: Bob <bob@example.org>\nTo: ada@example.org\nSubject: VAT\n\nHi Ada,\n\nalways round down, never up.\n\n" +
			"Best,\nBob",
		"German mail": "Von: Bob <bob@example.org>\nGesendet: Montag\nBetreff: MwSt\n\nHallo Ada,\n\nimmer abrunden.\n\nGrüße,\nBob",
		"letter":      "Hi Ada,\n\nplease always round down. We never round up.\n\nBest regards,\nBob",
		"page of markdown": "# Shop\n\nAlways pin versions.\n\n## Install\n\nNever use the latest tag.\n\n## Use\n\n" +
			"- always set the path\n- never commit it",
		"page": "Getting started\n\nInstall the package with npm. Always pin versions, and never use the latest tag in production, since it moves " +
			"under you without any notice.\n\nConfiguration\n\nYou must set the path. Never commit it. Use the command line when the variable is too " +
			"long for your shell, or else a file that the program reads.\n\nSupport\n\nAsk in the forum. We always answer within a day, and you " +
			"should never open a ticket before you have read the documentation, all of it, twice.",
		"finding of a review": "agent path ignores the environment\n\nMedium Severity\n\nThe code path calls IsInstalled directly without checking the " +
			"variable, while the other path always honours it. Consider adding the check there, too.",
		"remark of a review": "In CartTotal, the roundedSum and the taxSum are not cleared. When ItemCount is reset to 0 but cart.Items keeps old entries, " +
			"later calls always add them twice and must be rejected.",
	} {
		const before, after = "Here is what I get:", "In future always say please, and use pnpm."
		if got := own(before + "\n\n" + pasted + "\n\n" + after); got != before+"\n"+after {
			t.Errorf("%s: typed %q", name, got)
		}
		if name == "page" || name == "letter" || name == "German mail" || name == "page of markdown" {
			continue // these need a line of their own
		}
		if got := own("Here is what I get:\n" + pasted); got != before {
			t.Errorf("%s, below the sentence: typed %q", name, got)
		}
	}
}

// All of each is the user's own.
func TestNotPasted(t *testing.T) {
	for _, s := range []string{
		"no, we use pnpm here",
		"I want:\n- no barrel files\n- use pnpm\n  also in CI (see ci.yml)",
		"Rules:\n1. always use pnpm\n2. never npm\n3. `a = b;` is fine",
		"✅ use pnpm\n❌ no barrel files\n⚠️ never commit to main",
		"## Task\nBuild the exporter. Always use streaming.\n\n## Rules\n- never buffer",
		"remember: prices are integer cents\nNote: always run make lint\nTODO: nothing",
		"Backend: Go, no frameworks\nFrontend: Svelte, never React\nStyle: tabs",
		"style: tabs\nlanguage: go",
		"we use these rules: `a = b;` is fine. Never use var; prefer const.\nimport the module before use; do not use require.",
		"use pnpm;\nno barrel files;\nkeep it small;",
		"return early; don't nest.\nconst is better than let; always use it",
		"if (and only if) it fails, retry\nfor each handler use the wrapper (see below)",
		"In src/auth.ts:42 we must not log tokens.",
		"set x = y when z, and always run the tests.",
		"Always call foo() before bar(), and never twice.",
		"OK, not bad.  I don't quite like it.  Bring that part back.",
		"用 pnpm。不要 npm！",
		"Wir nutzen hier immer pnpm.\nNie npm: das bricht den Lockfile.",
		"Hi Claude,\n\nplease always use pnpm.\n\nThanks,\nAda",
		"Goal: mend the cart.\n\nContext: it rounds down.\n\nNever touch the invoices.",
		"never grep JSON, use jq\n\n    not even in scripts",
		"why does it say \"error: always\"? ignore it",
		"--force is never right here\n--dry-run is",
		"1) use tabs\n2) run `go vet ./...` first",
		"When CartTotal rounds, do we want it to use roundedSum or taxSum, and must cart.Items be cleared before ItemCount is reset to 0 in every single case?",
		"When `CartTotal` rounds, it must use `roundedSum` and never `taxSum`, and `cart.Items` must be cleared before `ItemCount` is reset to 0 in each case.",
		"Let me say it again, slowly, since you did not get it last time: the total is never rounded.\n\n" +
			"In CartTotal, the roundedSum and the taxSum must be cleared, and when ItemCount is reset to 0 then cart.Items must be cleared too, always, please.",
		"$5 is too much\n% of what, always say it",
	} {
		if got := text.Pasted(s); len(got) > 0 {
			t.Errorf("%q: %q counts as pasted", s, s[got[0].From:got[0].To])
		}
	}
}

// What introduces a paste in its own line, or stands before and behind it, stays typed.
func TestPastedBeside(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"mock it in more places: --- FAIL: TestX (0.00s)\n    x_test.go:3: no agents\nFAIL", "mock it in more places:"},
		{"first:\n```\na\n```\nthen never this:\n```\nb\n```\nok?", "first:\nthen never this:\nok?"},
		{"see\n$ make lint\nand never skip it", "see\nand never skip it"},
		{"```\nopen, to the end\n\nalways", ""},
		{"\"\"\"\nnot closed, so it is mine", "\"\"\"\nnot closed, so it is mine"},
	} {
		if got := own(c.in); got != c.want {
			t.Errorf("%q: typed %q, want %q", c.in, got, c.want)
		}
	}
}

// Of a text that nobody types, its beginning and its last sentence are kept.
func TestPastedLong(t *testing.T) {
	s := "read this\n\n" + strings.Repeat("It was a long day and nothing of it was of any use to the shop.\n\n", 200) + "now always use pnpm"
	got := own(s)
	if len(got) > 2000 || !strings.HasPrefix(got, "read this\n") || !strings.HasSuffix(got, "\nnow always use pnpm") {
		t.Errorf("%d bytes count as typed: %.40q … %.40q", len(got), got, got[max(0, len(got)-40):])
	}
}

func FuzzPasted(f *testing.F) {
	f.Add("see:\n```\na\n```\nb")
	f.Add("x: --- FAIL: T\n> q\n\tat a(b:1)\n\n# h\n\n## i\n\n### j\n")
	f.Add("From: a\nb: c@d.e\n\nHi,\n\n--\n,\r\n\xff\t- a:\n\"\"\"\n\"\"\"")
	f.Fuzz(func(t *testing.T, s string) {
		for name, ranges := range map[string][]text.Range{"pasted": text.Pasted(s), "quoted": text.Quoted(s)} {
			at := 0
			for _, r := range ranges {
				if r.From < at || r.To <= r.From || r.To > len(s) {
					t.Fatalf("%s: %v in %d bytes, behind %d", name, ranges, len(s), at)
				}
				at = r.To
			}
		}
	})
}
