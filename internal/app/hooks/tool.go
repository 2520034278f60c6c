package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/inject"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// Tool answers a call of a tool, before it runs: the rules with a trigger that fits it. It walks
// no folder and waits for no lock. What it returns counts as shown to the session of the event,
// and the event log has it.
func Tool(ctx context.Context, r *app.Rooms, e agent.Event, call agent.Call, o PromptOptions) (PromptAnswer, error) {
	return tellTool(ctx, r, e, actionOf(e.Dir, call), o)
}

// toolFailed answers a call of a tool that failed: the rules whose triggers stand in its output.
// It does what Tool does.
func toolFailed(ctx context.Context, r *app.Rooms, e agent.Event, o PromptOptions) (PromptAnswer, error) {
	return tellTool(ctx, r, e, recall.Action{Output: e.Failure}, o)
}

func tellTool(ctx context.Context, r *app.Rooms, e agent.Event, a recall.Action, o PromptOptions) (PromptAnswer, error) {
	s := surface{kind: store.ToolShown, on: r.Config.Inject.Tools, off: "tools are shown nothing: inject.tools.on is false", mute: true}
	return respond(ctx, r, e, o, s, func(p inject.Place, q recall.Query) (inject.Reminder, error) {
		return r.Injector.Tool(ctx, p, q, a)
	})
}

// touches reports whether a trigger may fit a call. It opens nothing: none fits many calls.
func touches(call agent.Call) bool { return actionOf("", call).Touches() }

// actionOf says what a call does in the folder dir.
func actionOf(dir string, call agent.Call) recall.Action {
	a := recall.Action{Command: call.Command}
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if a.Root = project.Top(dir); a.Root == "" {
		a.Root = dir
	}
	for _, f := range call.Files {
		if filepath.IsAbs(f) && !strings.HasPrefix(f, a.Root+string(filepath.Separator)) {
			if real, err := filepath.EvalSymlinks(filepath.Dir(f)); err == nil {
				f = filepath.Join(real, filepath.Base(f))
			}
		}
		a.Files = append(a.Files, f)
	}
	return a
}
