package cli

import "github.com/spf13/cobra"

// newTeam is the group of the commands of teams.
func newTeam(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "team",
		Short: "Share notes with a team, and look after its database",
		Long: `Share notes of projects with a team, through a git repository that the team reviews or
through a Postgres database. "anamnesis help teams" shows the first steps.`,
		Example: `  anamnesis team share
  anamnesis team trust
  anamnesis team pg doctor`,
	}
	cmd.AddCommand(newTeamTrust(p))
	return cmd
}
