package cli

import (
	"context"
	"fmt"
	"time"
)

// embedBudget is how long one background run embeds notes for a model that was
// configured; the next one goes on.
const embedBudget = time.Minute

// understand brings into step what recall works out of the notes: the vectors
// of the present model, and the numbers of the gate.
func (m *memory) understand(ctx context.Context, d *drained) {
	if _, err := m.index.EmbedMissing(ctx, embedBudget, nil); err != nil {
		d.Failed = append(d.Failed, err.Error())
	}
	if _, err := m.engine.CalibrateAll(ctx); err != nil {
		d.Failed = append(d.Failed, fmt.Sprintf("calibrate the gate: %v", err))
	}
}
