package connect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/agent"
)

// A ToolRules is how an agent keeps which tools of an MCP server it calls without asking its user. Like a ServerFile it
// works on bytes and keeps what is not ours.
type ToolRules struct {
	// Path returns the file. user is the user's home folder, home the agent's.
	Path func(user, home string) string
	// Allow returns the file with a rule for each tool of a server.
	Allow func(old []byte, server string, tools []string) ([]byte, error)
	// Disallow takes out the rules that Allow wrote for the tools, of every server.
	Disallow func(old []byte, tools []string) ([]byte, error)
}

// permissions is the part of an agent that allows the tools, none for an agent without such rules.
func permissions(h *Client, o Options) []Part {
	if h.Tools == nil || o.NoMCP || len(o.Allow) == 0 {
		return nil
	}
	return []Part{{
		What: "server", Path: h.Tools.Path(o.UserHome, o.Home),
		Install: func(old []byte) ([]byte, error) {
			return h.Tools.Allow(old, cmp.Or(o.Server, DefaultServer), o.Allow)
		},
		Uninstall: func(old []byte) ([]byte, error) { return h.Tools.Disallow(old, o.Allow) },
	}}
}

// TakesRules reports whether an agent has rules for single tools, and init registers the server that they are about: our
// plugin brings its own.
func TakesRules(h *Client, home string) bool {
	host, ok := h.Settings.(pluginHost)
	return h.Tools != nil && !(ok && host.PluginServes() && BesidePlugin(h, home) != "")
}

// AsksForTools reports whether an agent would ask its user about one of the tools of o.Allow, and can be given a rule.
func AsksForTools(h *Client, o Options) bool {
	if !TakesRules(h, o.Home) {
		return false
	}
	parts := permissions(h, o)
	if len(parts) == 0 {
		return false
	}
	edit, err := readSettings(parts[0].Path)
	if err == nil {
		edit.New, err = install(edit.Old, parts)
	}
	return err == nil && edit.Changed()
}

// claudeAllow is where Claude Code keeps the rules for what it need not ask.
var claudeAllow = []string{"permissions", "allow"}

// ClaudeTool is the name by which Claude Code knows a tool of a server.
func ClaudeTool(server, tool string) string { return "mcp__" + server + "__" + tool }

// claudeAllowTools puts the rules in one run, in the order of tools: that order tells our rules from those that the user
// has made for single tools.
func claudeAllowTools(old []byte, server string, tools []string) (data []byte, err error) {
	data = old
	if noText(old) {
		data = []byte("{}\n")
	}
	rules, err := claudeRules(data)
	if err != nil {
		return nil, err
	}
	wanted := make([]string, len(tools))
	for i, tool := range tools {
		wanted[i] = ClaudeTool(server, tool)
	}
	if runs := claudeRuns(rules, tools); len(runs) == 1 && slices.Equal(textsOf(rules)[runs[0][0]:runs[0][1]], wanted) {
		return old, nil
	}
	if data, err = claudeDisallowTools(data, tools); err != nil { // of another server, or of an earlier version
		return nil, err
	}
	for _, rule := range wanted {
		if data, err = addItem(data, claudeAllow, text(agent.QuoteJSON(rule)), list); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func claudeDisallowTools(old []byte, tools []string) (data []byte, err error) {
	if data = old; noText(old) {
		return old, nil
	}
	for {
		rules, err := claudeRules(data)
		if err != nil {
			return nil, err
		}
		runs := claudeRuns(rules, tools)
		if len(runs) == 0 {
			return data, nil
		}
		last := runs[len(runs)-1]
		for range last[1] - last[0] {
			last[1]--
			if data, err = removeItem(data, claudeAllow, last[1]); err != nil {
				return nil, err
			}
		}
	}
}

// claudeRules returns the list of rules, nil for none.
func claudeRules(data []byte) (*node, error) {
	at, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	for i, key := range claudeAllow {
		next, _ := at.member(key)
		if next == nil {
			return nil, nil
		}
		if want := "{["[i]; next.kind != want {
			return nil, settingsError(data, next.start, agent.QuoteJSON(key)+" has another form than Claude Code's",
				"correct or remove it and run the command again")
		}
		at = next
	}
	return at, nil
}

func textsOf(rules *node) (all []string) {
	for _, it := range rules.list() {
		all = append(all, it.value.text)
	}
	return all
}

// claudeRuns finds the positions of the rules of Allow: a run begins with the first two tools of one server.
func claudeRuns(rules *node, tools []string) (runs [][2]int) {
	if len(tools) < 2 {
		return nil
	}
	all := textsOf(rules)
	for i := 0; i+1 < len(all); i++ {
		server, ok := strings.CutSuffix(all[i], "__"+tools[0])
		if !ok || !strings.HasPrefix(server, "mcp__") || all[i+1] != server+"__"+tools[1] {
			continue
		}
		end := i + 2
		for end < len(all) {
			tool, ok := strings.CutPrefix(all[end], server+"__")
			if !ok || slices.Index(tools, tool) < 2 {
				break
			}
			end++
		}
		runs = append(runs, [2]int{i, end})
		i = end - 1
	}
	return runs
}

// codexAllowTools puts a table for each tool behind the server's. A tool for which the user has decided in Codex keeps
// that.
func codexAllowTools(old []byte, server string, tools []string) (data []byte, err error) {
	var file struct {
		Servers map[string]struct{ Tools map[string]any } `toml:"mcp_servers"`
	}
	if err := readTOML(old, &file); err != nil {
		return nil, err
	}
	data = old
	for _, tool := range tools {
		if _, decided := file.Servers[server].Tools[tool]; decided {
			continue
		}
		path := []string{"mcp_servers", server, "tools", tool}
		if data, err = setTable(data, path, "["+strings.Join(path, ".")+"]\napproval_mode = \"approve\"\n"); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// codexDisallowTools takes out the tables of a server with all of these tools.
func codexDisallowTools(old []byte, tools []string) (data []byte, err error) {
	var file struct {
		Servers map[string]struct{ Tools map[string]any } `toml:"mcp_servers"`
	}
	if err := readTOML(old, &file); err != nil {
		return nil, err
	}
	data = old
	for _, server := range slices.Sorted(maps.Keys(file.Servers)) {
		ours := !slices.ContainsFunc(tools, func(tool string) bool { return file.Servers[server].Tools[tool] == nil })
		for _, tool := range slices.Backward(tools) {
			if ours {
				if data, err = setTable(data, []string{"mcp_servers", server, "tools", tool}, ""); err != nil {
					return nil, err
				}
			}
		}
	}
	return data, nil
}
