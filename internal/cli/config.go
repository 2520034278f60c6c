package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/llm"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newConfig(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		RunE: func(*cobra.Command, []string) error {
			return usage("config: say what to do: list, get, set, unset, explain or test")
		},
	}
	for _, sub := range []*cobra.Command{
		{
			Use: "list", Short: "List every setting, its value and where that comes from", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return p.configList() },
		},
		{
			Use: "get KEY", Short: "Print the value of a setting", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				v, err := p.cfg.Get(args[0])
				if err != nil {
					return &app.Error{Kind: app.Usage, Err: fmt.Errorf("config: %w", err)}
				}
				if p.json {
					return p.emit(struct {
						header
						config.Value
					}{head("config"), v})
				}
				p.printf("%s\n", v.Value)
				return nil
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
			RunE: func(cmd *cobra.Command, _ []string) error { return p.configTest(cmd.Context()) },
		},
	} {
		cmd.AddCommand(sub)
	}
	return cmd
}

// configTest asks the model that writes whether it is there.
func (p *program) configTest(ctx context.Context) error {
	var budget llm.Budget // an answer counts, whatever it is for
	if s, err := p.openStore(); err == nil {
		budget = reflection.NewBudget(s, p.cfg.Reflection).For("test")
	}
	text, ok := llm.Ping(ctx, p.cfg.Models.Chat, p.cfg.Models.Network, config.Environ(), budget)
	var failed error
	if !ok {
		failed = &app.Error{Kind: app.Failed}
	}
	if p.json {
		return errors.Join(p.emit(struct {
			header
			OK   bool   `json:"ok"`
			Text string `json:"text"`
		}{head("config"), ok, text}), failed)
	}
	if !ok {
		fmt.Fprintf(p.stderr, "config test: %s\n", printable(text))
		return failed
	}
	p.printf("config test: %s\n", printable(text))
	return nil
}

func (p *program) configList() error {
	values, unknown := p.cfg.Values(), p.cfg.Unknown()
	if p.json {
		return p.emit(struct {
			header
			Settings []config.Value `json:"settings"`
			Unknown  []config.Value `json:"no_effect"`
			Warnings []string       `json:"warnings"`
		}{head("config"), values, append([]config.Value{}, unknown...), append([]string{}, p.cfg.Warnings...)})
	}
	for _, v := range values {
		p.printf("%s = %s  [%s]\n", v.Key, show(v.Value), v.Source)
	}
	for _, v := range unknown {
		p.printf("%s = %s  [file, no effect in this version; kept]\n", v.Key, show(v.Value))
	}
	return nil
}

// show writes a value so that an empty one is seen.
func show(v string) string {
	if v == "" || strings.ContainsAny(v, " \t") {
		return "'" + v + "'"
	}
	return v
}

func (p *program) configChange(verb, done string, changes []config.Change) error {
	var err error
	for i, ch := range changes {
		if ch.Key == "remote" && ch.Value != nil {
			var remote string
			if remote, err = remoteOf(*ch.Value); err != nil {
				return usage("config %s: %w", verb, err)
			}
			changes[i].Value = &remote
		}
	}
	data, err := p.cfg.Edit(changes)
	if err != nil {
		kind := app.Usage
		if p.cfg.Invalid() != nil && errors.Is(err, p.cfg.Invalid()) {
			kind = app.Failed
		}
		prefix := "config " + verb
		if errors.Is(err, config.ErrUnknown) {
			prefix = "config"
		}
		return &app.Error{Kind: kind, Err: fmt.Errorf("%s: %w", prefix, err)}
	}
	s, err := p.openStore()
	if err != nil {
		return err
	}
	if err := p.writeSettings(s, data); err != nil {
		return err
	}
	var keys []string
	for _, ch := range changes {
		keys = append(keys, ch.Key)
	}
	slices.Sort(keys)
	if p.json {
		return p.emit(struct {
			header
			Changed []string `json:"changed"`
		}{head("config"), slices.Compact(keys)})
	}
	p.printf("config: %s %s\n", done, strings.Join(slices.Compact(keys), ", "))
	return nil
}

func (p *program) configExplain(name string) error {
	for _, f := range config.Features() {
		if !strings.EqualFold(f.ID, name) && f.Name != name {
			continue
		}
		if p.json {
			return p.emit(struct {
				header
				ID      string `json:"id"`
				Name    string `json:"name"`
				Doc     string `json:"doc"`
				Without string `json:"without"`
				Home    string `json:"home"`
			}{head("config"), f.ID, f.Name, f.Doc, f.Without, f.Home})
		}
		p.printf("%s %s\n%s\nWithout it: %s\nIts code: internal/%s\n", f.ID, f.Name, f.Doc, f.Without, f.Home)
		return nil
	}
	if slices.Contains(config.Planned, strings.ToUpper(name)) {
		return &app.Error{Kind: app.Usage, Err: fmt.Errorf("config: feature %s is planned and not in this version", strings.ToUpper(name))}
	}
	v, err := p.cfg.Get(name)
	if err != nil {
		return &app.Error{Kind: app.Usage, Err: fmt.Errorf("config: %w; `anamnesis config list` names the settings", err)}
	}
	if p.json {
		return p.emit(struct {
			header
			config.Value
		}{head("config"), v})
	}
	p.printf("%s\n%s\nValue: %s, from %s\nDefault: %s\nMay be: %s\n", v.Key, v.Doc, show(v.Value), v.Source, show(v.Def), v.Values)
	if v.Key == "home" {
		p.printf("Set it with %s=VALUE or --set %s=VALUE\n", v.Env, v.Key)
	} else {
		p.printf("Set it with `anamnesis config set %s VALUE`, %s=VALUE or --set %s=VALUE\n", v.Key, v.Env, v.Key)
	}
	return nil
}

// writeSettings replaces config.json and keeps what it was.
func (p *program) writeSettings(s *store.Store, data []byte) error {
	if err := p.backup(s, config.FileName); err != nil {
		return err
	}
	return s.Replace(config.FileName, data)
}

// saveSettings changes settings for a command that worked them out.
func (p *program) saveSettings(s *store.Store, changes []config.Change) error {
	data, err := p.cfg.Edit(changes)
	if err != nil {
		return err
	}
	return p.writeSettings(s, data)
}
