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
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/unread"
)

// NewGenerator opens the model that writes, for a purpose that the event log names.
// It is nil, with the reason, when there is none.
func NewGenerator(r *Rooms, purpose string) (llm.Generator, error) {
	if err := r.MayRedact(); err != nil {
		return nil, err
	}
	g, err := llm.OpenGenerator(r.Config.Models.Chat, r.Config.Models.Network, config.Environ(), ModelBudget(r, purpose))
	if err != nil {
		return nil, err // g holds a nil pointer then, which is no nil interface
	}
	return g, nil
}

// ModelBudget is what may be asked for a purpose.
func ModelBudget(r *Rooms, purpose string) *llm.Budget {
	return reflection.NewBudget(r.Store, r.Config.Reflection).Watching(QuotaOwner(r.Config)).For(purpose)
}

// QuotaOwner says whose quota models use, and whether it is paid by key: the command line of
// an agent is signed in to a subscription, unless the key of its vendor is in its environment.
func QuotaOwner(c *config.Config) (provider string, byKey bool) {
	chat := c.Models.Chat
	if chat.Provider == llm.Heuristic {
		return "", false
	}
	return chat.Provider, !llm.BySubscription(chat.Provider, config.Environ())
}

// SummarizeQueued lets the model tell what sessions were about. Hooks never do that.
func SummarizeQueued(r *Rooms) {
	if g, err := NewGenerator(r, "summary"); err == nil {
		r.Recorder = r.Recorder.WithModel(g)
	}
}

// NewReflector wires the room of reflection. Without a model it plans and shows,
// and the error says why there is none.
func NewReflector(r *Rooms, purpose string) (*reflection.Reflector, error) {
	g, err := NewGenerator(r, purpose)
	if err != nil && !errors.Is(err, llm.ErrNotConfigured) {
		r.Notify("reflection.provider: %v", err)
	}
	return reflection.New(r.Store, r.Index, r.Ingester, r.Redactor, g, r.Config.Reflection), err
}

// ReadSessions lets the model read the sessions that ended, in the background. A failure is no
// failure of the capture.
func ReadSessions(ctx context.Context, r *Rooms) (read learn.Read, failed []string) {
	if jobs, _, err := queue.Of(r.Store).Look(queue.Read); err != nil || len(jobs) == 0 || !r.Config.Capture.Read {
		return read, nil
	}
	model, err := NewGenerator(r, "read")
	if err != nil {
		return read, nil
	}
	reader := NewReader(r, model, ModelBudget(r, "read"))
	running, _ := BeginRun(ctx, r, "learn")
	read, err = reader.Run(running, 0, nil)
	if err = errors.Join(err, read.Err); err != nil && !errors.Is(err, store.ErrLocked) {
		failed = append(failed, fmt.Sprintf("sessions wait for their reader (%v)", err))
	}
	return read, failed
}

// NewReader wires the model that reads sessions.
func NewReader(r *Rooms, model llm.Generator, budget *llm.Budget) *learn.Reader {
	w := learn.Rewriter{Store: r.Store, Redactor: r.Redactor, Model: model, Budget: budget, Directive: r.Config.Reflection.Directive}
	return learn.NewReader(w, r.Ingester, func(n *note.Note, from learn.Origin) {
		capture.Stamp(n, from.Dir, r.Redactor, from.Edited...)
	}, func(p *learn.Reading) error {
		var seen []string
		for i := range p.Said {
			seen = append(seen, p.Said[i].Hash)
		}
		return unread.Of(r.Store).Decide(p.Origin.Project, p.Origin.Harness, p.Origin.Session, unread.Model, seen...)
	})
}

// AutoReflect follows the capture of sessions in the background, when that is
// switched on. It returns how many notes it made; what went wrong is no failure
// of the capture.
func AutoReflect(ctx context.Context, r *Rooms, projects []string) (wrote int, failed []string) {
	if !r.Config.Reflection.Auto {
		return 0, nil
	}
	reflector, err := NewReflector(r, "reflect")
	if err != nil {
		return 0, nil
	}
	// Notes that were put on the disk by hand count as well.
	if _, err := r.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return 0, []string{fmt.Sprintf("auto-reflect failed (%v); skipped", err)}
	}
	running, _ := BeginRun(ctx, r, "reflect")
	for _, project := range projects {
		rep, err := reflector.Auto(running, project)
		wrote += rep.Wrote()
		if err != nil {
			failed = append(failed, fmt.Sprintf("auto-reflect failed (%v); skipped", err))
		}
	}
	return wrote, failed
}

// ModelName says which model would be asked.
func ModelName(r *Rooms) string {
	c := r.Config.Models.Chat
	if c.Provider == llm.Heuristic {
		return "no model (reflection.provider)"
	}
	name := llm.NameOf(c)
	if c.Provider == llm.Files {
		return name + " in " + c.Folder
	}
	if url := llm.BaseURL(c.Provider, c.URL); url != "" {
		name += " at " + url
	}
	return name
}

// agentOnly is the reader of ended sessions where no model is one.
const agentOnly = "agent only"

// ReaderName says what learns from ended sessions: the agent in its own session alone, or a
// model beside it. The error says why that model cannot be asked.
func ReaderName(r *Rooms) (string, error) {
	c := r.Config
	if c.Models.Chat.Provider == llm.Heuristic || !c.Capture.Read {
		return agentOnly, nil
	}
	_, err := NewGenerator(r, "reader")
	return "model " + ModelName(r), err
}
