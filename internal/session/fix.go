package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// A Fix is a command that failed and passed later in the session.
type Fix struct {
	Failed string   // the command line
	Passed string   // what passed in its place; Failed itself when it is the same
	Output string   // of the failure
	Did    []string // commands between, which passed; none when files were edited or the user spoke
	Edited []string // files that were edited between
	Began  int      // the turn of the failure
	Turn   int      // the turn of the pass
	At     time.Time
}

// maxBetween is how many commands may stand between a failure and its pass for them to be its
// remedy.
const maxBetween = 4

// A run is one command line with its outcome.
type run struct {
	turn    int
	command string
	edited  []string // files that were edited since the run before
	spoke   bool     // the user spoke since the run before
	outcome Verdict
	output  string
}

// Fixes returns the commands of a session that failed and then passed, in the order in which
// they passed. A command that only looks says nothing.
func Fixes(turns []agent.Turn) (all []Fix) {
	runs := runsOf(turns)
	fixed := make(map[int]bool) // failures that were answered
	for i := range runs {
		pass := &runs[i]
		if pass.outcome != Passed {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			fail := &runs[j]
			if fail.outcome != Failed || fixed[j] || fail.output == "" {
				continue
			}
			same := NormalCommand(fail.command) == NormalCommand(pass.command)
			near := i-j <= 2 && extends(fail.command, pass.command)
			if !same && !near {
				continue
			}
			f := Fix{Failed: fail.command, Passed: pass.command, Output: fail.output, Began: fail.turn, Turn: pass.turn, At: turns[pass.turn].At}
			spoke := pass.spoke
			f.Edited = slices.Clone(pass.edited)
			for k := j + 1; k < i; k++ {
				spoke = spoke || runs[k].spoke
				f.Edited = append(f.Edited, runs[k].edited...)
				if runs[k].outcome == Passed && runs[k].command != fail.command {
					f.Did = append(f.Did, runs[k].command)
				}
			}
			slices.Sort(f.Edited)
			f.Edited = slices.Compact(f.Edited)
			if spoke || len(f.Edited) > 0 || i-j > maxBetween+1 || near && !same {
				f.Did = nil
			}
			for k := j; k >= 0; k-- { // earlier failures of it are answered, too
				fixed[k] = fixed[k] || runs[k].outcome == Failed && NormalCommand(runs[k].command) == NormalCommand(fail.command)
			}
			all = append(all, f)
			break
		}
	}
	return all
}

// Remedy reports whether a fix says how something is done: other commands or another form of
// it made a command pass. A test that passes because code was changed says nothing that the
// code does not.
func (f *Fix) Remedy() bool {
	return len(f.Did) > 0 || len(f.Edited) == 0 && extends(f.Failed, f.Passed)
}

// runsOf lists the commands of a session that do something.
func runsOf(turns []agent.Turn) (runs []run) {
	var edited []string
	spoke := false
	for i := range turns {
		spoke = spoke || turns[i].Human() || turns[i].Interrupted
		for j := range turns[i].Tools {
			u := &turns[i].Tools[j]
			if u.Path != "" {
				edited = append(edited, u.Path)
				continue
			}
			line := CommandOf(*u)
			if line == "" || u.Denied || Looks(line) {
				continue
			}
			runs = append(runs, run{i, line, edited, spoke, Outcome(*u, line), u.Result})
			edited, spoke = nil, false
		}
	}
	return runs
}

// NormalCommand is a command line without what may differ between two tries: flags, and what
// cuts its output.
func NormalCommand(line string) string {
	line, _, _ = strings.Cut(line, "\n")
	line, _, _ = strings.Cut(line, "|")
	var words []string
	for _, w := range strings.Fields(line) {
		if !strings.HasPrefix(w, "-") && w != "2>&1" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
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

// Commands that only read, and those that change something but say nothing when they pass.
var (
	readers = strings.Fields(`ls cat cd grep rg find echo which head tail sed awk test [ pwd stat wc type command tree file diff sleep
		kill pkill ps curl wget ping env printenv true false`)
	quiet      = strings.Fields("mkdir rm cp mv touch")
	gitReaders = strings.Fields("status diff log show branch grep blame fetch")
	gitQuiet   = strings.Fields("stash checkout switch restore")
)

// Reads reports whether a command only reads, or waits.
func Reads(command string) bool { return begins(command, readers, gitReaders) }

// Looks reports whether a command only reads, waits, or says nothing when it passes.
func Looks(command string) bool { return Reads(command) || begins(command, quiet, gitQuiet) }

// begins reports whether a command is one of some programs, or one of some commands of git. A
// command of no words is.
func begins(command string, programs, git []string) bool {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return true
	case words[0] == "git":
		return len(words) < 2 || slices.Contains(git, words[1])
	}
	return slices.Contains(programs, words[0])
}

// String renders a fix as a line of a note.
func (f *Fix) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed", Code(f.Failed))
	if line := Symptom(f.Output); line != "" {
		fmt.Fprintf(&b, " (%s)", text.Cut(line, 80))
	}
	b.WriteString(", then passed")
	switch n := len(f.Edited); {
	case len(f.Did) > 0:
		fmt.Fprintf(&b, " after %s", strings.Join(codes(f.Did), ", "))
	case n > 3:
		fmt.Fprintf(&b, " after %s and %d more changed", strings.Join(f.Edited[:3], ", "), n-3)
	case n > 0:
		fmt.Fprintf(&b, " after %s changed", strings.Join(f.Edited, ", "))
	case f.Passed != f.Failed:
		fmt.Fprintf(&b, " as %s", Code(f.Passed))
	}
	return b.String()
}

func codes(lines []string) (all []string) {
	for _, l := range lines {
		all = append(all, Code(l))
	}
	return all
}
