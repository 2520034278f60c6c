package cli

import (
	"errors"

	"anamnesis/internal/app/curate"
	"anamnesis/internal/learn"
)

// notConfigured is the answer of a command that needs a model when there is none.
type notConfigured struct {
	Configured bool `json:"configured"`
}

// renderModel is render for a use case that needs a model. That there is none is
// shown, and is no failure.
func renderModel[T any](p *program, command, prefix string, v T, err error, text func(T)) error {
	if errors.Is(err, learn.ErrNoModel) {
		return render(p, command, notConfigured{}, nil, func(notConfigured) { p.printf("%s: %v\n", prefix, learn.ErrNoModel) })
	}
	return render(p, command, v, err, text)
}

// printRequests shows what would be sent; why says why there may be nothing.
func (p *program) printRequests(why string) func(curate.RequestsAnswer) {
	return func(a curate.RequestsAnswer) {
		for _, q := range a.Requests {
			p.printf("== %s: %s to %s\n== system\n%s\n== user\n%s\n", firstLine(q.Project, 80), plural(q.Notes, "note"), a.Model, q.System, q.User)
		}
		if len(a.Requests) == 0 {
			p.note("there is nothing to send: %s", why)
		}
	}
}
