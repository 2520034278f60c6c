package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A namedCommand is found by its name before it is built.
type namedCommand struct {
	name  string
	build func(*program) *cobra.Command
	group string // in the list of commands; "" hides it there
	path  string // where it is listed instead: the command it belongs to, and its name there
}

// command builds a command of the first level with those that belong to it.
func (c namedCommand) command(p *program) *cobra.Command {
	cmd := c.build(p)
	cmd.GroupID, cmd.Hidden = c.group, c.group == ""
	for _, sub := range commands {
		if parent, name, _ := strings.Cut(sub.path, " "); parent == c.name {
			inner := sub.build(p)
			inner.Use = name + inner.Use[len(sub.name):]
			cmd.AddCommand(inner)
		}
	}
	return cmd
}

// formerPath is the path by which a command was called before it was moved, and its own
// when it was not; both without the name of the program.
func formerPath(path string) string {
	for _, c := range commands {
		if rest, ok := strings.CutPrefix(path+" ", c.path+" "); ok && c.path != "" {
			return strings.TrimSpace(c.name + " " + rest)
		}
	}
	return path
}

// groups are the parts of the list of commands, in its order.
var groups = []*cobra.Group{
	{ID: "start", Title: "Start here"},
	{ID: "notes", Title: "Notes"},
	{ID: "ask", Title: "Ask"},
	{ID: "shown", Title: "What sessions are shown"},
	{ID: "past", Title: "What is and what was"},
	{ID: "take", Title: "Bring in and take out"},
	{ID: "machine", Title: "Machines, teams, settings"},
}

// commands lists the commands, in the order of help. Those with a path were commands of
// the first level once: their old names still work, and help lists the new ones.
var commands = []namedCommand{
	{"demo", newDemo, "start", ""},
	{"init", newInit, "start", ""},
	{"agents", newAgents, "start", ""},
	{"doctor", newDoctor, "start", ""},
	{"upgrade", newUpgrade, "start", ""},
	{"uninstall", newUninstall, "start", ""},

	{"add", newAdd, "notes", ""},
	{"list", newList, "notes", ""},
	{"show", newShow, "notes", ""},
	{"why", newWhy, "notes", ""},
	{"edit", newEdit, "notes", ""},
	{"review", newReview, "notes", ""},
	{"archive", newArchive, "notes", ""},
	{"forget", newForget, "notes", ""},

	{"search", newSearch, "ask", ""},
	{"fix", newFix, "ask", ""},
	{"how", newHow, "ask", ""},
	{"blame", newBlame, "ask", ""},
	{"sessions", newSessions, "ask", ""},
	{"resume", newResume, "ask", ""},

	{"page", newPage, "shown", ""},
	{"slot", newSlot, "shown", ""},
	{"skills", newSkills, "shown", ""},
	{"handoff", newHandoff, "shown", ""},
	{"quiet", newQuiet, "shown", ""},

	{"status", newStatus, "past", ""},
	{"log", newLog, "past", ""},
	{"undo", newUndo, "past", ""},
	{"restore", newRestore, "past", ""},
	{"dashboard", newDashboard, "past", ""},

	{"capture", newCapture, "take", ""},
	{"reflect", newReflect, "take", ""},
	{"import", newImport, "take", ""},
	{"export", newExport, "take", ""},

	{"config", newConfig, "machine", ""},
	{"policy", newPolicy, "machine", ""},
	{"project", newProject, "machine", ""},
	{"sync", newSync, "machine", ""},
	{"team", newTeam, "machine", ""},

	// What programs call, and what only those who work on this one need.
	{"hook", newHook, "", ""},
	{"serve", newServe, "", ""},
	{"merge-driver", newMergeDriver, "", ""},
	{"eval", newEval, "", ""},
	{"man", newMan, "", ""},
	{"version", newVersion, "", ""},

	{"held", newHeld, "", "review held"},
	{"conflicts", newConflicts, "", "review conflicts"},
	{"gaps", newGaps, "", "review gaps"},
	{"verify", newVerify, "", "review stale"},
	{"expire", newExpire, "", "review expired"},
	{"dedup", newDedup, "", "review duplicates"},
	{"unarchive", newUnarchive, "", "archive undo"},
	{"supersede", newSupersede, "", "edit supersede"},
	{"conventions", newConventions, "", "list conventions"},
	{"index", newIndex, "", "list matches"},
	{"timeline", newTimeline, "", "list timeline"},
	{"corpus", newCorpus, "", "list corpus"},
	{"hydrate", newHydrate, "", "show notes"},
	{"workflow", newWorkflow, "", "show workflow"},
	{"inject", newInject, "", "page inject"},
	{"stats", newStats, "", "log stats"},
	{"machines", newMachines, "", "log machines"},
	{"cost", newCost, "", "log cost"},
	{"tail", newTail, "", "log tail"},
	{"history", newHistory, "", "log history"},
	{"diff", newDiff, "", "log diff"},
	{"merge", newMerge, "", "reflect merge"},
	{"consolidate", newConsolidate, "", "reflect consolidate"},
	{"observe", newObserve, "", "reflect observe"},
	{"features", newFeatures, "", "config features"},
	{"mode", newMode, "", "config mode"},
	{"models", newModels, "", "config models"},
	{"calibrate-thresholds", newCalibrate, "", "config calibrate"},
	{"redact", newRedact, "", "config redact"},
	{"migrate", newMigrate, "", "project migrate"},
	{"drain", newDrain, "", "doctor drain"},
	{"reindex", newReindex, "", "doctor reindex"},
	{"backfill-provenance", newBackfill, "", "import provenance"},
	{"share", newShare, "", "team share"},
	{"pg", newPG, "", "team pg"},
}

// needed returns the commands of the first level that a command line is about: building
// all of them takes longer than most commands do. Without the name of one, say to list
// them or to guess which was meant, it is all of them.
func needed(args []string) []namedCommand {
	if len(args) > 0 && args[0] != "man" {
		if i := slices.IndexFunc(commands, func(c namedCommand) bool { return c.name == args[0] }); i >= 0 {
			return commands[i : i+1]
		}
	}
	return commands
}
