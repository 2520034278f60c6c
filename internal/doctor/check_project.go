package doctor

import "context"

// checkProject names the project that this folder may be, while its own has no notes: after a repository was cloned again from
// another address, or a folder moved to another disk.
func checkProject(ctx context.Context, p *Target) Result {
	if p.Project == nil {
		return skip("there is no store")
	}
	line, err := p.Project(ctx)
	switch {
	case err != nil:
		return bad("`anamnesis reindex` rebuilds the index", err.Error())
	case line != "":
		return info("join it if it is the same project", clean(line, maxLine))
	}
	return ok("no other project matches this folder")
}
