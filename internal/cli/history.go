package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newHistory(p *program) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "List what changed, and when",
		Long: `List the changes of a note, newest first: the former forms that this machine keeps,
and the commits of all machines. Without an ID, the commits of all notes. The
second column names a form for diff and restore.`,
		Example: `  anamnesis history 01M7
  anamnesis diff 01M7@3f9c2ab
  anamnesis restore 01M7@3f9c2ab`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage("history: --limit %d: give 0 for all, or a number", limit)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			return p.history(cmd.Context(), m, strings.Join(args, ""), limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "changes at most; 0 means all")
	return cmd
}

// A change is a line of a history.
type changeJSON struct {
	At      string   `json:"at"`
	Rev     string   `json:"rev"`  // names the form, for diff and restore
	Kind    string   `json:"kind"` // former: as it was before a change here; commit: as it was committed
	Machine string   `json:"machine,omitempty"`
	What    string   `json:"what"` // why it changed, or the subject of the commit
	Paths   []string `json:"paths,omitempty"`
}

func (p *program) history(ctx context.Context, m *memory, name string, limit int) error {
	var about *subject
	if name != "" {
		var err error
		if about, err = p.subject(ctx, m, name); err != nil {
			return err
		}
	}
	list, err := p.changes(ctx, m, about, limit)
	if err != nil {
		return err
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	if p.json {
		id := note.ID("")
		if about != nil {
			id = about.id
		}
		return p.emit(struct {
			header
			ID      note.ID      `json:"id,omitempty"`
			Changes []changeJSON `json:"changes"`
		}{head("history"), id, list})
	}
	for _, c := range list {
		files := ""
		if about == nil && len(c.Paths) > 0 {
			files = " · " + plural(len(c.Paths), "file")
		}
		p.printf("%s  %-34s %-8s %s%s\n", c.At, c.Rev, c.Kind, firstLine(c.What, 80), files)
	}
	if len(list) == 0 {
		p.note("nothing has changed since it was written, and nothing was committed")
	}
	return nil
}

// changes lists the former forms of a note and the commits that changed it,
// newest first; of all notes, the commits.
func (p *program) changes(ctx context.Context, m *memory, about *subject, limit int) ([]changeJSON, error) {
	list := []changeJSON{}
	h, err := app.Historian(m.Rooms)
	if err != nil {
		return nil, err
	}
	places := []string{""}
	if about != nil {
		places = about.places()
		revs, err := m.Store.History(about.id)
		if err != nil {
			return nil, err
		}
		for _, r := range revs {
			list = append(list, changeJSON{At: r.At.UTC().Format(time.RFC3339), Rev: r.Name, Kind: "former", What: "before: " + r.Reason})
		}
	}
	seen := make(map[string]bool)
	for _, place := range places {
		if h == nil {
			break
		}
		commits, err := h.Log(ctx, place, limit)
		if errors.Is(err, replica.ErrNoGit) {
			p.note("%v", err)
			break
		}
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			if !seen[c.ID] {
				seen[c.ID] = true
				list = append(list, changeJSON{c.At.Format(time.RFC3339), c.ID[:min(len(c.ID), 12)], "commit", c.Machine, c.Subject, c.Paths})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b changeJSON) int { return strings.Compare(b.At, a.At) })
	return list, nil
}

// A subject is a note whose history is asked for; it need not be there any more.
type subject struct {
	id  note.ID
	ref store.Ref // empty when the note is gone
}

// subject finds a note by its id or a part of it, or one that is gone by its whole id.
func (p *program) subject(ctx context.Context, m *memory, name string) (*subject, error) {
	row, err := app.Resolve(ctx, m.Rooms, name)
	if err == nil {
		return &subject{row.ID, row.Ref}, nil
	}
	var coded *app.Error
	if !errors.As(err, &coded) || coded.Kind != app.NotFound {
		return nil, err
	}
	s := &subject{id: note.ID(strings.TrimSpace(name))}
	if ref, ferr := m.Store.Find(s.id); ferr == nil {
		s.ref = ref
		return s, nil
	}
	if list, cerr := p.changes(ctx, m, s, 1); cerr != nil || len(list) == 0 {
		return nil, err
	}
	return s, nil
}

// places returns where the note stands or stood, relative to memory/.
func (s *subject) places() []string {
	var places []string
	if rest, ok := strings.CutPrefix(s.ref.Path, "memory/"); ok {
		places = append(places, rest)
	}
	for _, t := range note.Types {
		place := strings.TrimPrefix(store.NotePath(note.Portable, t, s.id), "memory/")
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// A form is a note as it was at some time.
type form struct {
	id   note.ID
	name string // as in ID@REV, or ID for the present one
	data []byte
}

// present returns a note as it stands; one that is gone has no data.
func (m *memory) present(s *subject) (form, error) {
	f := form{id: s.id, name: string(s.id)}
	if s.ref.Path == "" {
		return f, nil
	}
	_, data, _, err := m.Store.Read(s.ref.Path)
	if data == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f.data = data
	return f, nil
}

// shortest is how many characters of the name of a former form are enough.
const shortest = 6

// form returns a note as it was at a revision: one of its former forms here, or
// a revision of git's.
func (p *program) form(ctx context.Context, m *memory, s *subject, rev string) (form, error) {
	f := form{id: s.id, name: string(s.id) + "@" + rev}
	none := func(err error) (form, error) {
		return f, &app.Error{Kind: app.NotFound, Err: fmt.Errorf("%s: %w; `anamnesis history %s` lists the revisions", f.name, err, s.id)}
	}
	revs, err := m.Store.History(s.id)
	if err != nil {
		return f, err
	}
	var found []store.Revision
	for _, r := range revs {
		if r.Name == rev {
			found = []store.Revision{r}
			break
		}
		if len(rev) >= shortest && strings.HasPrefix(r.Name, rev) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
	case 1:
		_, data, _, err := m.Store.Read(found[0].Path)
		if data == nil {
			return f, err
		}
		f.data = data
		return f, nil
	default:
		return f, usage("%s names %s; give more of it", f.name, plural(len(found), "revision"))
	}
	h, err := app.Historian(m.Rooms)
	if err != nil {
		return f, err
	}
	if h == nil {
		return none(errors.New("there is no such revision"))
	}
	for _, place := range s.places() {
		data, serr := h.Show(ctx, rev, place)
		if serr == nil {
			f.data = data
			return f, nil
		}
		if err = serr; !errors.Is(err, replica.ErrNoRevision) {
			return f, err
		}
	}
	return none(fmt.Errorf("%s is no form of it here and no revision of git that has %s", rev, path.Base(s.places()[0])))
}
