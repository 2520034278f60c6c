package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
)

// lastQuestions remember what a model said about the last few questions: several stages
// of one recall ask for one, and the parts of a prompt are asked at once. The zero value
// remembers nothing.
type lastQuestions struct {
	mu   sync.Mutex
	all  [8]askedQuestion
	next int // the place of the next one
}

// An askedQuestion is one of them.
type askedQuestion struct {
	model, text string
	unit        []float32 // not changed by those who ask
	err         error
	until       time.Time // of err
}

// failureKept is how long a failure stands for the next question for the same. It
// outlasts one recall: a server that is down is waited for once.
const failureKept = 2 * time.Second

func (l *lastQuestions) get(model, text string) (unit []float32, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.all {
		if q.text == text && q.model == model && (q.err == nil || time.Now().Before(q.until)) {
			return q.unit, true, q.err
		}
	}
	return nil, false, nil
}

func (l *lastQuestions) put(model, text string, unit []float32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.next
	for i, q := range l.all {
		if q.text == text && q.model == model {
			at = i
		}
	}
	if at == l.next {
		l.next = (l.next + 1) % len(l.all)
	}
	l.all[at] = askedQuestion{model, text, unit, err, time.Now().Add(failureKept)}
}

var errNoRedactor = errors.New("what a remote model embeds has to be redacted, and there is no redactor")

// A remoteEmbedder is a model elsewhere together with the redactor that everything it
// gets has to pass.
type remoteEmbedder struct {
	*llm.Embedder
	redact func(string) redact.Text
}

// Traits implements embed.Embedder.
func (r remoteEmbedder) Traits() embed.Traits { return embed.Traits{Deferred: true, Leaves: true} }

// Embed implements embed.Embedder.
func (r remoteEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if r.redact == nil {
		return nil, errNoRedactor
	}
	safe := make([]redact.Text, len(texts))
	for i, text := range texts {
		safe[i] = r.redact(text)
	}
	return r.Embedder.Embed(ctx, safe)
}

// askModel returns the unit vector of a question, nil when it says nothing.
func (ix *Index) askModel(ctx context.Context, text string) ([]float32, error) {
	model := ix.Model()
	if unit, ok, err := ix.asked.get(model, text); ok && text != "" {
		return unit, err
	}
	var unit []float32
	got, err := ix.vectors(ctx, []string{text})
	if err == nil {
		unit = got[0]
	}
	if ctx.Err() == nil { // else it is about this caller's patience
		ix.asked.put(model, text, unit, err)
	}
	return unit, err
}

// vectors returns the unit vectors of texts, nil where one says nothing.
func (ix *Index) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	got, err := ix.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(got) != len(texts) {
		return nil, fmt.Errorf("embed with %s: %d vectors for %d texts", ix.Model(), len(got), len(texts))
	}
	for i, v := range got {
		if got[i], err = normalize(v); err != nil {
			return nil, fmt.Errorf("embed with %s: %w", ix.Model(), err)
		}
	}
	return got, nil
}

// refuses reports whether a model does not want a text.
func refuses(err error) bool {
	var refused *llm.StatusError
	return errors.As(err, &refused) && refused.OfText()
}

// maxRefused is how many texts of a batch a model may refuse before it has
// taken one: then it is not the texts.
const maxRefused = 3

// embedTexts is vectors for a batch in which one text may be such that the
// model refuses them all, by its length for instance: it then asks one by one,
// and leaves that text without a vector.
func (ix *Index) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	got, err := ix.vectors(ctx, texts)
	if !refuses(err) || len(texts) == 1 {
		return got, err
	}
	got = make([][]float32, len(texts))
	taken, left := 0, 0
	for i := range texts {
		one, err := ix.vectors(ctx, texts[i:i+1])
		switch {
		case err == nil:
			got[i] = one[0]
			taken++
		case !refuses(err):
			return nil, err
		default:
			if left++; taken == 0 && left >= maxRefused {
				return nil, err
			}
		}
	}
	return got, nil
}
