package imports

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// A placer finds out which project a folder below Claude Code's projects stands
// for. The folder's name is the working directory with a hyphen for every
// character that is no letter and no digit, so that the name alone does not tell.
type placer struct {
	store *store.Store
	tree  *tree // of the agent's home; nil when it has none
	known map[string]string
	keys  map[string]string // by directory
}

func newPlacer(s *store.Store, t *tree) *placer {
	return &placer{store: s, tree: t, known: make(map[string]string), keys: make(map[string]string)}
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

// folder returns the project of a folder below projects: that of the working
// directory which a session in it names, else of the directory that its name
// stands for.
func (p *placer) folder(name string) string {
	key, ok := p.known[name]
	if !ok {
		dir := p.cwd(name)
		if dir == "" {
			dir = decode(name)
		}
		key = project.Unknown
		if dir != "" {
			key = p.dir(dir)
		}
		p.known[name] = key
	}
	return key
}

// maxLooks is how many sessions are looked at for a working directory.
const maxLooks = 32

// cwd returns the first working directory that a session of the folder names.
func (p *placer) cwd(name string) string {
	if p.tree == nil {
		return ""
	}
	looks := 0
	dir := path.Join("projects", name)
	for _, e := range p.tree.list(dir) {
		if !strings.HasSuffix(e.Name(), ".jsonl") || !e.Type().IsRegular() {
			continue
		}
		if looks++; looks > maxLooks {
			break
		}
		if g, _ := p.tree.glance(agent.Claude{}, path.Join(dir, e.Name()), time.Time{}); g != nil && g.Dir != "" {
			return g.Dir
		}
	}
	return ""
}

// glance looks at the head of a session and at the end of its tail.
func (t *tree) glance(h agent.Harness, name string, deadline time.Time) (*agent.Glimpse, error) {
	f, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return h.Glance(f, fi.Size(), 0, glanceTail, deadline)
}

const glanceTail = 32 << 10

// decode finds the directory that a folder's name stands for by looking which
// directories there are. What is not there any more is taken for one name below
// the deepest directory that is: a hyphen in a name is more frequent than a
// tree of folders that went without its parents.
func decode(name string) string {
	if runtime.GOOS == "windows" {
		drive, rest, ok := strings.Cut(name, "--")
		if !ok || len(drive) != 1 {
			return ""
		}
		return newDecoder().find(drive+`:\`, rest)
	}
	rest, ok := strings.CutPrefix(name, "-")
	if !ok || rest == "" || len(name) > 1024 {
		return ""
	}
	return newDecoder().find("/", rest)
}

// A decoder walks down from the root, the longest matching name first, and
// remembers how deep it came. It looks at a bounded number of folders.
type decoder struct {
	left           int
	deepest, below string
}

func newDecoder() *decoder { return &decoder{left: 200} }

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
		slug := slugOf(e.Name())
		if behind, ok := strings.CutPrefix(rest, slug); !ok || behind != "" && behind[0] != '-' {
			continue
		}
		if fi, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && fi.IsDir() {
			fits = append(fits, e.Name())
		}
	}
	sortByLength(fits)
	for _, name := range fits {
		behind := rest[len(slugOf(name)):]
		if behind == "" {
			return filepath.Join(dir, name)
		}
		if found := d.walk(filepath.Join(dir, name), behind[1:], depth+1); found != "" {
			return found
		}
	}
	return ""
}

// slugOf writes a name as Claude Code does: a hyphen for every UTF-16 code unit
// that is no ASCII letter and no digit.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}
