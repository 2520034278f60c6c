package ingest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// KnownCommits says which of some ids are commits of the repository of a folder. It is
// nil when nobody can say: there is none, or it is not whole.
type KnownCommits func(ctx context.Context, dir string, ids []string) map[string]bool

// CheckCommits lets g ask a repository for the commits that notes name (Draft.Dir). It is
// called before g is used.
func CheckCommits(g *Ingester, known KnownCommits) { g.commits = known }

// A commit is named by seven to forty hex digits, among them a digit; a number or a date
// only behind a word that says so.
var (
	commitLike = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^0-9A-Za-z/._#-])([0-9a-f]{7,40})(?:[^0-9A-Za-z_/-]|$)`)
	})
	commitWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:commits?|sha|revisions?|reverts?|reverted|cherry-pick(?:ed)?|fixup|bisect(?:ed)?|hash)\W{1,3}$`)
	})
)

// maxRefs is how many commits of one note are looked up.
const maxRefs = 50

// commitsIn lists what a text names as commits, each once.
func commitsIn(text string) (ids []string) {
	for at := 0; at < len(text) && len(ids) < maxRefs; {
		m := commitLike().FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		id, before := text[at+m[2]:at+m[3]], text[max(0, at+m[2]-40):at+m[2]]
		digit, letter := strings.ContainsAny(id, "0123456789"), strings.ContainsAny(id, "abcdef")
		if digit && (letter || commitWord().MatchString(before)) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		at += m[3] // what stands behind an id may stand before the next
	}
	return ids
}

// checkRefs looks the commits up that a note names. Those that are not in the repository
// are listed in the note; all reports whether none is, of some.
func (g *Ingester) checkRefs(ctx context.Context, n *note.Note, dir string) (all bool) {
	if g.commits == nil || dir == "" {
		return false
	}
	ids := commitsIn(strings.Join([]string{n.Title, n.Problem, n.RootCause, n.Fix, n.Rule, n.KeyInsight, n.HowToApply, n.Body}, "\n"))
	said := len(ids)
	for _, id := range n.Commits {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return false
	}
	known := g.commits(ctx, dir, ids)
	if known == nil {
		return false
	}
	missing := 0
	for i, id := range ids {
		switch {
		case known[id]:
			n.UnverifiedRefs = slices.DeleteFunc(n.UnverifiedRefs, func(had string) bool { return had == id })
		case i < said:
			missing++
			if !slices.Contains(n.UnverifiedRefs, id) {
				n.UnverifiedRefs = append(n.UnverifiedRefs, id)
			}
		default:
			n.Commits = slices.DeleteFunc(n.Commits, func(had string) bool { return had == id })
		}
	}
	return said > 0 && missing == said
}

// InventedCommits lists the commits that a text names, when not one of them is in the
// repository of a folder.
func InventedCommits(ctx context.Context, g *Ingester, dir, text string) []string {
	n := note.Note{Body: text}
	if !g.checkRefs(ctx, &n, dir) {
		return nil
	}
	return n.UnverifiedRefs
}

// An Undoing is a commit that was taken back.
type Undoing struct {
	Commit string
	By     string // the commit that did it, "" when none did
}

// reverted is the status of a note whose commit was taken back.
const reverted = "reverted"

// undoneDoubt is what is left of the confidence of a note of which a commit was taken back.
const undoneDoubt = 0.5

// Disprove lowers what commits disprove that were taken back: the notes of some projects that
// a machine made and that name such a commit as theirs. What made a command pass is no
// fix any more and is retired; what the user said in that session is only less sure. The
// former forms are in the history; a note that was lowered once for a commit stays.
func Disprove(ctx context.Context, g *Ingester, projects []string, undone []Undoing) (lowered []note.ID, err error) {
	rows, err := g.index.Select(ctx, index.Filter{
		Projects: projects, Sources: []string{note.User, note.Learning, note.SessionEnd}, Now: g.store.Now(),
	}, 0)
	if err != nil {
		return nil, err
	}
	err = g.Revise(ctx, func(r *Revision) error {
		for _, row := range rows {
			n, _, ref, err := g.store.Read(row.Ref.Path)
			if err != nil || owned(n) || !undo(n, undone) {
				continue // or the index is behind; Sync will notice
			}
			n.UpdatedAt = note.At(g.store.Now())
			if err := r.Put(n, ref); err != nil {
				return err
			}
			lowered = append(lowered, n.ID)
			_ = g.store.Events().Log(store.Record{
				Kind: store.Learnt, Project: n.Project, Session: n.Provenance.Session, Notes: []note.ID{n.ID}, Text: reverted,
			})
		}
		return nil
	})
	return lowered, err
}

// undo changes a note of which a commit was taken back, and reports whether it did.
func undo(n *note.Note, undone []Undoing) bool {
	for _, u := range undone {
		at := slices.IndexFunc(n.Commits, func(id string) bool { return sameCommit(id, u.Commit) })
		if at < 0 {
			continue
		}
		why := "commit " + n.Commits[at] + " was taken back"
		if u.By != "" {
			why += " by " + u.By[:min(len(u.By), 12)]
		}
		if strings.Contains(n.StatusReason, "commit "+n.Commits[at]+" was taken back") {
			continue
		}
		n.StatusReason = strings.TrimPrefix(n.StatusReason+"; "+why, "; ")
		if n.LearningType == "fix" {
			n.Revert(n.StatusReason)
		} else {
			n.Provenance.Confidence *= undoneDoubt
		}
		return true
	}
	return false
}

func sameCommit(a, b string) bool {
	return len(a) >= 7 && len(b) >= 7 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
