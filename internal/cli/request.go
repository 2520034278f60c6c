package cli

import "anamnesis/internal/llm"

// A request is what would be sent to a model, byte for byte.
type request struct {
	Project string `json:"project"`
	Notes   int    `json:"notes"` // it is made of
	System  string `json:"system"`
	User    string `json:"user"`
}

func newRequest(project string, notes int, p llm.Prompt) request {
	return request{project, notes, p.System.String(), p.User.String()}
}

// printRequests shows what would be sent; why says why there may be nothing.
func (p *program) printRequests(command string, all []request, why string) error {
	if p.json {
		return p.emit(struct {
			header
			Model    string    `json:"model"`
			Requests []request `json:"requests"`
		}{head(command), p.modelName(), append([]request{}, all...)})
	}
	for _, q := range all {
		p.printf("== %s: %s to %s\n== system\n%s\n== user\n%s\n", firstLine(q.Project, 80), plural(q.Notes, "note"), p.modelName(), q.System, q.User)
	}
	if len(all) == 0 {
		p.note("there is nothing to send: %s", why)
	}
	return nil
}
