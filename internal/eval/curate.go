package eval

import (
	"errors"
	"fmt"
	"strings"
)

// A Verdict is what the owner of a set says about one of its cases.
type Verdict string

// The verdicts.
const (
	Confirm Verdict = "confirm" // it is right: measure it
	Reject  Verdict = "reject"  // it is not: leave it out, and never propose it again
	Edit    Verdict = "edit"    // it is right in the words of Decision.Edited
	Skip    Verdict = "skip"    // not now
)

// A Decision is a verdict about the case with a query.
type Decision struct {
	Query   string
	Verdict Verdict
	Edited  string // the query that takes the place of Query
}

// Curated counts what became of decisions.
type Curated struct {
	Confirmed int `json:"confirmed"`
	Rejected  int `json:"rejected"`
	Edited    int `json:"edited"`
	Skipped   int `json:"skipped"`
}

// Candidates returns the cases of a file that nobody has decided on, in their
// order, with the titles of now, and warnings as Load does.
func Candidates(file string, lookup Lookup) (cases []Case, warnings []string, err error) {
	all, warnings, err := Load(file, true, lookup)
	for _, c := range all {
		if !c.Approved {
			cases = append(cases, c)
		}
	}
	return cases, warnings, err
}

// Curate carries decisions out, all or, when one cannot be, none. Rejected cases
// stay in the file, marked, so that their query is known when it comes again.
func Curate(file string, decisions []Decision) (done Curated, err error) {
	err = changeCases(file, false, func(f *caseFile) error {
		done = Curated{}
		for _, d := range decisions {
			if err := f.decide(d, &done); err != nil {
				return fmt.Errorf("decide on %.60q in %s: %w", d.Query, file, err)
			}
		}
		return nil
	})
	if err != nil {
		return Curated{}, err
	}
	return done, nil
}

func (f *caseFile) decide(d Decision, done *Curated) error {
	var line *caseLine
	for i := range f.lines {
		if f.lines[i].c != nil && key(f.lines[i].c.Query) == key(d.Query) {
			line = &f.lines[i]
			break
		}
	}
	if line == nil {
		return errors.New("there is no such case")
	}
	c := line.c
	switch d.Verdict {
	case Skip:
		done.Skipped++
		return nil
	case Confirm:
		c.Approved, c.Rejected = true, false
		done.Confirmed++
	case Reject:
		c.Approved, c.Rejected = false, true
		done.Rejected++
	case Edit:
		edited := strings.Join(strings.Fields(d.Edited), " ")
		if key(edited) != key(c.Query) && f.queries()[key(edited)] {
			return errors.New("the new words stand in another case already")
		}
		if c.Was == "" && key(edited) != key(c.Query) {
			c.Was = c.Query
		}
		c.Query, c.Approved, c.Rejected = edited, true, false
		if err := c.check(); err != nil {
			return err
		}
		done.Edited++
	default:
		return fmt.Errorf("verdict %.20q: give confirm, reject, edit or skip", d.Verdict)
	}
	line.changed = true
	return nil
}
