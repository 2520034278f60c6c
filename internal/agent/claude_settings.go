package agent

import (
	"bytes"
	"slices"
	"strconv"
)

// In settings.json, "hooks" maps an event to a list of groups, and a group has
// an optional matcher and a list of entries:
//
//	{"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"type": "command", "command": "…"}]}]}}
//
// We own entries, not groups: a group may hold a hook of the user beside ours.

// A place is where one entry of ours stands.
type place struct {
	event, group, entry int // positions among the items
	hook                Hook
	value               *node
}

// Install implements SettingsEditor.
func (claude) Install(old []byte, hooks []Hook, own func(string) bool) ([]byte, error) {
	data := old
	if len(bytes.TrimSpace(old)) == 0 {
		data = []byte("{}\n")
	}
	root, all, err := parseHooks(data)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if list, _ := all.member(h.Event); list != nil && list.kind != '[' {
			return nil, settingsError(data, list.start, "the hooks of "+h.Event+" are not a list",
				"make it a list or remove it, and run the command again")
		}
	}
	ours := func(command string) bool {
		return own(command) || slices.ContainsFunc(hooks, func(h Hook) bool { return h.Command == command })
	}

	// Each entry of ours stands for the first wanted hook of the same event and
	// matcher that has none yet; what stands for nothing is stale.
	wanted := slices.Clone(hooks)
	var stale, changed []place
	for _, p := range places(root, ours) {
		i := slices.IndexFunc(wanted, func(h Hook) bool {
			return h.Event == p.hook.Event && matches(h.Matcher, p.hook.Matcher)
		})
		if i < 0 {
			stale = append(stale, p)
			continue
		}
		h := wanted[i]
		wanted = slices.Delete(wanted, i, i+1)
		if h.Matcher = p.hook.Matcher; h != p.hook {
			p.hook = h
			changed = append(changed, p)
		}
	}
	style := layoutOf(data, root)
	for _, p := range slices.Backward(changed) { // so that what stands before stays in its place
		text := entry(p.hook)(style.in(data, p.value), lineIndent(data, p.value.start))
		data = splice(data, p.value.start, p.value.end, text)
	}
	for _, p := range slices.Backward(stale) {
		if data, err = removePlace(data, p); err != nil {
			return nil, err
		}
	}
	for _, h := range wanted {
		if data, err = addHook(data, h); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// parseHooks reads the settings and, in them, all hooks; nil if there are none.
func parseHooks(data []byte) (root, all *node, err error) {
	if root, err = parseSettings(data); err != nil {
		return nil, nil, err
	}
	if all, _ = root.member("hooks"); all != nil && all.kind != '{' {
		return nil, nil, settingsError(data, all.start, `"hooks" is not an object`, "correct or remove it and run the command again")
	}
	return root, all, nil
}

// Uninstall implements SettingsEditor.
func (claude) Uninstall(old []byte, own func(string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(old)) == 0 {
		return old, nil
	}
	root, err := parseSettings(old)
	if err != nil {
		return nil, err
	}
	data := old
	for _, p := range slices.Backward(places(root, own)) {
		if data, err = removePlace(data, p); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Installed implements SettingsEditor.
func (claude) Installed(data []byte, own func(string) bool) (hooks []Hook, off bool, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, false, nil
	}
	root, _, err := parseHooks(data)
	if err != nil {
		return nil, false, err
	}
	for _, p := range places(root, own) {
		hooks = append(hooks, p.hook)
	}
	disabled, _ := root.member("disableAllHooks")
	return hooks, disabled != nil && disabled.text == "true", nil
}

// places finds our entries, in the order of the text. What is not shaped like
// a hook is somebody else's business.
func places(root *node, own func(string) bool) []place {
	var out []place
	all, _ := root.member("hooks")
	if all == nil {
		return nil
	}
	for e, event := range all.items {
		for g, group := range event.value.list() {
			entries, _ := group.value.member("hooks")
			for i, it := range entries.list() {
				h, ok := readEntry(&it.value)
				if !ok || !own(h.Command) {
					continue
				}
				h.Event = event.key
				if m, _ := group.value.member("matcher"); m != nil {
					h.Matcher = m.text
				}
				out = append(out, place{e, g, i, h, &entries.items[i].value})
			}
		}
	}
	return out
}

// readEntry reads a command entry; its event and matcher stand around it.
func readEntry(n *node) (h Hook, ok bool) {
	command, _ := n.member("command")
	if command == nil || command.kind != '"' {
		return h, false
	}
	if kind, _ := n.member("type"); kind != nil && kind.text != "command" {
		return h, false
	}
	h.Command = command.text
	if t, _ := n.member("timeout"); t != nil {
		var err error
		if h.Timeout, err = strconv.Atoi(t.text); err != nil {
			h.Timeout = -1 // equal to none of ours
		}
	}
	if a, _ := n.member("async"); a != nil {
		h.Async = a.text == "true"
	}
	return h, true
}

// matches compares two matchers; an empty one and a star both mean everything.
func matches(a, b string) bool {
	if a == "*" {
		a = ""
	}
	if b == "*" {
		b = ""
	}
	return a == b
}

func entry(h Hook) value {
	members := []value{named("type", text(`"command"`)), named("command", text(quote(h.Command)))}
	if h.Timeout > 0 {
		members = append(members, named("timeout", text(strconv.Itoa(h.Timeout))))
	}
	if h.Async {
		members = append(members, named("async", text("true")))
	}
	return object(members...)
}

func group(h Hook) value {
	entries := named("hooks", list(entry(h)))
	if h.Matcher == "" {
		return object(entries)
	}
	return object(named("matcher", text(quote(h.Matcher))), entries)
}

// addHook appends a group of its own, and what it stands in if that is missing.
func addHook(data []byte, h Hook) ([]byte, error) {
	root, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	all, _ := root.member("hooks")
	groups, _ := all.member(h.Event)
	switch {
	case all == nil:
		return insert(data, root, root, named("hooks", object(named(h.Event, list(group(h)))))), nil
	case groups == nil:
		return insert(data, root, all, named(h.Event, list(group(h)))), nil
	default:
		return insert(data, root, groups, group(h)), nil
	}
}

// removePlace takes out one entry and whatever becomes empty because of it.
// Places behind it in the text must have been removed before.
func removePlace(data []byte, p place) ([]byte, error) {
	root, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	all, inRoot := root.member("hooks")
	groups := &all.items[p.event].value
	entries, _ := groups.items[p.group].value.member("hooks")
	empties := func(n *node) bool { return len(n.items) == 1 && !owned(data, n) }
	switch {
	case len(entries.items) > 1:
		return remove(data, root, entries, p.entry), nil
	case !empties(groups):
		return remove(data, root, groups, p.group), nil
	case !empties(all):
		return remove(data, root, all, p.event), nil
	default:
		return remove(data, root, root, inRoot), nil
	}
}
