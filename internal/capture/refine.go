package capture

import (
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/lesson"
	"anamnesis/internal/queue"
)

// maxRefineWindow is how many bytes of a session a model reads with one lesson.
const maxRefineWindow = 6 << 10

// unrefined lets a new learning wait for the words of a model, with the stretch of the
// session that taught it, redacted. Without a model nothing waits; that it cannot wait is
// no failure, because the learning stands.
func (r *Recorder) unrefined(s *agent.Session, l *lesson.Lesson, b *ingest.Believed) {
	n := b.Note
	if r.model == nil || !r.opts.Refine || b.Result != ingest.Created || n == nil || n.Quarantine {
		return
	}
	stretch := &agent.Session{Turns: s.Turns[l.Window.From : l.Window.To+1]}
	window := r.redactor.Redact(r.transcript(stretch)).Window(maxRefineWindow)
	_, _ = queue.Of(r.store).Enqueue(queue.Refine, n.ID, ingest.Unrefined{
		Hash: ingest.SummaryHash(n.Title, n.Body), Window: window.String(),
	}, time.Time{})
}
