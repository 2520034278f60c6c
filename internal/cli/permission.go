package cli

import (
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

// commandActs says what a command does that not everybody may do (docs/authority.md). A command with the
// flag --apply does it with that flag, with --now or with --undo. Commands that write notes are ingest.Write: Admit decides
// about each note. Every other command reads, fills the index or carries out what is due.
var commandActs = map[string]ingest.Act{
	"add": ingest.Write, "edit": ingest.Write, "capture": ingest.Write, "import bundle": ingest.Write, "import native": ingest.Write,
	"import reflect": ingest.Write, "import transcripts": ingest.Write, "observe": ingest.Write, "reflect observe": ingest.Write,
	"handoff leave": ingest.Write, "handoff done": ingest.Write, "sessions keep": ingest.Write,
	"share": ingest.Write, "team share": ingest.Write,
	"slot append": ingest.Write, "slot edit": ingest.Write, "slot clear": ingest.Write, "demo": ingest.Write,
	"gaps close": ingest.Write, "review gaps close": ingest.Write,

	"edit supersede": ingest.Decide, "supersede": ingest.Decide,
	"slot pin": ingest.Decide, "slot unpin": ingest.Decide, "slot limit": ingest.Decide,
	"review": ingest.Decide, "review keep": ingest.Decide, "review edit": ingest.Decide, "review reject": ingest.Decide,
	"review merge": ingest.Decide, "review retire": ingest.Decide, "review stale keep": ingest.Decide, "verify keep": ingest.Decide,
	"held keep": ingest.Decide, "held drop": ingest.Decide, "held release": ingest.Decide,
	"review held keep": ingest.Decide, "review held drop": ingest.Decide, "review held release": ingest.Decide,
	"sessions unread done": ingest.Decide,
	"conflicts resolve":    ingest.Decide, "review conflicts resolve": ingest.Decide, "dashboard": ingest.Decide,

	"archive": ingest.ArchiveAny, "archive undo": ingest.ArchiveAny, "unarchive": ingest.ArchiveAny, "review drop": ingest.ArchiveAny,
	"expire": ingest.ArchiveAny, "review expired": ingest.ArchiveAny, "dedup": ingest.ArchiveAny, "review duplicates": ingest.ArchiveAny,

	"forget": ingest.Erase, "sessions forget": ingest.Erase, "corpus delete": ingest.Erase, "list corpus delete": ingest.Erase,

	"undo": ingest.TakeBack, "restore": ingest.TakeBack, "skills undo": ingest.TakeBack,

	"config set": ingest.Configure, "config unset": ingest.Configure, "config mode set": ingest.Configure, "mode set": ingest.Configure,
	"config models add": ingest.Configure, "config models remove": ingest.Configure,
	"models add": ingest.Configure, "models remove": ingest.Configure,
	"config calibrate": ingest.Configure, "calibrate-thresholds": ingest.Configure, "project alias": ingest.Configure,
	"project join":    ingest.Configure,
	"project migrate": ingest.Configure, "migrate": ingest.Configure, "import provenance": ingest.Configure,
	"backfill-provenance": ingest.Configure, "quiet": ingest.Configure,
	"team pg setup": ingest.Configure, "pg setup": ingest.Configure, "team pg migrate": ingest.Configure, "pg migrate": ingest.Configure,
	"team pg remove-member": ingest.Configure, "pg remove-member": ingest.Configure, "team pg remove-note": ingest.Configure,
	"pg remove-note": ingest.Configure, "log machines revoke": ingest.Configure, "machines revoke": ingest.Configure,

	"team trust": ingest.Trust, "team pg trust": ingest.Trust, "pg trust": ingest.Trust,
	"team pg add-member": ingest.Trust, "pg add-member": ingest.Trust,
	"log machines add": ingest.Trust, "machines add": ingest.Trust, "log machines recovery": ingest.Trust, "machines recovery": ingest.Trust,
}

// permitted refuses a command that its author may not run.
func (p *program) permitted(cmd *cobra.Command) error {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	act := commandActs[path]
	if path == "sync" && cmd.Flags().Changed("replace") {
		act = ingest.Configure
	}
	if path == "team trust" && cmd.Flags().NArg() == 0 { // it lists
		act = 0
	}
	if path == "review" && !cmd.Flags().Changed("walk") || path == "undo" && cmd.Flags().Changed("list") {
		act = 0
	}
	if act == 0 || act == ingest.Write {
		return nil
	}
	does := func(flag string) bool { return cmd.Flags().Changed(flag) }
	if cmd.Flags().Lookup("apply") != nil && path != "undo" && !does("apply") && !does("now") && !does("undo") {
		return nil // it only lists; undo takes a decision back at once
	}
	if err := ingest.May(p.author(), act); err != nil {
		return app.Errorf(app.Failed, "%s: %w", path, err)
	}
	return nil
}
