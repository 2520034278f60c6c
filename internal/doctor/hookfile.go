package doctor

import (
	"slices"
	"strings"

	"anamnesis/internal/connect"
)

// An entry is a hook of ours that stands in a settings file.
type entry struct {
	hook connect.Hook
	env  map[string]string // ANAMNESIS_… that it sets
	line []string          // the program, its arguments and the subcommand
}

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 8 << 20

// maxEntries bounds how many of them are looked at.
const maxEntries = 100

func hookEntries(editor connect.SettingsEditor, data []byte) (found []entry, off bool, err error) {
	hooks, off, err := editor.Installed(data, connect.Own)
	for _, h := range hooks[:min(len(hooks), maxEntries)] {
		found = append(found, newEntry(h))
	}
	return found, off, err
}

func newEntry(h connect.Hook) entry {
	e := entry{hook: h, env: make(map[string]string)}
	e.line = connect.Split(h.Command)
	if len(e.line) > 0 && e.line[0] == "env" {
		e.line = e.line[1:]
	}
	for len(e.line) > 0 {
		name, value, ok := strings.Cut(e.line[0], "=")
		if !ok || strings.ContainsAny(name, `/\`) {
			break
		}
		e.env[name], e.line = value, e.line[1:]
	}
	return e
}

// program returns the words before the subcommand tail; ok is false when the
// entry runs another subcommand.
func (e entry) program(tail []string) (words []string, ok bool) {
	n := len(e.line) - len(tail)
	if n < 1 || !slices.Equal(e.line[n:], tail) {
		return nil, false
	}
	return e.line[:n], true
}

// answers reports whether an entry does what a wanted hook does: runs its command, or asks our
// server.
func (e entry) answers(w wanted) bool {
	if e.hook.Event != w.hook.Event {
		return false
	}
	_, same := e.program(w.tail)
	return same || e.hook.Server != ""
}

// A wanted hook is one that init installs.
type wanted struct {
	hook connect.Hook
	tail []string // the subcommand and its flags
}

// wantedHooks lists what init installs for a harness.
func wantedHooks(h *connect.Client) []wanted {
	const base = "x"
	var all []wanted
	for _, hook := range h.Settings.PlainHooks(base) {
		all = append(all, wanted{hook, newEntry(hook).line[1:]})
	}
	return all
}

func (w wanted) String() string {
	s := w.hook.Event
	if w.hook.Matcher != "" {
		s += " (" + w.hook.Matcher + ")"
	}
	return s + ": " + strings.Join(w.tail, " ")
}

// A reading is what a settings file says about our hooks.
type reading struct {
	path     string
	data     []byte
	entries  []entry
	disabled bool
	missing  []wanted
	changed  []wanted // there, with another matcher, time limit or mode
	twice    []wanted
	foreign  []entry // ours, and none that init installs
}

// readHooks reads a settings file and compares it with what init installs.
func readHooks(path string, h *connect.Client) (r reading, err error) {
	r.path = path
	if r.data, err = readBounded(path, maxSettings); err != nil {
		return r, err
	}
	if r.entries, r.disabled, err = hookEntries(h.Settings, r.data); err != nil {
		return r, err
	}
	used := make([]bool, len(r.entries))
	for _, w := range wantedHooks(h) {
		var matching []entry
		for i, e := range r.entries {
			if e.answers(w) {
				matching, used[i] = append(matching, e), true
			}
		}
		if len(matching) == 0 {
			r.missing = append(r.missing, w)
			continue
		}
		if len(matching) > 1 {
			r.twice = append(r.twice, w)
		}
		if f := matching[0].hook; f.Matcher != w.hook.Matcher || f.Timeout != w.hook.Timeout || f.Async != w.hook.Async {
			r.changed = append(r.changed, w)
		}
	}
	for i, e := range r.entries {
		if !used[i] {
			r.foreign = append(r.foreign, e)
		}
	}
	return r, nil
}
