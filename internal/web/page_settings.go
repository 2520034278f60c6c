package web

import (
	"context"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
)

// A settingsPage is every setting, where its value comes from, and what is wrong.
type settingsPage struct {
	Groups   []settingGroup `json:"groups"`
	Unknown  []config.Value `json:"no_effect"`
	Warnings []string       `json:"warnings"`
	Test     *job           `json:"test,omitempty"`
	File     string         `json:"file"`
}

type settingGroup struct {
	Name string       `json:"name"`
	Rows []settingRow `json:"settings"`
}

// A settingRow is one setting. A secret has no value that could be read.
type settingRow struct {
	config.Value
	Secret bool `json:"secret"`
	Fixed  bool `json:"fixed"` // something stronger than the file says it
}

// secretKeys are the last words of the keys of secrets.
var secretKeys = []string{"key", "api_key", "token", "password", "secret"}

func isSecret(key string) bool {
	return slices.Contains(secretKeys, key[strings.LastIndex(key, ".")+1:])
}

func settings(r *request) (any, error) {
	a := app.Settings(r.rooms.Config)
	p := settingsPage{Unknown: a.Unknown, Warnings: a.Warnings, Test: r.s.jobs.last("model test"), File: r.rooms.Store.Path(config.FileName)}
	at := map[string]int{}
	for _, v := range a.Settings {
		name, _, grouped := strings.Cut(v.Key, ".")
		if !grouped {
			name = "this machine"
		}
		i, ok := at[name]
		if !ok {
			i = len(p.Groups)
			at[name] = i
			p.Groups = append(p.Groups, settingGroup{Name: name})
		}
		fixed := v.Source != config.FromDefault && v.Source != config.FromFile || v.Key == "home"
		p.Groups[i].Rows = append(p.Groups[i].Rows, settingRow{v, isSecret(v.Key), fixed})
	}
	return p, nil
}

// saveSettings writes the settings of a form that differ from what they are.
func saveSettings(r *request) (done, error) {
	d := done{To: "/settings"}
	if key := r.get("reset"); key != "" {
		return d.change(r, []config.Change{{Key: key}})
	}
	var changed []config.Change
	for key, values := range r.form {
		v, err := r.rooms.Config.Get(key)
		if err != nil {
			if !slices.Contains([]string{"csrf", "group", "clear"}, key) {
				return d, app.Errorf(app.Usage, "settings: %w", err)
			}
			continue
		}
		value := strings.TrimSpace(values[len(values)-1])
		if value == v.Value || isSecret(key) && value == "" {
			continue
		}
		changed = append(changed, config.Change{Key: key, Value: &value})
	}
	if key := r.get("clear"); key != "" {
		changed = append(changed, config.Change{Key: key})
	}
	slices.SortFunc(changed, func(a, b config.Change) int { return strings.Compare(a.Key, b.Key) })
	if g := r.get("group"); g != "" {
		d.To += "#" + strings.ReplaceAll(g, " ", "-")
	}
	return d.change(r, changed)
}

// change writes settings and opens the store again with them.
func (d done) change(r *request, changed []config.Change) (done, error) {
	if len(changed) == 0 {
		d.Text = "Nothing changed"
		return d, nil
	}
	a, err := app.ChangeSettings(app.Host{Config: r.rooms.Config}, "set", changed)
	if err != nil {
		return d, err
	}
	d.Text, d.Data = "Saved: "+strings.Join(a.Changed, ", "), a
	if err := r.s.open(r.ctx); err != nil {
		return d, err
	}
	r.s.changed()
	return d, nil
}

// testModel asks the model that writes for one word, behind the page.
func testModel(r *request) (done, error) {
	c := r.rooms.Config
	_, err := r.s.run("model test", func(ctx context.Context, _ *app.Rooms) (any, error) {
		return app.TestModel(ctx, app.Host{Config: c})
	})
	return done{Text: "The model is asked", To: "/settings#test"}, err
}
