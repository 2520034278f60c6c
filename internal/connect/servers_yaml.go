package connect

import (
	"reflect"

	"anamnesis/internal/agent"
)

// A yamlServers is a ServerFile of YAML: a mapping from names to servers.
type yamlServers struct {
	path    func(user, home string) string
	key     string   // of the mapping
	command string   // the member for the program
	env     string   // the member for the environment
	extra   []string // lines that stand at the end
}

// ServersPath implements ServerFile.
func (s yamlServers) ServersPath(user, home string) string { return s.path(user, home) }

// AddServer implements ServerFile.
func (s yamlServers) AddServer(old []byte, name string, env Env, program []string) ([]byte, error) {
	lines := []string{name + ":", "  " + s.command + ": " + agent.QuoteJSON(program[0]), "  args:"}
	for _, w := range append(program[1:len(program):len(program)], "serve") {
		lines = append(lines, "    - "+agent.QuoteJSON(w))
	}
	if set := env.assignments(); len(set) > 0 {
		lines = append(lines, "  "+s.env+":")
		for _, v := range set {
			lines = append(lines, "    "+v[0]+": "+agent.QuoteJSON(v[1]))
		}
	}
	for _, line := range s.extra {
		lines = append(lines, "  "+line)
	}
	data, err := removeYAMLMember(old, s.key, name)
	if err != nil {
		return nil, err
	}
	if data, err = addYAMLLines(data, []string{s.key}, lines); err != nil {
		return nil, err
	}
	if was, err := s.member(old, name); err == nil && was != nil {
		if is, err := s.member(data, name); err == nil && reflect.DeepEqual(was, is) {
			return old, nil
		}
	}
	return data, checkYAML(data)
}

// RemoveServer implements ServerFile.
func (s yamlServers) RemoveServer(old []byte, name string) ([]byte, error) {
	return removeYAMLMember(old, s.key, name)
}

// Servers implements ServerFile.
func (s yamlServers) Servers(data []byte) (all []Server, err error) {
	root, err := yamlRoot(data)
	if err != nil {
		return nil, err
	}
	e := findYAML(root, s.key)
	if e == nil {
		return nil, nil
	}
	for _, one := range yamlEntries(e.value) {
		server := Server{Name: one.key}
		for _, m := range yamlEntries(one.value) {
			switch m.key {
			case s.command:
				server.Command = yamlText(m.value)
			case "args":
				server.Args = yamlTexts(m.value)
			}
		}
		all = append(all, server)
	}
	return sortServers(all), nil
}
