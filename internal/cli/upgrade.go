package cli

import (
	"anamnesis/internal/app/setup"

	"github.com/spf13/cobra"
)

// The linker sets these in releases: where the newest release is, and the key that signs it.
var releases, releaseKey string

func newUpgrade(p *program) *cobra.Command {
	o := setup.UpgradeOptions{Build: setup.Build{Version: version, Address: releases, PublicKey: releaseKey}}
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Replace this program by the newest release",
		Long: `Ask the address of releases which one is the newest, and say from which version to which
this program would go. --apply downloads it, and puts it in the place of this program: after
the signature of the release's checksums fits the key that this program was built with, the
archive its checksum, and the new program was started once. The former program stays beside
it, and --rollback brings it back.

What a package manager or ` + "`go install`" + ` put there is theirs: then their command is named, and
nothing is asked or changed. --from names another address than the one this program was
built with. Nothing but this command ever asks it; it is sent the names of files and nothing else.`,
		Example: `  anamnesis upgrade
  anamnesis upgrade --apply
  anamnesis upgrade --rollback --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := setup.Upgrade(cmd.Context(), p.host(), o)
			return render(p, "upgrade", a, err, p.printUpgrade)
		},
	}
	cmd.Flags().StringVar(&o.From, "from", "", "`ADDRESS` of the folder with the newest release")
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&o.Rollback, "rollback", false, "go back to the program that the last upgrade replaced")
	return cmd
}

func (p *program) printUpgrade(a setup.UpgradeAnswer) {
	switch {
	case a.Command != "":
		p.printf("upgrade: %s is %s, %s; to update it: %s\n", a.Program, a.From, origins[a.Origin], a.Command)
	case !a.Newer:
		p.printf("upgrade: %s is %s; the newest release is %s\n", a.Program, a.From, a.To)
	case a.Applied:
		p.printf("upgrade: %s is now %s, and was %s\n", a.Program, a.To, a.From)
		p.printf("undo: anamnesis upgrade --rollback --apply\n")
	default:
		p.printf("upgrade: would replace %s %s by %s\n", a.Program, a.From, a.To)
		if a.Archive != "" {
			p.printf("  %s\n  SHA-256 %s, signed\n", a.Archive, a.SHA256)
		}
		p.printf("nothing was changed yet; add --apply to do it\n")
	}
}

// origins say in words who put a program where it is.
var origins = map[string]string{
	"deb": "a package of Debian's kind", "rpm": "a package of RPM", "apk": "a package of Alpine's kind",
	"homebrew": "installed by Homebrew", "scoop": "installed by Scoop", "npm": "installed by npm",
	"source": "built from source",
}
