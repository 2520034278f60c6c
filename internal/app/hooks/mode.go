package hooks

import (
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// A ModeView is a mode that can be chosen.
type ModeView struct {
	ID          string              `json:"id"`
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Locale      string              `json:"locale,omitempty"`
	Types       []note.LearningType `json:"learning_types,omitempty"`
	ShownTypes  []string            `json:"told_types,omitempty"`
	Settings    map[string]any      `json:"settings,omitempty"`
	Directive   string              `json:"directive,omitempty"`
	Chosen      bool                `json:"chosen"`
	From        string              `json:"from,omitempty"` // who chose it: flag, env, project, file, default
	Wrong       string              `json:"wrong,omitempty"`
}

func modeView(c *config.Config, id string) ModeView {
	m, err := c.ReadMode(id)
	v := ModeView{
		ID: id, Name: m.Name, Description: m.Description, Locale: m.Locale, Types: m.LearningTypes, ShownTypes: m.ShownTypes,
		Settings: m.Settings, Directive: m.Directive(), Chosen: id == c.Mode.ID,
	}
	if v.Chosen {
		v.From = string(c.SourceOf("mode"))
	}
	if err != nil {
		v.Wrong = err.Error()
	}
	return v
}

// ModesAnswer lists modes.
type ModesAnswer struct {
	Modes []ModeView `json:"modes"`
}

// WorkModes lists the modes that can be chosen.
func WorkModes(c *config.Config) ModesAnswer {
	all := []ModeView{}
	for _, id := range c.ModeIDs() {
		v := modeView(c, id)
		v.Types, v.Settings, v.ShownTypes, v.Directive = nil, nil, nil, ""
		all = append(all, v)
	}
	return ModesAnswer{all}
}

// ModeOf returns a mode, "" for the one that is in force.
func ModeOf(c *config.Config, id string) (ModeView, error) {
	if id == "" {
		id = c.Mode.ID
	}
	v := modeView(c, id)
	if v.Wrong != "" {
		return v, app.Errorf(app.NotFound, "%s; `anamnesis config mode list` names them", v.Wrong)
	}
	return v, nil
}

// SetMode chooses a mode: for all projects of this user, or, with a folder, for the project
// there, in its file .anamnesis/config.json.
func SetMode(h app.Host, id, dir string) (ModeView, error) {
	v, err := ModeOf(h.Config, id)
	if err != nil {
		return v, err
	}
	if dir != "" {
		if v.From, err = project.PreferMode(dir, h.Config.UserHome, id); err != nil {
			return v, fmt.Errorf("set mode: %w", err)
		}
		return v, nil
	}
	if _, err := app.ChangeSettings(h, "set", []config.Change{{Key: "mode", Value: &id}}); err != nil {
		return v, err
	}
	v.From = string(config.FromFile)
	return v, nil
}
