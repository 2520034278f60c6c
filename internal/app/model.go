package app

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/capture"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/queue"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// Generator opens the model that writes, for a purpose that the event log names.
// It is nil, with the reason, when there is none.
func (r *Rooms) Generator(purpose string) (llm.Generator, error) {
	if err := r.MayRedact(); err != nil {
		return nil, err
	}
	g, err := llm.OpenGenerator(r.Config.Models.Chat, r.Config.Models.Network, config.Environ(), r.budget(purpose))
	if err != nil {
		return nil, err // g holds a nil pointer then, which is no nil interface
	}
	return g, nil
}

// budget is what may be asked for a purpose.
func (r *Rooms) budget(purpose string) *llm.Budget {
	return reflection.NewBudget(r.Store, r.Config.Reflection).Watching(quotaOwner(r.Config)).For(purpose)
}

// quotaOwner says whose quota models use, and whether it is paid by key: the command line of
// an agent is signed in to a subscription, unless the key of its vendor is in its environment.
func quotaOwner(c *config.Config) (provider string, byKey bool) {
	chat := c.Models.Chat
	if chat.Provider == llm.Heuristic {
		return "", false
	}
	return chat.Provider, !llm.BySubscription(chat.Provider, config.Environ())
}

// summarize lets the model tell what sessions were about. Hooks never do that.
func (r *Rooms) summarize() {
	if g, err := r.Generator("summary"); err == nil {
		r.Recorder = r.Recorder.WithModel(g)
	}
}

// Reflector wires the room of reflection. Without a model it plans and shows,
// and the error says why there is none.
func (r *Rooms) Reflector(purpose string) (*reflection.Reflector, error) {
	g, err := r.Generator(purpose)
	if err != nil && !errors.Is(err, llm.ErrNotConfigured) {
		r.Notify("reflection.provider: %v", err)
	}
	return reflection.New(r.Store, r.Index, r.Ingester, r.Redactor, g, r.Config.Reflection), err
}

// readSessions lets the model read the sessions that ended, in the background. A failure is no
// failure of the capture.
func (r *Rooms) readSessions(ctx context.Context) (read learn.Read, failed []string) {
	if jobs, _, err := queue.Of(r.Store).Look(queue.Read); err != nil || len(jobs) == 0 || !r.Config.Capture.Read {
		return read, nil
	}
	model, err := r.Generator("read")
	if err != nil {
		return read, nil
	}
	reader := r.Reader(model, r.budget("read"))
	running, _ := beginRun(ctx, r, "learn")
	read, err = reader.Run(running, 0, nil)
	if err = errors.Join(err, read.Err); err != nil && !errors.Is(err, store.ErrLocked) {
		failed = append(failed, fmt.Sprintf("sessions wait for their reader (%v)", err))
	}
	return read, failed
}

// Reader wires the model that reads sessions.
func (r *Rooms) Reader(model llm.Generator, budget *llm.Budget) *learn.Reader {
	w := learn.Rewriter{Store: r.Store, Redactor: r.Redactor, Model: model, Budget: budget, Directive: r.Config.Reflection.Directive}
	return learn.NewReader(w, r.Ingester, func(n *note.Note, from learn.Origin) {
		capture.Stamp(n, from.Dir, r.Redactor, from.Edited...)
	})
}

// autoReflect follows the capture of sessions in the background, when that is
// switched on. It returns how many notes it made; what went wrong is no failure
// of the capture.
func (r *Rooms) autoReflect(ctx context.Context, projects []string) (wrote int, failed []string) {
	if !r.Config.Reflection.Auto {
		return 0, nil
	}
	reflector, err := r.Reflector("reflect")
	if err != nil {
		return 0, nil
	}
	// Notes that were put on the disk by hand count as well.
	if _, err := r.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return 0, []string{fmt.Sprintf("auto-reflect failed (%v); skipped", err)}
	}
	running, _ := beginRun(ctx, r, "reflect")
	for _, project := range projects {
		rep, err := reflector.Auto(running, project)
		wrote += rep.Wrote()
		if err != nil {
			failed = append(failed, fmt.Sprintf("auto-reflect failed (%v); skipped", err))
		}
	}
	return wrote, failed
}
