package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/replica"
)

// The oldest git that has what the sync uses (docs/sync.md).
const gitMajor, gitMinor = 2, 30

func checkGit(ctx context.Context, p *Target) Result {
	if p.GitVersion == nil {
		return skip("git was not asked")
	}
	said, err := p.GitVersion(ctx)
	if err != nil {
		return warn("install git 2.30 or newer; until then notes are kept as files on this machine only",
			fmt.Sprintf("git cannot be used: %v", err))
	}
	var major, minor int
	version := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(said), "git version"))
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 {
		return info("run `git --version` and look that it is 2.30 or newer", "git says "+said)
	}
	if major < gitMajor || major == gitMajor && minor < gitMinor {
		return warn("install git 2.30 or newer; until then notes are not synced", "git "+version+" is too old")
	}
	return ok("git " + version)
}

func checkName(ctx context.Context, p *Target) Result {
	if p.Namesakes == nil {
		return skip("nobody knows about the other machines")
	}
	others, err := p.Namesakes(ctx)
	switch {
	case err != nil:
		return skip("the history of the notes cannot be read")
	case len(others) > 0:
		return warn("give one of the machines another name: `anamnesis config set machine_id NAME`", append(
			[]string{"another machine has the name of this one, so nobody can tell whose notes and commits are whose"}, others...)...)
	}
	return ok("no other machine has it")
}

// syncAge is how long ago the remote may have been reached.
const syncAge = 7 * 24 * time.Hour

// standstill says what to do about a sync that nobody but the user gets going,
// empty when it is none.
func standstill(state string) string {
	switch state {
	case "held":
		return "look at what the remote would delete, as the line says; `anamnesis sync --allow-delete`, if it is meant"
	case "foreign":
		return "`anamnesis config set remote ADDRESS`, with an empty repository or the one of your notes, then `anamnesis sync`"
	case "refused":
		return "make the remote take pushes: it must be a bare repository that you may write to; then `anamnesis sync`"
	case "blocked":
		return "do what the line says, then `anamnesis sync`"
	case "failed":
		return "`anamnesis sync` tries again and says what stands in the way"
	}
	return ""
}

func checkSync(ctx context.Context, p *Target) Result {
	if p.Sync == nil {
		return skip("nobody knows about the sync")
	}
	s, err := p.shared.syncState(ctx)
	switch {
	case err != nil:
		return bad("`anamnesis sync` says more", err.Error())
	case s.Off:
		return info("`anamnesis config set sync.on true` switches it on, if that was not meant",
			"the sync is switched off: notes have no history in git and stay here")
	case s.Remote == "":
		return ok("no remote: the notes stay on this machine", s.Detail)
	}
	lines := []string{"remote " + s.Remote}
	if s.Reached().IsZero() {
		lines = append(lines, "never reached")
	} else {
		lines = append(lines, "last reached "+ago(p.now().Sub(s.Reached())))
	}
	if s.Ahead+s.Behind > 0 || s.Dirty {
		lines = append(lines, fmt.Sprintf("%s to send, %s to take, as far as is known", plural(s.Ahead, "commit"), plural(s.Behind, "commit")))
	}
	if s.Detail != "" && s.Detail != "ok" {
		lines = append(lines, s.Detail)
	}
	if next := standstill(string(s.State)); next != "" {
		lines = append(lines, "sync "+string(s.State)+": "+s.StateText)
		return warn(next, lines...)
	}
	for _, m := range s.Repelled {
		lines = append(lines, m.Machine+" was revoked and wrote to the remote since; nothing of it was taken")
	}
	if len(s.Repelled) > 0 {
		return warn("remove the access of the machine to the remote, then `anamnesis log machines revoke NAME`", lines...)
	}
	old := s.Reached().IsZero() || p.now().Sub(s.Reached()) > syncAge
	switch {
	case s.Failures > 0:
		line := plural(s.Failures, "attempt") + " in a row failed"
		if s.Next().After(p.now()) {
			line += "; the background tries again " + ago(p.now().Sub(s.Next()))
		}
		r := info("`anamnesis sync` tries now and says what stands in the way", append(lines, line)...)
		if old {
			r.State = Warn
		}
		return r
	case old:
		return warn("`anamnesis sync`", lines...)
	}
	return ok(lines...)
}

func checkNotSent(ctx context.Context, p *Target) Result {
	if p.Sync == nil {
		return skip("nobody knows about the sync")
	}
	s, err := p.shared.syncState(ctx)
	if err != nil {
		return skip("the sync could not be asked; see the check sync")
	}
	if len(s.Held) == 0 {
		return ok("none")
	}
	var lines []string
	for _, k := range replica.WithheldKinds(s.Held) {
		lines = append(lines, k.String())
	}
	next := "`anamnesis review held` shows what was found, and how each is released"
	if slices.ContainsFunc(s.Held, func(h replica.WithheldFile) bool { return strings.HasPrefix(h.Why, replica.LossWhy) }) {
		next += "; `anamnesis restore --damaged` brings back what lost its text"
	}
	return warn(next, lines...)
}

func checkConflicts(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	all, err := p.Store.Conflicts().List()
	if err != nil {
		return bad("check who owns the folder conflicts in the store", err.Error())
	}
	if len(all) == 0 {
		return ok("none")
	}
	lines := []string{plural(len(all), "version") + " to decide about"}
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", c.ID, clean(c.Path, 120), clean(c.Why, 40)))
	}
	return warn("`anamnesis review conflicts`", lines...)
}
