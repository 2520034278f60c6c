package cli

import (
	"anamnesis/internal/app"
	"anamnesis/internal/cli/tui"
	"anamnesis/internal/config"

	"github.com/spf13/cobra"
)

func newTUI(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "tui",
		Short: "Browse and review the memory in the terminal",
		Long: `Show the memory as a screen of the terminal, as the dashboard does in a browser: notes with
a search as you type, what waits for you, and the recall lab with scores, arms, gate and
reasons. The keys stand at the bottom. It works over ssh, from 80 columns and 24 lines on.`,
		Example: `  anamnesis tui`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.json || !terminal(p.stdin) || columns(p.stdout) == 0 {
				return usage("tui: it wants a terminal; `anamnesis list`, `search` and `review` print, with --json too")
			}
			p.lasting = true
			h := p.host()
			h.Face = "tui"
			h.Notify = nil // it would be written over the screen
			p.cfg.Recall.GapLog = false
			r, err := app.OpenWalked(cmd.Context(), h)
			if err != nil {
				return err
			}
			defer r.Close()
			return tui.Run(cmd.Context(), r, tui.Options{Input: p.stdin, Output: p.stdout, Environ: config.Environ(), Plain: p.plain})
		},
	}
}
