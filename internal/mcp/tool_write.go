package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a note that an agent writes. They are narrower than those of notes:
// a session may be led astray by what it reads.
const (
	maxTitle = 300      // characters
	maxBody  = 64 << 10 // bytes
	maxTags  = 20
	maxTag   = 64 // characters
)

var toolWrite = tool{
	name: "memory_write",
	doc: `Save what holds beyond this task, not tasks, status, guesses or what the code says: procedural = how-tos, fixes; semantic = ` +
		`rules, facts; episodic = what happened. The title is the rule as an order, or the fact, in one sentence.`,
	hints:  sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	input:  schemaOf[writeIn],
	output: schemaOf[writeOut],
	amend: func(p map[string]*jsonschema.Schema) {
		closeFilter(p)
		p["scope"].Default = by(`"portable"`)
		p["user_id"].Default, p["workspace_id"].Default = by(`"self"`), by(`"personal"`)
	},
	plain: true,
	call:  takes((*Server).write),
}

type writeIn struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Body        string   `json:"body,omitempty" jsonschema:"what the title does not say"`
	Why         string   `json:"why,omitempty"`
	Quote       string   `json:"quote,omitempty" jsonschema:"the user's words"`
	When        []string `json:"when,omitempty" jsonschema:"cmd:npm install, path:api/**, error:TEXT"`
	Replaces    string   `json:"replaces,omitempty" jsonschema:"id of the note that it makes wrong"`
	Project     string   `json:"project,omitempty" jsonschema:"others and global wait for the user"`
	Tags        []string `json:"tags,omitempty"`
	Scope       string   `json:"scope,omitempty"`
	UserID      string   `json:"user_id,omitempty"`
	WorkspaceID string   `json:"workspace_id,omitempty"`
}

// A writeOut is the note as it stands now, and what became of it.
//
// The id stands in front of the mark: capture cuts out what the marks enclose, and joins the call
// with the note by its id.
type writeOut struct {
	ID    note.ID `json:"id"`
	Begin string  `json:"begin,omitempty" jsonschema:"mark before text of notes"`
	noteOut
	Outcome string    `json:"outcome" jsonschema:"created, updated, unchanged or held"`
	Message string    `json:"message"`
	Near    []nearOut `json:"near,omitempty" jsonschema:"wrong? use replaces"`
	Body    string    `json:"body"`
	Until   string    `json:"until,omitempty" jsonschema:"mark behind text of notes"`
}

func (o writeOut) written() note.ID { return o.ID }

func (o writeOut) frame(start, end string) any {
	o.Begin, o.Until = start, end
	return o
}

func (s *Server) write(ctx context.Context, c caller, in writeIn) (writeOut, error) {
	if err := in.check(); err != nil {
		return writeOut{}, err
	}
	if err := s.mayWrite(); err != nil {
		return writeOut{}, err
	}
	p, err := s.place(ctx, c, in.Project)
	if err != nil {
		return writeOut{}, err
	}
	if p.id.Key == "" {
		return writeOut{}, errNowhere
	}
	if _, err := s.refresh(ctx); err != nil { // a twin that another program wrote is one too
		return writeOut{}, err
	}
	here, err := s.place(ctx, c, "")
	if err != nil {
		return writeOut{}, err
	}
	body := strings.TrimRight(in.Body, "\n")
	if why := strings.TrimSpace(in.Why); why != "" && !strings.Contains(body, why) {
		body = strings.TrimSpace(body + "\n\n" + "Why: " + why)
	}
	var replaces note.ID
	if in.Replaces != "" {
		if replaces, err = s.idOf(ctx, in.Replaces); err != nil {
			return writeOut{}, fmt.Errorf("replaces: %w", err)
		}
	}
	out, err := app.WriteByAgent(ctx, s.rooms, app.AgentDraft{Here: here.id.Key, Dir: p.dir, Replaces: replaces, Note: &note.Note{
		Type: note.Type(in.Type), Title: in.Title, Body: body, Project: p.id.Key, Tags: in.Tags, When: in.When,
		Scope: note.Scope(in.Scope), UserID: in.UserID, WorkspaceID: in.WorkspaceID, MachineID: s.opts.Machine,
	}})
	if err != nil {
		return writeOut{}, err
	}
	if out.Note == nil {
		return writeOut{}, fmt.Errorf("not written: %s", out.Why)
	}
	w := writeOut{
		ID: out.Note.ID, noteOut: ofNote(out.Note), Outcome: out.Result.String(), Message: inWords(out.Outcome),
		Body: note.Harmless(out.Note.Body),
	}
	for _, x := range out.Near {
		if x.Note.ID != out.Of {
			w.Near = append(w.Near, nearOut{x.Note.ID, name(x.Note.Title), x.Relation.String()})
		}
	}
	return w, nil
}

// A nearOut is a note about the matter of one that was written.
type nearOut struct {
	ID       note.ID `json:"id"`
	Title    string  `json:"title"`
	Relation string  `json:"relation"`
}

// check refuses what makes no note, before anything is looked at on the disk.
func (in *writeIn) check() error {
	in.Title = strings.TrimSpace(in.Title)
	in.Body = strings.ToValidUTF8(strings.ReplaceAll(in.Body, "\r\n", "\n"), "\uFFFD")
	if err := checkText(in.Title, cmp.Or(strings.TrimSpace(in.Body), in.Title)); err != nil {
		return err
	}
	when, err := note.ParseTriggers(in.When)
	if err != nil {
		return err
	}
	in.When = when
	if in.Project == everywhere {
		return errors.New(`"*" is no project; global is for notes that concern every project`)
	}
	if len(in.Tags) > maxTags {
		return fmt.Errorf("%d tags; give at most %d", len(in.Tags), maxTags)
	}
	for i, t := range in.Tags {
		in.Tags[i] = strings.TrimSpace(t)
		if utf8.RuneCountInString(t) > maxTag || strings.ContainsFunc(t, unicode.IsControl) {
			return fmt.Errorf("a tag is one line of at most %d characters", maxTag)
		}
	}
	in.Tags = slices.DeleteFunc(in.Tags, func(t string) bool { return t == "" })
	for _, id := range []string{in.UserID, in.WorkspaceID} {
		if utf8.RuneCountInString(id) > maxTag || strings.ContainsFunc(id, unicode.IsControl) {
			return fmt.Errorf("user_id and workspace_id are one line of at most %d characters", maxTag)
		}
	}
	return nil
}

// checkText refuses titles and bodies that are none, or too large.
func checkText(title, body string) error {
	switch {
	case title == "":
		return errors.New("the title is empty")
	case strings.ContainsFunc(title, unicode.IsControl):
		return errors.New("the title is one line, without control characters")
	case utf8.RuneCountInString(title) > maxTitle:
		return fmt.Errorf("the title is longer than %d characters; put details into the body", maxTitle)
	case strings.TrimSpace(body) == "":
		return errors.New("the body is empty; say what is to be remembered")
	case len(body) > maxBody:
		return errors.New("the body is larger than 64 KiB; split it into several notes")
	}
	return nil
}

// inWords says in plain words what became of a note.
func inWords(out ingest.Outcome) string {
	var said string
	switch out.Result {
	case ingest.Created:
		said = "written as a new note"
		if out.Twin != nil {
			said += fmt.Sprintf("; it is nearly the same as %s %q", out.Twin.ID, name(out.Twin.Title))
		}
	case ingest.Updated:
		said = "an existing note was updated"
	case ingest.Unchanged:
		said = "known already; nothing was changed"
	case ingest.Held:
		said = fmt.Sprintf("not written yet: %s; the user decides with `anamnesis review held keep %s`", name(out.Why), out.Note.ID)
	default:
		said = "not written: " + name(out.Why)
	}
	if out.Redacted {
		said += "; what looked like a secret was masked"
	}
	if out.Stale != nil {
		said += "; it is safe on the disk and will be found after the next indexing"
	}
	return said
}
