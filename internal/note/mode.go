package note

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A Mode says what kind of work is done (M4): which types of learnings there are, which
// language notes are written in, and settings that fit. A project chooses one by its name.
type Mode struct {
	ID            string
	Name          string         `json:"name"`
	Description   string         `json:"description"`
	Version       string         `json:"version"`
	Locale        string         `json:"locale"` // of the texts that a model writes: a tag such as "de"; "en" and "" ask for nothing
	LearningTypes []LearningType `json:"learning_types"`
	ShownTypes    []string       `json:"told_types"` // ids of the types that sessions are shown at their start; none means all
	Settings      map[string]any `json:"settings"`   // by key, in the form of config.json
	Prompts       ModePrompts    `json:"prompts"`
}

// A LearningType is a kind of thing that a session teaches.
type LearningType struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Glyph       string `json:"emoji"`
	WorkGlyph   string `json:"work_emoji,omitempty"`
}

// ModePrompts are texts of a mode for models.
type ModePrompts struct {
	Language string `json:"language_requirements,omitempty"` // in place of the usual words about the language
}

// DefaultMode is the id of the mode that nobody has to choose.
const DefaultMode = "engineering"

// modeSeparator stands between a mode and the one that changes it.
const modeSeparator = "--"

//go:embed modes/*.json
var builtinModes embed.FS

// BuiltinModes lists the ids of the modes that are part of the program.
func BuiltinModes() (ids []string) {
	entries, _ := fs.ReadDir(builtinModes, "modes")
	for _, e := range entries {
		ids = append(ids, strings.TrimSuffix(e.Name(), ".json"))
	}
	return ids
}

// ErrNoMode says that there is no mode of that id.
var ErrNoMode = errors.New("there is no such mode")

// ValidModeID reports whether a mode may be called id: lower-case letters, digits and
// hyphens, and at most one "--", which stands between a mode and the one that changes it.
func ValidModeID(id string) bool {
	if id == "" || len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	parts := strings.Split(id, modeSeparator)
	return len(parts) <= 2 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.HasPrefix(p, "-") || strings.HasSuffix(p, "-")
	})
}

// ReadMode returns the mode of an id. read returns the file of a mode of the user, and an
// fs.ErrNotExist for one that the user does not have; then the program's own counts. In
// "parent--change" the file of that id changes the parent: maps key by key, lists and
// values whole, and a parent is no change of another. Without such a file the parent stands
// alone. The error is ErrNoMode, or says what is wrong with which file.
func ReadMode(id string, read func(id string) ([]byte, error)) (Mode, error) {
	if !ValidModeID(id) {
		return Mode{}, fmt.Errorf("mode %q: %w: a name has lower-case letters, digits and hyphens, and at most one %q",
			id, ErrNoMode, modeSeparator)
	}
	parent, _, changes := strings.Cut(id, modeSeparator)
	data, err := modeFile(parent, read)
	if err != nil {
		return Mode{}, err
	}
	if changes {
		if data, err = changedMode(data, parent, id, read); err != nil {
			return Mode{}, err
		}
	}
	m := Mode{}
	if err := json.Unmarshal(data, &m); err != nil {
		return Mode{}, fmt.Errorf("mode %s: %w", id, err)
	}
	m.ID = id
	if m.Name == "" {
		m.Name = id
	}
	return m, nil
}

// modeFile reads one file.
func modeFile(id string, read func(id string) ([]byte, error)) ([]byte, error) {
	data, err := read(id)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = builtinModes.ReadFile("modes/" + id + ".json")
		if err != nil {
			return nil, fmt.Errorf("mode %s: %w", id, ErrNoMode)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mode %s: %w", id, err)
	}
	return data, nil
}

// changedMode returns the file of a parent with the changes of the file of an id, if there is
// one.
func changedMode(data []byte, parent, id string, read func(id string) ([]byte, error)) ([]byte, error) {
	var tree, over map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("mode %s: %w", parent, err)
	}
	changes, err := modeFile(id, read)
	switch {
	case errors.Is(err, ErrNoMode):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(changes, &over); err != nil {
			return nil, fmt.Errorf("mode %s: %w", id, err)
		}
	}
	if data, err = json.Marshal(overlay(tree, over)); err != nil {
		return nil, fmt.Errorf("mode %s: %w", id, err)
	}
	return data, nil
}

// overlay returns a tree with the changes of another.
func overlay(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]any)
	}
	for key, v := range over {
		inner, ok := v.(map[string]any)
		was, both := out[key].(map[string]any)
		if ok && both {
			out[key] = overlay(was, inner)
			continue
		}
		out[key] = v
	}
	return out
}

// languages are the names of languages by their tags, as a model is asked for them.
var languages = map[string]string{
	"ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "es": "Spanish", "fr": "French", "hi": "Hindi", "it": "Italian",
	"ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "tr": "Turkish",
	"zh": "Chinese",
}

// Directive is what a model that writes notes reads about the language, "" for English.
func (m *Mode) Directive() string {
	if m.Prompts.Language != "" {
		return m.Prompts.Language
	}
	tag, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(m.Locale, "_", "-")), "-")
	if tag == "" || tag == "en" {
		return ""
	}
	name := languages[tag]
	if name == "" {
		name = "the language with the tag " + CutRunes(Printable(m.Locale), 16)
	}
	return "Write titles and texts in " + name + "; leave names, commands, paths and quotes as they are."
}
