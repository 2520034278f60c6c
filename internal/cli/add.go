package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addOptions are the flags of add.
type addOptions struct {
	app.Draft
	file      string
	bodyGiven bool

	replace, keepBoth bool
}

func newAdd(p *program) *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{
		Use:   "add --title TITLE [--body TEXT | --file FILE | < TEXT]",
		Short: "Write a note",
		Long: `Write a note. The body comes from --body, from --file, or from standard input;
without a title its first line is the title. The note belongs to the project of
this folder; --global makes it one that every session is shown.`,
		Example: `  anamnesis add --type procedural --title "Regenerate gRPC clients after editing payments.proto" \
      --body "Run make proto-gen; without it staging breaks." --tag grpc
  anamnesis add --title "Use pnpm here" --when cmd:npm --body "npm breaks the workspace links."
  anamnesis add --global --title "No AI attribution in commit messages" --body "Ever."
  pbpaste | anamnesis add --title "Release checklist"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.bodyGiven = cmd.Flags().Changed("body")
			return p.add(cmd, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Type, "type", string(note.Semantic), "semantic (a fact, a preference), procedural (a how-to, a fix) or episodic")
	f.StringVar(&o.Title, "title", "", "title, one line")
	f.StringVar(&o.Body, "body", "", "body, markdown")
	f.StringVar(&o.file, "file", "", "read the body from `FILE`; - is standard input")
	f.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of this folder)")
	f.BoolVar(&o.Global, "global", false, "a note for every project")
	f.StringVar(&o.Path, "path", "", "a note for sessions in `FOLDER` of this repository, and below it")
	f.StringSliceVar(&o.Tags, "tag", nil, "`TAG` (may be repeated)")
	f.StringArrayVar(&o.When, "when", nil,
		"what it is about: a `TRIGGER` such as \"cmd:npm install\", \"path:api/**\" or \"error:TEXT\" (may be repeated)")
	f.StringVar(&o.About, "about", "", "its `SUBJECT` in one to three words, as \"indentation\": one rule of a subject holds")
	rivalFlags(cmd, &o)
	f.StringVar(&o.Branch, "branch", "", "the git branch `NAME` that the note is about; . is the one that is checked out. It is found on all")
	f.StringVar(&o.Scope, "scope", string(note.Portable), "portable, or machine-local: never leaves this machine")
	agentFlag(f, &o.Agent)
	f.BoolVar(&o.Force, "force", false, "write it even if it was forgotten or is a near-duplicate")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	cmd.MarkFlagsMutuallyExclusive("project", "global", "path")
	cmd.MarkFlagsMutuallyExclusive("branch", "global")
	return cmd
}

func (p *program) add(cmd *cobra.Command, o addOptions) (err error) {
	if o.Body, err = p.body(o); err == nil {
		err = cmp.Or(o.Titled("add"), o.Check())
	}
	if err != nil {
		return err
	}
	return run(p, cmd, "add", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
		return p.reportWritten(p.unlessRival("add", func(rival ingest.Rival) (app.Written, error) {
			o.Rival = rival
			return app.Add(ctx, r, o.Draft)
		}, o.rival()))
	}, p.printWritten("add"))
}

// rivalFlags adds the flags that say what becomes of a note of the user that says something else.
func rivalFlags(cmd *cobra.Command, o *addOptions) {
	f := cmd.Flags()
	f.BoolVar(&o.replace, "replace", false, "if the note contradicts one of your rules, replace that rule (undoable)")
	f.BoolVar(&o.keepBoth, "keep-both", false, "if the note contradicts one of your rules, keep both")
	cmd.MarkFlagsMutuallyExclusive("replace", "keep-both")
}

// rival is what the flags say becomes of such a note.
func (o *addOptions) rival() ingest.Rival {
	switch {
	case o.replace:
		return ingest.ReplaceRival
	case o.keepBoth:
		return ingest.KeepRival
	}
	return ingest.AskFirst
}

// unlessRival writes a note. Where a note of the user says something else, it asks a person at a terminal what becomes of that one, and
// writes it by the answer.
func (p *program) unlessRival(
	command string, write func(ingest.Rival) (app.Written, error), rival ingest.Rival,
) (w app.Written, err error) {
	cancelled, err := p.askingRival(command, bufio.NewReader(p.stdin), func(rival ingest.Rival) (string, error) {
		var err error
		w, err = write(rival)
		if w.Rival == "" {
			return "", err
		}
		return w.Why, err
	}, rival)
	if cancelled {
		return app.Written{}, err
	}
	return w, err
}

// askingRival calls write, which says why it asks for a decision on a note of the user, and writes nothing then. A person at a terminal is
// asked, and write is called again with the answer; keys is where the person types.
func (p *program) askingRival(
	command string, keys *bufio.Reader, write func(ingest.Rival) (why string, err error), rival ingest.Rival,
) (cancelled bool, err error) {
	why, err := write(rival)
	if why == "" || p.json || !terminal(p.stdin) || !terminal(p.stderr) {
		return false, err
	}
	p.errorf("%s\n[r]eplace that note, keep [b]oth, or [c]ancel? ", why)
	line, _ := keys.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "r", "replace":
		_, err = write(ingest.ReplaceRival)
	case "b", "both":
		_, err = write(ingest.KeepRival)
	default:
		return true, app.Errorf(app.Conflict, "%s: cancelled; nothing is written", command)
	}
	return false, err
}

// body reads the body from where the flags say.
func (p *program) body(o addOptions) (string, error) {
	var in io.Reader
	switch {
	case o.bodyGiven: // an empty one, too: it is not waited for
		return o.Body, nil
	case o.file != "" && o.file != "-":
		f, err := os.Open(o.file)
		if err != nil {
			return "", fmt.Errorf("read the body: %w", err)
		}
		defer f.Close()
		in = f
	case o.file == "-" || o.Title == "" && !terminal(p.stdin):
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

// reportWritten tells people what they should know about a note that was written, and
// passes it on.
func (p *program) reportWritten(w app.Written, err error) (app.Written, error) {
	out := w.Outcome
	if out.Revoked {
		where := ", on every machine that syncs"
		if out.Note != nil && out.Note.Scope == note.Local {
			where = " on this machine"
		}
		p.note("this was forgotten; it is not any more%s", where)
	}
	if out.Stale != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", out.Stale)
	}
	if len(out.Secrets) > 0 {
		p.note("the note holds what looks like a secret (%s); it stays as you wrote it", strings.Join(out.Secrets, ", "))
	}
	return w, err
}

// printWritten tells what became of a draft.
func (p *program) printWritten(command string) func(app.Written) {
	return func(w app.Written) {
		switch out := w.Outcome; out.Result {
		case ingest.Created:
			p.printf("%s: wrote %s (project=%s)\n  %s\n", command, w.ID, w.Project, w.Path)
			if out.Twin != nil {
				p.note("it is nearly the same as %s %q", out.Twin.ID, firstLine(out.Twin.Title, 60))
			}
		case ingest.Updated:
			p.printf("%s: updated %s (project=%s)\n  %s\n", command, w.ID, w.Project, w.Path)
		case ingest.Unchanged:
			p.printf("%s: known already as %s (project=%s)\n  %s\n", command, w.ID, w.Project, w.Path)
		case ingest.Held:
			p.printf("%s: held %s: %s\n  `anamnesis review held keep %s` writes it, `anamnesis review held drop %s` forgets it\n",
				command, w.ID, w.Why, w.ID, w.ID)
		}
		if len(w.Waits) > 0 {
			p.note("its triggers wait for you: `anamnesis review`")
		}
		if c := w.Conflict; c != "" {
			p.note("it contradicts %s, and both hold; `anamnesis edit supersede %s %s` lets the new one hold alone", c, c, w.ID)
		}
	}
}

// agentFlag adds the flag by which whoever runs a command says that an agent wrote the text. The
// opposite cannot be said: a terminal shows it.
func agentFlag(f *pflag.FlagSet, agent *bool) {
	f.Func("source", "`agent`: an agent wrote it, so that its secrets are masked and it is judged as an agent's", func(s string) error {
		if s != note.Human && s != note.Agent {
			return fmt.Errorf("%q: use agent, or leave it out", s)
		}
		*agent = s == note.Agent
		return nil
	})
}
