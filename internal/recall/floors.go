package recall

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// FloorOptions determine how floors are worked out. The zero value is the usual way.
type FloorOptions struct {
	Sample     int     // notes that are asked about; 0 means 40
	Percentile float64 // of what arms find for them; 0 means 10
	Seed       uint64
}

// An ArmFloor is what a floor of an arm would do (R12).
type ArmFloor struct {
	Arm        string  `json:"arm"`
	Floor      float64 `json:"floor"`
	Candidates int     `json:"candidates"` // for questions that notes answer
	Strangers  int     `json:"strangers"`  // for questions of words from everywhere
	Kept       float64 `json:"kept"`       // share of the first that the floor lets through
	Refused    float64 `json:"refused"`    // share of the second that it does not
}

const (
	floorSample     = 40
	floorPercentile = 10
	floorDeep       = 10 // candidates of an arm that count
	leastFloor      = 20 // candidates below which nothing can be said
)

// Floored lists the arms that have a floor. What replaced a note that answers has none: it is
// found by that note.
func Floored() []string {
	return slices.DeleteFunc(Arms(), func(arm string) bool { return arm == "successor" })
}

// Floors works out a floor for each arm: most of what it finds for questions
// made of notes lies above, the note itself left out, because it answers too
// well. Against that stands what it finds for questions whose words are drawn
// from notes at random. An arm with too few candidates has a floor of zero.
func (e *Engine) Floors(ctx context.Context, o FloorOptions) ([]ArmFloor, error) {
	o.Sample, o.Percentile = cmp.Or(o.Sample, floorSample), cmp.Or(o.Percentile, floorPercentile)
	rows, err := e.index.Select(ctx, index.Filter{Now: e.store.Now()}, maxCalibrated)
	if err != nil {
		return nil, err
	}
	probes, own := e.probes(ctx, rows, o)
	within, without := make(map[string][]float64), make(map[string][]float64)
	for i, text := range probes {
		if err := e.norms(ctx, text, own[i], within); err != nil {
			return nil, err
		}
	}
	for _, text := range shuffled(probes, o.Seed) {
		if err := e.norms(ctx, text, "", without); err != nil {
			return nil, err
		}
	}
	var floors []ArmFloor
	for _, arm := range Floored() {
		in, out := within[arm], without[arm]
		slices.Sort(in)
		f := ArmFloor{Arm: arm, Candidates: len(in), Strangers: len(out), Kept: 1}
		if len(in) >= leastFloor {
			at := max(0, int(math.Ceil(o.Percentile/100*float64(len(in))))-1) // the nearest rank
			f.Floor = math.Floor(in[at]*1000) / 1000
			f.Kept, f.Refused = above(in, f.Floor), 1-above(out, f.Floor)
		}
		floors = append(floors, f)
	}
	return floors, nil
}

// above is the share of numbers that are at least a floor.
func above(norms []float64, floor float64) float64 {
	if len(norms) == 0 {
		return 1
	}
	n := 0
	for _, x := range norms {
		if x >= floor {
			n++
		}
	}
	return float64(n) / float64(len(norms))
}

// probes makes a question of each of some notes, and says of which.
func (e *Engine) probes(ctx context.Context, rows []index.Row, o FloorOptions) (texts []string, own []note.ID) {
	drawn := func(id note.ID) uint64 { return hashID(id) ^ (o.Seed * 0x9e3779b97f4a7c15) }
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b index.Row) int { return cmp.Compare(drawn(a.ID), drawn(b.ID)) })
	for i, c := range e.index.Contents(ctx, rows[:min(len(rows), o.Sample)]) {
		if c.Err == nil {
			texts, own = append(texts, strings.TrimSpace(c.Note.Title+" "+c.Note.KeyInsight)), append(own, rows[i].ID)
		}
	}
	return texts, own
}

// shuffled makes questions of the same lengths of the words of all.
func shuffled(texts []string, seed uint64) []string {
	words := strings.Fields(strings.Join(texts, " "))
	rng := rand.New(rand.NewPCG(seed, 12))
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	all := make([]string, len(texts))
	for i, t := range texts {
		n := len(strings.Fields(t))
		all[i], words = strings.Join(words[:n], " "), words[n:]
	}
	return all
}

// norms adds what each arm thinks of what it finds for a question, without a note.
func (e *Engine) norms(ctx context.Context, text string, without note.ID, into map[string][]float64) error {
	res := &Result{}
	q, err := e.interpret(Query{Text: text, Synthetic: true, NoCache: true}, res)
	if err != nil {
		return err
	}
	lists, err := e.ask(ctx, q, res)
	if err != nil {
		return err
	}
	for _, l := range lists {
		left := floorDeep
		for _, h := range l.hits {
			if h.Row.ID == without {
				continue
			}
			if left--; left < 0 {
				break
			}
			into[l.name] = append(into[l.name], h.Found[l.name].Norm)
		}
	}
	return nil
}

// Recalibrate works out the numbers of the gate again: of the store, and of its
// largest projects, whatever changed since.
func (e *Engine) Recalibrate(ctx context.Context) ([]Calibration, error) {
	c, err := e.Calibrate(ctx, "")
	if err != nil {
		return nil, err
	}
	all := []Calibration{c}
	rows, err := e.index.Select(ctx, index.Filter{Now: e.store.Now()}, maxCalibrated)
	if err != nil {
		return nil, err
	}
	for _, p := range largest(rows) {
		c, err := e.Calibrate(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
