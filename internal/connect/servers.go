package connect

import (
	"cmp"
	"slices"
	"strings"

	"anamnesis/internal/agent"
)

// A ServerFile is how the MCP servers for all projects of the user stand in a file of an
// agent, which is edited as its settings are and may be the same file. It works on bytes and keeps what is not ours; a file that
// cannot be read without doubt is refused with a *SettingsError.
type ServerFile interface {
	// ServersPath returns the file. user is the user's home folder, home the agent's.
	ServersPath(user, home string) string

	// AddServer returns the file with our server under a name, with what stood there
	// under that name replaced. A blank file becomes a fresh one.
	AddServer(old []byte, name string, env Env, program []string) ([]byte, error)

	// RemoveServer takes it out, and what became empty because of it.
	RemoveServer(old []byte, name string) ([]byte, error)

	// Servers lists the servers in a file, by name.
	Servers(data []byte) ([]Server, error)
}

// A Server is how an agent starts an MCP server.
type Server struct {
	Name    string
	Command string
	Args    []string
}

// An Advisor is an optional ability of a SettingsEditor: its user has to do something
// after the hooks were installed, before they run.
type Advisor interface {
	// ToDo says what, in a sentence or two.
	ToDo() string
}

func sortServers(all []Server) []Server {
	slices.SortFunc(all, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// A serverMap is a ServerFile of JSON: a map from names to servers.
type serverMap struct {
	key   string // of the map, with a slash where it stands in another
	words bool   // the program and its arguments are one list
	env   string // the member for the environment; "" means env
	kind  string // the member type; "" for none
	extra []value
}

// keys is the path of the map.
func (m serverMap) keys() []string { return strings.Split(cmp.Or(m.key, "mcpServers"), "/") }

// AddServer implements ServerFile.
func (m serverMap) AddServer(old []byte, name string, env Env, program []string) ([]byte, error) {
	data := old
	if noText(old) {
		data = []byte("{}\n")
	}
	entry := m.entry(env, program)
	root, list, i, err := m.find(data, name)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		it := &list.items[i].value
		text := entry(layoutOf(data, root).in(data, it), lineIndent(data, it.start))
		return splice(data, it.start, it.end, text), nil
	}
	return addItem(data, m.keys(), named(name, entry), object)
}

// entry is what stands under our name.
func (m serverMap) entry(env Env, program []string) value {
	words := append(slices.Clone(program), "serve")
	texts := make([]value, len(words))
	for i, w := range words {
		texts[i] = text(agent.QuoteJSON(w))
	}
	var members []value
	if m.kind != "" {
		members = append(members, named("type", text(agent.QuoteJSON(m.kind))))
	}
	if m.words {
		members = append(members, named("command", list(texts...)))
	} else {
		members = append(members, named("command", texts[0]), named("args", list(texts[1:]...)))
	}
	if set := env.assignments(); len(set) > 0 {
		var all []value
		for _, v := range set {
			all = append(all, named(v[0], text(agent.QuoteJSON(v[1]))))
		}
		members = append(members, named(cmp.Or(m.env, "env"), object(all...)))
	}
	return object(append(members, m.extra...)...)
}

// find returns where a server stands: in which map, and at which place in it, -1 for
// none. What leads there has to be objects.
func (m serverMap) find(data []byte, name string) (root, in *node, at int, err error) {
	if root, err = parseSettings(data); err != nil {
		return nil, nil, -1, err
	}
	in = root
	for _, key := range m.keys() {
		if in, _ = in.member(key); in == nil {
			return root, nil, -1, nil
		}
		if in.kind != '{' {
			return nil, nil, -1, settingsError(data, in.start, agent.QuoteJSON(key)+" is not an object",
				"correct or remove it and run the command again")
		}
	}
	_, at = in.member(name)
	return root, in, at, nil
}

// RemoveServer implements ServerFile.
func (m serverMap) RemoveServer(old []byte, name string) ([]byte, error) {
	if noText(old) {
		return old, nil
	}
	_, _, at, err := m.find(old, name)
	if err != nil || at < 0 {
		return old, err
	}
	return removeItem(old, m.keys(), at)
}

// Servers implements ServerFile.
func (m serverMap) Servers(data []byte) (all []Server, err error) {
	if noText(data) {
		return nil, nil
	}
	_, in, _, err := m.find(data, "")
	if err != nil || in == nil {
		return nil, err
	}
	for _, it := range in.items {
		s := Server{Name: it.key}
		command, _ := it.value.member("command")
		args, _ := it.value.member("args")
		if command != nil {
			s.Command = command.text
			for i, word := range command.list() {
				if i == 0 {
					s.Command = word.value.text
				} else {
					s.Args = append(s.Args, word.value.text)
				}
			}
		}
		for _, word := range args.list() {
			s.Args = append(s.Args, word.value.text)
		}
		all = append(all, s)
	}
	return sortServers(all), nil
}
