package team

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Sender is what Push reads: this machine's notes.
type Sender struct {
	Local    index.Catalogue // of the own notes alone
	Entries  func(paths []string) ([]index.Entry, map[string]index.FileState)
	Withhold func(path string, data []byte) string // why a file holds what nobody else may see, "" when it does not
	Projects []string
	Person   bool // the server is for machines of one person: all that is portable goes
	Again    bool // put everything, also what the server has: after a new rule of what is a secret
	Now      func() time.Time

	Memos index.Memos            // keep what the server said of withdrawn notes, for Preview; nil keeps nothing
	Marks []string               // that changes of this machine left
	Mark  func() (string, error) // makes another, and has written it down; nil leaves none
}

// A Sent says what Push did.
type Sent struct {
	Put     int    `json:"put"`
	Dropped int    `json:"dropped"`
	Shared  int    `json:"shared"` // notes of this machine that the server has now
	Held    []Held `json:"held"`   // that stay here, and why
	Kept    int    `json:"kept"`   // of Shared, what the server had already
	Left    int    `json:"left"`   // for the next time, because the time was over
}

// A Held note is of a shared project and stays on this machine.
type Held struct {
	ID  note.ID `json:"id"`
	Why string  `json:"why"`
}

// pushBatch is how many notes are put in one transaction.
const pushBatch = 1024

// Push brings the server's rows of this origin into step with what is shared here. It
// stops between two transactions when ctx ends.
func Push(ctx context.Context, server Server, s Sender) (sent Sent, err error) {
	sent.Held = []Held{}
	p, walked, err := s.meet(ctx, server)
	if err != nil {
		return sent, err
	}
	known, err := server.Files(ctx, nil)
	if err != nil {
		return sent, err
	}
	if !s.Person && len(s.Projects) == 0 && len(known) == 0 {
		return sent, nil // nothing is shared and nothing was: a reader of the team writes nothing at all
	}
	rows, err := s.rows(ctx, 0)
	if err != nil {
		return sent, err
	}
	todo := p.differing(rows, known, &sent)
	gone := slices.Sorted(maps.Keys(known)) // differing took what stays
	for len(todo)+len(gone) > 0 {
		if ctx.Err() != nil {
			sent.Left = len(todo) + len(gone)
			return sent, ctx.Err()
		}
		n, m := min(len(todo), pushBatch), min(len(gone), pushBatch)
		if err := p.put(ctx, todo[:n], gone[:m], &sent); err != nil {
			sent.Left = len(todo) + len(gone)
			return sent, err
		}
		todo, gone = todo[n:], gone[m:]
	}
	if s.Now().Sub(walked) < time.Minute {
		return sent, nil
	}
	return sent, server.Apply(ctx, index.Batch{Walked: s.Now()}) // all is in step
}

// PushNewest sends those of the n newest notes that the server has not got as they are. It
// takes nothing back: that is left to Push, which looks at all.
func PushNewest(ctx context.Context, server Server, s Sender, n int) (sent Sent, err error) {
	sent.Held = []Held{}
	rows, err := s.rows(ctx, n)
	if err != nil || len(rows) == 0 {
		return sent, err
	}
	paths := make([]string, len(rows))
	for i := range rows {
		paths[i] = rows[i].Ref.Path
	}
	p, _, err := s.meet(ctx, server)
	if err != nil {
		return sent, err
	}
	known, err := server.Files(ctx, paths)
	if err != nil {
		return sent, err
	}
	todo := p.differing(rows, known, &sent)
	if len(todo) == 0 {
		return sent, nil
	}
	return sent, p.put(ctx, todo, nil, &sent)
}

// A push is a Sender that has met the server.
type push struct {
	Sender
	server    Server
	withdrawn map[string]string
	signed    bool
}

// meet asks the server how things stand. From here on a copy of this machine that writes is
// noticed; one that has written already is what it looks for.
func (s Sender) meet(ctx context.Context, server Server) (p *push, walked time.Time, err error) {
	if _, _, walked, err = server.State(ctx); err != nil {
		return nil, walked, err
	}
	standing, err := server.Standing(ctx)
	if err != nil {
		return nil, walked, err
	}
	if err := standing.Refusal(s.Marks); err != nil {
		return nil, walked, err
	}
	if s.Memos != nil {
		keepWithdrawn(ctx, s.Memos, standing.Withdrawn, s.Now())
	}
	return &push{Sender: s, server: server, withdrawn: standing.Withdrawn}, walked, nil
}

// why says of a note that an owner took it away, "" of all others.
func (p *push) why(id note.ID) string { return p.withdrawn[strings.ToLower(string(id))] }

// Preview says what Push would share and hold back of all notes, without a server.
func Preview(ctx context.Context, s Sender) (sent Sent, err error) {
	sent.Held = []Held{}
	rows, err := s.rows(ctx, 0)
	if err != nil {
		return sent, err
	}
	p := &push{Sender: s, withdrawn: readWithdrawn(ctx, s.Memos)}
	todo := p.differing(rows, nil, &sent)
	for paths := range slices.Chunk(todo, pushBatch) {
		if ctx.Err() != nil {
			return sent, ctx.Err()
		}
		entries, _ := s.Entries(paths)
		for i := range entries {
			if why := p.refusal(&entries[i], s.projects()); why != "" {
				sent.Held = append(sent.Held, Held{entries[i].Note.ID, why})
				continue
			}
			sent.Shared++
		}
	}
	return sent, nil
}

func (s Sender) projects() map[string]bool {
	set := make(map[string]bool, len(s.Projects))
	for _, key := range s.Projects {
		set[key] = true
	}
	return set
}

// rows lists the notes that may be shared, the newest first; limit 0 means all.
func (s Sender) rows(ctx context.Context, limit int) ([]index.Row, error) {
	if s.Person {
		return s.Local.Select(ctx, index.Filter{Scope: note.Portable, Dead: true, Now: s.Now()}, limit)
	}
	if len(s.Projects) == 0 { // no project means every project to a filter
		return nil, nil
	}
	rows, err := s.Local.Select(ctx, index.Filter{Projects: s.Projects, Scope: note.Portable, Dead: true, Now: s.Now()}, limit)
	return slices.DeleteFunc(rows, func(r index.Row) bool { return !portable(&r) }), err
}

// differing lists the paths of the notes that the server has not got as they are, and
// takes those from known that it may keep.
func (p *push) differing(rows []index.Row, known map[string]index.FileState, sent *Sent) (todo []string) {
	for i := range rows {
		row := &rows[i]
		state, there := known[row.Ref.Path]
		switch {
		case !there || p.Again || state.Hash != row.Hash:
			todo = append(todo, row.Ref.Path)
		case strings.HasPrefix(state.Problem, withdrawal) != (p.why(row.ID) != ""): // it was taken away or given back
			todo = append(todo, row.Ref.Path)
		case state.Problem != "": // it was held back as it stands
			sent.Held = append(sent.Held, Held{row.ID, state.Problem})
		default:
			sent.Kept++
			sent.Shared++
		}
		delete(known, row.Ref.Path)
	}
	return todo
}

// put sends one batch. A note that must not leave is kept by its path and hash alone,
// so that it is not looked at again until it changes.
func (p *push) put(ctx context.Context, paths, gone []string, sent *Sent) error {
	projects := p.projects()
	entries, unread := p.Entries(paths)
	b := index.Batch{Drop: gone, Problems: make(map[string]index.FileState)}
	done := make(map[string]bool, len(paths))
	for path := range unread { // a broken file: the server keeps what it had
		done[path] = true
	}
	for _, e := range entries {
		done[e.Ref.Path] = true
		if why := p.refusal(&e, projects); why != "" {
			b.Problems[e.Ref.Path] = index.FileState{Size: e.Ref.Size, ModTime: e.Ref.ModTime.UnixNano(), Hash: e.Hash, Problem: why}
			sent.Held = append(sent.Held, Held{e.Note.ID, why})
			continue
		}
		e.Sidecar = ""
		b.Put = append(b.Put, e)
	}
	for _, path := range paths { // gone since the local index saw it
		if !done[path] {
			b.Drop = append(b.Drop, path)
		}
	}
	if p.Mark != nil && !p.signed { // written down here first, so that this machine knows it after a crash
		mark, err := p.Mark()
		if err != nil {
			return err
		}
		p.server.Sign(mark)
		p.signed = true
	}
	if err := p.server.Apply(ctx, b); err != nil {
		return err
	}
	sent.Put += len(b.Put)
	sent.Shared += len(b.Put)
	sent.Dropped += len(gone)
	return nil
}

// refusal says why a note that was read must not leave this machine, "" when it may.
func (p *push) refusal(e *index.Entry, projects map[string]bool) string {
	n := e.Note
	switch why := p.why(n.ID); {
	case why != "":
		return why
	case n.Scope == note.Local || store.ScopeOf(e.Ref.Path) == note.Local:
		return "it is local to this machine"
	case n.Quarantine:
		return "it waits for its owner's review"
	case p.Person:
	case n.Project == note.Global || !projects[n.Project]:
		return "its project is not shared"
	case n.Kind == note.Slot || n.Kind == note.Handoff || n.Type == note.Episodic:
		return "it says what one person works on"
	}
	return p.Withhold(e.Ref.Path, e.Text)
}
