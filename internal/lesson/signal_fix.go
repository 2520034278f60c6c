package lesson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"anamnesis/internal/agent"
)

// A fixed is a command that failed and passed after something else was done.
type fixed struct {
	failed string // the command line
	passed string // what passed in its place; failed itself when commands stand between
	did    []string
	raw    string // the command lines as they stood in the records
	output string // of the failure
	began  int    // the turn of the failure
}

// A run is one command line with its outcome.
type run struct {
	turn    int
	command string
	agent.ToolUse
}

// maxBetween is how many commands may stand between a failure and its pass.
const maxBetween = 4

// fixes finds commands that failed and passed after other commands were run, or in
// another form. A test that passes because code was changed teaches nothing that the
// code does not say.
func fixes(m *material) (all []Signal) {
	turns := m.turns
	runs, barriers := runsOf(turns)
	for i := range runs {
		pass := &runs[i]
		if Outcome(pass.ToolUse, pass.command) != Passed || looks(pass.command) {
			continue
		}
		for j := i - 1; j >= max(0, i-maxBetween-1); j-- {
			fail := &runs[j]
			if slices.ContainsFunc(barriers, func(at int) bool { return fail.turn < at && at < pass.turn }) {
				break
			}
			f, ok := fixOf(fail, pass, runs[j+1:i])
			if !ok {
				continue
			}
			if takenBack(turns, pass.turn) {
				break
			}
			f.clean(m.clean)
			all = append(all, Signal{Kind: Fix, Turn: pass.turn, Score: minScore, fix: f})
			break
		}
	}
	return all
}

// clean masks the secrets of what is written down of a fix.
func (f *fixed) clean(clean Clean) {
	f.failed, f.passed, f.output = clean(f.failed), clean(f.passed), clean(head(f.output, 40_000))
	for i := range f.did {
		f.did[i] = clean(f.did[i])
	}
}

// runsOf lists the commands of a session. A barrier is a turn over which no fix
// reaches: files were edited, or the user said something.
func runsOf(turns []agent.Turn) (runs []run, barriers []int) {
	for i := range turns {
		if turns[i].Human() || turns[i].Interrupted {
			barriers = append(barriers, i)
		}
		for _, u := range turns[i].Tools {
			if u.Path != "" {
				barriers = append(barriers, i)
				continue
			}
			if line := commandOf(u); line != "" && !u.Denied {
				runs = append(runs, run{turn: i, command: line, ToolUse: u})
			}
		}
	}
	return runs, barriers
}

// fixOf says whether pass is fail again, after the runs between or in another form.
func fixOf(fail, pass *run, between []run) (*fixed, bool) {
	if o := Outcome(fail.ToolUse, fail.command); o != Failed || fail.Result == "" || looks(fail.command) {
		return nil, false
	}
	f := &fixed{failed: fail.command, passed: pass.command, raw: fail.command + "\x00" + pass.command, output: fail.Result, began: fail.turn}
	switch {
	case pass.command == fail.command:
		for _, r := range between {
			if r.command == fail.command || Outcome(r.ToolUse, r.command) == Failed || looks(r.command) {
				continue
			}
			f.did = append(f.did, r.command)
		}
		return f, len(f.did) > 0
	case len(between) <= 1 && extends(fail.command, pass.command):
		return f, true
	}
	return nil, false
}

// extends reports whether a command line is another one with more words, at least half
// as long: a flag, a setting or a prefix was added, and nothing was taken away.
func extends(short, long string) bool {
	a, b := strings.Fields(short), strings.Fields(long)
	if len(b) <= len(a) || len(b) > 3*len(a)+2 || strings.ContainsAny(long, ";|&\n") {
		return false
	}
	at := 0
	for _, w := range b {
		if at < len(a) && w == a[at] {
			at++
		}
	}
	return at == len(a)
}

// takenBack reports whether what the user said next takes a pass back.
func takenBack(turns []agent.Turn, at int) bool {
	for i := at + 1; i < len(turns); i++ {
		if !turns[i].Human() {
			continue
		}
		text := strings.ToLower(turns[i].Text)
		return slices.ContainsFunc([]string{
			"never mind", "nevermind", "undo", "revert", "take that back", "take it back", "roll back", "rückgängig", "annule", "deshaz", "撤销",
		}, func(s string) bool { return strings.Contains(text, s) })
	}
	return false
}

// commandOf is the command line that a tool ran, "" when it ran none.
func commandOf(u agent.ToolUse) string {
	if !mayName(u.Input, "command") {
		return ""
	}
	var input struct {
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(u.Input, &input) != nil || len(input.Command) == 0 {
		return ""
	}
	var line string
	if json.Unmarshal(input.Command, &line) != nil {
		var words []string // some agents give the words
		if json.Unmarshal(input.Command, &words) != nil {
			return ""
		}
		line = strings.Join(words, " ")
	}
	line = strings.TrimSpace(line)
	if before, after, ok := strings.Cut(line, "&&"); ok && strings.HasPrefix(strings.TrimSpace(before), "cd ") {
		line = strings.TrimSpace(after)
	}
	return line
}

// mayName reports whether an object may have a member of the name, in any case or escaped. It
// spares the reading of inputs that hold whole files.
func mayName(object []byte, name string) bool {
	for i := 0; i+len(name) <= len(object); i++ {
		if c := object[i]; c|0x20 == name[0] && strings.EqualFold(string(object[i:i+len(name)]), name) {
			return true
		}
	}
	return bytes.Contains(object, []byte(`\u`))
}

// lookers only look at something, or say nothing when they pass.
var lookers = list(`ls cat cd grep rg find echo which head tail sed awk test [ pwd stat wc type command tree file diff sleep kill
	pkill ps curl wget ping env printenv true false`)

func looks(command string) bool {
	first, rest, _ := strings.Cut(command, " ")
	if first == "git" {
		second, _, _ := strings.Cut(rest, " ")
		return slices.Contains([]string{"status", "diff", "log", "show", "branch", "grep", "blame", "fetch"}, second)
	}
	return slices.Contains(lookers(), first)
}
