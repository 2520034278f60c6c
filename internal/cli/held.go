package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newHeld(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "Decide on notes that wait because they nearly exist",
		Long: `A note that a machine wrote and that says almost what another note says is held
back until you decide. Without arguments the held notes are listed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			drafts := s.Spool().Held()
			if p.json {
				all := make([]app.NoteHead, 0, len(drafts))
				for _, n := range drafts {
					all = append(all, app.HeadOf(n))
				}
				return p.emit(struct {
					header
					Held []app.NoteHead `json:"held"`
				}{head("held"), all})
			}
			for _, n := range drafts {
				p.printf("%s  [%s] %s\n    %s\n", n.ID, n.Type, firstLine(n.Title, 100), firstLine(n.Body, 100))
			}
			if len(drafts) == 0 {
				p.note("nothing is held")
			}
			return nil
		},
	}
	keep := &cobra.Command{
		Use: "keep ID", Short: "Write a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := note.ParseID(args[0])
			if err != nil {
				return usage("%w", err)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			if err := m.MayRedact(); err != nil {
				return err
			}
			out, err := m.Ingester.Keep(cmd.Context(), id)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w; `anamnesis held` lists them", err)
			}
			if err != nil {
				return err
			}
			return p.printOutcome(m, "held", out)
		},
	}
	drop := &cobra.Command{
		Use: "drop ID", Short: "Forget a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := note.ParseID(args[0])
			if err != nil {
				return usage("%w", err)
			}
			s, err := p.openStore()
			if err != nil {
				return err
			}
			n, err := s.Spool().HeldDraft(id)
			if err != nil {
				return fmt.Errorf("%w; `anamnesis held` lists them", err)
			}
			if err := ingest.DropDraft(cmd.Context(), s, id); err != nil {
				return err
			}
			if p.json {
				return p.emit(struct {
					header
					Dropped app.NoteHead `json:"dropped"`
				}{head("held"), app.HeadOf(n)})
			}
			p.printf("held: dropped %s %q\n", id, firstLine(n.Title, 60))
			return nil
		},
	}
	cmd.AddCommand(keep, drop)
	return cmd
}
