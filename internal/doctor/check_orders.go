package doctor

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
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

// checkAuthors counts the notes that claim to be the user's and that the ledger does not have.
func checkAuthors(ctx context.Context, p *Target) Result {
	if p.Store == nil || p.Index == nil {
		return skip("there is no index")
	}
	rows, err := p.Index.Select(ctx, index.Filter{Sources: []string{note.Unconfirmed}, Own: true, Now: p.now()}, 0)
	if err != nil {
		return bad(remake, err.Error())
	}
	if len(rows) == 0 {
		return ok("every note that says that a person wrote it is as that person left it")
	}
	lines := []string{plural(len(rows), "note") + " changed outside this program, or from elsewhere"}
	for i := range rows[:min(len(rows), maxNamed)] {
		lines = append(lines, string(rows[i].ID)+"  "+rows[i].Title)
	}
	return warn("`anamnesis review` lists them; `anamnesis review keep --mine` says that all of them are yours", lines...)
}

// maxNamed is how many notes a check names.
const maxNamed = 5
