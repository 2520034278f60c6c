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

	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
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
	maxNear  = 2  // notes about the same matter that an answer names
)

var toolWrite = tool{
	name: "memory_write",
	doc: `Save what holds beyond this task, not tasks, status, guesses or what the code says: procedural = how-tos, fixes; semantic = ` +
		`rules, facts; episodic = what happened. The title is the rule as an order, or the fact, in one sentence.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	does:  proposes,
	input: schemaOf[writeIn],
	amend: func(p map[string]*jsonschema.Schema) {
		closeFilter(p)
		p["scope"].Default = by(`"portable"`)
		p["user_id"].Default, p["workspace_id"].Default = by(`"self"`), by(`"personal"`)
	},
	call: takes((*Server).write),
}

type writeIn struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Body        string   `json:"body,omitempty" jsonschema:"what the title does not say"`
	Why         string   `json:"why,omitempty"`
	Quote       string   `json:"quote,omitempty" jsonschema:"the user's words"`
	When        []string `json:"when,omitempty" jsonschema:"cmd:npm install, path:api/**, error:TEXT"`
	Asks        []string `json:"asks,omitempty" jsonschema:"two things the user may type then"`
	About       string   `json:"about,omitempty" jsonschema:"question of one answer: indentation"`
	Replaces    string   `json:"replaces,omitempty" jsonschema:"id of the note it makes wrong"`
	Project     string   `json:"project,omitempty" jsonschema:"//FOLDER; others wait for the user"`
	Tags        []string `json:"tags,omitempty"`
	Scope       string   `json:"scope,omitempty"`
	UserID      string   `json:"user_id,omitempty"`
	WorkspaceID string   `json:"workspace_id,omitempty"`
}

func (s *Server) write(ctx context.Context, c caller, in writeIn) (done, error) {
	if err := in.check(); err != nil {
		return done{}, err
	}
	if err := s.mayWrite(); err != nil {
		return done{}, err
	}
	p, err := s.place(ctx, c, in.Project)
	if err != nil {
		return done{}, err
	}
	if p.id.Key == "" {
		return done{}, errNowhere
	}
	if _, err := s.refresh(ctx); err != nil { // a twin that another program wrote is one too
		return done{}, err
	}
	here, err := s.place(ctx, c, "")
	if err != nil {
		return done{}, err
	}
	body := strings.TrimRight(in.Body, "\n")
	if why := strings.TrimSpace(in.Why); why != "" && !strings.Contains(body, why) {
		body = strings.TrimSpace(body + "\n\n" + "Why: " + why)
	}
	var replaces note.ID
	if in.Replaces != "" {
		if replaces, err = s.idOf(ctx, in.Replaces); err != nil {
			return done{}, fmt.Errorf("replaces: %w", err)
		}
	}
	n := &note.Note{
		Type: note.Type(in.Type), Title: in.Title, Body: body, Project: p.id.Key, Tags: in.Tags, When: in.When, Asks: note.AsksOf(in.Asks),
		About: note.Subject(in.About),
		Scope: note.Scope(in.Scope), UserID: in.UserID, WorkspaceID: in.WorkspaceID, MachineID: s.opts.Machine,
		Provenance: note.Provenance{Confidence: 0.8},
	}
	if p.dir != "" {
		capture.Stamp(n, p.dir, s.rooms.Redactor)
	}
	out, err := s.rooms.Ingester.Admit(ctx, ingest.Draft{Note: n, By: ingest.Agent, Here: here.id.Key, Dir: p.dir, Replaces: replaces})
	if err != nil {
		return done{}, err
	}
	if out.Note == nil {
		return done{}, fmt.Errorf("not written: %s", out.Why)
	}
	w := written(out)
	for _, x := range out.Near {
		if x.Note.ID != out.Of && len(w.Near) < maxNear {
			w.Near = append(w.Near, x.Note.ID)
		}
	}
	if len(w.Near) > 0 && !w.repeats {
		w.Message += "; memory_get reads the near ones, replaces corrects one"
	}
	return w, nil
}

// reservedTags say what this program did; an agent cannot set them.
var reservedTags = []string{note.ReviewedTag, learn.Tag}

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
	in.Tags = slices.DeleteFunc(in.Tags, func(t string) bool { return t == "" || slices.Contains(reservedTags, t) })
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
