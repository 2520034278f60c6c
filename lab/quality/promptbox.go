package quality

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/recall"
)

// PromptsAnswer is how sessions of prompts did, each part of them separately.
type PromptsAnswer struct {
	Results []*PromptReport `json:"results"`
}

// PromptsOptions say how sessions of prompts are run.
type PromptsOptions struct {
	Misses bool   // the prompts that went wrong are part of the answer
	Grow   int    // notes of each store, with those of other sets; 0 leaves it as it is
	Pages  string // a folder for the page of each set; "" writes none
}

// PlayPrompts types the prompts of sessions as a hook hears them: those of a folder, or
// the built-in ones, after the start of their session.
func PlayPrompts(ctx context.Context, h app.Host, folder string, o PromptsOptions) (a PromptsAnswer, err error) {
	var runs []Prompts
	if folder != "" {
		sets, err := ReadPromptSets(os.DirFS(folder))
		if err != nil {
			return a, fmt.Errorf("read %s: %w", folder, err)
		}
		runs = append(runs, Prompts{Name: folder, Sets: sets})
	} else {
		for _, half := range []string{TuningHalf, HeldOutHalf} {
			var built fs.FS
			if built, err = BuiltInPrompts(half); err != nil {
				return a, err
			}
			sets, err := ReadPromptSets(built)
			if err != nil {
				return a, err
			}
			runs = append(runs, Prompts{Name: half, Sets: sets})
		}
	}
	for _, run := range runs {
		step, end := progress(&h, "asking prompts")
		run.Progress, run.Grow = step, o.Grow
		var failed error
		if o.Pages != "" {
			run.Page = func(set string, p PageShown) {
				name := filepath.Join(o.Pages, filepath.Base(run.Name)+"-"+filepath.Base(set)+".md")
				failed = errors.Join(failed, os.WriteFile(name, []byte(p.Text), 0o600))
			}
		}
		rep, err := run.Run(ctx, promptBox(&h))
		end()
		if err = errors.Join(err, failed); err != nil {
			return a, err
		}
		if !o.Misses {
			rep.Misses = nil
		}
		a.Results = append(a.Results, rep)
	}
	return a, nil
}

// touch adds to the transcript of an event that its agent edited files.
func touch(e agent.Event, files []string) error {
	f, err := os.OpenFile(e.TranscriptPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for i, name := range files {
		path := filepath.Join(e.Dir, filepath.FromSlash(name))
		line, jerr := json.Marshal(map[string]any{
			"type": "assistant", "sessionId": e.SessionID, "cwd": e.Dir, "uuid": fmt.Sprintf("%s-%d", name, i),
			"timestamp": time.Now().UTC().Format(time.RFC3339),
			"message": map[string]any{"role": "assistant", "content": []any{map[string]any{
				"type": "tool_use", "id": fmt.Sprint(name, i), "name": "Edit", "input": map[string]string{"file_path": path},
			}}},
		})
		_, werr := f.Write(append(line, '\n'))
		err = errors.Join(err, jerr, werr)
	}
	return errors.Join(err, f.Close())
}

// promptBox opens throw-away stores that answer prompts the way a hook does.
func promptBox(h *app.Host) PromptOpener {
	return func(ctx context.Context, root string) (*PromptBox, error) {
		_, box, err := openBox(ctx, h, root)
		return box, err
	}
}

// openBox is promptBox with the rooms behind it.
func openBox(ctx context.Context, h *app.Host, root string) (*app.Rooms, *PromptBox, error) {
	r, err := app.Open(ctx, h.At(root), 0)
	if err != nil {
		return nil, nil, err
	}
	start := func(ctx context.Context, project, session string) (shown PageShown, err error) {
		e := agent.Event{Harness: agent.Default().Name, SessionID: session, Dir: root, Source: "startup"}
		b, _, err := hooks.SessionStart(ctx, r, e, hooks.StartOptions{Project: project})
		if err == nil {
			err = hooks.LogShownAtStart(r, e, b)
		}
		return PageShown{Lines: b.Shown, Topics: b.Left, Tokens: recall.Tokens(b.Text), Text: b.Text}, err
	}
	tell := func(ctx context.Context, p PromptAsked) (PromptShown, error) {
		e := agent.Event{
			Harness: agent.Default().Name, SessionID: p.Session, Prompt: p.Text, Dir: root,
			TranscriptPath: filepath.Join(root, p.Session+".jsonl"),
		}
		if err := touch(e, p.Work); err != nil {
			return PromptShown{}, err
		}
		a, err := hooks.Prompt(ctx, r, e, hooks.PromptOptions{Project: p.Project})
		shown := PromptShown{Shown: a.Shown, Again: a.Again, Tokens: a.Tokens, Why: a.Silent}
		for _, n := range a.Near {
			shown.Why += fmt.Sprintf("; %s %s", n.ID, n.Why)
		}
		return shown, err
	}
	return r, &PromptBox{Sandbox: sandboxOf(r), Start: start, Tell: tell}, nil
}
