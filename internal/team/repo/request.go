package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
)

// request sees to it that the branch of a group has a request, and says how to open
// one where no program of the user could. What goes wrong here is shown with the note
// and no failure: the branch is there.
func (r *Repo) request(ctx context.Context, to target, group []*Item) {
	if to.route == ToDefault {
		return
	}
	var there []*Item
	for _, it := range group {
		if it.State == Pushed || it.State == Unchanged && to.route == ToRequest {
			there = append(there, it)
		}
	}
	if len(there) == 0 {
		return
	}
	h := r.host()
	if to.route == ToBranch {
		for _, it := range there {
			it.Why = h.advice(to.branch, r.standard)
		}
		return
	}
	it := there[0] // a separate branch has one note
	l, err := r.read(to, it.ID)
	if err == nil && l.Request != "" {
		it.Request = l.Request
		return
	}
	if it.Request, err = h.open(ctx, r.clone, to.branch, r.standard, it); err == nil && it.Request != "" {
		l.Request = it.Request
		err = r.save(to, it.ID, l)
	}
	switch {
	case errors.Is(err, replica.ErrNoTool), err == nil && it.Request == "":
		it.Why = h.advice(to.branch, r.standard)
	case err != nil:
		said := r.p.Redactor.Redact(note.Line(err.Error(), 300)).String()
		it.Why = fmt.Sprintf("the branch is pushed, and no request was opened (%s); %s", said, h.advice(to.branch, r.standard))
	}
}

// A host is where a repository is hosted, and the program that speaks to it.
type host struct {
	program string // HostGitHub, HostGitLab or HostNone
	name    string // of the host, empty for a path
	project string // owner and name of the repository
}

// host reads the address of the repository.
func (r *Repo) host() host {
	h := host{program: r.o.Host}
	h.name, h.project = hosted(r.o.Remote)
	if h.program == HostAuto || h.program == "" {
		switch {
		case strings.Contains(h.name, "github"):
			h.program = HostGitHub
		case strings.Contains(h.name, "gitlab"):
			h.program = HostGitLab
		default:
			h.program = HostNone
		}
	}
	if h.project == "" {
		h.program = HostNone
	}
	return h
}

// hosted returns the host and the project of an address, empty ones for a path and
// for what no hoster has.
func hosted(remote string) (name, project string) {
	if _, ok := replica.LocalPath(remote); ok {
		return "", ""
	}
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		name, project = u.Hostname(), u.Path
	} else if _, rest, ok := strings.Cut(remote, "@"); ok && !strings.Contains(remote, "://") {
		name, project, _ = strings.Cut(rest, ":")
	} else if !strings.Contains(remote, "://") {
		name, project, _ = strings.Cut(remote, ":")
	}
	name, project = strings.ToLower(name), strings.Trim(strings.TrimSuffix(strings.Trim(project, "/"), ".git"), "/")
	if !replica.BranchName(name) || !replica.BranchName(project) || !strings.Contains(project, "/") {
		return "", ""
	}
	return name, project
}

// open opens a draft request, or finds the one there is, and returns its address. It
// is "" when there is no program for that.
func (h host) open(ctx context.Context, c *replica.Clone, branch, into string, it *Item) (string, error) {
	title, body := note.Line("knowledge: "+it.Title, 120), description(it)
	var list, create []string
	switch h.program {
	case HostGitHub:
		at := "--repo=" + h.name + "/" + h.project
		list = []string{"pr", "list", at, "--head=" + branch, "--state=all", "--limit=1", "--json=url"}
		create = []string{"pr", "create", at, "--draft", "--head=" + branch, "--base=" + into, "--title=" + title, "--body=" + body}
	case HostGitLab:
		at := "--repo=https://" + h.name + "/" + h.project
		list = []string{"mr", "list", at, "--source-branch=" + branch, "--all", "--output=json"}
		create = []string{
			"mr", "create", at, "--draft", "--yes", "--source-branch=" + branch, "--target-branch=" + into,
			"--title=" + title, "--description=" + body,
		}
	default:
		return "", nil
	}
	out, err := c.Tool(ctx, h.program, "", list...)
	if err != nil {
		return "", err
	}
	var there []struct {
		URL    string `json:"url"`
		WebURL string `json:"web_url"`
	}
	if json.Unmarshal([]byte(out), &there) == nil && len(there) > 0 {
		return address(there[0].URL + "\n" + there[0].WebURL), nil
	}
	if out, err = c.Tool(ctx, h.program, "", create...); err != nil {
		return "", err
	}
	at := address(out)
	if at == "" {
		return "", fmt.Errorf("%s: it printed no address of a request", h.program)
	}
	return at, nil
}

// address returns the last web address among the lines of a text, "" for none.
func address(text string) (found string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if u, err := url.Parse(line); err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(line) <= 300 &&
			note.Printable(line) == line && !strings.ContainsAny(line, " \t`\"'<>") {
			found = line
		}
	}
	return found
}

// description is what a request says of a note.
func description(it *Item) string {
	text := fmt.Sprintf("A note of the project %s, confidence %s, offered by Anamnesis.\n", it.Project, it.Confidence)
	if len(it.Both) > 0 {
		text += fmt.Sprintf("\nBoth sides changed: %s. The later change stands; look at the other one in the history.\n",
			note.Line(strings.Join(it.Both, ", "), 200))
	}
	return text
}

// advice says how a person opens a request from a branch.
func (h host) advice(branch, into string) string {
	switch h.program {
	case HostGitHub:
		return fmt.Sprintf("open a request: `gh pr create --repo %s/%s --draft --head %s --base %s`", h.name, h.project, branch, into)
	case HostGitLab:
		return fmt.Sprintf("open a request: `glab mr create --repo https://%s/%s --draft --source-branch %s --target-branch %s`",
			h.name, h.project, branch, into)
	}
	return fmt.Sprintf("the branch is pushed; open a request from %s into %s where the repository is hosted", branch, into)
}
