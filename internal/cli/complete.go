package cli

import (
	"context"
	"slices"
	"strings"

	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/doctor"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

// What the shell is offered at TAB, besides the commands and flags that cobra
// offers on its own. It is asked for while somebody types: it walks nothing,
// creates nothing, and offers nothing where something is wrong.

// A completer lists candidates, each with a description after a tab.
type completer func(ctx context.Context, p *program) []string

// completions says what the arguments of a command are, by the command's path
// without the program's name. The last one stands for all that follow.
var completions = map[string][]completer{
	"show": {liveIDs}, "edit": {liveIDs}, "why": {allIDs}, "history": {allIDs}, "diff": {allIDs}, "restore": {allIDs, nothingMore},
	"archive": {liveIDs}, "unarchive": {allIDs}, "forget": {liveIDs, nothingMore}, "supersede": {liveIDs, liveIDs, nothingMore},
	"hydrate": {liveIDs}, "review keep": {liveIDs}, "review drop": {liveIDs}, "handoff done": {liveIDs, nothingMore},
	"migrate": {projectKeys, projectKeys, nothingMore}, "project alias": {projectKeys, projectKeys, nothingMore},
	"project join":  {projectKeys, nothingMore},
	"sessions show": {sessionKeys, nothingMore}, "sessions forget": {sessionKeys}, "sessions keep": {sessionKeys, nothingMore},
	"config get": {settingKeys, nothingMore}, "config unset": {settingKeys, nothingMore}, "config explain": {settingKeys, nothingMore},
}

// flagCompletions says what the values of a flag are, whatever its command.
var flagCompletions = map[string]completer{
	"project": projectKeys,
	"anchor":  liveIDs,
	"only":    func(context.Context, *program) []string { return doctor.IDs() },
	"scope":   func(context.Context, *program) []string { return []string{string(note.Portable), string(note.Local)} },
	"type": func(context.Context, *program) (types []string) {
		for _, t := range note.Types {
			types = append(types, string(t))
		}
		return types
	},
}

// completes gives cmd and all commands below it their completions.
func (p *program) completes(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.completes(sub)
	}
	for name, list := range flagCompletions {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, p.offering(list))
		}
	}
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	path = formerPath(path)
	if path == "config set" {
		cmd.ValidArgsFunction = p.offerSetting
		return
	}
	kinds := completions[path]
	if len(kinds) == 0 {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		list := kinds[min(len(args), len(kinds)-1)]
		offers, directive := p.offering(list)(cmd, args, begun)
		return slices.DeleteFunc(offers, func(o string) bool {
			word, _, _ := strings.Cut(o, "\t")
			return slices.Contains(args, word)
		}), directive
	}
}

// offering makes of a list what cobra asks for: those that begin with what is typed.
func (p *program) offering(list completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if p.cfg == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offers := slices.DeleteFunc(list(cmd.Context(), p), func(o string) bool { return !strings.HasPrefix(o, begun) })
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// offerSetting offers keys and, behind a key, its values where these are few.
func (p *program) offerSetting(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args)%2 == 0 {
		return p.offering(settingKeys)(cmd, args, begun)
	}
	return p.offering(func(_ context.Context, p *program) []string {
		for _, v := range p.cfg.Values() {
			if v.Key == args[len(args)-1] {
				return slices.Clone(v.Words)
			}
		}
		return nil
	})(cmd, args, begun)
}

func nothingMore(context.Context, *program) []string { return nil }

func liveIDs(ctx context.Context, p *program) []string { return p.offerIDs(ctx, false) }
func allIDs(ctx context.Context, p *program) []string  { return p.offerIDs(ctx, true) }

// offerIDs lists notes, newest first, with their titles.
func (p *program) offerIDs(ctx context.Context, all bool) (ids []string) {
	for _, r := range diagnose.OfferNotes(ctx, p.host(), all) {
		ids = append(ids, string(r.ID)+"\t"+firstLine(strings.Join(strings.Fields(r.Title), " "), 60))
	}
	return ids
}

func projectKeys(ctx context.Context, p *program) []string {
	return diagnose.OfferProjects(ctx, p.host())
}

func sessionKeys(ctx context.Context, p *program) (keys []string) {
	for _, s := range diagnose.OfferSessions(ctx, p.host()) {
		keys = append(keys, s.Key+"\t"+firstLine(s.Title, 60))
	}
	return keys
}

func settingKeys(_ context.Context, p *program) (keys []string) {
	for _, v := range p.cfg.Values() {
		keys = append(keys, v.Key+"\t"+firstLine(v.Doc, 60))
	}
	return keys
}
