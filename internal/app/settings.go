package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/llm"
	"anamnesis/internal/reflection"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/unread"
)

// SettingsAnswer lists every setting.
type SettingsAnswer struct {
	Settings []config.Value `json:"settings"`
	Unknown  []config.Value `json:"no_effect"`
	Warnings []string       `json:"warnings"`
}

// Settings lists every setting, its value and where that comes from.
func Settings(c *config.Config) SettingsAnswer {
	return SettingsAnswer{c.Values(), c.Unknown(), c.Warnings}
}

// Setting returns one setting. The error is of kind Usage when there is none of
// that key.
func Setting(c *config.Config, key string) (config.Value, error) {
	v, err := c.Get(key)
	if err != nil {
		err = Errorf(Usage, "config: %w", err)
	}
	return v, err
}

// An Explanation is what a feature or a setting does. Exactly one of them is set.
type Explanation struct {
	Feature *config.Feature
	Setting *config.Value
}

// ExplainSetting tells what a setting, or the feature with an id or a name, does.
func ExplainSetting(c *config.Config, name string) (Explanation, error) {
	for _, f := range config.Features() {
		if strings.EqualFold(f.ID, name) || f.Name == name {
			return Explanation{Feature: &f}, nil
		}
	}
	v, err := c.Get(name)
	if err != nil {
		return Explanation{}, Usagef("config: %w; `anamnesis config list` names the settings", err)
	}
	return Explanation{Setting: &v}, nil
}

// ChangedSettings names the settings that were changed, sorted.
type ChangedSettings struct {
	Changed []string `json:"changed"`
}

// ChangeSettings writes values to config.json, or removes them; verb names what
// is done in errors. The file as it was is kept beside it.
func ChangeSettings(h Host, verb string, changes []config.Change) (a ChangedSettings, err error) {
	c := h.Config
	for i, ch := range changes {
		if ch.Key == "remote" && ch.Value != nil {
			remote, err := RemoteOf(*ch.Value)
			if err != nil {
				return a, Usagef("config %s: %w", verb, err)
			}
			changes[i].Value = &remote
		}
	}
	s, err := OpenStore(h)
	if err != nil {
		return a, err
	}
	if !s.ReadOnly() { // of two that change it at once the second sees what the first wrote
		unlock, err := s.Lock(context.Background())
		if err != nil {
			return a, err
		}
		defer unlock()
	}
	data, err := c.Edit(changes)
	if err != nil {
		kind, prefix := Usage, "config "+verb
		if c.Invalid() != nil && errors.Is(err, c.Invalid()) {
			kind = Failed
		}
		if errors.Is(err, config.ErrUnknown) {
			prefix = "config"
		}
		return a, Errorf(kind, "%s: %w", prefix, err)
	}
	if err := WriteConfig(s, data); err != nil {
		return a, err
	}
	for _, ch := range changes {
		a.Changed = append(a.Changed, ch.Key)
	}
	slices.Sort(a.Changed)
	a.Changed = slices.Compact(a.Changed)
	return a, chosen(s, a.Changed)
}

// chosen ends what a choice of the user ends: a pause in which agents are shown no unread turns.
func chosen(s *store.Store, keys []string) error {
	if !slices.Contains(keys, config.UnreadKey) {
		return nil
	}
	return unread.Of(s).Resume()
}

// WriteConfig replaces config.json and keeps what it was.
func WriteConfig(s *store.Store, data []byte) error {
	if err := connect.BackUp(s, config.FileName); err != nil {
		return err
	}
	return s.Replace(config.FileName, data)
}

// SaveSettings changes settings for a use case that worked them out.
func SaveSettings(r *Rooms, changes []config.Change) error {
	unlock, err := r.Store.Lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	data, err := r.Config.Edit(changes)
	if err != nil {
		return err
	}
	return WriteConfig(r.Store, data)
}

// ModelTest is whether the model that writes answers, and what it said.
type ModelTest struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// TestModel asks the model that writes for one word. When it does not answer the
// error is of kind Failed and comes with the answer.
func TestModel(ctx context.Context, h Host) (t ModelTest, err error) {
	c := h.Config
	var budget *llm.Budget // an answer counts, whatever it is for
	if s, err := OpenStore(h); err == nil {
		budget = reflection.NewBudget(s, c.Reflection).For("test")
	}
	if t.Text, t.OK = llm.Ping(ctx, c.Models.Chat, c.Models.Network, config.Environ(), budget); !t.OK {
		err = &Error{Kind: Failed}
	}
	return t, err
}

// RemoteOf checks the address of a remote, "" for none. A path means one in this
// folder now, wherever git runs later.
func RemoteOf(address string) (string, error) {
	address = strings.TrimSpace(address)
	if err := replica.CheckRemote(address); err != nil {
		return "", err
	}
	if path, ok := replica.LocalPath(address); ok && !strings.HasPrefix(path, "~") {
		return filepath.Abs(path)
	}
	return address, nil
}
