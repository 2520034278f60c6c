package app

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
	"anamnesis/internal/eval"
	"anamnesis/internal/recall"
)

// PromptsAnswer is how sessions of prompts did, each part of them separately.
type PromptsAnswer struct {
	Results []*eval.PromptReport `json:"results"`
}

// EvalPromptsOptions say how sessions of prompts are run.
type EvalPromptsOptions struct {
	Misses bool   // the prompts that went wrong are part of the answer
	Grow   int    // notes of each store, with those of other sets; 0 leaves it as it is
	Pages  string // a folder for the page of each set; "" writes none
}

// EvalPrompts types the prompts of sessions as a hook hears them: those of a folder, or
// the built-in ones, after the start of their session.
func EvalPrompts(ctx context.Context, h Host, folder string, o EvalPromptsOptions) (a PromptsAnswer, err error) {
	var runs []eval.Prompts
	if folder != "" {
		sets, err := eval.ReadPromptSets(os.DirFS(folder))
		if err != nil {
			return a, fmt.Errorf("read %s: %w", folder, err)
		}
		runs = append(runs, eval.Prompts{Name: folder, Sets: sets})
	} else {
		for _, half := range []string{eval.TuningHalf, eval.HeldOutHalf} {
			var built fs.FS
			if built, err = eval.BuiltInPrompts(half); err != nil {
				return a, err
			}
			sets, err := eval.ReadPromptSets(built)
			if err != nil {
				return a, err
			}
			runs = append(runs, eval.Prompts{Name: half, Sets: sets})
		}
	}
	for _, run := range runs {
		bar := h.progress("asking prompts")
		run.Progress, run.Grow = bar.Step, o.Grow
		var failed error
		if o.Pages != "" {
			run.Page = func(set string, p eval.PageShown) {
				name := filepath.Join(o.Pages, filepath.Base(run.Name)+"-"+filepath.Base(set)+".md")
				failed = errors.Join(failed, os.WriteFile(name, []byte(p.Text), 0o600))
			}
		}
		rep, err := run.Run(ctx, h.promptBox)
		bar.Done()
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

// promptBox opens a throw-away store that answers prompts the way a hook does.
func (h *Host) promptBox(ctx context.Context, root string) (*eval.PromptBox, error) {
	_, box, err := h.openBox(ctx, root)
	return box, err
}

// openBox is promptBox with the rooms behind it.
func (h *Host) openBox(ctx context.Context, root string) (*Rooms, *eval.PromptBox, error) {
	box, c := *h, *h.Config
	c.Home, c.UserHome = root, root
	box.Config = &c
	r, err := Open(ctx, box, 0)
	if err != nil {
		return nil, nil, err
	}
	start := func(ctx context.Context, project, session string) (shown eval.PageShown, err error) {
		e := agent.Event{Harness: agent.Default().Name, SessionID: session, Dir: root, Source: "startup"}
		b, _, err := SessionStart(ctx, r, e, StartOptions{Project: project})
		if err == nil {
			err = ToldAtStart(r, e, b)
		}
		return eval.PageShown{Lines: b.Shown, Topics: b.Left, Tokens: recall.Tokens(b.Text), Text: b.Text}, err
	}
	tell := func(ctx context.Context, p eval.PromptAsked) (eval.PromptTold, error) {
		e := agent.Event{
			Harness: agent.Default().Name, SessionID: p.Session, Prompt: p.Text, Dir: root,
			TranscriptPath: filepath.Join(root, p.Session+".jsonl"),
		}
		if err := touch(e, p.Work); err != nil {
			return eval.PromptTold{}, err
		}
		a, err := Prompt(ctx, r, e, PromptOptions{Project: p.Project})
		told := eval.PromptTold{Shown: a.Shown, Again: a.Again, Tokens: a.Tokens, Why: a.Silent}
		for _, n := range a.Near {
			told.Why += fmt.Sprintf("; %s %s", n.ID, n.Why)
		}
		return told, err
	}
	sandbox := &eval.Sandbox{Store: r.Store, Index: r.Index, Engine: r.Engine, Close: r.Close}
	return r, &eval.PromptBox{Sandbox: sandbox, Start: start, Tell: tell}, nil
}
