package doctor

import "context"

func checkReader(_ context.Context, p *Target) Result {
	if p.Reader == nil {
		return skip("there are no settings")
	}
	name, err := p.Reader()
	if err != nil {
		return warn("complete the settings reflection.*, then run `anamnesis config test`", name+" cannot be asked: "+err.Error())
	}
	return ok(name)
}
