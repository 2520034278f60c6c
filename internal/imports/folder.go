package imports

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// A placer finds out which project a folder with the sessions of one working
// directory stands for (agent.ProjectFolders). The folder's name alone does not
// tell: different characters of the directory became the same one in it.
type placer struct {
	store    *store.Store
	tree     *tree // of the agent's home; nil when it has none
	sessions agent.SessionSource
	folders  agent.ProjectFolders // nil when the agent has none
	notes    agent.DirNoter       // likewise
	known    map[string]string
	keys     map[string]string // by directory
}

func newPlacer(s *store.Store, h *agent.Harness, t *tree) *placer {
	p := &placer{store: s, tree: t, sessions: h.Sessions, known: make(map[string]string), keys: make(map[string]string)}
	p.folders, _ = h.Sessions.(agent.ProjectFolders)
	p.notes, _ = h.Sessions.(agent.DirNoter)
	return p
}

// dir returns the project of a working directory.
func (p *placer) dir(dir string) string {
	key, ok := p.keys[dir]
	if !ok {
		key = project.Identify(p.store, dir).Key
		p.keys[dir] = key
	}
	return key
}

// noted returns the working directory that a file beside a session names, "" when none does.
func (p *placer) noted(name string) string {
	if p.notes == nil || p.tree == nil || p.notes.DirFile(name) == "" {
		return ""
	}
	data, err := p.tree.read(p.notes.DirFile(name))
	dir := strings.TrimSpace(string(data))
	if err != nil || len(dir) > 4096 || !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\x00\n\r") {
		return ""
	}
	return dir
}

// file returns the project of a file in such a folder.
func (p *placer) file(name string) string {
	if p.folders == nil {
		return project.Unknown
	}
	return p.folder(p.folders.ProjectFolder(name))
}

// folder returns the project of a folder: that of the working directory which a
// session in it names, else of the directory that its name stands for.
func (p *placer) folder(folder string) string {
	if folder == "" || p.folders == nil {
		return project.Unknown
	}
	key, ok := p.known[folder]
	if !ok {
		dir := p.cwd(folder)
		if dir == "" {
			dir = decode(path.Base(folder), p.folders.FolderName)
		}
		key = project.Unknown
		if dir != "" {
			key = p.dir(dir)
		}
		p.known[folder] = key
	}
	return key
}

// maxLooks is how many sessions are looked at for a working directory.
const maxLooks = 32

// cwd returns the first working directory that a session of the folder names.
func (p *placer) cwd(folder string) string {
	if p.tree == nil {
		return ""
	}
	looks := 0
	for _, e := range p.tree.list(folder) {
		name := path.Join(folder, e.Name())
		session := slices.ContainsFunc(p.sessions.SessionFiles(), func(pattern string) bool {
			ok, _ := path.Match(pattern, name)
			return ok
		})
		if !session || !e.Type().IsRegular() {
			continue
		}
		if looks++; looks > maxLooks {
			break
		}
		if seen, _ := p.tree.peek(p.sessions, name, ""); seen != nil && seen.Dir != "" {
			return seen.Dir
		}
	}
	return ""
}

// peek looks at the head of a session and at the end of its tail.
func (t *tree) peek(sessions agent.SessionSource, name, id string) (*agent.PeekResult, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := sessions.Open(f, id)
	if err != nil {
		return nil, err
	}
	return sessions.Peek(records, records.Size(), 0, peekTail, time.Time{})
}

// sessionsIn lists the sessions in a file.
func (t *tree) sessionsIn(sessions agent.SessionSource, name string) ([]string, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return sessions.SessionsIn(name, f)
}

const peekTail = 32 << 10

// decode finds the directory that a folder's name stands for by looking which
// directories there are. What is not there any more is taken for one name below
// the deepest directory that is: a hyphen in a name is more frequent than a
// tree of folders that went without its parents.
func decode(name string, slug func(string) string) string {
	if runtime.GOOS == "windows" {
		drive, rest, ok := strings.Cut(name, "--")
		if !ok || len(drive) != 1 {
			return ""
		}
		return newDecoder(slug).find(drive+`:\`, rest)
	}
	rest := strings.TrimPrefix(name, "-") // some agents write none for the root
	if rest == "" || len(name) > 1024 {
		return ""
	}
	return newDecoder(slug).find("/", rest)
}

// A decoder walks down from the root, the longest matching name first, and
// remembers how deep it came. It looks at a bounded number of folders.
type decoder struct {
	slug           func(name string) string
	left           int
	deepest, below string
}

func newDecoder(slug func(string) string) *decoder { return &decoder{slug: slug, left: 200} }

func (d *decoder) find(dir, rest string) string {
	if found := d.walk(dir, rest, 0); found != "" {
		return found
	}
	if d.deepest == "" {
		d.deepest, d.below = dir, rest
	}
	return filepath.Join(d.deepest, strings.Trim(d.below, "-"))
}

func (d *decoder) walk(dir, rest string, depth int) string {
	if d.below == "" || len(rest) < len(d.below) {
		d.deepest, d.below = dir, rest
	}
	if d.left--; d.left < 0 || depth > 64 {
		return ""
	}
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	entries, _ := f.ReadDir(maxEntries)
	f.Close()
	var fits []string // the longest first, then in byte order
	for _, e := range entries {
		slug := d.slug(e.Name())
		if behind, ok := strings.CutPrefix(rest, slug); !ok || behind != "" && behind[0] != '-' {
			continue
		}
		if fi, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && fi.IsDir() {
			fits = append(fits, e.Name())
		}
	}
	sortByLength(fits)
	for _, name := range fits {
		behind := rest[len(d.slug(name)):]
		if behind == "" {
			return filepath.Join(dir, name)
		}
		if found := d.walk(filepath.Join(dir, name), behind[1:], depth+1); found != "" {
			return found
		}
	}
	return ""
}
