package imports

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// The bounds of lists and of single texts in a front matter.
const (
	maxItems = 200
	maxText  = 4000 // characters
)

// finish makes the draft of a learning: with its id and project, redacted, and
// within the bounds of a note. Keys that cannot stay are noted in l.lost.
func (im *Importer) finish(l *learning, id note.ID, project string) *draft {
	n := l.note
	n.ID, n.Project, n.MachineID = id, project, im.opts.MachineID
	if n.UpdatedAt == "" {
		n.UpdatedAt = n.CreatedAt
	}
	single := []*string{
		&n.Category, &n.LearningType, &n.Problem, &n.RootCause, &n.Fix, &n.Rule, &n.KeyInsight,
		&n.HowToApply, &n.StatusReason, &n.Branch, &n.ImportedID, &n.Provenance.Session,
	}
	texts := append([]string{n.Title, n.Body}, n.Symptoms...)
	for _, s := range single {
		texts = append(texts, *s)
	}
	im = im.knowing(texts...)
	n.Title, n.Body = line(im.masked(n.Title), 300), im.masked(n.Body)
	for _, s := range single {
		*s = line(im.masked(*s), maxText)
	}
	for _, list := range []*[]string{&n.Symptoms, &n.Commits, &n.UnverifiedRefs, &n.Anchors, &n.Tags} {
		*list = im.lines(*list)
	}
	n.AddTags("import")
	im.maskSidecar(l.side)
	im.keepExtra(l)
	d := &draft{note: n, side: l.side}
	d.sign()
	return d
}

// lines redacts the elements of a list, each one line, without repetitions.
func (im *Importer) lines(list []string) []string {
	var out []string
	for _, s := range list {
		if s = line(im.masked(s), maxText); s != "" && !slices.Contains(out, s) && len(out) < maxItems {
			out = append(out, s)
		}
	}
	return out
}

// maskSidecar redacts the texts of a sidecar.
func (im *Importer) maskSidecar(side *note.Sidecar) {
	if side == nil {
		return
	}
	mask := func(texts ...*string) {
		for _, s := range texts {
			*s = line(im.masked(*s), 500)
		}
	}
	for i := range side.Entities {
		mask(&side.Entities[i].Name, &side.Entities[i].Description)
	}
	for i := range side.Edges {
		e := &side.Edges[i]
		mask(&e.Source, &e.Target, &e.Description, &e.Superseded)
	}
	side.Entities = slices.DeleteFunc(side.Entities, func(e note.Entity) bool { return e.Name == "" })
	side.Edges = slices.DeleteFunc(side.Edges, func(e note.Edge) bool { return e.Source == "" || e.Target == "" })
}

// keepExtra keeps the unknown keys of a learning as they stand. One that is a
// key of ours with another meaning, that is too long, or that a reader would
// not find again as it is, has no place.
func (im *Importer) keepExtra(l *learning) {
	n := l.note
	all := n.Extra
	n.Extra = nil
	size := 0
	for _, f := range all {
		f.Raw = im.masked(f.Raw)
		if size += len(f.Raw); size > maxFront || strings.ContainsAny(f.Raw, "\x00\r") ||
			slices.ContainsFunc(n.Extra, func(was note.Field) bool { return was.Key == f.Key }) {
			l.lost = append(l.lost, f.Key)
			continue
		}
		n.Extra = append(n.Extra, f)
	}
	if len(n.Extra) > 0 && readable(n) == nil {
		return
	}
	tried := n.Extra // one by one: the front matter is short, and this is rare
	n.Extra = nil
	for _, f := range tried {
		n.Extra = append(n.Extra, f)
		if readable(n) != nil {
			n.Extra = n.Extra[:len(n.Extra)-1]
			l.lost = append(l.lost, f.Key)
		}
	}
}

// readable reports whether the front matter of n is read as it is written.
func readable(n *note.Note) error {
	head := n.Clone()
	head.Body = ""
	if err := head.Validate(); err != nil {
		return err
	}
	again, err := note.Parse(head.Format())
	if err == nil && !slices.Equal(again.Extra, head.Extra) {
		err = errors.New("an unknown key is not read as it is written")
	}
	return err
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
