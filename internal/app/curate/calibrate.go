package curate

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/recall"
)

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
func Calibrate(ctx context.Context, r *app.Rooms, o recall.FloorOptions, write bool) (a CalibrateAnswer, err error) {
	if a.Gates, err = r.Engine.Recalibrate(ctx); err != nil {
		return a, err
	}
	if a.Floors, err = r.Engine.Floors(ctx, o); err != nil {
		return a, err
	}
	floors := make(map[string]float64)
	for _, f := range a.Floors {
		floors[f.Arm] = f.Floor
		a.Differ = a.Differ || !write && f.Floor != r.Config.Recall.Floors[f.Arm]
	}
	for _, f := range r.Config.Recall.Floors {
		a.InForce = a.InForce || f > 0
	}
	a.InForce = a.InForce || write
	if a.Written = write; !write {
		return a, nil
	}
	value := config.FloorsText(floors)
	return a, app.SaveSettings(r, []config.Change{{Key: "recall.floors", Value: &value}})
}
