package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/index"
)

// checkGraph looks at the files of entities, and whether the index has what they say. An
// edge of the index cannot lead nowhere: it is made of one file.
func checkGraph(ctx context.Context, p *Target) Result {
	if p.Graph == nil || p.Store == nil {
		return skip("there is no store")
	}
	look, cancel := context.WithTimeout(ctx, max(p.budget, time.Millisecond))
	defer cancel()
	wrong, all, err := p.Graph(look)
	hurried := look.Err() != nil && ctx.Err() == nil
	if err != nil && !hurried {
		return bad("check who owns the folders memory and local in the store", err.Error())
	}
	lines := graphCounts(wrong)
	drifts := 0
	if p.Index != nil && all > 0 && !hurried {
		looked, ids, err := p.Index.GraphDrift(look, slices.Values(p.shared.walk()))
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			hurried = true
		case err != nil:
			return bad(remake, err.Error())
		}
		if drifts = len(ids); drifts > 0 {
			lines = append(lines, fmt.Sprintf("of %s with entities, the index has others of %d than the files say",
				plural(looked, "note"), drifts))
		}
	}
	for i := range wrong {
		lines = append(lines, clean(wrong[i].Path, 200)+": "+graphTrouble(&wrong[i]))
	}
	if hurried {
		lines = append(lines, fmt.Sprintf("the first %s alone; `anamnesis doctor --only graph` looks at all", plural(all, "file")))
	}
	if len(wrong) == 0 && drifts == 0 {
		return ok(append([]string{plural(all, "file") + " of entities, nothing to mend"}, lines...)...)
	}
	return warn("`anamnesis doctor --fix`; what a file said is kept in the history of its note. Whoever wants to mend a file by hand does "+
		"that first", lines...)
}

// graphCounts counts the files by what is wrong with them.
func graphCounts(wrong []index.SidecarState) (lines []string) {
	var orphans, broken, partly, twice int
	for i := range wrong {
		switch st := &wrong[i]; {
		case st.Orphan:
			orphans++
		case st.Err != nil:
			broken++
		case st.Partly > 0:
			partly++
		default:
			twice++
		}
	}
	for _, c := range []struct {
		n    int
		what string
	}{
		{orphans, "without its note"},
		{broken, "that cannot be read"},
		{partly, "of which something is left out"},
		{twice, "that says something twice, or speaks of a forgotten note"},
	} {
		if c.n > 0 {
			lines = append(lines, plural(c.n, "file")+" "+c.what)
		}
	}
	return lines
}

// graphTrouble says what is wrong with one file.
func graphTrouble(st *index.SidecarState) string {
	t := st.Tidied
	switch {
	case st.Orphan && st.Note != "":
		return "its note stands in " + clean(st.Note, 200)
	case st.Orphan && st.ID == "":
		return "it has no note, and nobody can say which it had; move it away"
	case st.Orphan:
		return "its note is gone"
	case st.Err != nil:
		return st.Err.Error()
	case st.Partly > 0:
		return plural(st.Partly, "line") + " left out"
	}
	return fmt.Sprintf("%d entities and %d relations too many, %d of a forgotten note", t.Entities, t.Edges, t.Ends)
}
