package app

import (
	"context"
	"slices"
	"strconv"

	"anamnesis/internal/config"
	"anamnesis/internal/recall"
)

// FloorKeys are the settings of the floors, by arm.
var FloorKeys = map[string]string{
	"lexical": "recall.lexical.floor", "semantic": "recall.semantic.floor", "graph": "recall.graph.floor", "temporal": "recall.temporal.floor",
}

// CalibrateAnswer is from which signal on notes are relevant in a store.
type CalibrateAnswer struct {
	Gates   []recall.Calibration `json:"gates"`
	Floors  []recall.ArmFloor    `json:"floors"`
	Written bool                 `json:"written"`
	InForce bool                 `json:"in_force"` // some floor is set
	Differ  bool                 `json:"differ"`   // those that are set are others
}

// Calibrate works out the thresholds of the gate and a floor for each arm. With
// write the floors go into config.json; else nothing uses them.
func Calibrate(ctx context.Context, r *Rooms, o recall.FloorOptions, write bool) (a CalibrateAnswer, err error) {
	if a.Gates, err = r.Engine.Recalibrate(ctx); err != nil {
		return a, err
	}
	if a.Floors, err = r.Engine.Floors(ctx, o); err != nil {
		return a, err
	}
	a.Floors = slices.DeleteFunc(a.Floors, func(f recall.ArmFloor) bool { return FloorKeys[f.Arm] == "" })
	now := r.Config.Recall
	floors := map[string]float64{
		"lexical": now.LexicalFloor, "semantic": now.SemanticFloor, "graph": now.GraphFloor, "temporal": now.TemporalFloor,
	}
	differ := func(f recall.ArmFloor) bool { return f.Floor != floors[f.Arm] }
	a.Differ = !write && slices.ContainsFunc(a.Floors, differ)
	a.InForce = write || max(now.LexicalFloor, now.SemanticFloor, now.GraphFloor, now.TemporalFloor) > 0
	if a.Written = write; !write {
		return a, nil
	}
	var changes []config.Change
	for _, f := range a.Floors {
		value := strconv.FormatFloat(f.Floor, 'f', -1, 64)
		changes = append(changes, config.Change{Key: FloorKeys[f.Arm], Value: &value})
	}
	return a, saveSettings(r, changes)
}
