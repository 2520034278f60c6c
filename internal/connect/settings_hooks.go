package connect

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/agent"
)

// A hooksFile is how an agent keeps hooks in a JSON file. "hooks" maps an event to a
// list of groups, and a group has an optional matcher and a list of entries:
//
//	{"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"type": "command", "command": "…"}]}]}}
//
// In a flat file the entries stand in the event's list, each with its matcher:
//
//	{"version": 1, "hooks": {"stop": [{"command": "…", "matcher": "Shell"}]}}
//
// We own entries, not groups: a group may hold a hook of the user beside ours.
type hooksFile struct {
	flat    bool
	seconds string // the member for a time limit in seconds; "" means timeout
	millis  bool   // the member counts milliseconds
	untyped bool   // entries have no type
	named   bool   // entries have a name
	fresh   string // what a file of ours begins with; "" means an empty object
	off     string // the path of the switch of all hooks, with a dot; "" means disableAllHooks
	offIs   string // its value that switches them off; "" means true
}

// timeout is the member for a time limit.
func (f hooksFile) timeout() string { return cmp.Or(f.seconds, "timeout") }

// A place is where one entry of ours stands.
type place struct {
	event, group, entry int // positions among the items
	hook                Hook
	value               *node
}

// Install implements SettingsEditor.
func (f hooksFile) Install(old []byte, hooks []Hook, own func(string) bool) ([]byte, error) {
	data := old
	if len(bytes.TrimSpace(old)) == 0 {
		data = []byte(cmp.Or(f.fresh, "{}") + "\n")
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
	for _, p := range f.places(root, ours) {
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
		text := f.entry(p.hook)(style.in(data, p.value), lineIndent(data, p.value.start))
		data = splice(data, p.value.start, p.value.end, text)
	}
	for _, p := range slices.Backward(stale) {
		if data, err = f.removePlace(data, p); err != nil {
			return nil, err
		}
	}
	for _, h := range wanted {
		if data, err = f.addHook(data, h); err != nil {
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
func (f hooksFile) Uninstall(old []byte, own func(string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(old)) == 0 {
		return old, nil
	}
	root, err := parseSettings(old)
	if err != nil {
		return nil, err
	}
	data := old
	for _, p := range slices.Backward(f.places(root, own)) {
		if data, err = f.removePlace(data, p); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Installed implements SettingsEditor.
func (f hooksFile) Installed(data []byte, own func(string) bool) (hooks []Hook, off bool, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, false, nil
	}
	root, _, err := parseHooks(data)
	if err != nil {
		return nil, false, err
	}
	for _, p := range f.places(root, own) {
		hooks = append(hooks, p.hook)
	}
	at := root
	for key := range strings.SplitSeq(cmp.Or(f.off, "disableAllHooks"), ".") {
		at, _ = at.member(key)
	}
	return hooks, at != nil && at.text == cmp.Or(f.offIs, "true"), nil
}

// places finds our entries, in the order of the text. What is not shaped like
// a hook is somebody else's business.
func (f hooksFile) places(root *node, own func(string) bool) []place {
	var out []place
	all, _ := root.member("hooks")
	if all == nil {
		return nil
	}
	for e, event := range all.items {
		for g, group := range event.value.list() {
			if f.flat {
				if h, ok := f.readEntry(&event.value.items[g].value); ok && h.ours(own) {
					h.Event = event.key
					out = append(out, place{e, g, 0, h, &event.value.items[g].value})
				}
				continue
			}
			entries, _ := group.value.member("hooks")
			for i, it := range entries.list() {
				h, ok := f.readEntry(&it.value)
				if !ok || !h.ours(own) {
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

// ours reports whether an entry is ours: by its command, or because it asks our server.
func (h *Hook) ours(own func(string) bool) bool { return h.Server != "" || own(h.Command) }

// readEntry reads an entry that runs a command or asks our server; its event and matcher stand
// around it.
func (f hooksFile) readEntry(n *node) (h Hook, ok bool) {
	if tool, _ := n.member("tool"); tool != nil && tool.text == HookTool {
		return f.readServerEntry(n)
	}
	command, _ := n.member("command")
	if command == nil || command.kind != '"' {
		return h, false
	}
	if kind, _ := n.member("type"); kind != nil && kind.text != "command" {
		return h, false
	}
	h.Command = command.text
	if t, _ := n.member(f.timeout()); t != nil {
		var err error
		if h.Timeout, err = strconv.Atoi(t.text); err == nil && f.millis && h.Timeout%1000 == 0 {
			h.Timeout /= 1000
		} else if err != nil || f.millis {
			h.Timeout = -1 // equal to none of ours
		}
	}
	if m, _ := n.member("matcher"); f.flat && m != nil {
		h.Matcher = m.text
	}
	if a, _ := n.member("async"); a != nil {
		h.Async = a.text == "true"
	}
	return h, true
}

// readServerEntry reads an entry that asks our server.
func (f hooksFile) readServerEntry(n *node) (h Hook, ok bool) {
	server, _ := n.member("server")
	if server == nil || server.text == "" {
		return h, false
	}
	h.Server = server.text
	input, _ := n.member("input")
	if key, _ := input.member(hookKeyMember); key != nil && key.kind == '"' {
		h.Key = key.text
	}
	if t, _ := n.member(f.timeout()); t != nil {
		h.Timeout, _ = strconv.Atoi(t.text)
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

func (f hooksFile) entry(h Hook) value {
	var members []value
	if h.Server != "" {
		return object(named("type", text(`"mcp_tool"`)), named("server", text(agent.QuoteJSON(h.Server))),
			named("tool", text(agent.QuoteJSON(HookTool))), named("input", text(hookArguments(h.Key))),
			named("timeout", text(strconv.Itoa(h.Timeout))))
	}
	if f.named {
		members = append(members, named("name", text(`"anamnesis"`)))
	}
	if !f.untyped {
		members = append(members, named("type", text(`"command"`)))
	}
	members = append(members, named("command", text(agent.QuoteJSON(h.Command))))
	if f.flat && h.Matcher != "" {
		members = append(members, named("matcher", text(agent.QuoteJSON(h.Matcher))))
	}
	if h.Timeout > 0 {
		n := h.Timeout
		if f.millis {
			n *= 1000
		}
		members = append(members, named(f.timeout(), text(strconv.Itoa(n))))
	}
	if h.Async {
		members = append(members, named("async", text("true")))
	}
	return object(members...)
}

// group is what stands in the list of an event.
func (f hooksFile) group(h Hook) value {
	if f.flat {
		return f.entry(h)
	}
	entries := named("hooks", list(f.entry(h)))
	if h.Matcher == "" {
		return object(entries)
	}
	return object(named("matcher", text(agent.QuoteJSON(h.Matcher))), entries)
}

// addHook appends its own group, and what it stands in if that is missing.
func (f hooksFile) addHook(data []byte, h Hook) ([]byte, error) {
	return addItem(data, []string{"hooks", h.Event}, f.group(h), list)
}

// removePlace takes out one entry and whatever becomes empty because of it.
// Places behind it in the text must have been removed before.
func (f hooksFile) removePlace(data []byte, p place) ([]byte, error) {
	root, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	all, inRoot := root.member("hooks")
	groups := &all.items[p.event].value
	empties := func(n *node) bool { return len(n.items) == 1 && !owned(data, n) }
	if !f.flat {
		entries, _ := groups.items[p.group].value.member("hooks")
		if len(entries.items) > 1 {
			return remove(data, root, entries, p.entry), nil
		}
	}
	switch {
	case !empties(groups):
		return remove(data, root, groups, p.group), nil
	case !empties(all):
		return remove(data, root, all, p.event), nil
	default:
		return remove(data, root, root, inRoot), nil
	}
}
