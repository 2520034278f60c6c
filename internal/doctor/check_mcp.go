package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"anamnesis/internal/connect"
)

// maxServers is the largest file of MCP servers that is read: an agent may keep
// its history in the same file.
const maxServers = 32 << 20

func checkRegistered(_ context.Context, p *Target) Result {
	var lines []string
	worst, next, looked := OK, "", false
	for _, h := range p.Harnesses {
		if h.ServersPath == "" {
			continue
		}
		looked = true
		register := "add `anamnesis` to the agent's MCP servers, if it should be able to ask; hooks work without"
		if h.Register != "" {
			register = "`" + h.Register + "`"
		}
		var found []connect.Registered
		data, err := readBounded(h.ServersPath, maxServers)
		if err == nil {
			found, err = h.OurServers(data)
			found = found[:min(len(found), maxEntries)]
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			lines = append(lines, fmt.Sprintf("%s: %s cannot be read: %v", h.Name, h.ServersPath, err))
			if rank(Info) > rank(worst) {
				worst, next = Info, "mend the file, or look in the agent itself which servers it knows"
			}
			continue
		case len(found) == 0 && h.Plugin != "":
			lines = append(lines, fmt.Sprintf("%s: the plugin %s brings the server", h.Name, h.Plugin))
			continue
		case len(found) == 0:
			lines = append(lines, h.Name+": not registered; the agent is shown by hooks, and cannot ask on its own")
			if rank(Info) > rank(worst) {
				worst, next = Info, register
			}
			continue
		}
		for _, s := range found {
			missing := filepath.IsAbs(s.Command) && !runnable(s.Command) || !filepath.IsAbs(s.Command) && len(lookPath(p.Path, s.Command)) == 0
			line := fmt.Sprintf("%s: registered for %s as %s", h.Name, s.Where, s.Command)
			if missing {
				line += ", which cannot be started"
				worst, next = Bad, register
			}
			lines = append(lines, line)
		}
	}
	if !looked {
		return skip("where agents register MCP servers is not known")
	}
	return Result{State: worst, Evidence: lines, Next: next}
}

func checkHandshake(ctx context.Context, p *Target) Result {
	if p.Handshake == nil {
		return skip("there is no MCP server to ask")
	}
	if err := p.Handshake(ctx); err != nil {
		return bad("run the registered command by hand in a terminal and read what it says", fmt.Sprintf("the server did not answer: %v", err))
	}
	return ok("the server starts and answers")
}
