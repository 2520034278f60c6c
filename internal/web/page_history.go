package web

import (
	"cmp"
	"errors"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
)

// A noteHistoryPage is the changes of one note, and one of them in full.
type noteHistoryPage struct {
	history.Answer
	Title  string   `json:"title"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Chosen string   `json:"chosen,omitempty"`
	Files  []change `json:"diff"`
}

// mostChanges is how many changes a page lists.
const mostChanges = 200

func noteHistory(r *request) (any, error) {
	h, err := history.History(r.ctx, r.rooms, r.id(), mostChanges)
	if err != nil {
		return nil, err
	}
	p := noteHistoryPage{Answer: h, Title: string(h.ID)}
	if n, err := app.Show(r.ctx, r.rooms, string(h.ID)); err == nil {
		p.Title = n.Title
	}
	from, to := r.get("from"), r.get("to")
	if to == "working" {
		to = ""
	}
	first := string(h.ID) // its newest form that differs
	if from != "" && from != "empty" {
		p.Chosen = from
		first += "@" + from
	}
	if to != "" {
		to = string(h.ID) + "@" + to
	}
	d, err := history.Diff(r.ctx, r.rooms, first, to)
	if p.Chosen == "" && app.Explain(cmp.Or(err, errNone)).Code == app.NotFound {
		return p, nil // it never changed
	}
	if err != nil {
		return nil, err
	}
	p.From, p.To, p.Files = revision(d.From), revision(d.To), changes(d.Diff)
	if p.Chosen == "" {
		p.Chosen = p.From
	}
	return p, nil
}

var errNone = errors.New("none")

// revision is the part of the name of a form that says which one it is; "" of the present.
func revision(form string) string {
	_, rev, _ := strings.Cut(form, "@")
	return rev
}

// A historyPage is the commits of all notes, and one of them in full.
type historyPage struct {
	Commits []history.PastChange `json:"commits"`
	Runs    []history.RunView    `json:"runs"`
	Chosen  string               `json:"hash,omitempty"`
	Files   []change             `json:"files"`
}

func recentChanges(r *request) (any, error) {
	h, err := history.History(r.ctx, r.rooms, "", r.number("limit", mostChanges, 1000))
	if err != nil {
		return nil, err
	}
	p := historyPage{Commits: h.Changes, Chosen: r.get("commit")}
	if runs, err := history.Runs(r.rooms, 20); err == nil {
		p.Runs = runs.Runs
	}
	if p.Chosen == "" && len(p.Commits) > 0 && !r.json {
		p.Chosen = p.Commits[0].Rev
	}
	if p.Chosen == "" {
		return p, nil
	}
	c, err := history.Commit(r.ctx, r.rooms, p.Chosen)
	if err != nil {
		return nil, err
	}
	p.Files = changes(c.Diff)
	return p, nil
}

// commit is one commit, for programs.
func commit(r *request) (any, error) {
	c, err := history.Commit(r.ctx, r.rooms, r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	return struct {
		Hash  string   `json:"hash"`
		Files []change `json:"files"`
	}{c.Rev, changes(c.Diff)}, nil
}

// A change is what became of one file.
type change struct {
	Path    string `json:"path"`
	Kind    string `json:"changeType"`
	Added   int    `json:"additions"`
	Deleted int    `json:"deletions"`
	Lines   []line `json:"lines"`
	Left    bool   `json:"cut,omitempty"` // there are more lines
}

// A line of a change.
type line struct {
	Type string `json:"type"` // add, del, context, gap
	Old  int    `json:"oldNumber,omitempty"`
	New  int    `json:"newNumber,omitempty"`
	Text string `json:"content"`
}

const (
	mostFiles = 100
	mostLines = 2000 // of all files
)

// changes reads a unified diff, of one file or of several as git writes it.
func changes(diff string) (all []change) {
	var c *change
	lines, older, newer, body := 0, 0, 0, false
	begin := func(path string) {
		all = append(all, change{Path: path, Kind: "modified", Lines: []line{}})
		c, body = &all[len(all)-1], false
	}
	for text := range strings.Lines(diff) {
		text = strings.TrimRight(text, "\n")
		if rest, ok := strings.CutPrefix(text, "diff --git a/"); ok {
			if len(all) == mostFiles {
				return all
			}
			path, _, _ := strings.Cut(rest, " b/")
			begin(path)
			continue
		}
		if c == nil {
			begin("")
		}
		switch {
		case strings.HasPrefix(text, "new file"):
			c.Kind = "added"
			continue
		case strings.HasPrefix(text, "deleted file"):
			c.Kind = "deleted"
			continue
		case strings.HasPrefix(text, "@@ "):
			older, newer = hunk(text)
			if body {
				c.Lines = append(c.Lines, line{Type: "gap"})
			}
			body = true
			continue
		case !body || strings.HasPrefix(text, `\ `):
			continue
		}
		if lines++; lines > mostLines {
			c.Left = true
			continue
		}
		kind, rest := byte(' '), ""
		if text != "" {
			kind, rest = text[0], text[1:]
		}
		switch kind {
		case '+':
			c.Added++
			c.Lines = append(c.Lines, line{"add", 0, newer, rest})
			newer++
		case '-':
			c.Deleted++
			c.Lines = append(c.Lines, line{"del", older, 0, rest})
			older++
		default:
			c.Lines = append(c.Lines, line{"context", older, newer, rest})
			older, newer = older+1, newer+1
		}
	}
	return all
}

// hunk reads where the lines of a hunk stand.
func hunk(head string) (older, newer int) {
	number := func(s string) (n int) {
		for _, r := range s {
			if r < '0' || r > '9' {
				break
			}
			n = n*10 + int(r-'0')
		}
		return n
	}
	words := strings.Fields(head)
	if len(words) < 3 || len(words[1]) < 2 || len(words[2]) < 2 {
		return 1, 1
	}
	return number(words[1][1:]), number(words[2][1:])
}
