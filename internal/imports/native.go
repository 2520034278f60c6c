package imports

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"

	"github.com/oklog/ulid/v2"
)

// NativeOptions choose among the memories of agents.
type NativeOptions struct {
	Agent   string // only of this agent; "" means all
	Project string // only of this project; "" means all
}

// Native plans the import of the memories that agents keep for themselves.
func (im *Importer) Native(ctx context.Context, o NativeOptions) (*Plan, error) {
	snap, err := im.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("plan the import of native memories: %w", err)
	}
	p := &Plan{From: fromNative, Items: []Item{}}
	for _, a := range agent.All {
		if a.Memory == nil || o.Agent != "" && o.Agent != a.Name {
			continue
		}
		if err := im.native(ctx, a, o, snap, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// native plans what one agent keeps, in its folder and where its user has moved that to.
func (im *Importer) native(ctx context.Context, a *agent.Harness, o NativeOptions, snap *snapshot, p *Plan) error {
	t, err := openTree(im.opts.Homes.Agents[a.Name])
	if err != nil {
		p.problem(err)
		return nil
	}
	if t == nil {
		return nil
	}
	defer t.close()
	place := newPlacer(im.store, a, t)
	if err := im.memories(ctx, t, a.Memory.MemoryFiles(), nativeOf{a, o, place, snap}, p); err != nil {
		return err
	}
	moved, err := openMoved(im.opts.Homes.Memories[a.Name], t.dir)
	if err != nil {
		p.problem(err)
	}
	if err != nil || moved == nil {
		return nil
	}
	defer moved.close()
	return im.memories(ctx, moved, []string{"*.md"}, nativeOf{a, o, place, snap}, p)
}

// openMoved opens the folder that a setting of the user names; like any other it may be a link of the user's.
func openMoved(dir, home string) (*tree, error) {
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		to, err := ownFolder(dir, home)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		dir = to
	}
	return openTree(dir)
}

// A nativeOf is whose memories are planned, and for what.
type nativeOf struct {
	agent *agent.Harness
	NativeOptions
	place *placer
	snap  *snapshot
}

// memories plans the import of the files of a tree.
func (im *Importer) memories(ctx context.Context, t *tree, patterns []string, of nativeOf, p *Plan) error {
	var size int64
	for _, pattern := range patterns {
		for _, f := range t.match(ctx, pattern) {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.files++
			source := of.agent.Name + ":" + f.name
			memories, err := readMemories(t, of.agent.Memory, f)
			switch {
			case errors.Is(err, agent.ErrNoMemory):
				p.Items = append(p.Items, Item{Source: source, Action: Skipped, Why: err.Error()})
			case err != nil:
				p.Items = append(p.Items, Item{Source: source, Action: Refused, Why: err.Error()})
			}
			for i := range memories {
				d := im.memory(of.agent.Name, &memories[i], f, of.place, of.snap)
				if of.Project != "" && d.note.Project != project.Canonical(im.store, of.Project) {
					continue
				}
				if size += int64(len(d.note.Body)); size > maxPlan {
					return fmt.Errorf("plan the import of native memories: %s hold more than %d MB", t.dir, maxPlan>>20)
				}
				it := of.snap.item(sourceOf(source, &memories[i], len(memories)), d)
				p.Items = append(p.Items, it)
			}
		}
	}
	return nil
}

// sourceOf names one of several memories of a file.
func sourceOf(file string, m *agent.Memory, of int) string {
	if _, part, ok := strings.Cut(m.Key, "#"); ok && of > 1 {
		return file + " # " + part
	}
	return file
}

func readMemories(t *tree, a agent.MemoryReader, f found) ([]agent.Memory, error) {
	if f.err != nil {
		return nil, f.err
	}
	data, err := t.read(f.name)
	if err != nil {
		return nil, err
	}
	return a.ReadMemory(f.name, data)
}

// memory makes the draft of a memory.
func (im *Importer) memory(from string, m *agent.Memory, f found, place *placer, snap *snapshot) *draft {
	at := note.At(modified(f.info, im.store.Now()))
	im = im.knowing(m.Title, m.Body)
	n := &note.Note{
		ID: im.memoryID(from, m.Key, snap), Type: memoryType(m), Title: line(im.masked(m.Title), note.MaxTitle), Body: im.masked(m.Body),
		Project: memoryProject(m, f.name, place), MachineID: im.opts.MachineID, Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Import, Confidence: 1, Session: m.Session},
		CreatedAt:  at, UpdatedAt: at, Tags: []string{"import", "kind:" + m.Kind},
	}
	if from != agent.Default().Name {
		n.Tags = append(n.Tags, from)
	}
	d := &draft{note: n}
	d.sign()
	return d
}

// memoryType says how long a memory is meant to last: what the user said to the
// agent to do, and how tasks are done, is procedural.
func memoryType(m *agent.Memory) note.Type {
	switch {
	case m.Episode:
		return note.Episodic
	case slices.Contains([]string{"feedback", "task", "skill"}, m.Kind):
		return note.Procedural
	}
	return note.Semantic
}

func memoryProject(m *agent.Memory, file string, place *placer) string {
	dir := m.Dir
	if dir == "" && m.Folder != "" {
		dir = place.noted(file)
	}
	switch {
	case dir != "":
		return place.dir(dir)
	case m.Folder != "":
		return place.folder(m.Folder)
	}
	return note.Global
}

// memoryID returns the id of the note that a memory becomes. The program before
// this one made it of the folder and the name alone, so that two machines with
// equal paths wrote into each other's notes; ours has the machine in it. A note
// of this machine with the old id is recognised and keeps it.
func (im *Importer) memoryID(from, key string, snap *snapshot) note.ID {
	now := hashID(im.opts.MachineID + "\x00" + from + "\x00" + key)
	if from != agent.Default().Name {
		return now
	}
	if _, there := snap.paths[now]; there {
		return now
	}
	old := hashID(key)
	if was := snap.read(old); was != nil {
		made := was.Provenance.Source == note.Import || was.HasTag("import")
		mine := was.MachineID == im.opts.MachineID || was.MachineID == "unknown"
		if made && mine {
			return old
		}
		return now
	}
	if snap.forgotten(old, nil) || snap.gone(old) {
		return old
	}
	return now
}

// hashID makes an id of the first 16 bytes of SHA-256, in the letters of a ULID.
func hashID(s string) note.ID {
	sum := sha256.Sum256([]byte(s))
	return note.ID(ulid.ULID(sum[:16]).String())
}
