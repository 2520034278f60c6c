package doctor

import (
	"context"
	"fmt"
	"time"
)

// teamAge is how old the notes of others may be.
const teamAge = 3 * 24 * time.Hour

func checkTeam(ctx context.Context, p *Target) Result {
	if p.Team == nil {
		return skip("no team's database is set")
	}
	t, err := p.Team(ctx)
	if err != nil {
		return bad("`anamnesis team share` says more", err.Error())
	}
	if t.Half {
		return warn("set both: `anamnesis config set team.dsn ADDRESS` and `anamnesis config set team.workspace ID`",
			"only one of team.dsn and team.workspace is set, so nothing is shared")
	}
	lines := append(t.Lines, plural(t.Mirrored, "note")+" of others "+map[bool]string{true: "is", false: "are"}[t.Mirrored == 1]+" known here")
	if t.Age > 0 {
		lines = append(lines, "last asked "+ago(t.Age))
	}
	if t.Held > 0 {
		lines = append(lines, fmt.Sprintf("%s of shared projects stay here; `anamnesis team share` says why", plural(t.Held, "note")))
	}
	switch {
	case t.Copied != nil:
		return warn("`anamnesis team share --origin new`, on the copy", append(lines, "nothing of this machine is shared: "+t.Copied.Error())...)
	case t.Err != nil:
		lines = append(lines, t.Err.Error())
		if t.Age > teamAge || t.Age == 0 {
			return warn("`anamnesis team pg doctor` says what stands in the way", lines...)
		}
		return info("nothing is lost: notes go and come when it answers; `anamnesis team pg doctor` says what stands in the way", lines...)
	case t.Age > teamAge:
		return warn("`anamnesis doctor drain` exchanges notes now", lines...)
	}
	return ok(lines...)
}

func checkServer(ctx context.Context, p *Target) Result {
	if p.Server == nil {
		return skip("no server is set for machines without a store")
	}
	lines, err := p.Server(ctx)
	if err != nil {
		return warn("nothing is lost: what is written waits in the files of this machine; look at index.server (ANAMNESIS_INDEX)",
			append(lines, err.Error())...)
	}
	return ok(lines...)
}
