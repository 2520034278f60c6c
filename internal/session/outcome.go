package session

import (
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// A Verdict is what a command came to.
type Verdict int

// The verdicts.
const (
	Unclear Verdict = iota // no result was met, or nothing was run
	Passed
	Failed
)

// runners say by their output what became of tests, whatever their exit code is shown
// to be: agents cut it off with a pipe.
var runners = []struct{ failed, passed, empty func() *text.Pattern }{
	{ // go test
		failed: text.Form(`(?m)^(--- FAIL|FAIL\b|panic: )`), passed: text.Form(`(?m)^ok\s+\S+`),
		empty: text.Form(`(?m)\[no test files\]|\[no tests to run\]`),
	},
	{ // pytest
		failed: text.Form(`(?m)^=*.*\b[1-9]\d* (failed|errors?)\b.* in [\d.]+`), passed: text.Form(`\b[1-9]\d* passed\b`),
		empty: text.Form(`no tests ran|collected 0 items`),
	},
	{ // jest, vitest, pest
		failed: text.Form(`(?m)^\s*Tests:?\s+.*\b[1-9]\d* failed`), passed: text.Form(`(?m)^\s*Tests:?\s+.*\b[1-9]\d* passed`),
		empty: text.Form(`No tests found|No test files found`),
	},
	{ // cargo test
		failed: text.Form(`test result: FAILED`), passed: text.Form(`test result: ok\. [1-9]\d* passed`),
		empty: text.Form(`test result: ok\. 0 passed`),
	},
	{ // JUnit by Maven or Gradle
		failed: text.Form(`Tests run: \d+.*(Failures: [1-9]|Errors: [1-9])|BUILD FAILED`),
		passed: text.Form(`Tests run: [1-9]\d*, Failures: 0, Errors: 0|BUILD SUCCESSFUL`), empty: text.Form(`Tests run: 0,`),
	},
	{ // RSpec
		failed: text.Form(`\d+ examples?, [1-9]\d* failures?`), passed: text.Form(`\b[1-9]\d* examples?, 0 failures`),
		empty: text.Form(`\b0 examples, 0 failures`),
	},
}

// tests are the commands whose output the runners read.
var tests = text.Form(`\b(go test|pytest|jest|vitest|npm (run )?test|pnpm (run )?test|yarn test|cargo test|`,
	`mvnw?|gradlew?|rspec|pest|php artisan test)\b`)

// Outcome says what a command came to. Of tests the runner's own words count before
// the exit code, and a run in which nothing was tested, or everything skipped, is no
// pass.
func Outcome(u agent.ToolUse, command string) Verdict {
	if u.Error {
		return Failed
	}
	if tests().MatchString(command) {
		if v, ok := printed(u.Result); ok {
			return v
		}
		if skips().MatchString(u.Result) {
			return Unclear
		}
	}
	if strings.TrimSpace(u.Result) == "" && u.ID == "" {
		return Unclear
	}
	return Passed
}

// printed is what the runners say of an output. A failure of one counts more than a pass
// of another.
func printed(output string) (Verdict, bool) {
	for _, v := range []Verdict{Failed, Passed, Unclear} {
		for i := range runners {
			r := &runners[i]
			if form := map[Verdict]func() *text.Pattern{Failed: r.failed, Passed: r.passed, Unclear: r.empty}[v]; form().MatchString(output) {
				return v, true
			}
		}
	}
	return Unclear, false
}

// skips is a run that only skipped.
var skips = text.Form(`(?i)\b[1-9]\d* (skipped|pending|ignored)\b`)

// symptoms are the words of a line that says what went wrong.
var symptoms = strings.Fields("error fail panic exception undefined cannot denied refused expected missing fatal unable no not")

// Symptom picks the line of an output that says what went wrong.
func Symptom(output string) string {
	first := ""
	for line := range strings.Lines(text.Head(output, 20_000)) {
		line = strings.Join(strings.Fields(line), " ")
		lower := strings.ToLower(line)
		if line == "" || strings.HasPrefix(lower, "exit code") {
			continue
		}
		if first == "" {
			first = line
		}
		for _, w := range symptoms[:len(symptoms)-2] {
			if strings.Contains(lower, w) {
				return line
			}
		}
	}
	return first
}

// LeftFailing are the test runs of a session that failed the last time they were run, a line each, in
// the order of that run.
func LeftFailing(all []Exchange) (lines []string) {
	type last struct{ command, line string }
	var runs []last
	for i := range all {
		for j := range all[i].Steps {
			s := &all[i].Steps[j]
			if s.Refused || s.Outcome == Unclear || !tests().MatchString(s.Run) {
				continue
			}
			key := NormalCommand(s.Run)
			runs = slices.DeleteFunc(runs, func(r last) bool { return r.command == key })
			if s.Outcome == Failed {
				line := Code(s.Run) + " failed last"
				if why := Symptom(s.Out); why != "" {
					line += ": " + text.Cut(why, 40)
				}
				runs = append(runs, last{key, line})
			}
		}
	}
	for _, r := range runs {
		lines = append(lines, r.line)
	}
	return lines
}
