package app

import (
	"context"
	"fmt"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// RecallState is what there is to say about how notes are found.
type RecallState struct {
	Model      string             `json:"model"`      // that makes the vectors
	Passages   int                `json:"passages"`   // in the index
	Unembedded int                `json:"unembedded"` // without a vector of that model
	Gate       recall.Calibration `json:"gate"`
}

// RecallStatus collects what there is to say about how notes are found.
func RecallStatus(ctx context.Context, r *Rooms) (s RecallState, err error) {
	s.Model = r.Index.Model()
	s.Gate = r.Engine.Calibration(ctx, "")
	if s.Model == "" {
		st, err := r.Index.Statistics(ctx)
		s.Passages = st.Passages
		return s, err
	}
	_, s.Unembedded, s.Passages, err = r.Index.Unembedded(ctx, s.Model, 0)
	return s, err
}

func (s RecallState) String() string {
	model := "no model of meaning"
	switch {
	case s.Model != "" && s.Unembedded > 0:
		model = fmt.Sprintf("%s (%d of %d passages have no vector yet; the background run makes them)", s.Model, s.Unembedded, s.Passages)
	case s.Model != "":
		model = s.Model
	}
	gate := fmt.Sprintf("gate at %.1f, as shipped", s.Gate.Threshold)
	if s.Gate.Own > 0 {
		gate = fmt.Sprintf("gate at %.1f, from %d notes (%.1f %% of strangers answered, %.1f %% of own questions held back)",
			s.Gate.Threshold, s.Gate.Notes, 100*s.Gate.FalseInjection, 100*s.Gate.FalseSilence)
	}
	return note.Printable(model) + "; " + gate
}
