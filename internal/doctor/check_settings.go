package doctor

import (
	"context"
	"slices"
	"strings"
)

func checkSettings(_ context.Context, p *Target) Result {
	lines := slices.Clone(p.Warnings)
	wrong := len(lines) > 0
	set := 0
	for _, s := range p.Settings {
		if set++; s.HasEffect {
			continue
		}
		line := s.Name + " (" + s.Source + ") has no effect"
		if s.Why != "" {
			line += ": " + s.Why
		}
		lines = append(lines, line)
	}
	switch {
	case wrong:
		return warn("correct the values; `anamnesis config list` shows what holds and where it comes from", lines...)
	case len(lines) > 0:
		return info("remove what has no effect (`anamnesis config unset NAME`), or spell it as in docs/settings.md", lines...)
	}
	return ok(plural(set, "setting") + " set, all in effect")
}

func checkForeign(_ context.Context, p *Target) Result {
	if len(p.Foreign) == 0 {
		return ok("none")
	}
	return info("unset them; `anamnesis import` reads the data they point to", "set, and without effect: "+strings.Join(p.Foreign, ", "))
}
