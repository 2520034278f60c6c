package setup

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/embed/models"
)

// A ModelView is a model that runs on this machine, or would.
type ModelView struct {
	Name    string        `json:"name"`
	Kind    string        `json:"kind"` // models.Encoder or CrossEncoder; "" while it is not known
	What    string        `json:"what"`
	Licence string        `json:"licence"` // "" when its files say none
	Source  string        `json:"source"`
	Added   string        `json:"added_at,omitempty"`
	Bytes   int64         `json:"bytes"`
	Files   []models.File `json:"files"`
	UsedBy  []string      `json:"used_by"` // settings that name it
	Problem string        `json:"problem,omitempty"`
}

// ModelsAnswer lists models.
type ModelsAnswer struct {
	Models []ModelView `json:"models"`
}

// ModelAdded says what was added, or would be.
type ModelAdded struct {
	Applied bool      `json:"applied"`
	Model   ModelView `json:"model"`
	TookMS  float64   `json:"took_ms,omitempty"` // for a short text, once it is added
	Setting string    `json:"setting,omitempty"` // that uses such a model
}

// ModelRemoved says what was removed.
type ModelRemoved struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func viewModel(r *app.Rooms, m *models.Manifest, problem string) ModelView {
	v := ModelView{
		Name: m.Name, Kind: m.Kind, What: m.What, Licence: m.Licence, Source: m.Source, Added: m.Added, Bytes: m.Bytes(),
		Files: append([]models.File{}, m.Files...), UsedBy: []string{}, Problem: problem,
	}
	named := app.NamedModels(r)
	for _, setting := range slices.Sorted(maps.Keys(named)) {
		if named[setting] == m.Name {
			v.UsedBy = append(v.UsedBy, setting)
		}
	}
	return v
}

// ListModels lists the models of this machine and checks every file of them. When one is
// not whole, the answer comes with an error of kind Degraded.
func ListModels(r *app.Rooms) (ModelsAnswer, error) {
	a := ModelsAnswer{Models: []ModelView{}}
	all, err := app.ModelFolder(r).List()
	if err != nil {
		return a, err
	}
	wrong := false
	for _, s := range all {
		a.Models = append(a.Models, viewModel(r, &s.Manifest, s.Problem))
		wrong = wrong || s.Problem != ""
	}
	if wrong {
		return a, &app.Error{Kind: app.Degraded}
	}
	return a, nil
}

// AddModel adds a model, if apply is set, or says what would be added. Nothing is fetched
// but what the order names.
func AddModel(ctx context.Context, r *app.Rooms, o models.Order, apply bool) (ModelAdded, error) {
	var a ModelAdded
	if strings.TrimSpace(o.From) == "" {
		return a, app.Usagef("models add: name a folder or an address")
	}
	if o.Name != "" {
		if err := models.CheckName(o.Name); err != nil {
			return a, &app.Error{Kind: app.Usage, Err: err}
		}
	}
	if apply && r.Store.ReadOnly() {
		return a, app.Usagef("models add: the store at %s can only be read", r.Store.Path(""))
	}
	o.Proxy = r.Config.Models.Network.Proxy
	act := app.ModelFolder(r).Look
	if apply {
		bar := r.Progress("taking in the model, KB")
		defer bar.Done()
		o.Progress = bar.Step
		act = app.ModelFolder(r).Add
	}
	p, err := act(ctx, o)
	if errors.Is(err, fs.ErrExist) {
		return a, &app.Error{Kind: app.Usage, Err: err}
	}
	if err != nil {
		return a, err
	}
	a.Applied, a.Model, a.TookMS = apply, viewModel(r, &p.Manifest, ""), float64(p.Took.Microseconds())/1000
	switch p.Kind {
	case models.Encoder:
		a.Setting = app.EmbedSetting
	case models.CrossEncoder:
		a.Setting = app.RerankSetting
	}
	return a, nil
}

// RemoveModel deletes a model that no setting names.
func RemoveModel(r *app.Rooms, name string) (ModelRemoved, error) {
	if err := models.CheckName(name); err != nil {
		return ModelRemoved{}, &app.Error{Kind: app.Usage, Err: err}
	}
	for key, used := range app.NamedModels(r) {
		if used == name {
			return ModelRemoved{}, app.Usagef("models remove: the setting %s names %s; `anamnesis config unset %s` first", key, name, key)
		}
	}
	a := ModelRemoved{Name: name}
	if m, err := app.ModelFolder(r).Read(name); err == nil { // else it goes without being counted
		a.Bytes = m.Bytes()
	}
	err := app.ModelFolder(r).Remove(name)
	if errors.Is(err, models.ErrNone) {
		return a, app.Errorf(app.NotFound, "models remove: %w; `anamnesis config models` lists those of this machine", err)
	}
	return a, err
}
