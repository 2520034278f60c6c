package doctor

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/store"
)

// checkOrders counts what was refused because it reads like orders to an agent.
func checkOrders(ctx context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	sentences, sessions, err := store.Refusals(p.Store)
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	waiting := 0
	if p.Index != nil {
		rows, err := p.Index.Select(ctx, index.Filter{Dead: true, OnlyDead: true, Now: p.now()}, 0)
		if err != nil {
			return bad(remake, err.Error())
		}
		for i := range rows {
			if !rows[i].Ended() {
				waiting++
			}
		}
	}
	line := fmt.Sprintf("%s of %s not learnt in the last two months, %s in quarantine", plural(sentences, "sentence"),
		plural(sessions, "session"), plural(waiting, "note"))
	if waiting > 0 {
		return info("`anamnesis review` shows them; no session is shown them until you keep them", line)
	}
	return ok(line)
}
