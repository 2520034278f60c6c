package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/foreigndb"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
)

// ReflectOptions choose among what reflect keeps.
type ReflectOptions struct {
	Project string // only of this project; "" means all
}

// Reflect plans the import of the notes and the database of reflect.
func (im *Importer) Reflect(ctx context.Context, o ReflectOptions) (*Plan, error) {
	snap, err := im.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("plan the import of reflect: %w", err)
	}
	snap.load()
	p := &Plan{From: fromReflect, Items: []Item{}}
	r := &reflectReader{
		im: im, plan: p, snap: snap, lost: make(map[string]int), byName: make(map[string]*learning),
		titles: make(map[string]*learning), placers: make(map[*agent.Harness]*placer),
	}
	defer r.closePlacers()
	if err := r.readTree(ctx); err != nil {
		return nil, fmt.Errorf("plan the import of reflect: %w", err)
	}
	if err := r.readDatabase(ctx); err != nil {
		return nil, fmt.Errorf("plan the import of reflect: %w", err)
	}
	if err := r.items(ctx, o); err != nil {
		return nil, fmt.Errorf("plan the import of reflect: %w", err)
	}
	return p, nil
}

// A reflectReader gathers learnings from files and rows before it makes items
// of them: which supersedes which is known only when all are.
type reflectReader struct {
	im      *Importer
	plan    *Plan
	snap    *snapshot
	placers map[*agent.Harness]*placer
	all     []*learning
	byName  map[string]*learning // by what others call them: ids, names of files, ids of rows
	titles  map[string]*learning // of files, by their titles
	groups  []*Group
	lost    map[string]int
	size    int64
}

// placer looks into the sessions of an agent, whose paths tell the project of
// learnings that do not.
func (r *reflectReader) placer(h *agent.Harness) *placer {
	if r.placers[h] == nil {
		t, _ := openTree(r.im.opts.Homes.Agents[h.Name])
		r.placers[h] = newPlacer(r.im.store, h, t)
	}
	return r.placers[h]
}

func (r *reflectReader) closePlacers() {
	for _, p := range r.placers {
		if p.tree != nil {
			p.tree.close()
		}
	}
}

// group counts one thing of a kind. A reason says why that kind has no place.
func (r *reflectReader) group(name string, n int, why string) {
	for _, g := range r.groups {
		if g.Name == name {
			g.Found += n
			return
		}
	}
	r.groups = append(r.groups, &Group{Name: name, Found: n, Left: why != "", Why: why})
}

// add files a learning under its names.
func (r *reflectReader) add(l *learning, names ...string) error {
	if r.size += int64(len(l.note.Body)); r.size > maxPlan || len(r.all) >= maxFiles {
		return fmt.Errorf("there are more than %d notes or %d MB of them; import them in parts", maxFiles, maxPlan>>20)
	}
	r.all = append(r.all, l)
	for _, name := range append(names, l.name, l.stem) {
		if _, there := r.byName[name]; name != "" && !there {
			r.byName[name] = l
		}
	}
	return nil
}

// readTree reads the folder of notes.
func (r *reflectReader) readTree(ctx context.Context) error {
	t, err := openTree(r.im.opts.Homes.Learnings)
	if err != nil {
		r.plan.problem(err)
	}
	if t == nil {
		return nil
	}
	defer t.close()
	roots := []string{"."}
	for _, e := range t.list("shards") {
		if e.IsDir() {
			roots = append(roots, path.Join("shards", e.Name()))
		}
	}
	for _, root := range roots {
		shard := ""
		if root != "." {
			shard = path.Base(root)
		}
		for _, dir := range []string{"documents", "documents/.forgotten", "archived"} {
			old := dir != "documents"
			for _, f := range t.walk(ctx, path.Join(root, dir), ".md", nil) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := r.file(t, f, shard, old); err != nil {
					return err
				}
			}
			for _, f := range t.walk(ctx, path.Join(root, dir), historySuffix, nil) {
				if r.byName[strings.TrimSuffix(f.name, historySuffix)+".md"] == nil {
					r.group("histories without a note", 1, "the note that they belong to is gone")
				}
			}
		}
	}
	if n := len(t.walk(ctx, "review-queue", ".yaml", nil)); n > 0 {
		r.group("review queue", n, "drafts that nobody has approved")
	}
	return nil
}

// file reads one note with its sidecar.
func (r *reflectReader) file(t *tree, f found, shard string, old bool) error {
	r.plan.files++
	source := "learnings:" + f.name
	data, why := t.take(f)
	if why == "" {
		why = noText(data)
	}
	if why != "" {
		r.plan.Items = append(r.plan.Items, Item{Source: source, Action: Refused, Why: why})
		return nil
	}
	stem := strings.TrimSuffix(path.Base(f.name), ".md")
	l := parseLearning(stem, decoded(data))
	l.source = source
	if l.note.CreatedAt == "" {
		l.note.CreatedAt = note.At(modified(f.info, r.im.store.Now()))
	}
	if l.note.UpdatedAt == "" {
		l.note.UpdatedAt = l.note.CreatedAt
	}
	if shard != "" && (l.project == "" || l.project == somewhere) {
		l.project = shard
	}
	kind := "learnings"
	if _, rest, ok := strings.Cut(f.name, "documents/memories/"); ok {
		kind, l.note.Provenance.Source = "memories of agents", note.Import
		if project, _, ok := strings.Cut(rest, "/"); ok && l.project == "" {
			l.project = project
		}
	} else if l.note.Type == note.Episodic {
		kind = "episodes"
	} else if l.note.Kind == note.Observation {
		kind = "observations"
	}
	if old && !l.note.Decided() {
		l.note.Archive("it was archived before it was imported")
	}
	r.group(kind, 1, "")
	r.sidecar(t, strings.TrimSuffix(f.name, ".md"), l)
	r.formerly(t, strings.TrimSuffix(f.name, ".md")+historySuffix, l)
	if r.titles[l.note.Title] == nil {
		r.titles[l.note.Title] = l
	}
	return r.add(l, f.name)
}

// sidecar reads the entities beside a note, under either of their names.
func (r *reflectReader) sidecar(t *tree, base string, l *learning) {
	for _, name := range []string{base + layout.SidecarSuffix, base + ".md" + layout.SidecarSuffix} {
		data, err := t.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var side *note.Sidecar
		if err == nil && len(data) > maxFront {
			err = store.ErrTooLarge
		}
		var warnings []note.Warning
		if err == nil {
			side, warnings, err = note.ParseSidecar(data)
		}
		if err != nil {
			r.plan.problem(fmt.Errorf("read learnings:%s: %w", name, err))
			return
		}
		r.group("sidecars", 1, "")
		r.lost["entities or relations that a sidecar holds in a wrong form"] += len(warnings)
		if l.side != nil {
			side.Entities = append(side.Entities, l.side.Entities...)
			side.Edges = append(side.Edges, l.side.Edges...)
		}
		l.side = side
		return
	}
}

// databasePath is where reflect.db stands.
func (im *Importer) databasePath() string {
	if im.opts.Homes.Reflect == "" {
		return ""
	}
	return filepath.Join(im.opts.Homes.Reflect, "reflect.db")
}

// readDatabase reads reflect.db. One that cannot be read is a problem of the
// plan; the files come in without it.
func (r *reflectReader) readDatabase(ctx context.Context) error {
	name := r.im.databasePath()
	if name == "" {
		return nil
	}
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.plan.files++
	db, err := foreigndb.Open(ctx, name)
	if err != nil {
		r.plan.problem(fmt.Errorf("read %s: %w; its notes are imported without it", name, err))
		return ctx.Err()
	}
	defer db.Close()
	for _, table := range tables {
		if err := table.read(ctx, r, db); err != nil {
			if ctx.Err() != nil || errors.Is(err, foreigndb.ErrTooMany) {
				return err
			}
			r.plan.problem(fmt.Errorf("read %s: %w", name, err))
		}
	}
	for _, t := range leftTables {
		if n := db.Count(ctx, t.name); n > 0 {
			r.group("table "+t.name, n, t.why)
		}
	}
	return ctx.Err()
}

// items makes the plan of what was gathered.
func (r *reflectReader) items(ctx context.Context, o ReflectOptions) error {
	ids := r.ids()
	for _, l := range r.all { // who is superseded is said by the one that supersedes
		if by := r.byName[l.by]; l.by != "" && by != nil && by != l {
			by.over = append(by.over, l.name)
			if l.name == "" {
				by.over = append(by.over, l.stem)
			}
		} else if l.by != "" {
			l.lost = append(l.lost, "superseded_by")
		}
		if l.by != "" && !l.note.Decided() {
			l.note.Status = "superseded"
		}
	}
	for _, l := range r.all {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := l.note
		for _, name := range l.over {
			if old := r.byName[name]; old != nil && old != l && !slices.Contains(n.Supersedes, ids[old]) {
				n.Supersedes = append(n.Supersedes, ids[old])
			} else if old == nil {
				l.lost = append(l.lost, "supersedes")
			}
		}
		for _, name := range l.made {
			if from := r.byName[name]; from != nil && from != l && !slices.Contains(n.DerivedFrom, ids[from]) {
				n.DerivedFrom = append(n.DerivedFrom, ids[from])
			}
		}
		d := r.im.finish(l, ids[l], r.project(l))
		d.former = r.im.formerVersions(l, d.note)
		if o.Project != "" && n.Project != project.Canonical(r.im.store, o.Project) {
			continue
		}
		for _, key := range l.lost {
			r.lost["field "+key]++
		}
		r.plan.Items = append(r.plan.Items, r.snap.item(l.source, d))
	}
	for _, key := range sortedKeys(r.lost) {
		if r.lost[key] > 0 {
			r.group(key, r.lost[key], "it has no place in a note, or not in this form")
		}
	}
	for _, g := range r.groups {
		r.plan.Groups = append(r.plan.Groups, *g)
	}
	return nil
}

// ids gives every learning the id that its note will have: its own where that
// can be one of ours, else one that is made of it, always the same.
func (r *reflectReader) ids() map[*learning]note.ID {
	ids := make(map[*learning]note.ID, len(r.all))
	used := make(map[string]bool, len(r.all)) // in lower case: two ids never differ in case only
	there := make(map[string]note.ID, len(r.snap.paths))
	for id := range r.snap.paths {
		there[strings.ToLower(string(id))] = id
	}
	for _, l := range r.all {
		name := firstOf(l.name, l.stem)
		id, err := note.ParseID(name)
		key := strings.ToLower(string(id))
		if other, is := there[key]; err != nil || used[key] || is && !r.ours(other, id, l) {
			l.note.ImportedID = line(name, 200)
			id = hashID("reflect\x00" + name)
			for n := 2; used[strings.ToLower(string(id))]; n++ {
				id = hashID("reflect\x00" + name + "\x00" + strconv.Itoa(n))
			}
			key = strings.ToLower(string(id))
		}
		used[key] = true
		ids[l] = id
	}
	return ids
}

// ours reports whether the note that has an id is the one that a learning
// became before, and no other of the same name.
func (r *reflectReader) ours(other, id note.ID, l *learning) bool {
	if other != id {
		return false
	}
	was := r.snap.read(id)
	return was != nil && was.ImportHash != "" && was.Provenance.Source == l.note.Provenance.Source
}

// project returns the project of a learning. Reflect names one by the last part
// of its address; a project of that name that notes here have already is it.
func (r *reflectReader) project(l *learning) string {
	name := line(l.project, 200)
	switch {
	case l.project == somewhere:
		if h, file := agent.ByPath(l.hint); h != nil && h.Sessions != nil {
			return r.placer(h).file(file)
		}
		return project.Unknown
	case name == "", name == "universal", name == note.Global:
		return note.Global
	case filepath.IsAbs(name):
		return r.placer(agent.Default()).dir(name)
	}
	if full := r.snap.projects[strings.ToLower(name)]; full != "" {
		return full
	}
	return project.Canonical(r.im.store, name)
}
