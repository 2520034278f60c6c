package cli

import (
	"anamnesis/internal/app/diagnose"

	"github.com/spf13/cobra"
)

func newFeatures(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "features [ID...]",
		Short: "List the features: what each does, whether it is on, where it lives",
		Long: `List the features with their switches as they are set: the id, whether it is on, what
it does, and the file of its code. Each has a proof, a script of the tests that fails
when the feature is taken out.`,
		Example: `  anamnesis config features
  anamnesis config features R3 R7`,
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := diagnose.Features(p.cfg, args)
			return render(p, "features", a, err, func(a diagnose.FeaturesAnswer) {
				for _, f := range a.Features {
					p.printf("%-4s %-20s %-9s  %s\n       %s\n", f.ID, f.Name, f.State, f.Home, f.Doc)
					for _, v := range f.Settings {
						p.printf("       %s = %s  [%s]\n", v.Env, show(v.Value), v.Source)
					}
				}
			})
		},
	}
}
