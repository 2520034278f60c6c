package hooks

import (
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/learn"
	"anamnesis/internal/store"
)

// permissionWords are in the message of a notification that asks for a permission, of an
// agent that does not name the type.
var permissionWords = []string{
	"needs your permission", "permission to use", "permission to run", "permission to execute", "requesting permission",
	"requests permission", "requires your approval", "awaiting approval", "awaiting your approval",
}

// NoteEvent keeps an event of a session that no record of it tells of, for the background
// run: that it happened, when, and of which tool. No text of it is kept.
func NoteEvent(h app.Host, e agent.Event, kind agent.EventKind) error {
	n := store.Observed{Tool: e.ToolName}
	switch {
	case kind == agent.PostToolUseFailure:
		n.Kind = string(learn.ToolFailed)
	case kind == agent.PermissionRequest, kind == agent.Notification && asksPermission(e):
		n.Kind = string(learn.AskedPermission)
	}
	if n.Kind == "" || !h.Config.Capture.Learn || e.SessionID == "" || e.SubagentID != "" {
		return nil
	}
	s, err := app.OpenStore(h)
	if err != nil || s.ReadOnly() {
		return err
	}
	return s.Spool().ShownLog(e.SessionID, "").Note(n)
}

func asksPermission(e agent.Event) bool {
	if e.Reason != "" {
		return e.Reason == "permission_prompt"
	}
	said := strings.ToLower(e.Message)
	for _, w := range permissionWords {
		if strings.Contains(said, w) {
			return true
		}
	}
	return false
}
