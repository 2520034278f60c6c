package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A SkillFolder is a folder in which an agent looks for skills, and whose they are.
type SkillFolder struct {
	Path    string // absolute
	Project string // note.Global for those of the user
}

// SkillChanges counts what a look at the skills of this machine's agents found.
type SkillChanges struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"` // their files were not read

	Failed []string `json:"failed"` // files that could not be taken over, and why
}

// Bounds of what is read.
const (
	maxSkills    = 2000
	maxSkillSize = 1 << 20 // bytes of a file
)

// Skills brings the copies of skills into step with the files in some folders (R20). A
// file that has the time of its copy is not read. Copies of files in other folders stay;
// those of files that are gone from these are archived.
func Skills(ctx context.Context, g *ingest.Ingester, folders []SkillFolder) (c SkillChanges, err error) {
	c.Failed = []string{}
	skills := ingest.SkillsOf(g)
	copies, err := skills.Known(ctx)
	if err != nil {
		return c, err
	}
	known := make(map[note.ID]ingest.KnownSkill, len(copies))
	for _, k := range copies {
		known[k.ID] = k
	}
	seen := make(map[note.ID]bool)
	for _, folder := range folders {
		files, err := skillFiles(folder.Path)
		if err != nil {
			c.Failed = append(c.Failed, err.Error())
		}
		for _, file := range files {
			id := ingest.SkillID(file)
			if seen[id] || len(seen) >= maxSkills {
				continue
			}
			seen[id] = true
			fi, err := os.Stat(file)
			if err != nil {
				delete(seen, id)
				continue
			}
			was, ok := known[id]
			if ok && !was.Dead && was.State == stateOf(fi) {
				c.Unchanged++
				continue
			}
			out, err := putSkill(ctx, skills, file, folder.Project, fi)
			switch {
			case err != nil:
				c.Failed = append(c.Failed, err.Error())
			case out.Result == ingest.Dropped: // its owner forgot it
			case ok && !was.Dead:
				c.Changed++
			default:
				c.Added++
			}
		}
	}
	var gone []note.ID
	for _, k := range copies {
		if !k.Dead && !seen[k.ID] && slices.ContainsFunc(folders, func(f SkillFolder) bool {
			return strings.HasPrefix(k.Path, f.Path+string(filepath.Separator))
		}) {
			gone = append(gone, k.ID)
		}
	}
	c.Removed = len(gone)
	return c, skills.Retire(ctx, gone)
}

// putSkill takes a file over.
func putSkill(ctx context.Context, skills ingest.Skills, file, project string, fi fs.FileInfo) (ingest.Outcome, error) {
	if !fi.Mode().IsRegular() || fi.Size() > maxSkillSize {
		return ingest.Outcome{}, fmt.Errorf("read skill: %s is no file of at most %d bytes", file, maxSkillSize)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("read skill: %w", err)
	}
	s := agent.ReadSkill(filepath.ToSlash(file), data)
	return skills.Put(ctx, ingest.SkillFile{
		Path: file, Project: project, Name: s.Name, Summary: s.Summary, Tags: s.Tags, Body: s.Body, Changed: fi.ModTime(), State: stateOf(fi),
	})
}

// skillFiles lists the skills one and two levels below a folder. A link to a folder of a
// skill is followed, as agents do.
func skillFiles(folder string) (files []string, err error) {
	level, err := os.ReadDir(folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, nil
		}
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	for _, e := range level {
		below := filepath.Join(folder, e.Name())
		if fi, err := os.Stat(below); err != nil || !fi.IsDir() {
			continue
		}
		if file := filepath.Join(below, agent.SkillFile); isFile(file) {
			files = append(files, file)
			continue
		}
		inner, _ := os.ReadDir(below)
		for _, e := range inner {
			if file := filepath.Join(below, e.Name(), agent.SkillFile); isFile(file) {
				files = append(files, file)
			}
		}
		if len(files) >= maxSkills {
			break
		}
	}
	return files, nil
}

func isFile(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.Mode().IsRegular()
}

// stateOf is by what it is seen that a file was changed.
func stateOf(fi fs.FileInfo) string { return fmt.Sprintf("%d-%d", fi.ModTime().UnixNano(), fi.Size()) }
