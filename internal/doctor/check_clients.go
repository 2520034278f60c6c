package doctor

import (
	"context"
	"fmt"

	"anamnesis/internal/connect"
)

// checkClients names the agents whose installed client is newer than the tests of this program know. No client is
// run for that; one that says nowhere on the disk what it is has the version of its last session.
func checkClients(_ context.Context, p *Target) Result {
	var lines []string
	newer := false
	for _, h := range p.Harnesses {
		if h.Release.Version == "" {
			continue
		}
		version := ""
		if found := lookPath(p.Path, h.Release.Program); len(found) > 0 {
			version = h.Release.VersionOf(found[0])
		}
		if version == "" {
			version = connect.LastVersion(h.Client, h.sessions())
		}
		switch {
		case version == "":
			continue
		case connect.Newer(version, h.Release.Version):
			newer = true
			lines = append(lines, fmt.Sprintf("%s %s is newer than %s, the newest release that this anamnesis was tested with", h.Title, version,
				h.Release.Version))
		default:
			lines = append(lines, fmt.Sprintf("%s %s: tested up to %s", h.Title, version, h.Release.Version))
		}
	}
	switch {
	case len(lines) == 0:
		return skip("no agent is here whose released client the tests drive")
	case newer:
		return Result{
			State: Info, Evidence: lines,
			Next: "it probably works; if memory is not shown any more, `anamnesis upgrade` looks for a newer anamnesis",
		}
	}
	return ok(lines...)
}
