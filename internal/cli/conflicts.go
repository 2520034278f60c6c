package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newConflicts(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conflicts",
		Short: "Decide what a merge could not decide",
		Long: `When two machines change the same lines of a note, one version stays in its place
and the other waits here; nothing is lost and nothing stops. Without arguments the
conflicts are listed.`,
		Example: `  anamnesis conflicts
  anamnesis conflicts show 01M7
  anamnesis conflicts resolve 01M7 --take`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.listConflicts() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the conflicts, oldest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.listConflicts() },
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Print both versions as a diff", Args: cobra.ExactArgs(1),
		Long: `Print both versions as a diff: lines with - are in the version that stands in its
place, lines with + in the one that waits.`,
		RunE: func(_ *cobra.Command, args []string) error { return p.showConflict(args[0]) },
	}
	cmd.AddCommand(list, show, newResolve(p))
	return cmd
}

func newResolve(p *program) *cobra.Command {
	var keep, take, both, edit bool
	cmd := &cobra.Command{
		Use:   "resolve ID --keep|--take|--both|--edit",
		Short: "Say how a conflict ends",
		Long: `Say how a conflict ends. The version that goes is kept in the history of the note.
If one machine forgot the note, --keep lets it stay forgotten, and --take and
--edit bring it back.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			choice := ingest.TakeEdited
			switch {
			case keep:
				choice = ingest.KeepWinner
			case take:
				choice = ingest.TakeLoser
			case both:
				choice = ingest.KeepBoth
			}
			return p.resolveConflict(cmd.Context(), args[0], choice)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&keep, "keep", false, "the version in its place stays")
	f.BoolVar(&take, "take", false, "the version that waits takes its place")
	f.BoolVar(&both, "both", false, "both stay: the one that waits becomes a note of its own")
	f.BoolVar(&edit, "edit", false, "write the note yourself, in $VISUAL or $EDITOR, with both versions before you")
	cmd.MarkFlagsMutuallyExclusive("keep", "take", "both", "edit")
	cmd.MarkFlagsOneRequired("keep", "take", "both", "edit")
	return cmd
}

// conflictJSON is a conflict in answers.
type conflictJSON struct {
	store.Conflict
	Title string `json:"title"`
	Kept  string `json:"kept_path,omitempty"` // the file that stands in its place
	Other string `json:"other_path"`          // the one that waits
}

func (p *program) describeConflict(s *store.Store, c store.Conflict) conflictJSON {
	j := conflictJSON{Conflict: c, Other: s.Path("conflicts/" + string(c.ID) + ".md")}
	if ref, err := conflictPlace(s, c); err == nil {
		j.Kept = s.Path(ref)
	}
	if loser, err := s.Conflicts().Loser(c); err == nil {
		if n, err := note.Parse(loser); err == nil {
			j.Title = n.Title
		}
	}
	return j
}

// conflictPlace returns the file, relative to the root, that stands in the place
// for which two versions compete.
func conflictPlace(s *store.Store, c store.Conflict) (string, error) {
	path := "memory/" + c.Path
	_, err := s.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && c.NoteID != "" && strings.HasSuffix(path, ".md") {
		ref, ferr := s.Find(c.NoteID)
		return ref.Path, ferr
	}
	return path, err
}

func (p *program) listConflicts() error {
	s, err := p.openStore()
	if err != nil {
		return err
	}
	found, err := s.Conflicts().List()
	if err != nil {
		return err
	}
	all := make([]conflictJSON, 0, len(found))
	for _, c := range found {
		all = append(all, p.describeConflict(s, c))
	}
	if p.json {
		return p.emit(struct {
			header
			Conflicts []conflictJSON `json:"conflicts"`
		}{head("conflicts"), all})
	}
	for _, c := range all {
		p.printf("%s  %-10s %s  %s\n    %s\n", c.ID, c.Why, c.At, firstLine(c.Title, 80), whyConflict(c.Conflict))
	}
	if len(all) == 0 {
		p.note("there is no conflict")
	}
	return nil
}

// whyConflict says in a sentence what happened.
func whyConflict(c store.Conflict) string {
	switch c.Why {
	case store.WhyForgotten:
		return fmt.Sprintf("memory/%s was forgotten on one machine and changed on another", c.Path)
	case store.WhyUnreadable:
		return fmt.Sprintf("one of the two versions of memory/%s is not a note", c.Path)
	case store.WhyBody:
		return fmt.Sprintf("the same lines of memory/%s were changed on two machines", c.Path)
	}
	what := "the same lines"
	if len(c.Fields) > 0 {
		what = strings.Join(c.Fields, ", ")
	}
	return fmt.Sprintf("%s of memory/%s was changed on two machines", what, c.Path)
}

// findConflict finds the conflict that an id, or the beginning or end of one, names.
func (p *program) findConflict(s *store.Store, name string) (store.Conflict, error) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return store.Conflict{}, usage("%w", err)
	}
	all, err := s.Conflicts().List()
	if err != nil {
		return store.Conflict{}, err
	}
	var found []store.Conflict
	want := strings.ToLower(string(id))
	for _, c := range all {
		have := strings.ToLower(string(c.ID))
		if have == want {
			return c, nil
		}
		about := strings.ToLower(string(c.NoteID))
		if about == want || len(want) >= app.MinPrefix && (strings.HasPrefix(have, want) || strings.HasSuffix(have, want) || strings.HasSuffix(about, want)) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return store.Conflict{}, &app.Error{Kind: app.NotFound, Err: fmt.Errorf("there is no conflict %s; `anamnesis conflicts` lists them", name)}
	case 1:
		return found[0], nil
	}
	return store.Conflict{}, usage("%s names %s; `anamnesis conflicts` lists their ids", name, plural(len(found), "conflict"))
}

// sides returns both versions of a conflict; kept is nil when there is none.
func sides(s *store.Store, c store.Conflict) (kept, other []byte, err error) {
	if other, err = s.Conflicts().Loser(c); err != nil {
		return nil, nil, err
	}
	place, err := conflictPlace(s, c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, other, nil
	}
	if err == nil {
		kept, err = os.ReadFile(s.Path(place))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the version of %s that stands in its place: %w", c.Path, err)
	}
	return kept, other, nil
}

func (p *program) showConflict(name string) error {
	s, err := p.openStore()
	if err != nil {
		return err
	}
	c, err := p.findConflict(s, name)
	if err != nil {
		return err
	}
	kept, other, err := sides(s, c)
	if err != nil {
		return err
	}
	diff := app.Unified("kept", "other", string(kept), string(other))
	if p.json {
		var k *string
		if kept != nil {
			text := string(kept)
			k = &text
		}
		return p.emit(struct {
			header
			conflictJSON
			Kept  *string `json:"kept"`
			Other string  `json:"other"`
			Diff  string  `json:"diff"`
		}{head("conflicts"), p.describeConflict(s, c), k, string(other), diff})
	}
	p.printf("%s: %s\n", c.ID, whyConflict(c))
	if kept == nil {
		p.printf("there is no version in its place\n")
	}
	p.printf("%s", diff)
	if diff == "" {
		p.printf("the versions are equal by now\n")
	}
	p.note("`anamnesis conflicts resolve %s` with --keep (-), --take (+), --both or --edit ends it", c.ID)
	return nil
}

// resolveConflict ends a conflict. Nobody holds the lock while somebody edits.
func (p *program) resolveConflict(ctx context.Context, name string, choice ingest.Choice) error {
	m, err := p.open(ctx, 0)
	if err != nil {
		return err
	}
	defer m.close()
	c, err := p.findConflict(m.Store, name)
	if err != nil {
		return err
	}
	var edited []byte
	if choice == ingest.TakeEdited {
		if edited, err = p.editConflict(ctx, m.Store, c); err != nil {
			return err
		}
	}
	paths, err := m.Ingester.ResolveConflict(ctx, c.ID, choice, edited)
	if stale := new(ingest.StaleError); errors.As(err, &stale) {
		p.note("the notes are safe, but not in the index yet: %v; `anamnesis reindex` mends that", stale)
	} else if err != nil {
		return err
	}
	left := m.Store.Conflicts().Count()
	if p.json {
		return p.emit(struct {
			header
			Resolved store.Conflict `json:"resolved"`
			Choice   ingest.Choice  `json:"choice"`
			Changed  []string       `json:"changed"`
			Left     int            `json:"left"`
		}{head("conflicts"), c, choice, append([]string{}, paths...), left})
	}
	p.printf("conflicts: resolved %s (%s)\n", c.ID, choice)
	for _, path := range paths {
		p.printf("  %s\n", m.Store.Path(path))
	}
	if left > 0 {
		p.note("%s left", plural(left, "conflict"))
	}
	return nil
}
