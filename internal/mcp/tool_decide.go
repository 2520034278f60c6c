package mcp

import (
	"context"
	"errors"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// decideName is the only tool that decides for the user. A client runs it only when its user has answered a dialog that
// shows the arguments in full, and it is listed only to such a client (Options.Dialog).
const decideName = "memory_decide"

var toolDecide = tool{
	name: decideName,
	doc: `Ask the user in a dialog to keep or reject what memory_review lists: with its id, and its title and text word for word.
Only when the user wants to decide now.`,
	hints:  sdk.ToolAnnotations{OpenWorldHint: &no, DestructiveHint: &no},
	does:   decides,
	find:   "keep or reject a note that waits for the user, in a dialog",
	dialog: true,
	input:  schemaOf[curate.DialogItem],
	amend:  func(p map[string]*jsonschema.Schema) { p["decision"].Enum = oneOf(app.Keep, app.Reject) },
	call:   takes((*Server).decide),
}

type decideOut struct {
	Message string            `json:"message"`
	Stored  curate.DialogDone `json:"stored"`
}

func (decideOut) framed() {}

var errNoDialog = errors.New("only the user decides, and this call came from no dialog of a client that is known to ask its user; " +
	"`anamnesis review` in a terminal, or the dashboard")

func (s *Server) decide(ctx context.Context, c caller, in curate.DialogItem) (any, error) {
	if !c.byModel || !s.asks(c.session) {
		return nil, errNoDialog
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	done, err := curate.DecideInDialog(ctx, s.rooms, in)
	if err != nil {
		return nil, err
	}
	return decideOut{Message: "decided by the user in the dialog; this is what is stored", Stored: done}, nil
}

// asks reports whether the client of a session shows its user the dialog.
func (s *Server) asks(session *sdk.ServerSession) bool {
	if s.opts.Dialog == nil || session == nil {
		return false
	}
	p := session.InitializeParams()
	return p != nil && p.ClientInfo != nil && s.opts.Dialog(p.ClientInfo.Name, p.ClientInfo.Version)
}

// withoutDialogs takes the tools that need a dialog out of a list for a client that shows none.
func (s *Server) withoutDialogs(req sdk.Request, res sdk.Result) {
	list, ok := res.(*sdk.ListToolsResult)
	if !ok {
		return
	}
	if session, ok := req.GetSession().(*sdk.ServerSession); ok && s.asks(session) {
		return
	}
	kept := make([]*sdk.Tool, 0, len(list.Tools))
	for _, t := range list.Tools {
		if asks, _ := t.Meta[agent.AsksUser].(bool); !asks {
			kept = append(kept, t)
		}
	}
	list.Tools = kept
}
