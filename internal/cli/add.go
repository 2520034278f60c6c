package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"

	"github.com/spf13/cobra"
)

type addOptions struct {
	typ, title, body, file, project, scope, source, branch string
	tags                                                   []string
	global, force, bodyGiven                               bool
}

func newAdd(p *program) *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{
		Use:   "add --title TITLE [--body TEXT | --file FILE | < TEXT]",
		Short: "Write a note",
		Long: `Write a note. The body comes from --body, from --file, or from standard input;
without a title its first line is the title. The note belongs to the project of
this folder; --global makes it one that every session is told.`,
		Example: `  anamnesis add --type procedural --title "Regenerate gRPC clients after editing payments.proto" \
      --body "Run make proto-gen; without it staging breaks." --tag grpc
  anamnesis add --global --title "No AI attribution in commit messages" --body "Ever."
  pbpaste | anamnesis add --title "Release checklist"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.bodyGiven = cmd.Flags().Changed("body")
			return p.add(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.typ, "type", string(note.Semantic), "semantic (a fact, a preference), procedural (a how-to, a fix) or episodic")
	f.StringVar(&o.title, "title", "", "title, one line")
	f.StringVar(&o.body, "body", "", "body, markdown")
	f.StringVar(&o.file, "file", "", "read the body from `FILE`; - is standard input")
	f.StringVar(&o.project, "project", "", "project `KEY` (default: the one of this folder)")
	f.BoolVar(&o.global, "global", false, "a note for every project")
	f.StringSliceVar(&o.tags, "tag", nil, "`TAG` (may be repeated)")
	f.StringVar(&o.branch, "branch", "", "a note that holds on the git branch `NAME` alone; . is the one that is checked out")
	f.StringVar(&o.scope, "scope", string(note.Portable), "portable, or machine-local: never leaves this machine")
	f.StringVar(&o.source, "source", note.Human, "who wrote it: human, or agent (its secrets are masked)")
	f.BoolVar(&o.force, "force", false, "write it even if it was forgotten or nearly exists")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	cmd.MarkFlagsMutuallyExclusive("project", "global")
	cmd.MarkFlagsMutuallyExclusive("branch", "global")
	return cmd
}

func (p *program) add(ctx context.Context, o addOptions) error {
	body, err := p.body(o)
	if err != nil {
		return err
	}
	if body, err = o.titled("add", body); err != nil {
		return err
	}
	switch {
	case !slices.Contains(note.Types, note.Type(o.typ)):
		return usage("add: --type %q: use procedural, semantic or episodic", o.typ)
	case o.scope != string(note.Portable) && o.scope != string(note.Local):
		return usage("add: --scope %q: use portable or machine-local", o.scope)
	case o.source != note.Human && o.source != note.Agent:
		return usage("add: --source %q: use human or agent", o.source)
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.MayRedact(); err != nil && o.source != note.Human {
		return err
	}
	n := &note.Note{
		Type: note.Type(o.typ), Title: o.title, Body: body, Scope: note.Scope(o.scope), Tags: o.tags,
		Provenance: note.Provenance{Source: o.source, Confidence: 1}, Project: note.Global,
	}
	if o.source == note.Agent {
		n.Provenance.Confidence = 0.8
	}
	if !o.global {
		id := p.project(m.Store, o.project)
		n.Project, n.Branch = id.Key, onSide(o.branch, id)
	}
	out, err := m.Ingester.Add(ctx, ingest.Draft{Note: n, Force: o.force})
	if err != nil {
		var field *note.FieldError
		if errors.As(err, &field) {
			return usage("%w", err)
		}
		return err
	}
	return p.printOutcome(m, "add", out)
}

// titled takes the title from the first line of the body when none was given,
// and returns the rest.
func (o *addOptions) titled(command, body string) (string, error) {
	if o.title == "" {
		first, rest, _ := strings.Cut(strings.TrimSpace(body), "\n")
		o.title, body = strings.TrimLeft(first, "# "), strings.TrimSpace(rest)
	}
	if strings.TrimSpace(o.title) == "" {
		return "", usage("%s: there is no title and no body; give --title TITLE and --body TEXT", command)
	}
	return body, nil
}

// onSide is the branch that a note is written for: "" for all.
func onSide(branch string, id project.Identity) string {
	dir, err := os.Getwd()
	if branch == "." {
		branch = id.Branch
	}
	if err != nil || id.Source == "flag" {
		return branch
	}
	return project.BranchScope(dir, branch)
}

// body reads the body from where the flags say.
func (p *program) body(o addOptions) (string, error) {
	var in io.Reader
	switch {
	case o.bodyGiven: // an empty one, too: it is not waited for
		return o.body, nil
	case o.file != "" && o.file != "-":
		f, err := os.Open(o.file)
		if err != nil {
			return "", fmt.Errorf("read the body: %w", err)
		}
		defer f.Close()
		in = f
	case o.file == "-" || o.title == "" && !terminal(p.stdin):
		in = p.stdin
	case !terminal(p.stdin):
		in = soon(p.stdin) // an agent's shell may hold a pipe open and say nothing
	default:
		return "", nil
	}
	data, err := io.ReadAll(io.LimitReader(in, note.MaxBody+1))
	if err != nil {
		return "", fmt.Errorf("read the body: %w", err)
	}
	if len(data) > note.MaxBody {
		return "", usage("add: the body is larger than 1 MiB; split it into several notes")
	}
	return strings.TrimRight(strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\uFFFD"), "\n"), nil
}

// firstByte is how long one waits for a body that nobody announced.
const firstByte = time.Second

// soon returns in, or nothing if not a byte of it came within firstByte. The
// reading that was begun stays behind; the process is about to end.
func soon(in io.Reader) io.Reader {
	first := make(chan []byte, 1)
	go func() {
		buf := make([]byte, 4096)
		n, err := in.Read(buf)
		if err != nil && n == 0 {
			buf = nil
		}
		first <- buf[:n]
	}()
	select {
	case data := <-first:
		return io.MultiReader(bytes.NewReader(data), in)
	case <-time.After(firstByte):
		return strings.NewReader("")
	}
}

type outcomeJSON struct {
	header
	Result  string        `json:"result"`
	ID      note.ID       `json:"id,omitempty"`
	Path    string        `json:"path,omitempty"`
	Project string        `json:"project,omitempty"`
	Twin    note.ID       `json:"twin,omitempty"`
	Why     string        `json:"why,omitempty"`
	Masked  bool          `json:"redacted"`
	Lifted  bool          `json:"lifted"` // it had been forgotten, and is not any more
	Secrets []string      `json:"secrets"`
	Note    *app.NoteHead `json:"note,omitempty"`
}

// printOutcome tells what became of a draft.
func (p *program) printOutcome(m *memory, command string, out ingest.Outcome) error {
	j := outcomeJSON{header: head(command), Result: out.Result.String(), Why: out.Why, Masked: out.Redacted, Lifted: out.Revoked, Secrets: append([]string{}, out.Secrets...)}
	if out.Twin != nil {
		j.Twin = out.Twin.ID
	}
	if out.Note != nil {
		d := app.HeadOf(out.Note)
		j.ID, j.Project, j.Note = out.Note.ID, out.Note.Project, &d
	}
	if out.Ref.Path != "" {
		j.Path = m.Store.Path(out.Ref.Path)
	}
	if out.Revoked {
		where := ", on every machine that syncs"
		if out.Note != nil && out.Note.Scope == note.Local {
			where = " on this machine"
		}
		p.note("this was forgotten; it is not any more%s", where)
	}
	if out.Stale != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", out.Stale)
	}
	if len(out.Secrets) > 0 {
		p.note("the note holds what looks like a secret (%s); it stays as you wrote it", strings.Join(out.Secrets, ", "))
	}
	var failed error
	if out.Result == ingest.Dropped {
		failed = &app.Error{Kind: app.Failed, Err: fmt.Errorf("%s: not written: %s; --force writes it all the same", command, out.Why)}
	}
	if p.json {
		return errors.Join(p.emit(j), failed)
	}
	switch out.Result {
	case ingest.Created:
		p.printf("%s: wrote %s (project=%s)\n  %s\n", command, j.ID, j.Project, j.Path)
		if out.Twin != nil {
			p.note("it is nearly the same as %s %q", out.Twin.ID, firstLine(out.Twin.Title, 60))
		}
	case ingest.Updated:
		p.printf("%s: updated %s (project=%s)\n  %s\n", command, j.ID, j.Project, j.Path)
	case ingest.Unchanged:
		p.printf("%s: known already as %s (project=%s)\n  %s\n", command, j.ID, j.Project, j.Path)
	case ingest.Held:
		p.printf("%s: held %s: %s\n  `anamnesis held keep %s` writes it, `anamnesis held drop %s` forgets it\n", command, j.ID, out.Why, j.ID, j.ID)
	}
	return failed
}
