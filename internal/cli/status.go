package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/index"

	"github.com/spf13/cobra"
)

// counts is a number for each value of a field, printed as the program before this one did.
type counts map[string]int

func (c counts) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("'%s': %d", k, c[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

type statusJSON struct {
	header
	Root        string          `json:"root"`
	DBPath      string          `json:"db_path"`
	ReadOnly    bool            `json:"read_only"`
	Total       int             `json:"total"`
	ByType      counts          `json:"by_type"`
	ByProject   counts          `json:"by_project"`
	ByScope     counts          `json:"by_scope"`
	ByWorkspace counts          `json:"by_workspace"`
	Sync        app.SyncState   `json:"sync"`
	Recall      app.RecallState `json:"recall"`
	Spool       int             `json:"spool"`
	Poisoned    []string        `json:"poisoned"`
	Held        int             `json:"held"`
	Review      int             `json:"review"` // notes of a model that nobody has read
	Problems    []problemJSON   `json:"problems"`
	Links       []string        `json:"links"`
	Aside       []string        `json:"set_aside"` // index files of other programs
	EventBytes  int64           `json:"event_bytes"`
	IndexBytes  int64           `json:"index_bytes"`
	Stale       int             `json:"stale"`
	Rules       string          `json:"redaction_rules,omitempty"` // why redact.toml cannot be used
}

func newStatus(p *program) *cobra.Command {
	var line bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell what is in the store and what needs attention",
		Long: `Tell what is in the store and what needs attention. --line prints one short line
for a status bar: it changes nothing and looks at no file of a note.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if line {
				return p.statusLine(cmd.Context())
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			s, err := p.status(cmd.Context(), m)
			if err != nil {
				return err
			}
			if p.json {
				return p.emit(s)
			}
			p.printStatus(s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&line, "line", false, "one short line")
	return cmd
}

func (p *program) status(ctx context.Context, m *memory) (statusJSON, error) {
	s := statusJSON{
		header: head("status"), Root: m.Store.Root(), DBPath: m.Store.Path("index.db"), ReadOnly: m.Store.ReadOnly(), Stale: m.Stale,
		ByType: counts{}, ByProject: counts{}, ByScope: counts{}, ByWorkspace: counts{},
		Poisoned: append([]string{}, m.Store.Poisoned()...), Held: len(m.Store.Held()), Links: append([]string{}, m.Store.Links()...),
		EventBytes: m.Store.EventSize(),
	}
	quarantined, unread, err := m.unread(ctx)
	if err != nil {
		return s, err
	}
	s.Review = len(quarantined) + len(unread)
	s.Aside, _ = filepath.Glob(s.DBPath + ".foreign-*[0-9]")
	s.Aside = append([]string{}, s.Aside...)
	rows, err := m.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return s, err
	}
	s.Total = len(rows)
	for _, r := range rows {
		s.ByType[string(r.Type)]++
		s.ByProject[r.Project]++
		s.ByScope[string(r.Ref.Scope)]++
		s.ByWorkspace[r.WorkspaceID]++
	}
	found, err := m.Index.Problems(ctx)
	if err != nil {
		return s, err
	}
	s.Problems = problems(m, found)
	if jobs, err := m.Store.Jobs(); err == nil {
		s.Spool = len(jobs)
	}
	s.IndexBytes = sizeOf(s.DBPath)
	if m.Rules != nil {
		s.Rules = m.Rules.Error()
	}
	if s.Recall, err = app.RecallStatus(ctx, m.Rooms); err != nil {
		return s, err
	}
	s.Sync, err = app.SyncStatus(ctx, m.Rooms)
	return s, err
}

func (p *program) printStatus(s statusJSON) {
	remote := s.Sync.Remote
	if remote == "" {
		remote = "None"
	}
	p.printf("store: %s\n", s.Root)
	p.printf("notes: %d  by_type=%s  by_scope=%s  by_workspace=%s\n", s.Total, s.ByType, s.ByScope, s.ByWorkspace)
	p.printf("sync: initialized=%s remote=%s head=%s dirty=%s (%s)\n", pyBool(s.Sync.Initialized), remote, s.Sync.Head, pyBool(s.Sync.Dirty), s.Sync.Detail)
	p.printSyncState(s.Sync)
	p.printf("recall: %s\n", s.Recall)
	if s.ReadOnly {
		p.printf("the store cannot be written\n")
	}
	if s.Rules != "" {
		p.printf("nothing is captured until your redaction rules can be read: %s\n", s.Rules)
	}
	if s.Spool > 0 {
		p.printf("spool: %s waiting; `anamnesis drain` works on them\n", plural(s.Spool, "session"))
	}
	for _, name := range s.Poisoned {
		p.printf("spool: %s was given up; look at it, then delete it or move it back to spool/\n", name)
	}
	if s.Held > 0 {
		p.printf("held: %s; `anamnesis held` lists them\n", plural(s.Held, "note"))
	}
	if s.Review > 0 {
		p.printf("to review: %s of a model that nobody has read; `anamnesis review` lists them\n", plural(s.Review, "note"))
	}
	for _, pr := range s.Problems {
		what := "not a note"
		if pr.Sidecar {
			what = "left out of a sidecar"
		}
		p.printf("%s: %s: %s\n", what, pr.Path, pr.Reason)
	}
	for _, a := range s.Aside {
		p.printf("set aside: %s is the index of another program; delete it when that program is gone\n", a)
	}
	for _, l := range s.Links {
		p.printf("not followed: %s is a symbolic link or a special file\n", l)
	}
}
