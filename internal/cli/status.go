package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/config"
	"anamnesis/internal/recall"
	"anamnesis/internal/unread"

	"github.com/spf13/cobra"
)

func newStatus(p *program) *cobra.Command {
	var line bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is in the store and what needs attention",
		Long: `Show what is in the store and what needs attention. --line prints one short line
for a status bar; it changes nothing and reads no note.`,
		Example: `  anamnesis status
  anamnesis status --line`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case line && p.json:
				return usage("status: --line is one line of text; give one of --line and --json")
			case line:
				return p.statusLine(cmd)
			}
			return ask(p, cmd, "status", diagnose.Status, p.printStatus)
		},
	}
	cmd.Flags().BoolVar(&line, "line", false, "one short line")
	return cmd
}

// counted writes a number for each value of a field.
func counted(c app.Counts) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("%d %s", c[k], firstLine(k, 40)))
	}
	return strings.Join(parts, ", ")
}

// syncStanding says in a sentence how the repository stands.
func syncStanding(s app.SyncState) string {
	switch {
	case !s.Initialized && s.Detail == "not initialized":
		return "no repository yet; the first `anamnesis sync` makes it"
	case !s.Initialized:
		return "no repository yet (" + s.Detail + ")"
	}
	remote, dirty := "no remote", ""
	if s.Remote != "" {
		remote = "remote " + s.Remote
	}
	if s.Dirty {
		dirty = ", changes to commit"
	}
	detail := s.Detail
	if detail == "ok" && app.NeedsUser(s.State) { // the repository is, and the next line says what is not
		detail = "not synced"
	}
	return fmt.Sprintf("%s, at %s%s (%s)", remote, s.Head, dirty, detail)
}

// unreadStanding says in a sentence what users typed and no reader has decided on, and who is shown it.
func unreadStanding(c unread.Count, use string, paused bool) string {
	shown := map[string]string{
		string(config.UnreadSame): "shown to the agent to which you typed it", string(config.UnreadAny): "shown to the next agent of the project",
		string(config.UnreadOff): "shown to no agent",
	}[use]
	line := "nothing"
	if c.Sessions > 0 {
		line = fmt.Sprintf("%s of %s, about %d tokens", plural(c.Turns, "message"), plural(c.Sessions, "session"), c.Chars/recall.CharsPerToken)
	}
	line += "; what you type is " + shown + " (`anamnesis config set unread.for`)"
	if paused {
		line += "; paused, because agents answered for none of the last records: `anamnesis config set unread.for " + use + "` goes on"
	}
	if c.Waiting > 0 {
		line += fmt.Sprintf("; %s for you: `anamnesis sessions unread`", waiting(c.Waiting, "session"))
	}
	if c.Empty > 0 {
		line += fmt.Sprintf("; of %s an agent kept nothing", plural(c.Empty, "session"))
	}
	return line
}

// waiting writes a count of things that wait.
func waiting(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " waits"
	}
	return plural(n, noun) + " wait"
}

func (p *program) printStatus(s diagnose.StatusAnswer) {
	p.printf("store: %s\n", s.Root)
	p.printf("notes: %d", s.Total)
	workspaces := s.ByWorkspace
	if len(workspaces) == 1 { // all notes are there, which says nothing
		workspaces = nil
	}
	for _, c := range []app.Counts{s.ByType, s.ByScope, workspaces} {
		if len(c) > 0 {
			p.printf(" · %s", counted(c))
		}
	}
	p.printf("\nsync: %s\n", syncStanding(s.Sync))
	p.printSyncState(s.Sync)
	p.printf("recall: %s\n", s.Recall)
	p.printf("reader of ended sessions: %s\n", s.Reader)
	p.printf("unread: %s\n", unreadStanding(s.Unread, s.UnreadFor, s.Paused))
	if s.ReadOnly {
		p.printf("the store cannot be written: %s\n", s.Unwritable)
	}
	if s.Rules != "" {
		p.printf("nothing is captured until your redaction rules can be read: %s\n", s.Rules)
	}
	if s.Policy != "" {
		p.printf("policy: %s\n", s.Policy)
	}
	if s.Spool > 0 {
		p.printf("spool: %s waiting; `anamnesis doctor drain` works on them\n", plural(s.Spool, "session"))
	}
	for _, g := range s.GivenUp {
		why := ""
		if g.Why != "" {
			why = " (" + g.Why + ")"
		}
		p.printf("spool: %s was given up%s; look at it, then delete it or move it back to spool/\n", g.Path, why)
	}
	if s.Server == "which answers" {
		p.printf("index: on a server, which answers\n")
	} else if s.Server != "" {
		p.printf("index: on a server; %s\n", s.Server)
	}
	if t := s.Team; t != nil {
		p.printf("team: %s shared, %s of others%s\n", plural(len(t.Projects), "project"), plural(t.Mirror.Notes, "note"),
			map[bool]string{true: "; the database was not asked yet", false: " as of " + t.Mirror.At}[t.Mirror.At == ""])
	}
	p.printTrustedTeammates(s.Trusted)
	if all := s.Waiting.List(); len(all) > 0 {
		parts := make([]string, len(all))
		for i, w := range all {
			parts[i] = w.What
		}
		p.printf("waiting for you: %d: %s; `anamnesis review` lists them\n", s.Waiting.Sum(), strings.Join(parts, ", "))
	}
	s.Refused.Quarantine = 0 // the line above counts those
	if text := s.Refused.Text(); text != "" {
		p.printf("reads like orders to an agent: %s\n", text)
	}
	if line := app.DamagedLine(len(s.Damaged)); line != "" {
		p.printf("%s\n", line)
	}
	for _, pr := range s.Problems {
		if slices.ContainsFunc(s.Damaged, func(d app.DamagedNote) bool { return filepath.Join(s.Root, d.Path) == pr.Path }) {
			continue
		}
		what := "not a note"
		if pr.Sidecar {
			what = "left out of a sidecar"
		}
		p.printf("%s: %s: %s\n", what, pr.Path, pr.Reason)
	}
	for _, a := range s.Aside {
		p.printf("set aside: %s is the index of another program; delete it when that program is gone\n", a)
	}
	for _, l := range s.Links {
		p.printf("not followed: %s is a symbolic link or a special file\n", l)
	}
}
