// Package risk finds in a text what would make an agent run or send something: commands, network addresses, credentials,
// downloads, interpreters that are given code, publications, deletions and approvals.
//
// It decides by structure: how the shells, addresses, paths and package managers are written. What it finds counts
// unless it is known (Known): the project's own scripts, its files, the programs of its owner's sessions, words that
// the user typed. The few lists here are syntax: names of files that programs keep credentials in, the words of package
// managers, and the orders that approve, each in one place with its source.
//
// The functions are pure, and none of them panics, whatever the input. A text that is cut short is read as it is.
package risk

import (
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/text/shell"
)

// Known says what of a text is known. A nil function knows nothing.
type Known struct {
	Typed func(words string) bool              // a person typed these words
	Runs  func(program string) bool            // the program runs in the sessions of the owner, or the project's own scripts run it
	Often func(program string) bool            // the program runs in most sessions of the owner
	Named func(names []string) map[string]bool // which of some names the files of the project hold
}

// A Finding is a part of a text that runs or sends something.
type Finding struct {
	Text string // the part, as it is written
	Why  string // what it does, as the rest of a sentence that begins with "it"
}

// maxText is how much of a text is read, in bytes; of a longer one its begin is.
const maxText = 128 << 10

// Find returns the first part of a text that runs or sends something and is not known; false for a text with none.
func Find(text string, k Known) (Finding, bool) {
	all := findings(text)
	if len(all) == 0 {
		return Finding{}, false
	}
	named := make(map[string]bool)
	if names := namesOf(all); len(names) > 0 && k.Named != nil {
		named = k.Named(names)
	}
	for i := range all {
		if f := &all[i]; !f.known(k, named) {
			return Finding{part(f.text), f.why}, true
		}
	}
	return Finding{}, false
}

// Without returns a text without the sentences in which Find finds something.
func Without(text string, k Known, sentences func(string) []string) string {
	if _, ok := Find(text, k); !ok {
		return text
	}
	var kept []string
	for _, s := range sentences(text) {
		if _, ok := Find(s, k); !ok {
			kept = append(kept, s)
		}
	}
	text = strings.Join(kept, " ")
	if _, ok := Find(text, k); ok { // it begins in one sentence and ends in another
		return ""
	}
	return text
}

// A suspect is a part of a text that counts unless it is known.
type suspect struct {
	text, why string
	names     []string // it is known where a file of the project holds one of these
	programs  []string // it is known where all of these are known; nil: programs do not make it known
}

func (s *suspect) known(k Known, named map[string]bool) bool {
	if k.Typed != nil && k.Typed(s.text) {
		return true
	}
	for _, n := range s.names {
		if named[n] {
			return true
		}
	}
	if s.programs == nil || k.Runs == nil {
		return false
	}
	for _, p := range s.programs {
		if !k.Runs(p) {
			return false
		}
	}
	return true
}

func namesOf(all []suspect) (names []string) {
	seen := make(map[string]bool)
	for i := range all {
		for _, n := range all[i].names {
			if !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	return names
}

func findings(text string) (all []suspect) {
	text = text[:min(len(text), maxText)]
	for rest := text; len(all) < maxForced; { // the list of package claim
		forced := claim.Risky(rest)
		if forced == "" {
			break
		}
		all = append(all, suspect{text: forced, why: fmt.Sprintf("names %q, which forces, skips a check or deletes", forced)})
		_, rest, _ = strings.Cut(rest, forced)
	}
	all = append(all, secrets(text)...)
	all = append(all, orders(text)...)
	for _, l := range lines(text) {
		all = append(all, lineSuspects(l)...)
	}
	return append(all, addresses(text)...)
}

// maxForced is how many forced commands of a text are looked at.
const maxForced = 16

// maxPart is how much of a part an answer shows, in bytes.
const maxPart = 120

func part(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxPart {
		s = strings.ToValidUTF8(s[:maxPart], "") + "…"
	}
	return s
}

// lineSuspects returns what a command line would do.
func lineSuspects(l line) (all []suspect) {
	all = append(all, piped(l.text)...)
	for _, c := range shell.Commands(l.text) {
		if slices.ContainsFunc(c.Wrote, startsAlone().MatchString) {
			all = append(all, suspect{text: l.text, why: "makes something run at another time"})
		}
		for _, inner := range c.Inner {
			all = append(all, lineSuspects(line{inner, l.sure, l.code})...)
		}
		for _, form := range c.Forms {
			all = append(all, formSuspects(form, l)...)
		}
		if len(c.Forms) > 0 {
			all = append(all, unknown(c, l)...)
		}
	}
	return all
}

// unknown is a command with a program that nothing is known of.
func unknown(c shell.Command, l line) []suspect {
	if !programLike(c.Forms[0][0]) || !l.sure && !l.shows(c) {
		return nil
	}
	var programs []string
	for i, f := range c.Forms {
		if i > 0 && strings.HasPrefix(shell.Program(c.Forms[i-1][0]), "py") { // a module: packages() judges it
			break
		}
		if p := f[0]; !ownRule(p) && !shell.Silent([][]string{f}) {
			programs = append(programs, strings.TrimPrefix(p, "./"))
		}
	}
	if len(programs) == 0 || !strings.ContainsFunc(programs[0], letter) {
		return nil
	}
	return []suspect{{
		text: strings.Join(c.Forms[0], " "), programs: programs,
		why: fmt.Sprintf("runs %q, which is no script of the project and runs in none of your sessions", programs[0]),
	}}
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
