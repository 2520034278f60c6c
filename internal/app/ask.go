package app

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"
)

// A Selection says which notes a use case is about, in the words of a face. The
// zero value means all live notes.
type Selection struct {
	Project string // its key, "." for the one of the current folder, "" for all
	Scope   string
	Types   []string
	Tags    []string // all of these
	All     bool     // superseded, archived and expired notes too
}

// Filter checks a selection and makes the filter of it.
func (s *Selection) Filter(r *Rooms) (index.Filter, error) {
	f := index.Filter{Tags: s.Tags, Dead: s.All, Now: r.Store.Now()}
	if s.Project != "" {
		f.Projects = project.Names(r.Store, PlaceProject(r.Store, s.Project))
	}
	for _, t := range s.Types {
		if !slices.Contains(note.Types, note.Type(t)) {
			return f, Usagef("--type %q: use procedural, semantic or episodic", t)
		}
		f.Types = append(f.Types, note.Type(t))
	}
	switch f.Scope = note.Scope(s.Scope); f.Scope {
	case "", note.Portable, note.Local:
		return f, nil
	}
	return f, Usagef("--scope %q: use portable or machine-local", s.Scope)
}

// A Question is what memory is asked, and about which notes, in the words of a face.
type Question struct {
	Selection
	Global, AllBranches bool
	Branch              string // as if it were checked out; "-" is the trunk
	Confidence          string // HIGH, MEDIUM, LOW, or a number
	Corpus              string
	AsOf, KnownAt       string // days
	Session             string // that asks

	Arms, Boost    []string
	Mode           string // a name for a set of arms: hybrid, naive, local
	NoMMR, NoCache bool
	Gate, NoGapLog bool
	MinOverlap     float64
	Lambda         float64 // of MMR; below 0 that of recall.Tuned

	Listed bool // nothing is searched: that the project has no notes is no news
}

// Modes are names for sets of arms; no arms means all.
var Modes = []struct {
	Name string
	Arms []string
}{
	{"hybrid", nil},
	{"naive", []string{"semantic"}},
	{"local", []string{"graph"}},
}

// Unset is the Lambda of a question that leaves it to the settings.
const Unset = -1

// Configure gives what stands for settings its effect, before the rooms are
// opened with these. The error is of kind Usage.
func (q *Question) Configure(c *config.Config) error {
	switch {
	case q.Lambda > 1 || q.Lambda < 0 && q.Lambda != Unset:
		return Usagef("--mmr-lambda %g: give a share from 0 to 1", q.Lambda)
	case q.Lambda >= 0:
		c.Recall.MMRLambda = q.Lambda
	}
	if q.NoGapLog {
		c.Recall.GapLog = false
	}
	q.Mode = cmp.Or(q.Mode, Modes[0].Name)
	for _, m := range Modes {
		if m.Name != q.Mode {
			continue
		}
		if len(q.Arms) > 0 && len(m.Arms) > 0 {
			return Usagef("--mode %s and --arms exclude each other", q.Mode)
		}
		q.Arms = append(q.Arms, m.Arms...)
		return nil
	}
	return Usagef("--mode %q: there are hybrid, naive and local", q.Mode)
}

// NewQuery makes a query of a question. It tells people when it is about something
// else than they may think.
func (q *Question) NewQuery(ctx context.Context, r *Rooms, text string) (recall.Query, recall.Scope, error) {
	out := recall.Query{
		Text: text, Tags: q.Tags, Boost: q.Boost, Corpus: q.Corpus, Arms: q.Arms, Gate: q.Gate || q.MinOverlap > 0,
		MinOverlap: q.MinOverlap, NoMMR: q.NoMMR, NoCache: q.NoCache, Session: q.Session,
	}
	f, err := q.Filter(r)
	if err != nil {
		return out, recall.Scope{}, err
	}
	out.Types, out.Scope, out.Dead = f.Types, f.Scope, f.Dead
	if q.MinOverlap < 0 || q.MinOverlap > 1 {
		return out, recall.Scope{}, Usagef("--min-overlap %g: give a share from 0 to 1", q.MinOverlap)
	}
	for _, a := range q.Arms {
		if !slices.Contains(recall.Sources(), a) {
			return out, recall.Scope{}, Usagef("--arms %q: there are %s", a, strings.Join(recall.Sources(), ", "))
		}
	}
	if out.Confidence, err = confidence(q.Confidence); err != nil {
		return out, recall.Scope{}, err
	}
	if out.AsOf, err = day("--as-of", q.AsOf, r.Store.Now()); err != nil {
		return out, recall.Scope{}, err
	}
	if out.KnownAt, err = day("--known-at", q.KnownAt, r.Store.Now()); err != nil {
		return out, recall.Scope{}, err
	}
	scope, err := q.FindScope(ctx, r)
	scope.Apply(&out)
	return out, scope, err
}

// FindScope works out which projects and branches are asked.
func (q *Question) FindScope(ctx context.Context, r *Rooms) (recall.Scope, error) {
	opts := r.Config.Recall
	whole := q.Corpus != "" && q.Project == "" // a corpus says itself which notes it is
	reach := recall.ScopeOptions{
		Global: q.Global || whole || opts.Global && q.Project == "", AllBranches: q.AllBranches || whole || opts.AllBranches,
		Only: q.Project != "",
	}
	if q.Global && q.Project != "" {
		return recall.Scope{}, Usagef("--global and --project exclude each other")
	}
	id := PlaceProject(r.Store, q.Project)
	branch, dir := "", ""
	if id.Source != "flag" { // of another project's branches nothing is known here
		dir, _ = os.Getwd()
		branch = project.BranchScope(dir, id.Branch)
	}
	if q.Branch != "" {
		branch = strings.TrimPrefix(q.Branch, "-")
	}
	place, err := r.Engine.Place(ctx, id, branch, reach.Global, func(some []string) []string { return OpenBranches(ctx, r, dir, some) })
	if err != nil {
		return recall.Scope{}, err
	}
	s := recall.ScopeOf(place, reach)
	if s.Fallback != "" && !q.Listed {
		r.Notify("%s; --global searches all projects", s.Fallback)
	}
	return s, nil
}

// confidence reads what people write for how sure a note must be.
func confidence(text string) (float64, error) {
	switch strings.ToUpper(text) {
	case "":
		return 0, nil
	case "HIGH":
		return 0.8, nil
	case "MEDIUM", "MED":
		return 0.5, nil
	case "LOW":
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	c, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		c /= 100
	}
	if err != nil || !(c >= 0 && c <= 1) { // the negation catches NaN
		return 0, Usagef("--confidence %q: use HIGH, MEDIUM, LOW, or a number from 0 to 1", text)
	}
	return c, nil
}

// day reads a date: the end of that day, as one who looks back sees it.
func day(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, Usagef("%s %q: give a date such as 2026-03-31", flag, text)
}

// Moment reads a time that a person typed: a time stamp, a day, or how long ago
// (90m, 12h, 3d, 2w). flag names it in the error, which is of kind Usage.
func Moment(flag, text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if text != "" {
		if unit, ok := units[text[len(text)-1]]; ok {
			if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && n >= 0 && n < 1e6 {
				return now.Add(-time.Duration(n) * unit), nil
			}
		}
	}
	return time.Time{}, Usagef("%s %q: give a time such as 2026-03-31, 2026-03-31T14:00:00Z, 90m, 12h, 3d or 2w", flag, text)
}
