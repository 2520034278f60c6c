package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anamnesis/lab/quality"
)

// The fit finds the input that tells own questions from strangers', whatever the level of
// the store, and no input gets a weight against its sense.
func TestFitScore(t *testing.T) {
	names := inputNames
	tells, misleads := slices.Index(names, "meaning"), slices.Index(names, "coverage")
	rnd := rand.New(rand.NewPCG(1, 2))
	var sets []*set
	for i := range 6 {
		s := &set{name: fmt.Sprint(i), weight: 1, left: 1 + i%folds}
		for j := range 80 {
			seen := make([]float64, len(names))
			for k := range seen {
				seen[k] = rnd.Float64()
			}
			seen[tells] = float64(i) + rnd.Float64() // the store's level says nothing
			if j%2 == 0 {
				seen[tells] += 0.5
				seen[misleads] -= 0.7
			}
			s.trials = append(s.trials, trial{seen: seen, own: j%2 == 0})
		}
		sets = append(sets, s)
	}
	fitted := scoreAll(sets, 0)
	weights := fitted[0]
	if weights[tells] < 5 {
		t.Errorf("weights %.2f", weights)
	}
	for i, sign := range inputSigns() {
		if sign*weights[i] < 0 || sign == 0 && weights[i] != 0 || i != tells && weights[i] > weights[tells]/2 {
			t.Errorf("%s has weight %.2f, its sense is %v", names[i], weights[i], sign)
		}
	}
	var log bytes.Buffer
	reportScores(&log, sets, fitted)
	var shipped, anew float64
	if _, err := fmt.Sscanf(log.String(), "sources score: AUROC %f, fitted again without it %f;", &shipped, &anew); err != nil || anew < shipped+0.1 {
		t.Errorf("%v in %q", err, log.String())
	}
}

func TestAnswered(t *testing.T) {
	a := &signals{own: []float64{1, 2, 3, 4}, strange: []float64{0, 0, 1.5, 1.5}}
	b := &signals{own: []float64{11, 12, 13, 14}, strange: []float64{10, 10, 11.5, 11.5}}
	if got := a.auroc(); got != 14.0/16 {
		t.Errorf("AUROC %v", got)
	}
	for keep, want := range map[float64]float64{1: 0.5, 0.75: 0} {
		if got := answered([]*signals{a}, keep); got != want {
			t.Errorf("one store, %v kept: %v answered, want %v", keep, got, want)
		}
	}
	// One threshold for both: what keeps all of the first answers all of the other's strangers.
	if got := answered([]*signals{a, b}, 1); got != 0.75 {
		t.Errorf("two stores, all kept: %v answered", got)
	}
	if got := (&signals{own: []float64{1}, strange: []float64{1}}).auroc(); got != 0.5 {
		t.Errorf("equal signals: %v", got)
	}
}

// Strangers come from the corpora that speak of the same things.
func TestInvite(t *testing.T) {
	var all []*corpus
	for i, words := range []string{"sail mast rope", "sail mast keel", "oven flour yeast", "oven flour salt", "chord string fret"} {
		c := &corpus{set: set{name: fmt.Sprint(i)}}
		for j := range 10 {
			c.docs = append(c.docs, quality.Document{ID: fmt.Sprint(j), Text: words})
			c.own = append(c.own, quality.Question{ID: fmt.Sprint(i, j), Text: words})
		}
		all = append(all, c)
	}
	grouped := &corpus{own: []quality.Question{{Text: "sail mast"}, {Text: "sail"}}, docs: []quality.Document{{Text: "sail mast rope"}}}
	grouped.own[0].Meta.Group, grouped.own[1].Meta.Group = "b", "a"
	all = append(all, grouped)
	invite(all)
	for i, want := range []string{"1 0", "0 0", "3 0", "2 0"} {
		if got := all[i].strangers; len(got) != 30 || got[0].ID != want {
			t.Errorf("corpus %d was given %d strangers, the first is %+v, want %s", i, len(got), got[0], want)
		}
	}
	if grouped.strangers != nil || !strings.Contains(fmt.Sprint(grouped.nextGroup()), "a:b b:a") {
		t.Errorf("%v, %v", grouped.strangers, grouped.nextGroup())
	}
}
