package recall

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Calibration is the signal from which on hits are relevant in a store.
type Calibration struct {
	Threshold      float64 `json:"threshold"`
	Middle         float64 `json:"middle"`          // where a score is one half, in the units that scores are made of
	Notes          int     `json:"notes"`           // in the store, or the project, when it was made
	Probes         int     `json:"probes"`          // questions nobody should answer
	FalseInjection float64 `json:"false_injection"` // share of them that is answered all the same
	Own            int     `json:"own"`             // questions made of the store's own notes
	FalseSilence   float64 `json:"false_silence"`   // share of them that is held back
	Model          string  `json:"model"`
	Project        string  `json:"project,omitempty"`
	Generation     int64   `json:"generation,omitempty"` // of the index
}

// leastNotes is how many notes a store has before its own numbers mean anything.
const leastNotes = 50

// prior is the least threshold: a store that knows no word of most probes brings
// all their signals down, and that makes none of its notes relevant. A few notes
// answer with less, because there is less to agree on: it begins at priorOfFew and
// grows with the notes up to settledNotes. The scores of smaller stores begin further down
// than their threshold would have them, so that the best of a few notes does not
// look like a bad answer.
const (
	prior        = 7.0
	priorOfFew   = 4.2
	settledNotes = 300
	priorMiddle  = 5.0
)

// priorOf is the least threshold of a store of so many notes.
func priorOf(notes int) float64 {
	return priorOfFew + (prior-priorOfFew)*min(1, float64(notes)/settledNotes)
}

func (c *Calibration) kind() string {
	if c.Notes < leastNotes {
		return "prior"
	}
	return "calibrated"
}

func (c *Calibration) describe() string {
	if c.Notes < leastNotes {
		return fmt.Sprintf("as shipped; a background run calibrates it on the store from %d notes on", leastNotes) // it may have so many by now
	}
	return fmt.Sprintf("calibrated on %d notes", c.Notes)
}

// outOfDomainProbes are questions about everything and nothing: whatever a store is
// about, most of them are none of its business.
//
//go:embed calibrate.txt
var outOfDomainProbes string

// The threshold lies above the median signal of probes by spread times the
// distance from the median down to the 16th percentile, one standard deviation
// were they normal. Some probes may be at home here, so that their upper half
// counts with reserve: no more than tailRoom below their 84th percentile, and
// never near to what questions made of the store's own notes come to.
const (
	spread    = 0.85
	lowerTail = 0.16
	upperTail = 0.84
	tailRoom  = 0.7
	ownProbes = 40
	ownTail   = 0.05
	ownShare  = 0.75 // of the 5th percentile of own questions
)

const calibrations = "relevance-6"

// Calibrate works out from which signal on hits are relevant among the notes
// of a project, or of the whole store when project is empty, and keeps it in
// the index. The same notes and the same model give the same numbers.
func (e *Engine) Calibrate(ctx context.Context, project string) (Calibration, error) {
	c := Calibration{Model: e.index.Model(), Project: project, Middle: priorMiddle}
	f := index.Filter{Now: e.store.Now()}
	if project != "" {
		f.Projects = []string{project}
	}
	rows, err := e.index.Select(ctx, f, maxCalibrated)
	if err != nil {
		return c, err
	}
	c.Notes = len(rows)
	c.Threshold = rounded(priorOf(c.Notes))
	if c.Generation, err = e.index.Generation(ctx); err != nil {
		return c, err
	}
	if c.Notes >= leastNotes {
		if err := e.probe(ctx, &c, f.Projects, rows); err != nil {
			return c, err
		}
	}
	value, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	return c, e.index.SetMemo(ctx, calibrations, c.Model+"\n"+project, index.Memo{Value: value, At: e.store.Now()}, 0)
}

// maxCalibrated bounds how many notes own questions are drawn from.
const maxCalibrated = 5000

func (e *Engine) probe(ctx context.Context, c *Calibration, projects []string, rows []index.Row) error {
	var signals, scores []float64
	for text := range strings.Lines(outOfDomainProbes) {
		open, score, err := e.probeSignal(ctx, strings.TrimSpace(text), projects)
		if err != nil {
			return err
		}
		signals, scores = append(signals, open), append(scores, score)
	}
	var own []float64
	for _, text := range e.ownQuestions(ctx, rows) {
		s, _, err := e.probeSignal(ctx, text, projects)
		if err != nil {
			return err
		}
		own = append(own, s)
	}
	slices.Sort(signals)
	slices.Sort(own)
	c.Threshold = rounded(threshold(signals, own, priorOf(c.Notes)))
	c.Middle = rounded(max(priorMiddle, middle(scores)))
	c.Probes, c.Own = len(signals), len(own)
	c.FalseInjection = float64(len(signals)-first(signals, c.Threshold)) / float64(len(signals))
	if c.Own > 0 {
		c.FalseSilence = float64(first(own, c.Threshold)) / float64(c.Own)
	}
	return nil
}

// threshold is the signal from which on the gate is open, by the sorted signals
// of the probes and of own questions. It is at least least.
func threshold(probes, own []float64, least float64) float64 {
	t := max(least, outlierBound(probes))
	if len(own) > 0 {
		t = max(t, min(at(probes, upperTail)-tailRoom, ownShare*at(own, ownTail)))
	}
	return t
}

// Where scores are one half, so that one score means the same in every store: what probes
// come to counts by half, and how much they differ once and a half. A store that was
// placed by its probes alone was moved by what they happen to find there: two thirds of
// near strangers were answered for the same share of own questions, over stores of all
// kinds, instead of half of them (docs/retrieval.md).
const (
	middleBase      = 2.0
	middleMean      = 0.5
	middleDeviation = 1.5
)

// middle is where scores are one half in a store whose probes come to these signals.
func middle(probes []float64) float64 {
	n := float64(len(probes))
	mean, square := 0.0, 0.0
	for _, x := range probes {
		mean += x / n
	}
	for _, x := range probes {
		square += (x - mean) * (x - mean) / n
	}
	return middleBase + middleMean*mean + middleDeviation*math.Sqrt(square)
}

// outlierBound is the signal from which on a question lies outside the probes.
func outlierBound(sorted []float64) float64 {
	return at(sorted, 0.5) + spread*(at(sorted, 0.5)-at(sorted, lowerTail))
}

// at returns the value below which a share of the sorted ones lies.
func at(sorted []float64, share float64) float64 { return sorted[int(share*float64(len(sorted)))] }

func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

// first is the number of signals below a threshold.
func first(sorted []float64, threshold float64) int {
	n, _ := slices.BinarySearch(sorted, threshold)
	return n
}

// probeSignal returns what a question comes to for the gate, and for the score.
func (e *Engine) probeSignal(ctx context.Context, text string, projects []string) (open, score float64, err error) {
	res := &Result{}
	q, err := e.interpret(Query{Text: text, Projects: projects, Synthetic: true, NoCache: true}, res)
	if err != nil {
		return 0, 0, err
	}
	lists, err := e.ask(ctx, q, res)
	if err != nil {
		return 0, 0, err
	}
	hits := e.rerank(ctx, q, e.fuse(lists), res)
	e.readUnranked(ctx, q, hits, res)
	return toOpen.of(hits, res), toScore.of(hits, res), nil
}

// hashID draws notes and words, the same ones every time.
func hashID(id note.ID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// ownQuestions makes questions of notes: some words of each, in their order.
// Which notes and words is drawn by their ids, so that it is always the same.
func (e *Engine) ownQuestions(ctx context.Context, rows []index.Row) []string {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b index.Row) int { return cmp.Compare(hashID(a.ID), hashID(b.ID)) })
	var all []string
	for i, c := range e.index.Contents(ctx, rows[:min(len(rows), ownProbes)]) {
		if c.Err != nil {
			continue
		}
		n := c.Note
		rng := rand.New(rand.NewPCG(hashID(rows[i].ID), 1))
		words := slices.DeleteFunc(strings.Fields(n.Title+" "+n.Body), func(w string) bool {
			tokens := index.Words(w)
			return len(tokens) == 0 || index.Stopword(tokens[0]) || len(w) < 3
		})
		if len(words) < 4 {
			continue
		}
		places := rng.Perm(min(len(words), 200))[:min(len(words), 4+rng.IntN(3))]
		slices.Sort(places)
		var text []string
		for _, p := range places {
			text = append(text, words[p])
		}
		all = append(all, strings.Join(text, " "))
	}
	return all
}

// calibration returns what was worked out for the notes that a query is about:
// those of its project, else of the whole store, else the prior.
func (e *Engine) calibration(ctx context.Context, q Query) Calibration {
	keys := append(slices.Clone(q.Projects), "")
	for _, project := range keys {
		m, ok, err := e.index.Memo(ctx, calibrations, e.index.Model()+"\n"+project)
		var c Calibration
		if err == nil && ok && json.Unmarshal(m.Value, &c) == nil && c.Notes >= leastNotes {
			return c
		}
	}
	c := Calibration{Middle: priorMiddle, Model: e.index.Model()}
	notes := settledNotes // nobody knows
	if st, err := e.index.Statistics(ctx); err == nil {
		notes = st.Notes
	}
	c.Threshold = rounded(priorOf(notes))
	return c
}

// Calibration returns the numbers of the gate for a project, or for the store.
func (e *Engine) Calibration(ctx context.Context, project string) Calibration {
	return e.calibration(ctx, Query{Projects: []string{project}})
}

// maxProjects bounds how many projects have numbers of their own, and
// recalibrateAfter is the share of notes that changed until all is done again.
const (
	maxProjects      = 12
	recalibrateAfter = 0.1
)

// CalibrateAll works out the numbers of the store and of its largest projects,
// unless they were worked out when the store was nearly as it is now. It
// reports whether it did.
func (e *Engine) CalibrateAll(ctx context.Context) (bool, error) {
	if e.store.ReadOnly() {
		return false, nil
	}
	st, err := e.index.Statistics(ctx)
	if err != nil {
		return false, err
	}
	was, ok, err := e.index.Memo(ctx, calibrations, e.index.Model()+"\n")
	if err != nil {
		return false, err
	}
	var c Calibration
	if ok && json.Unmarshal(was.Value, &c) == nil {
		changed := math.Abs(float64(st.Notes-c.Notes)) / float64(max(1, c.Notes))
		if changed <= recalibrateAfter || c.Notes == maxCalibrated && st.Notes > maxCalibrated {
			return false, nil
		}
	}
	if _, err := e.Calibrate(ctx, ""); err != nil {
		return false, err
	}
	rows, err := e.index.Select(ctx, index.Filter{Now: e.store.Now()}, maxCalibrated)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, p := range largest(rows) {
		_, err := e.Calibrate(ctx, p)
		errs = append(errs, err)
	}
	return true, errors.Join(errs...)
}

// largest returns the projects with the most notes, if they have enough.
func largest(rows []index.Row) []string {
	count := make(map[string]int)
	for _, r := range rows {
		count[r.Project]++
	}
	var projects []string
	for p, n := range count {
		if n >= leastNotes {
			projects = append(projects, p)
		}
	}
	slices.SortFunc(projects, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	return projects[:min(len(projects), maxProjects)]
}
