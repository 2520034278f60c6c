package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"

	"github.com/goccy/go-yaml"
)

const aliasFile = layout.Memory + "/" + layout.ProjectsFile

// An Alias says that From is another name of the project To.
type Alias struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// Aliases reads the project aliases. No file means none.
func Aliases(s *store.Store) ([]Alias, error) {
	data, err := s.ReadFile(aliasFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Alias
	if err == nil {
		all, err = ParseAliases(data)
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

// AddAlias makes from another name of the project to.
func AddAlias(w *store.Writer, from, to string) error {
	s := w.Store()
	from, to = cleanKey(from), cleanKey(to)
	if from == "" || to == "" || from == to {
		return fmt.Errorf("alias %q of %q: two different names are needed", from, to)
	}
	if from == note.Global || to == note.Global {
		return fmt.Errorf("alias %q of %q: %q is no project; a note becomes global one by one, by its own project key", from, to, note.Global)
	}
	aliases, err := Aliases(s)
	if err != nil {
		return err
	}
	if slices.Contains(aliases, Alias{from, to}) {
		return nil
	}
	data, err := s.ReadFile(aliasFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) || len(aliases) == 0 {
		data, err = []byte("aliases:\n"), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Path(aliasFile), err)
	}
	if data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	err = store.Decide(w, store.Change{Kind: store.AliasChange, Name: from, To: to, Now: to})
	if err == nil {
		err = w.Replace(aliasFile, append(data, Alias{from, to}.line()...))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.Path(aliasFile), err)
	}
	return nil
}

// RemoveAlias takes back that from is another name of to. The rest of the file stays as it is, as
// long as the line of the alias is one that AddAlias writes.
func RemoveAlias(w *store.Writer, from, to string) error {
	s, a := w.Store(), Alias{from, to}
	aliases, err := Aliases(s)
	if err != nil || !slices.Contains(aliases, a) {
		return err
	}
	data, err := s.ReadFile(aliasFile, 1<<20)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Path(aliasFile), err)
	}
	left := slices.DeleteFunc(aliases, func(x Alias) bool { return x == a })
	now := []byte(strings.ReplaceAll(string(data), a.line(), ""))
	if all, err := ParseAliases(now); err != nil || !slices.Equal(all, left) {
		now = formatAliases(left)
	}
	err = store.Decide(w, store.Change{Kind: store.AliasChange, Name: from, To: to, Former: to})
	switch {
	case err != nil:
	case string(now) == string(formatAliases(nil)):
		err = w.Remove(aliasFile)
	default:
		err = w.Replace(aliasFile, now)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.Path(aliasFile), err)
	}
	return nil
}

// Canonical follows the aliases of a key to the project it names. Where they
// run in a circle, the smallest key of the circle is the project, on every machine.
func Canonical(s *store.Store, key string) string {
	aliases, err := Aliases(s)
	if err != nil || len(aliases) == 0 {
		return key
	}
	whole, folder, below := strings.Cut(key, belowMark)
	if whole = canonical(whole, targets(aliases)); below {
		return Below(whole, folder)
	}
	return whole
}

// belowMark separates a project's key and a folder in it, in the key of the notes of that folder: "github.com/acme/shop//packages/api".
const belowMark = "//"

// Below returns the key of the notes of a folder of a project, given with slashes and relative to the project's top.
func Below(key, folder string) string {
	if folder = strings.Trim(folder, "/"); folder == "" || folder == "." {
		return key
	}
	return key + belowMark + folder
}

// IsBelow reports whether a key is that of a folder below the top of a project (Below).
func IsBelow(key, top string) bool { return strings.HasPrefix(key, top+belowMark) }

// above returns the folders of a path from itself to the top, which is left out.
func above(sub string) (all []string) {
	for sub != "" && sub != "." && len(all) < maxDepth {
		all = append(all, sub)
		sub = path.Dir(sub)
	}
	return all
}

// maxDepth is how many folders below the top of a repository count.
const maxDepth = 16

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
// those of other programs and from before its remote, all aliases of the same project, and for each of them
// the folders from its own up to the top.
func Names(s *store.Store, id Identity) []string {
	names := append([]string{id.Key}, id.Also...)
	if aliases, err := Aliases(s); err == nil {
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
	}
	for _, key := range slices.Clone(names) {
		for _, sub := range above(id.Sub) {
			names = append(names, Below(key, sub))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// MergeAliases merges two forms of projects.yaml as sets of aliases: base is what
// both come from. other is a form that could not be read, and so was not merged.
func MergeAliases(base, ours, theirs []byte) (merged, other []byte) {
	if store.Digest(ours) < store.Digest(theirs) {
		ours, theirs = theirs, ours
	}
	a, erra := ParseAliases(ours)
	b, errb := ParseAliases(theirs)
	switch {
	case errb != nil:
		return ours, theirs
	case erra != nil:
		return theirs, ours
	}
	was, _ := ParseAliases(base) // a base that cannot be read is none
	var all []Alias
	for _, x := range slices.Concat(a, b) {
		if !slices.Contains(was, x) || slices.Contains(a, x) && slices.Contains(b, x) {
			all = append(all, x)
		}
	}
	return formatAliases(all), nil
}

// ParseAliases reads the aliases in a file, without those that say nothing.
func ParseAliases(data []byte) ([]Alias, error) {
	var file struct {
		Aliases []Alias `yaml:"aliases"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(file.Aliases, func(a Alias) bool { return a.From == "" || a.To == "" || a.From == a.To }), nil
}

// formatAliases writes aliases in the order of their names, each once.
func formatAliases(all []Alias) []byte {
	slices.SortFunc(all, func(a, b Alias) int {
		return strings.Compare(a.From+"\x00"+a.To, b.From+"\x00"+b.To)
	})
	out := []byte("aliases:\n")
	for _, a := range slices.Compact(all) {
		out = append(out, a.line()...)
	}
	return out
}
