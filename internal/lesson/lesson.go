// Package lesson finds what a session teaches: the user corrected the agent, laid down
// a rule, decided something, or a command failed until something else was done first.
//
// Everything here is a pure function of an agent.Session. A detector (detectors, one
// file each) reads the turns and gives Signals. A Window is the stretch of the session
// around a signal, with the hash by which it is known again. A Lesson is what is
// written down of it, made of its structure: what to do, why in the user's own words,
// where it applies. What makes no sentence worth telling makes no lesson.
//
// Only what a person typed and what commands did is looked at. What a tool printed, a
// page said or a file held is never a rule, however it reads: it is quoted as the
// symptom of a failure at most.
package lesson

import (
	"slices"
	"time"

	"anamnesis/internal/agent"
)

// A Kind says what kind of signal taught a lesson.
type Kind string

// The kinds.
const (
	Correction Kind = "correction" // the user said that the agent was wrong
	Ruling     Kind = "rule"       // the user laid down a rule
	Decision   Kind = "decision"   // the user decided
	Fix        Kind = "fix"        // a command failed, and something made it pass
	Permission Kind = "permission" // the user said what a tool may do, once and for all
)

// A Signal is a place in a session that may teach something.
type Signal struct {
	Kind   Kind
	Turn   int      // the turn that gave it
	Said   []string // the user's sentences, for what the user said
	Score  float64  // how surely it is one; minScore and more
	Now    bool     // it says that something is not as it was
	Again  bool     // it says that it was said before
	Except bool     // it says where another rule does not hold
	After  string   // what the agent had done, for words that end something: it went in circles, it was refused a tool
	fix    *fixed
	permit *permit
}

// Noted is an event of a session that its records do not keep.
type Noted struct {
	At   time.Time
	Kind NotedKind
	Tool string // its name, "" when the event names none
}

// A NotedKind says what happened.
type NotedKind string

// The kinds of events.
const (
	AskedPermission NotedKind = "permission"   // the user was asked whether a tool may run
	ToolFailed      NotedKind = "tool-failure" // a tool failed
)

// material is what detectors look at.
type material struct {
	turns []agent.Turn
	noted []Noted
	clean Clean
}

// A detector finds the signals of one sort in a session.
type detector struct {
	name string
	find func(*material) []Signal
}

// Clean masks secrets and shortens paths in a text that may be written down. It comes
// before anything is cut: half a key matches no rule.
type Clean func(string) string

// detectors lists them in the order in which their signals win over others of a turn.
var detectors = []detector{
	{"permission", permits},
	{"said", said},
	{"fix", fixes},
}

// A Lesson is what a signal teaches, ready to be written down.
type Lesson struct {
	Kind       Kind
	Title      string // in the imperative, at most maxTitle characters
	Rule       string // what holds from now on
	Why        string // the user's words, or what failed
	Apply      string // when and where
	Category   string
	Anchors    []string // paths, names and commands that it is about
	Confidence float64  // 0 to 1
	Failed     string   // of a fix: the command that failed
	Symptom    string   // what it said
	Did        []string // what made it pass
	Now        bool     // it says that something is not as it was
	Again      bool     // it says that it was said before
	Except     bool     // it says where another rule does not hold
	Policy     string   // of a permission: the line of a policy that would hold it, for its owner to take over
	Window     Window
}

// A Window is the stretch of a session that taught a lesson.
type Window struct {
	Hash     string    // the same for every copy of these records: resumed, forked, compacted
	From, To int       // turns, To is the one that gave the signal
	At       time.Time // of that turn
	Record   string    // its id
	Quote    string    // the words or the command that taught it
}

// maxLessons is how many lessons one session gives; the latest hold.
const maxLessons = 40

// Find returns what a session teaches, in its order. What it returns has gone through
// clean, which may be nil. The noted events are in the order of time.
func Find(s *agent.Session, clean Clean, noted ...Noted) []Lesson {
	all, _ := Sift(s, clean, noted...)
	return all
}

// Sift is Find, and counts what was refused because it reads like orders to an agent.
func Sift(s *agent.Session, clean Clean, noted ...Noted) (all []Lesson, refused int) {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	m := material{s.Turns, noted, clean}
	taken := make(map[int]bool)
	for _, d := range detectors {
		for _, sig := range d.find(&m) {
			if taken[sig.Turn] {
				continue
			}
			l, ok, no := write(s, sig, clean)
			if ok {
				all = append(all, l)
			} else if no {
				refused++
			}
			taken[sig.Turn] = taken[sig.Turn] || ok || no
		}
	}
	slices.SortStableFunc(all, func(a, b Lesson) int { return a.Window.To - b.Window.To })
	if len(all) > maxLessons {
		all = all[len(all)-maxLessons:]
	}
	return all, refused
}
