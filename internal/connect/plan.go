package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An AgentPlan is what connecting an agent is going to do.
type AgentPlan struct {
	Agent string   `json:"agent"`
	Title string   `json:"title"`
	Home  string   `json:"home"`
	Files []Change `json:"files"`           // what becomes of each
	ToDo  string   `json:"to_do,omitempty"` // what its user has to do afterwards
	// Plugin is our plugin, which brings the hooks, and often the server, so that neither
	// is installed a second time; "" for none.
	Plugin string `json:"plugin,omitempty"`
	Why    string `json:"why,omitempty"` // why it cannot be connected

	Client *Client `json:"-"`
	Parts  []Part  `json:"-"`
}

// PlanAgent works out what connecting an agent is going to do. The error says why it
// cannot be done; the plan is good for showing all the same.
func PlanAgent(h *Client, o Options) (pl AgentPlan, err error) {
	pl = AgentPlan{Agent: h.Name, Title: h.Title, Home: o.Home, Files: []Change{}, Client: h}
	if pl.Plugin = BesidePlugin(h, o.Home); pl.Plugin != "" {
		host, _ := h.Settings.(pluginHost)
		o.NoHooks, o.NoMCP = true, o.NoMCP || host.PluginServes()
	}
	pl.Parts = Parts(h, o)
	if a, ok := h.Settings.(Advisor); ok && (!o.NoHooks || pl.Plugin != "") {
		pl.ToDo = a.ToDo()
	}
	if !filepath.IsAbs(o.Home) {
		err = fmt.Errorf("where %s keeps its settings is not known without a home folder", h.Title)
	}
	var edits []Edit
	if err == nil {
		edits, err = plan(pl.Parts)
	}
	for i, group := range byFile(pl.Parts) {
		switch {
		case i >= len(edits):
			pl.Files = append(pl.Files, changeOf(group, "not read"))
		case !edits[i].Changed():
			pl.Files = append(pl.Files, changeOf(group, "no change"))
		case edits[i].Old == nil:
			pl.Files = append(pl.Files, changeOf(group, "create"))
		default:
			pl.Files = append(pl.Files, changeOf(group, "change"))
		}
	}
	if err != nil {
		pl.Why = err.Error()
	}
	return pl, err
}

// Found reports whether an agent was at work on this machine: its folder is there.
func Found(home string) bool {
	fi, err := os.Stat(home)
	return home != "" && (err == nil && fi.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist))
}
