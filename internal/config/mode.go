package config

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// FromMode and FromProject are sources as well: a value that the mode sets, and a mode that
// the project asks for.
const (
	FromMode    Source = "mode"
	FromProject Source = "project"
)

// modeKeys begin the keys that a mode may set: how much is shown, and what nudges the
// order. No address, command, path or switch of safety is among them.
var modeKeys = []string{"inject.", "recall.boosts", "recall.mmr.", "recall.rerank.on"}

// maxMode bounds the file of a mode, in bytes.
const maxMode = 256 << 10

// modesDir is the folder of the user's own modes: NAME.json each.
func (c *Config) modesDir() string { return filepath.Join(c.Home, "modes") }

// ReadMode returns a mode, the user's own before those of the program.
func (c *Config) ReadMode(id string) (note.Mode, error) {
	return note.ReadMode(id, func(id string) ([]byte, error) {
		name := filepath.Join(c.modesDir(), id+".json")
		fi, err := os.Stat(name)
		if err != nil {
			return nil, fs.ErrNotExist
		}
		if !fi.Mode().IsRegular() || fi.Size() > maxMode {
			return nil, fmt.Errorf("%s is no file of at most %d bytes", name, maxMode)
		}
		return os.ReadFile(name)
	})
}

// ModeIDs lists the modes that can be chosen.
func (c *Config) ModeIDs() []string {
	ids := note.BuiltinModes()
	entries, _ := os.ReadDir(c.modesDir())
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && note.ValidModeID(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// chooseMode settles the mode and gives its values to the settings that nobody set. The
// environment and --set come before the project, and that before config.json.
func (c *Config) chooseMode(env Environment, rows []Setting) {
	if s := c.sources["mode"]; s != FromEnv && s != FromFlag && env.Dir != "" {
		prefers, err := project.PreferencesOf(env.Dir, env.UserHome)
		if err == nil && prefers.Mode != "" { // the user of quiet is informed of a file that cannot be read
			c.ModeID, c.sources["mode"] = prefers.Mode, FromProject
		}
	}
	id := c.ModeID
	if id == "" {
		id = note.DefaultMode
	}
	m, err := c.ReadMode(id)
	if err != nil {
		c.warn("mode (%s): %v; going on with %s", c.SourceOf("mode"), err, note.DefaultMode)
		if m, err = c.ReadMode(note.DefaultMode); err != nil {
			c.warn("%v; going on without a mode", err)
			return
		}
	}
	c.Mode = m
	c.Capture.Directive, c.Reflection.Directive, c.Inject.ShownTypes = m.Directive(), m.Directive(), m.ShownTypes
	flat := make(map[string]string)
	flatten("", m.Settings, flat)
	for i := range rows {
		s := &rows[i]
		v, ok := flat[s.Key]
		delete(flat, s.Key)
		switch allowed := slices.ContainsFunc(modeKeys, func(k string) bool { return strings.HasPrefix(s.Key, k) }); {
		case !ok:
		case !allowed:
			c.warn("mode %s: %s cannot be set by a mode", m.ID, s.Key)
		case c.SourceOf(s.Key) != FromDefault: // the user's own word counts
		default:
			if err := s.set(v); err != nil {
				c.warn("mode %s: %s: %v", m.ID, s.Key, err)
				continue
			}
			c.sources[s.Key] = FromMode
		}
	}
	for key := range flat {
		c.warn("mode %s: there is no setting %s", m.ID, key)
	}
}

// SourceOf says where the value of a setting comes from.
func (c *Config) SourceOf(key string) Source { return cmp.Or(c.sources[key], FromDefault) }
