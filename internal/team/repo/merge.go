package repo

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/layout"
)

// A form is a note and its sidecar; nil is a file that is not there.
type form struct{ note, sidecar []byte }

func (f form) equal(g form) bool {
	return bytes.Equal(f.note, g.note) && bytes.Equal(f.sidecar, g.sidecar)
}

// formOf returns what of a document goes to a team: every note has a sidecar there.
func formOf(d Document, n *note.Note) form {
	f := form{d.Data, d.Sidecar}
	if f.sidecar == nil {
		f.sidecar = note.FormatSidecar(&note.Sidecar{DocumentID: n.ID, ExtractedAt: n.UpdatedAt})
	}
	return f
}

// A joined form is what a merge makes of the form of this machine and that of a team.
type joined struct {
	form
	both     []string // fields that both changed
	declined bool     // it was offered in this form, and is not there
	why      string   // it must not be written, "" when it may
}

// join merges what this machine and the team have of a note. Base is the form in
// which this machine last offered it, so that what the team changed since then
// stays, also when this machine never took it in. Theirs is what the branch has.
//
// Where both changed a field the later change stays, and the field is named. A file
// that the team has in the place of a note and that is none loses to ours and is
// named. Another note in its place, or one that no longer is for a team, is left
// alone: why says so.
func join(id note.ID, base, ours, theirs form) joined {
	switch {
	case theirs.note == nil && base.note != nil && ours.equal(base):
		return joined{form: theirs, declined: true}
	case theirs.note == nil:
		return joined{form: ours}
	}
	if n, err := note.Parse(theirs.note); err == nil && n.ID != id {
		return joined{why: "the repository has another note in its place: " + note.Line(string(n.ID), 140)}
	}
	m := note.Reconcile(base.note, ours.note, theirs.note)
	out := joined{form: form{note: m.Data, sidecar: ours.sidecar}}
	for _, l := range m.Lost {
		out.both = append(out.both, l.Field)
	}
	if theirs.sidecar != nil {
		s := note.ReconcileSidecars(base.sidecar, ours.sidecar, theirs.sidecar)
		out.sidecar = s.Data
		if len(s.Lost) > 0 {
			out.both = append(out.both, "sidecar")
		}
	}
	n, err := note.Parse(out.note)
	switch {
	case err != nil:
		out.why = "the merge with the repository's version cannot be read: " + note.Line(err.Error(), 200)
	case len(out.note) > replica.MaxFile || len(out.sidecar) > replica.MaxFile:
		out.why = "merged with the repository's version it is too large"
	default:
		if why := admissible(n, id); why != "" && !out.equal(theirs) {
			out.why = "merged with the repository's version: " + why
		}
	}
	return out
}

// folder is where the repository keeps notes.
const folder = "documents"

// A shelf is the notes that a commit of the repository has.
type shelf struct {
	files map[string]replica.Entry
	notes map[string][]string // paths of notes by file name
	why   string              // the folder cannot be written to, "" when it can

	folders map[string]bool // below the folder
}

func shelve(files map[string]replica.Entry) shelf {
	s := shelf{files: files, notes: make(map[string][]string), folders: make(map[string]bool)}
	if e, ok := files[folder]; ok {
		s.why = "the repository has " + kindOf(e) + " in the place of the folder " + folder
	}
	for name := range files {
		if base := path.Base(name); strings.HasSuffix(base, layout.NoteSuffix) {
			s.notes[base] = append(s.notes[base], name)
		}
		for dir := path.Dir(name); dir != folder && dir != "."; dir = path.Dir(dir) {
			s.folders[dir] = true
		}
	}
	for _, paths := range s.notes {
		slices.Sort(paths)
	}
	return s
}

// at returns where a note stands, or is to stand. Why says that it cannot.
func (s *shelf) at(id note.ID) (at, why string) {
	if s.why != "" {
		return "", s.why
	}
	found := s.notes[string(id)+layout.NoteSuffix]
	switch len(found) {
	case 0:
		at = folder + "/" + string(id) + layout.NoteSuffix
	case 1:
		at = found[0]
	default:
		return "", "the repository has it in two places: " + note.Line(found[0], 140) + ", " + note.Line(found[1], 140)
	}
	for _, name := range []string{at, layout.SidecarOf(at)} {
		if e, ok := s.files[name]; ok && !e.Plain() || s.folders[name] {
			return "", "the repository has " + kindOf(e) + " in its place"
		}
	}
	return at, ""
}

func kindOf(e replica.Entry) string {
	switch {
	case e.Mode == "120000":
		return "a link"
	case e.Mode == "160000":
		return "another repository"
	case e.Plain():
		return "a file"
	}
	return "a folder"
}
