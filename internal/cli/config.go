package cli

import (
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/config"

	"github.com/spf13/cobra"
)

func newConfig(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings, modes and models",
		Example: `  anamnesis config list
  anamnesis config explain sync.on
  anamnesis config set inject.prompt.on false`,
		RunE: func(*cobra.Command, []string) error {
			return usage("config: say what to do: list, get, set, unset, explain or test")
		},
	}
	for _, sub := range []*cobra.Command{
		{
			Use: "list", Short: "List every setting, its value and where that comes from", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				return render(p, "config", app.Settings(p.cfg), nil, p.printSettings)
			},
		},
		{
			Use: "get KEY", Short: "Print the value of a setting", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				v, err := app.Setting(p.cfg, args[0])
				return render(p, "config", v, err, func(v config.Value) { p.printf("%s\n", v.Value) })
			},
		},
		{
			Use: "set KEY VALUE [KEY VALUE]...", Short: "Write values to config.json",
			RunE: func(_ *cobra.Command, args []string) error {
				if len(args) == 0 || len(args)%2 != 0 {
					return usage("config set: give pairs of KEY and VALUE")
				}
				var changes []config.Change
				for i := 0; i < len(args); i += 2 {
					changes = append(changes, config.Change{Key: args[i], Value: &args[i+1]})
				}
				return p.configChange("set", "updated", changes)
			},
		},
		{
			Use: "unset KEY", Short: "Remove a value from config.json", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				return p.configChange("unset", "unset", []config.Change{{Key: args[0]}})
			},
		},
		{
			Use: "explain KEY|FEATURE", Short: "Tell what a setting or a feature does", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return p.configExplain(args[0]) },
		},
		{
			Use: "test", Short: "Ask the configured model for one word", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				t, err := app.TestModel(cmd.Context(), p.host())
				return render(p, "config", t, err, func(t app.ModelTest) {
					if !t.OK {
						p.errorf("config test: %s\n", printable(t.Text))
						return
					}
					p.printf("config test: %s\n", printable(t.Text))
				})
			},
		},
	} {
		cmd.AddCommand(sub)
	}
	return cmd
}

func (p *program) printSettings(a app.SettingsAnswer) {
	for _, v := range a.Settings {
		p.printf("%s = %s  [%s]\n", v.Key, show(v.Value), v.Source)
	}
	for _, v := range a.Unknown {
		p.printf("%s = %s  [file, no effect in this version; kept]\n", v.Key, show(v.Value))
	}
}

// show writes a value so that an empty one is seen.
func show(v string) string {
	if v == "" || strings.ContainsAny(v, " \t") {
		return "'" + v + "'"
	}
	return v
}

func (p *program) configChange(verb, done string, changes []config.Change) error {
	a, err := app.ChangeSettings(p.host(), verb, changes)
	return render(p, "config", a, err, func(a app.ChangedSettings) { p.printf("config: %s %s\n", done, strings.Join(a.Changed, ", ")) })
}

// featureAnswer is what explain prints of a feature.
type featureAnswer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Without string `json:"without"`
	Home    string `json:"home"`
}

func (p *program) configExplain(name string) error {
	e, err := app.ExplainSetting(p.cfg, name)
	if f := e.Feature; err == nil && f != nil {
		return render(p, "config", featureAnswer{f.ID, f.Name, f.Doc, f.Without, f.Home}, nil, func(f featureAnswer) {
			p.printf("%s %s\n%s\nWithout it: %s\nIts code: internal/%s\n", f.ID, f.Name, f.Doc, f.Without, f.Home)
		})
	}
	return render(p, "config", e.Setting, err, func(v *config.Value) {
		p.printf("%s\n%s\nWho changes it: %s\n", v.Key, v.Doc, v.Who)
		p.printf("Value: %s, from %s\nDefault: %s\nMay be: %s\n", show(v.Value), v.Source, show(v.Def), v.Values)
		if v.Key == "home" {
			p.printf("Set it with %s=VALUE or --set %s=VALUE\n", v.Env, v.Key)
		} else {
			p.printf("Set it with `anamnesis config set %s VALUE`, %s=VALUE or --set %s=VALUE\n", v.Key, v.Env, v.Key)
		}
	})
}
