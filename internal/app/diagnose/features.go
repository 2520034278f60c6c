package diagnose

import (
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
)

// A FeatureView is a feature and how it is set.
type FeatureView struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Doc      string         `json:"doc"`
	Home     string         `json:"home"`
	State    string         `json:"state"` // on, off, always on
	Settings []config.Value `json:"settings"`
}

// FeaturesAnswer lists the features of this version. Planned is empty: whatever was planned is built.
type FeaturesAnswer struct {
	Features []FeatureView `json:"features"`
	Planned  []string      `json:"planned"`
}

// Features lists the features with some ids or names, or all.
func Features(c *config.Config, names []string) (a FeaturesAnswer, err error) {
	a.Planned = []string{}
	all := config.Features()
	for _, name := range names {
		at := slices.IndexFunc(all, func(f config.Feature) bool { return strings.EqualFold(f.ID, name) || f.Name == name })
		if at < 0 {
			return a, app.Usagef("features: there is no feature %q in this version; `anamnesis config features` lists them", name)
		}
		a.Features = append(a.Features, viewFeature(c, all[at]))
	}
	if len(names) == 0 {
		for _, f := range all {
			a.Features = append(a.Features, viewFeature(c, f))
		}
	}
	return a, nil
}

// viewFeature says how a feature is set.
func viewFeature(c *config.Config, f config.Feature) FeatureView {
	v := FeatureView{ID: f.ID, Name: f.Name, Doc: f.Doc, Home: "internal/" + f.Home, State: "always on"}
	states := make(map[string]bool)
	for _, s := range f.Settings {
		value, err := c.Get(s.Key)
		if err != nil {
			continue // unreachable: the row is of this program
		}
		v.Settings = append(v.Settings, value)
		switch {
		case value.Def == "false" || value.Def == "": // widens what the feature does
		case value.Value == "false" || value.Value == "0":
			states["off"] = true
		default:
			states["on"] = true
		}
	}
	switch first := v.Settings; {
	case states["off"] && !states["on"], len(first) > 0 && first[0].Def == "true" && first[0].Value == "false":
		v.State = "off"
	case states["on"]:
		v.State = "on"
	}
	return v
}
