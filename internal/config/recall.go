package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/recall"
)

// NoBoost is the value of recall.boosts that switches all of them off: an empty one counts as not set.
const NoBoost = "none"

// boosts binds the list of the boosts that count.
func boosts(env, key string, t *recall.Tuning, doc, who string) Setting {
	all := recall.Boosts("")
	s := text(env, key, new(string), strings.Join(all, ","), doc, who)
	s.Values = strings.Join(all, ", ") + " between commas, or " + NoBoost
	s.set = func(v string) error {
		names := parts(v)
		if slices.Equal(names, []string{NoBoost}) {
			names = nil
		}
		for _, name := range names {
			if !slices.Contains(all, name) {
				return fmt.Errorf("%q is none of %s", name, s.Values)
			}
		}
		t.Boost(names)
		return nil
	}
	s.get = func() string {
		if on := t.Boosting(); len(on) > 0 {
			return strings.Join(on, ",")
		}
		return NoBoost
	}
	return s
}

// floors binds the floors of the arms.
func floors(env, key string, floors *map[string]float64, doc, who string) Setting {
	arms := recall.Floored()
	s := text(env, key, new(string), "", doc, who)
	s.Values = "ARM=SCORE between commas, of " + strings.Join(arms, ", ")
	s.set = func(v string) error {
		given := make(map[string]float64)
		for _, p := range parts(v) {
			arm, score, _ := strings.Cut(p, "=")
			f, err := strconv.ParseFloat(score, 64)
			if err != nil || !(f >= 0 && f <= 1) || !slices.Contains(arms, arm) { // the negation catches NaN
				return fmt.Errorf("%q is not %s, the score from 0 to 1", p, s.Values)
			}
			given[arm] = f
		}
		*floors = given
		return nil
	}
	s.get = func() string { return FloorsText(*floors) }
	return s
}

// FloorsText is how recall.floors says some floors.
func FloorsText(floors map[string]float64) string {
	var all []string
	for _, arm := range recall.Floored() {
		if f, ok := floors[arm]; ok {
			all = append(all, arm+"="+strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return strings.Join(all, ",")
}

// parts cuts a list at its commas.
func parts(v string) (all []string) {
	for p := range strings.SplitSeq(v, ",") {
		if p = strings.ToLower(strings.TrimSpace(p)); p != "" {
			all = append(all, p)
		}
	}
	return all
}
