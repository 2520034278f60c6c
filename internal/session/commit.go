package session

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// A Commit is one that the agent made, as git shown it.
type Commit struct {
	Turn    int
	ID      string // as git shortened it
	Subject string
	Undoes  []string // ids of the commits that it takes back
	Mends   string   // id or subject of the commit that it is a fixup of
	Undone  bool     // the session took it back
}

// A CommitAt is a commit and when it was made.
type CommitAt struct {
	ID string // whole
	At time.Time
}

// Tie notes commits of which another tool says that the session made them: each beside the last exchange
// that had begun when it was made, the first one when none had.
func Tie(all []Exchange, commits []CommitAt) {
	for _, c := range commits {
		if len(all) == 0 {
			return
		}
		at := 0
		for i := range all {
			if !all[i].At.IsZero() && !all[i].At.After(c.At) {
				at = i
			}
		}
		id := c.ID[:min(len(c.ID), 12)]
		if e := &all[at]; commitID().MatchString(id) && len(e.Commits) < maxTied && !slices.Contains(e.Commits, id) {
			e.Commits = append(e.Commits, id)
		}
	}
}

// maxTied is how many commits are noted beside one exchange.
const maxTied = 20

// CommitAfter returns the id of the first commit that was made after a turn and stands at the
// session's end, if there is one.
func CommitAfter(commits []Commit, turn int) []string {
	for i := range commits {
		if c := &commits[i]; c.Turn >= turn && !c.Undone && len(c.Undoes) == 0 {
			return []string{c.ID}
		}
	}
	return nil
}

// committed is how git tells of a new commit: "[main 3f2a91c] Add seat map".
var committed = text.Form(`(?m)^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,200})$`)

// committing are the commands that make commits, undoing those that take some back.
var (
	committing = text.Form(`\bgit\b[^|;&\n]*\b(?:commit|revert|cherry-pick|merge|am)\b`)
	reverting  = text.Form(`\bgit\b[^|;&\n]*?\brevert\b([^|;&\n]*)`)
	resetting  = text.Form(`\bgit\b[^|;&\n]*?\breset\b[^|;&\n]*--hard[^|;&\n]*?\b(?:HEAD(?:~(\d*)|(\^+))|([0-9a-f]{7,40}))`)
	fixing     = text.Form(`--(?:fixup|squash)[= ](?:amend:|reword:)?([0-9a-f]{7,40})`)
	commitID   = text.Form(`^[0-9a-f]{7,40}$`)
	headID     = text.Form(`^HEAD(?:~(\d+)|(\^*))$`)
)

// Commits returns the commits of a session, in its order, with what they undo. What a
// command printed is believed for what it made; whether the commit is there, the
// repository says.
func Commits(s *agent.Session) []Commit { return commitsIn(s.Turns) }

func commitsIn(turns []agent.Turn) (all []Commit) {
	for i := range turns {
		for j := range turns[i].Tools {
			u := &turns[i].Tools[j]
			if u.Error || !bytes.Contains(u.Input, []byte("git")) && !bytes.Contains(u.Input, []byte(`\u`)) {
				continue // most commands have nothing to do with it, and reading them is not free
			}
			line := CommandOf(*u)
			if !strings.Contains(line, "git") {
				continue
			}
			all = undoBy(all, line, u.Result+u.Answer, i)
		}
	}
	return all
}

// undoBy adds what a command did to the commits of a session.
func undoBy(all []Commit, line, output string, turn int) []Commit {
	if m := resetting().FindStringSubmatch(line); m != nil {
		back := countOf(m[1], m[2])
		if m[3] != "" {
			at := slices.IndexFunc(all, func(c Commit) bool { return sameCommit(c.ID, m[3]) })
			if back = 0; at >= 0 {
				back = len(standing(all)) - len(standing(all[:at+1]))
			}
		}
		for range back {
			if at := standing(all); len(at) > 0 {
				all[at[len(at)-1]].Undone = true
			}
		}
		return all
	}
	if !committing().MatchString(line) {
		return all
	}
	amends := strings.Contains(line, "--amend")
	for _, m := range committed().FindAllStringSubmatch(output, 20) {
		c := Commit{Turn: turn, ID: m[1], Subject: strings.TrimSpace(m[2])}
		if f := fixing().FindStringSubmatch(line); f != nil {
			c.Mends = f[1]
		} else if subject, ok := strings.CutPrefix(c.Subject, "fixup! "); ok {
			c.Mends = subject
		}
		if at := standing(all); amends && len(at) > 0 {
			all[at[len(at)-1]].Undone = true // its content is in the new one
		}
		if r := reverting().FindStringSubmatch(line); r != nil {
			c.Undoes = revertedBy(all, r[1], c.Subject)
		}
		for k := range all {
			all[k].Undone = all[k].Undone || slices.ContainsFunc(c.Undoes, func(id string) bool { return sameCommit(all[k].ID, id) })
		}
		all = append(all, c)
	}
	return all
}

// revertedBy returns the commits that a revert takes back: those that its arguments name,
// or the one whose subject it quotes.
func revertedBy(all []Commit, args, subject string) (ids []string) {
	at := standing(all)
	for _, word := range strings.Fields(args) {
		switch m := headID().FindStringSubmatch(word); {
		case commitID().MatchString(word):
			ids = append(ids, word)
		case m != nil:
			back := 0
			if m[1] != "" || m[2] != "" {
				back = countOf(m[1], m[2])
			}
			if n := len(at) - 1 - back; n >= 0 {
				ids = append(ids, all[at[n]].ID)
			}
		}
	}
	if quoted, ok := strings.CutPrefix(subject, `Revert "`); ok && len(ids) == 0 {
		quoted = strings.TrimSuffix(quoted, `"`)
		for k := len(all) - 1; k >= 0 && len(ids) == 0; k-- {
			if all[k].Subject == quoted {
				ids = append(ids, all[k].ID)
			}
		}
	}
	return ids
}

// standing are the places of the commits that were not taken back.
func standing(all []Commit) (at []int) {
	for i := range all {
		if !all[i].Undone {
			at = append(at, i)
		}
	}
	return at
}

// countOf is how far ~N or ^^ goes back; ~ alone is 1.
func countOf(digits, carets string) int {
	switch {
	case carets != "":
		return min(len(carets), 100)
	case digits == "" || len(digits) > 3:
		return 1
	}
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return min(n, 100)
}

// sameCommit reports whether two ids, shortened or not, are of one commit.
func sameCommit(a, b string) bool {
	return len(a) >= 7 && len(b) >= 7 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
