package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

const aliasFile = "memory/projects.yaml"

// An Alias says that From is another name of the project To.
type Alias struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// Aliases reads the project aliases. No file means none.
func (s *Store) Aliases() ([]Alias, error) {
	data, _, err := s.readRegular(aliasFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Alias
	if err == nil {
		all, err = readAliases(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; mend or delete it", s.Path(aliasFile), err)
	}
	return all, nil
}

// line returns the line of an alias in its file.
func (a Alias) line() string {
	quote := func(k string) string { return "'" + strings.ReplaceAll(k, "'", "''") + "'" }
	return fmt.Sprintf("- {from: %s, to: %s}\n", quote(a.From), quote(a.To))
}

// AddAlias makes from another name of the project to. The caller holds the store lock.
func (s *Store) AddAlias(from, to string) error {
	from, to = cleanKey(from), cleanKey(to)
	if from == "" || to == "" || from == to {
		return fmt.Errorf("alias %q of %q: two different names are needed", from, to)
	}
	if from == note.Global || to == note.Global {
		return fmt.Errorf("alias %q of %q: %q is no project; a note becomes global one by one, by its own project key", from, to, note.Global)
	}
	aliases, err := s.Aliases()
	if err != nil {
		return err
	}
	if slices.Contains(aliases, Alias{from, to}) {
		return nil
	}
	data, _, err := s.readRegular(aliasFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) || len(aliases) == 0 {
		data, err = []byte("aliases:\n"), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Path(aliasFile), err)
	}
	if data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	return s.Replace(aliasFile, append(data, Alias{from, to}.line()...))
}

// Canonical follows the aliases of a key to the project it names. Where they
// run in a circle, the smallest key of the circle is the project, on every machine.
func (s *Store) Canonical(key string) string {
	aliases, err := s.Aliases()
	if err != nil || len(aliases) == 0 {
		return key
	}
	return canonical(key, targets(aliases))
}

// targets makes a function of the set of aliases: where two machines gave one
// key two targets, the smaller wins. An alias of or to note.Global, which only
// another machine can have written, would make a whole project global; it counts nothing.
func targets(aliases []Alias) map[string]string {
	to := make(map[string]string, len(aliases))
	for _, a := range aliases {
		if a.From == note.Global || a.To == note.Global {
			continue
		}
		if old, ok := to[a.From]; !ok || a.To < old {
			to[a.From] = a.To
		}
	}
	return to
}

func canonical(key string, to map[string]string) string {
	var path []string
	for {
		if i := slices.Index(path, key); i >= 0 {
			return slices.Min(path[i:])
		}
		next, ok := to[key]
		if !ok {
			return key
		}
		path = append(path, key)
		key = next
	}
}

// Names returns every key under which notes of an identity may stand: its own,
// those of other programs, and all aliases that lead to the same project.
func (s *Store) Names(id Identity) []string {
	names := append([]string{id.Key}, id.Also...)
	aliases, err := s.Aliases()
	if err != nil {
		return names
	}
	to := targets(aliases)
	own := canonical(id.Key, to)
	names = append(names, own)
	for _, a := range aliases {
		for _, key := range []string{a.From, a.To} {
			if canonical(key, to) == own {
				names = append(names, key)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
