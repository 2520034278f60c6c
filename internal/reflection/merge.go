package reflection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Proposal is what a model thinks could be merged in a project.
type Proposal struct {
	Project string
	Notes   int // that were looked at
	Left    int // that had no room in the prompt
	Groups  []Group

	Confirmed []string // keys of groups that a person found to say the same, whatever their words

	seen map[note.ID]string // the content that the model has seen, by id
}

// Only returns the proposal with other groups: those that a gate tries.
func (p Proposal) Only(groups []Group) Proposal {
	p.Groups = groups
	return p
}

// A Gate says whether groups may be merged, by trying them somewhere else: the
// groups that were accepted before and, as the last, the one it is about. It
// returns the share of questions answered before and after.
type Gate func(ctx context.Context, groups []Group) (before, after float64, ok bool, err error)

// A Refusal is a group that was not merged.
type Refusal struct {
	Group         Group
	Why           string  // one sentence; "" when the gate refused
	Undecided     bool    // words alone cannot tell; a person can confirm the group
	Before, After float64 // what the gate measured
}

// A Merging says what became of a proposal.
type Merging struct {
	Project     string
	Applied     []Group
	Synthesized []note.ID // new notes
	Superseded  int       // notes that others stand for now
	Refused     []Refusal
	Stale       error // all is safe on the disk, the index does not know it yet
}

// durable lists the notes of a project that may be merged: procedural ones
// before semantic ones, newest first.
func (r *Reflector) durable(ctx context.Context, project string) ([]*note.Note, error) {
	f := index.Filter{Projects: []string{project}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: note.Portable}
	all, err := r.standing(ctx, f, 0, func(n *note.Note) bool { return r.mergeable(n, project) })
	slices.SortStableFunc(all, func(a, b *note.Note) int { return cmp.Compare(a.Type, b.Type) })
	return all, err
}

func (r *Reflector) mergeable(n *note.Note, project string) bool {
	return n.Type.Durable() && n.Scope == note.Portable && n.Kind == "" && n.Project == project && n.Live(r.Store.Now())
}

// MergeRequest returns the prompt that Propose would send, byte for byte, and
// how many notes stand in it. With none there are too few to ask.
func (r *Reflector) MergeRequest(ctx context.Context, project string) (p llm.Prompt, notes int, err error) {
	in, err := r.mergeInput(ctx, project)
	if err != nil || len(in.notes) == 0 {
		return llm.Prompt{}, 0, err
	}
	return r.Prompt(mergePrompt, in.text), len(in.notes), nil
}

// mergeInput packs the notes of a project, if there are enough. One that is
// longer than the window is left out: nobody can say that another note says all
// of it.
func (r *Reflector) mergeInput(ctx context.Context, project string) (packed, error) {
	notes, err := r.durable(ctx, project)
	if err != nil || len(notes) < cmp.Or(r.opts.MinDurable, leastNotes) {
		return packed{}, err
	}
	most := r.Room() / 2
	notes = slices.DeleteFunc(notes, func(n *note.Note) bool { return len(n.Statement()) > most })
	in := r.pack(notes, func(n *note.Note) string { return fmt.Sprintf("## [%s] [%s] %s", n.ID, n.Type, n.Title) })
	if len(in.notes) < 2 {
		return packed{}, nil
	}
	return in, nil
}

// Propose asks the model which notes of a project say the same. It writes
// nothing. Below Options.MinDurable notes nobody is asked.
func (r *Reflector) Propose(ctx context.Context, project string) (Proposal, error) {
	p := Proposal{Project: project, seen: make(map[note.ID]string)}
	if r.Model == nil {
		return p, learn.ErrNoModel
	}
	in, err := r.mergeInput(ctx, project)
	if err != nil || len(in.notes) == 0 {
		return p, err
	}
	var known []note.ID
	for _, n := range in.notes {
		known = append(known, n.ID)
		p.seen[n.ID] = contentHash(n)
	}
	p.Notes, p.Left = len(in.notes), in.left
	check := func(all *[]answeredGroup) []string { return checkGroups(*all, known) }
	merging := learn.Rewrite[[]answeredGroup]{Purpose: "merge", System: mergePrompt, Loose: true, Check: check}
	found, err := merging.Ask(ctx, &r.Rewriter, in.text)
	for i := range found {
		p.Groups = append(p.Groups, found[i].group().inTheUsersWords(in.notes))
	}
	return p, err
}

// inTheUsersWords lets a note of the user be the one that a group keeps, whatever the model chose: what the
// user wrote or reviewed before what the user typed, the model's choice of several, else the oldest. A group
// without one stays as it is.
func (g Group) inTheUsersWords(notes []*note.Note) Group {
	members := slices.Clone(g.Superseded)
	if g.Action == Keep {
		members = append(members, g.Keeper)
	}
	rank := func(n *note.Note) (r int) {
		if n.Quoted() {
			r = 2
		}
		if n.ID != g.Keeper {
			r++
		}
		return r
	}
	var best *note.Note
	for _, n := range notes {
		if n.UserSaid() && slices.Contains(members, n.ID) &&
			(best == nil || cmp.Or(rank(n)-rank(best), strings.Compare(string(n.CreatedAt), string(best.CreatedAt))) < 0) {
			best = n
		}
	}
	if best == nil || g.Action == Keep && g.Keeper == best.ID {
		return g
	}
	members = slices.DeleteFunc(members, func(id note.ID) bool { return id == best.ID })
	slices.Sort(members)
	return Group{Action: Keep, Keeper: best.ID, Superseded: members}
}

// Merge applies the groups of a proposal one by one, each with a single write,
// so that a run that is killed has merged some groups and no half of one. A
// group is refused when a note of it has changed since the model saw it, when
// it would lose a name, a number or a prohibition (claim.Missing) and nobody has confirmed it, when it would close a circle, and when
// the gate says so; a nil gate says nothing.
func (r *Reflector) Merge(ctx context.Context, p Proposal, gate Gate) (m Merging, err error) {
	m.Project = p.Project
	unlock, err := r.lock()
	if err != nil {
		return m, err
	}
	defer unlock()
	for _, g := range p.Groups {
		refuse := func(why objection) {
			m.Refused = append(m.Refused, Refusal{Group: g, Why: why.text, Undecided: why.undecided})
		}
		if _, why, err := r.readGroup(ctx, p, g); err != nil {
			return m, err
		} else if why.text != "" {
			refuse(why)
			continue
		}
		if gate != nil {
			before, after, ok, err := gate(ctx, append(slices.Clone(m.Applied), g))
			if err != nil {
				return m, fmt.Errorf("try %s: %w", g, err)
			}
			if !ok {
				m.Refused = append(m.Refused, Refusal{Group: g, Before: before, After: after})
				continue
			}
		}
		why, err := r.merge(ctx, p, g, &m)
		if err != nil {
			return m, fmt.Errorf("%s: %w", g, err)
		}
		if why.text != "" {
			refuse(why)
			continue
		}
		m.Applied, m.Superseded = append(m.Applied, g), m.Superseded+len(g.Superseded)
	}
	if len(m.Applied) > 0 {
		_ = r.Store.Events().Log(store.Record{
			Kind: store.Reflected, Project: p.Project, Text: "merge", Count: m.Superseded, Notes: m.Synthesized,
		})
	}
	return m, nil
}

// Check says which groups Merge would refuse before it asks a gate. It changes
// nothing.
func (r *Reflector) Check(ctx context.Context, p Proposal) (refused []Refusal, err error) {
	for _, g := range p.Groups {
		_, why, err := r.readGroup(ctx, p, g)
		if err != nil {
			return refused, fmt.Errorf("look at %s: %w", g, err)
		}
		if why.text != "" {
			refused = append(refused, Refusal{Group: g, Why: why.text, Undecided: why.undecided})
		}
	}
	return refused, nil
}

// groupNotes are those of a group as it stands on the disk.
type groupNotes struct {
	survivor   *note.Note // the keeper, or the note that is to be written
	ref        store.Ref  // of the keeper
	superseded []*note.Note
}

// readGroup reads the notes of a group, and returns why it must not be merged, if so.
func (r *Reflector) readGroup(ctx context.Context, p Proposal, g Group) (groupNotes, objection, error) {
	var at groupNotes
	no := func(format string, args ...any) (groupNotes, objection, error) {
		return at, objection{text: fmt.Sprintf(format, args...)}, nil
	}
	members := slices.Clone(g.Superseded)
	if g.Action == Keep {
		members = append(members, g.Keeper)
	}
	for _, id := range members {
		row, ok, err := r.index.Lookup(ctx, id)
		if err != nil {
			return at, objection{}, err
		}
		if !ok || row.ID != id || row.Dead {
			return no("%s is not in use any more", id)
		}
		n, _, ref, err := r.Store.Read(row.Ref.Path)
		switch {
		case err != nil || !r.mergeable(n, p.Project):
			return no("%s is not in use any more", id) // a note that is gone is a reason, no failure
		case p.seen[id] != contentHash(n):
			return no("%s has changed since it was compared", id)
		case g.Action == Keep && id == g.Keeper:
			at.survivor, at.ref = n, ref
		default:
			at.superseded = append(at.superseded, n)
		}
	}
	if g.Action == Synthesize {
		at.survivor = r.synthesis(p.Project, g, at.superseded)
	}
	if at.survivor == nil || len(at.superseded) == 0 {
		return no("it names no notes")
	}
	return at, r.object(at, slices.Contains(p.Confirmed, g.Key())), nil
}

// An objection says why a group must not be merged; without a text there is none.
type objection struct {
	text      string
	undecided bool // a person can confirm the group
}

// object returns what speaks against a group. What words alone cannot decide is no
// objection when a person has confirmed the group.
func (r *Reflector) object(at groupNotes, confirmed bool) objection {
	for _, n := range at.superseded {
		if n.HeldTo() != at.survivor.HeldTo() {
			return objection{text: fmt.Sprintf("%s holds for another branch", n.ID)}
		}
	}
	if at.survivor.Quarantine {
		return objection{text: "its text reads like orders to an agent"}
	}
	for _, n := range at.superseded { // a machine's note overrules no word of the user
		if n.UserSaid() && !at.survivor.UserSaid() {
			return objection{text: fmt.Sprintf("%s is your user's word", n.ID)}
		}
	}
	if slices.ContainsFunc(at.superseded, func(n *note.Note) bool { return ingest.Replaces(r.Store, n.ID, at.survivor.ID) }) {
		return objection{text: fmt.Sprintf("%s is superseded by one of the notes that it would supersede", at.survivor.ID)}
	}
	if lost := missing(at.survivor, at.superseded); len(lost) > 0 && !confirmed {
		return objection{"it would lose: " + strings.Join(lost[:min(3, len(lost))], "; "), true}
	}
	return objection{}
}

// missing lists what the notes of a group state that the text which is to stand for them does
// not: names, numbers, what they speak against. A general rule alone would be wrong in the
// excepted case.
func missing(survivor *note.Note, superseded []*note.Note) (all []string) {
	into := claim.Text(survivor.Statement())
	for _, n := range superseded {
		for _, w := range claim.Missing(into, claim.Text(n.Statement())) {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// synthesis makes the note that is to stand for others. Its id follows from
// what it stands for and what it says, as with distilled notes.
func (r *Reflector) synthesis(project string, g Group, from []*note.Note) *note.Note {
	n := r.propose(g.New, from)
	n.Project, n.Tags, n.Provenance.Source = project, []string{tagMerge}, note.Merge
	n.Evidence = nil
	words := claim.Text(n.Statement())
	for _, s := range from { // it says what each of them says, so it has all their evidence
		n.Evidence = note.UnionEvidence(n.Evidence, evidenceOf(s, words))
	}
	n.ProofCount = n.Sessions()
	n.Supersedes = slices.Clone(g.Superseded)
	lines, newest := byContent(from)
	sum := sha256.Sum256([]byte(lines + "\x00" + note.FingerprintOf(n.Statement()).Statement))
	n.ID = note.EpisodicID(newest, tagMerge, hex.EncodeToString(sum[:]))
	return n
}

// merge applies one group and says why not, if so.
func (r *Reflector) merge(ctx context.Context, p Proposal, g Group, m *Merging) (why objection, err error) {
	if g.Action == Synthesize {
		return r.replace(ctx, p, g, m)
	}
	err = r.revise(ctx, &m.Stale, func(all *ingest.Revision) error {
		var at groupNotes
		if at, why, err = r.readGroup(ctx, p, g); err != nil || why.text != "" { // again: now nobody else writes
			return err
		}
		n := at.survivor
		n.Supersedes = union(n.Supersedes, g.Superseded)
		for _, s := range at.superseded { // all quotes back the note that stays
			n.Evidence = note.UnionEvidence(n.Evidence, s.Evidence)
		}
		n.ProofCount = max(n.ProofCount, n.Sessions())
		n.Tags = union(n.Tags, []string{tagMerged})
		n.UpdatedAt = note.At(r.Store.Now())
		return all.Put(n, at.ref)
	})
	return why, err
}

// replace writes the note that stands for a group.
func (r *Reflector) replace(ctx context.Context, p Proposal, g Group, m *Merging) (why objection, err error) {
	at, why, err := r.readGroup(ctx, p, g)
	if err != nil || why.text != "" {
		return why, err
	}
	out, err := r.ingester.Admit(ctx, ingest.Draft{Note: at.survivor, By: ingest.Model, Here: at.survivor.Project, Reason: store.Update})
	if err != nil {
		return why, err
	}
	switch out.Result {
	case ingest.Created, ingest.Updated, ingest.Unchanged:
		if out.Note.ID != at.survivor.ID {
			return objection{text: fmt.Sprintf("%s says it already", out.Note.ID)}, nil
		}
	default:
		return objection{text: out.Why}, nil
	}
	m.Stale = errors.Join(m.Stale, out.Stale)
	m.Synthesized = append(m.Synthesized, out.Note.ID)
	return why, nil
}

// union is the sorted set of what is in either list.
func union[T ~string](a, b []T) []T {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
