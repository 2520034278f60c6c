package connect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/store"
)

// A Part is one thing of ours in one file of an agent. Several parts may stand in one
// file; they go in one after the other.
type Part struct {
	What      string // "hooks", "server", "rules"
	Path      string
	Install   func(old []byte) ([]byte, error)
	Uninstall func(old []byte) ([]byte, error)
}

// Options say what is put into the files of an agent, and where they stand.
type Options struct {
	Home, UserHome string // the agent's and the user's
	Env            Env
	Command        []string // what hooks and the server run
	Server         string   // name of the server; "" means DefaultServer
	NoHooks, NoMCP bool
	HookKey        string   // of events that are sent to the server, where the agent can and a server can answer; "" for none
	Allow          []string // tools of the server that are called without asking the user
}

// Hooks lists the hooks that an agent is given.
func Hooks(h *Client, o Options) []Hook {
	hooks := h.Settings.PlainHooks(CommandPrefix(o.Env, o.Command...))
	if h.ServerHooks != nil && o.HookKey != "" {
		return h.ServerHooks.Over(hooks, cmp.Or(o.Server, DefaultServer), o.HookKey)
	}
	return hooks
}

// Parts lists what connects an agent, as far as it stands in files.
func Parts(h *Client, o Options) (all []Part) {
	if h.Settings != nil && !o.NoHooks {
		hooks := Hooks(h, o)
		all = append(all, Part{
			What: "hooks", Path: h.Settings.SettingsPath(o.Home),
			Install:   func(old []byte) ([]byte, error) { return h.Settings.Install(old, hooks, Own) },
			Uninstall: func(old []byte) ([]byte, error) { return h.Settings.Uninstall(old, Own) },
		})
	}
	if f := h.Servers; f != nil && !o.NoMCP {
		name := cmp.Or(o.Server, DefaultServer)
		all = append(all, Part{
			What: "server", Path: f.ServersPath(o.UserHome, o.Home),
			Install:   func(old []byte) ([]byte, error) { return f.AddServer(old, name, o.Env, o.Command) },
			Uninstall: func(old []byte) ([]byte, error) { return f.RemoveServer(old, name) },
		})
	}
	all = append(all, permissions(h, o)...)
	if h.Rules != nil {
		all = append(all, Part{
			What: "rules", Path: h.Rules(o.UserHome, o.Home),
			Install: InstallRules, Uninstall: UninstallRules,
		})
	}
	return all
}

// Show puts a page into the rules file of an agent that was connected by one, for agents that have
// no hook at a session's start. Any other file stays as it is.
func (in *Installer) Show(h *Client, o Options, page string) error {
	if h.Rules == nil {
		return nil
	}
	path := h.Rules(o.UserHome, o.Home)
	edit, err := readSettings(path)
	if err != nil || edit.Old == nil {
		return err
	}
	if _, has, err := PutRules(edit.Old, page); err != nil || !has {
		return err
	}
	_, err = in.Connect(h, []Part{{
		What: "rules", Path: path, Uninstall: UninstallRules,
		Install: func(old []byte) ([]byte, error) {
			data, _, err := PutRules(old, page)
			return data, err
		},
	}})
	return err
}

// plan reads the files of the parts and works out what they become, one edit for each
// file; nothing is written. An error that is a *FormatError says which file stops it.
func plan(parts []Part) (edits []Edit, err error) {
	for _, group := range byFile(parts) {
		edit, err := readSettings(group[0].Path)
		if err != nil {
			return edits, err
		}
		if edit.New, err = install(edit.Old, group); err != nil {
			return edits, &FormatError{group[0].Path, err}
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

// byFile groups parts by their files, in the order of the first part of each.
func byFile(parts []Part) (groups [][]Part) {
	for _, p := range parts {
		i := slices.IndexFunc(groups, func(g []Part) bool { return g[0].Path == p.Path })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

func install(data []byte, parts []Part) (_ []byte, err error) {
	for _, p := range parts {
		if data, err = p.Install(data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// uninstall takes the last part out first: each removal undoes the insertion that was the last.
func uninstall(data []byte, parts []Part) (_ []byte, err error) {
	for _, p := range slices.Backward(parts) {
		if data, err = p.Uninstall(data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// tries is how often a file is read again that changes while we change it.
const tries = 3

// errBusy says that somebody else writes a file.
var errBusy = errors.New("another program keeps changing it; close the agent and try again")

// Connect puts the parts into the files of an agent: for each the record first, which holds
// what the file was, then the file. It says of each file what became of it.
func (in *Installer) Connect(h *Client, parts []Part) (done []Change, err error) {
	if _, err := plan(parts); err != nil { // nothing is touched when something is wrong
		return nil, err
	}
	for _, group := range byFile(parts) {
		var c Change
		err := errBusy
		for try := 0; try < tries && errors.Is(err, errBusy); try++ {
			c, err = in.connect(h, group)
		}
		if err != nil {
			return done, fmt.Errorf("connect %s: %s: %w", h.Title, group[0].Path, err)
		}
		done = append(done, c)
	}
	return done, nil
}

// A Change is what became of a file.
type Change struct {
	Path   string   `json:"path"`
	What   []string `json:"what"`   // of the parts in it
	Result string   `json:"result"` // in words
}

func changeOf(group []Part, result string) Change {
	c := Change{Path: group[0].Path, Result: result}
	for _, p := range group {
		if !slices.Contains(c.What, p.What) {
			c.What = append(c.What, p.What)
		}
	}
	return c
}

func (in *Installer) connect(h *Client, group []Part) (Change, error) {
	edit, err := readSettings(group[0].Path)
	if err != nil {
		return Change{}, err
	}
	if edit.New, err = install(edit.Old, group); err != nil {
		return Change{}, err
	}
	if !edit.Changed() {
		return changeOf(group, "unchanged"), nil
	}
	clean, err := uninstall(edit.Old, group)
	if err != nil {
		return Change{}, err
	}
	result := "changed"
	if edit.Old == nil {
		result = "created"
	}
	return changeOf(group, result), in.write(h, edit, clean)
}

// write replaces a file, after the record. clean is what the file was without what an earlier
// run put there.
func (in *Installer) write(h *Client, edit Edit, clean []byte) error {
	rec := readInstalled(in.Store)
	f := file{Agent: h.Name, Path: edit.Path, Existed: edit.Old != nil, Before: clean, After: store.Digest(edit.New), At: in.Store.Now()}
	i := slices.IndexFunc(rec.Files, func(f file) bool { return f.Path == edit.Path })
	ours := i >= 0 && rec.Files[i].After == store.Digest(edit.Old)
	if ours { // our own earlier work: the first state counts
		f.Existed, f.Before, f.Made, f.At = rec.Files[i].Existed, rec.Files[i].Before, rec.Files[i].Made, rec.Files[i].At
	}
	if f.Made == "" {
		f.Made = missing(filepath.Dir(edit.Path))
	}
	if i < 0 {
		rec.Files = append(rec.Files, f)
	} else {
		rec.Files[i] = f
	}
	if err := rememberInstalled(in.Store, rec); err != nil {
		return err
	}
	return writeFile(edit.Path, edit.Old, edit.New)
}

// missing returns the first folder of a path that is to be made, "" when all are there.
func missing(dir string) (first string) {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return first
		}
		first, dir = dir, filepath.Dir(dir)
	}
}

// Disconnect takes the parts out of the files of an agent: a file gets back the bytes
// that it had before, if nobody changed it since, and loses our entries alone otherwise.
func (in *Installer) Disconnect(h *Client, parts []Part) (done []Change, err error) {
	for _, group := range byFile(parts) {
		result, err := in.disconnect(h, group)
		if err != nil {
			return done, fmt.Errorf("uninstall: %w", err)
		}
		done = append(done, changeOf(group, result))
	}
	return done, nil
}

func (in *Installer) disconnect(h *Client, group []Part) (what string, err error) {
	edit, err := readSettings(group[0].Path)
	if err != nil {
		return "", err
	}
	rec := readInstalled(in.Store)
	var f file
	i := slices.IndexFunc(rec.Files, func(f file) bool { return f.Path == edit.Path })
	if i >= 0 {
		f = rec.Files[i]
	}
	same := i >= 0 && f.After == store.Digest(edit.Old)
	switch {
	case edit.Old == nil:
		what = "nothing to remove from"
	case same && !f.Existed:
		what, err = "removed", os.Remove(edit.Path)
	case same:
		what, err = "restored", writeFile(edit.Path, edit.Old, f.Before)
	default:
		edit.New, err = uninstall(edit.Old, group)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", edit.Path, err)
		case bytes.Equal(edit.Old, edit.New):
			what = "nothing to remove from"
		case i >= 0 && !f.Existed && blank(h, edit.New):
			what, err = "removed", os.Remove(edit.Path)
		default:
			what, err = "removed ours from", writeFile(edit.Path, edit.Old, edit.New)
		}
	}
	if err != nil {
		return "", err
	}
	removeEmpty(f.Made, filepath.Dir(edit.Path))
	if i >= 0 {
		rec.Files = slices.Delete(rec.Files, i, i+1)
		if err := rememberInstalled(in.Store, rec); err != nil {
			return what, err
		}
	}
	return what, nil
}

// blank reports whether nothing is left in a file that we made.
func blank(_ *Client, data []byte) bool {
	switch string(bytes.TrimSpace(data)) {
	case "", "{}", "{\n}":
		return true
	}
	return false
}

// removeEmpty removes the folders that were made for a file, the innermost first, as long
// as nothing is in them.
func removeEmpty(made, dir string) {
	for made != "" && len(dir) >= len(made) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
