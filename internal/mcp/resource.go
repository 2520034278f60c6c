package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The addresses of resources. The key of a project may hold slashes.
const (
	noteURI    = "memory://note/"
	projectURI = "memory://project/"
	pageURI    = "memory://page/"
)

const maxResource = 256 << 10 // bytes of a note

func (s *Server) addResources() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "note", Title: "A note", Description: "One note of memory, as markdown.", URITemplate: noteURI + "{id}", MIMEType: "text/markdown",
	}, s.readNote)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "project", Title: "The notes of a project", Description: "Titles, ids, types and ages of a project's notes, newest first.",
		URITemplate: projectURI + "{+key}", MIMEType: "text/markdown",
	}, s.readProject)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "page", Title: "The page of a project", Description: "What a session on a project is shown at its start.",
		URITemplate: pageURI + "{+key}", MIMEType: "text/markdown",
	}, s.readPage)
}

// readPage returns what a session on a project is shown at its start.
func (s *Server) readPage(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	key, err := url.PathUnescape(strings.TrimPrefix(uri, pageURI))
	if err != nil || key == "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	b, p, err := hooks.SessionStart(ctx, s.rooms, agent.Event{}, hooks.StartOptions{Project: key})
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(strings.TrimPrefix(b.Text, p.Start+"\n"), p.End+"\n")
	if text == "" {
		text = "Nothing is known of " + name(key) + " yet."
	}
	return s.page(uri, strings.TrimRight(text, "\n")), nil
}

// page is the answer to a request for a resource.
func (s *Server) page(uri, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/markdown", Text: s.marked(text)}}}
}

func (s *Server) readNote(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id, err := note.ParseID(strings.TrimPrefix(uri, noteURI))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	row, ok, err := s.rooms.Index.Lookup(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	c := s.rooms.Index.Content(ctx, row)
	if c.Err != nil {
		return nil, c.Err
	}
	text := note.Harmless(string(c.Note.Format()))
	if len(text) > maxResource {
		text = text[:floor(text, maxResource)] + cutMark
	}
	return s.page(uri, strings.TrimRight(text, "\n")), nil
}

func (s *Server) readProject(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	key, err := url.PathUnescape(strings.TrimPrefix(uri, projectURI))
	if err != nil || key == "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	f, err := s.filter(ctx, callerOf(req), filterIn{Project: key})
	if err != nil {
		return nil, err
	}
	rows, err := s.rooms.Index.Select(ctx, f, maxPage+1)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Notes of %s\n\n", name(key))
	for i := range rows[:min(len(rows), maxPage)] {
		r := &rows[i]
		fmt.Fprintf(&b, "- `%s` [%s] %s (%s)\n", r.ID, r.Type, name(r.Title), age(s.rooms.Store.Now(), r.Effective()))
	}
	switch {
	case len(rows) == 0:
		b.WriteString("There are none.\n")
	case len(rows) > maxPage:
		b.WriteString("\nThere are more; memory_list shows them.\n")
	}
	return s.page(uri, strings.TrimRight(b.String(), "\n")), nil
}

// age says how long ago something was, roughly.
func age(now, then time.Time) string {
	if then.IsZero() {
		return "undated"
	}
	switch days := int(now.Sub(then).Hours() / 24); {
	case days < 1:
		return "today"
	case days == 1:
		return "1 day"
	case days < 60:
		return fmt.Sprintf("%d days", days)
	case days < 730:
		return fmt.Sprintf("%d months", days/30)
	default:
		return fmt.Sprintf("%d years", days/365)
	}
}
