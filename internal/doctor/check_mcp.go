package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// maxServers is the largest file of MCP servers that is read: an agent may keep
// its history in the same file.
const maxServers = 32 << 20

// A server is how an agent starts an MCP server.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	where   string
}

// ours reports whether a server is this program: by its name, or by its program's.
func (s server) ours(name string) bool {
	base := strings.TrimSuffix(filepath.Base(filepath.ToSlash(s.Command)), ".exe")
	return s.Command != "" && (name == programName || base == programName)
}

// servers finds our servers in a file of an agent. Whatever is shaped otherwise
// is passed over.
func servers(data []byte) (found []server, err error) {
	type list map[string]json.RawMessage
	var file struct {
		Servers  json.RawMessage `json:"mcpServers"`
		Projects json.RawMessage `json:"projects"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	add := func(raw json.RawMessage, where string) {
		var all list
		if json.Unmarshal(raw, &all) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			var s server
			if json.Unmarshal(all[name], &s) == nil && s.ours(name) && len(found) < maxEntries {
				s.where = where
				found = append(found, s)
			}
		}
	}
	add(file.Servers, "every project")
	var projects list
	if json.Unmarshal(file.Projects, &projects) == nil {
		for _, dir := range slices.Sorted(maps.Keys(projects)) {
			var in struct {
				Servers json.RawMessage `json:"mcpServers"`
			}
			if json.Unmarshal(projects[dir], &in) == nil {
				add(in.Servers, dir)
			}
		}
	}
	return found, nil
}

// serversOf finds our servers in the file of an agent that has its own form.
func serversOf(h Harness, data []byte) (found []server, err error) {
	all, err := h.Servers.Servers(data)
	for _, one := range all {
		if s := (server{one.Command, one.Args, "every project"}); s.ours(one.Name) && len(found) < maxEntries {
			found = append(found, s)
		}
	}
	return found, err
}

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
		var found []server
		data, err := readBounded(h.ServersPath, maxServers)
		if err == nil && h.Servers != nil {
			found, err = serversOf(h, data)
		} else if err == nil {
			found, err = servers(data)
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
			line := fmt.Sprintf("%s: registered for %s as %s", h.Name, s.where, s.Command)
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
