package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// A draft is a note as a source has it, redacted.
type draft struct {
	note   *note.Note
	side   *note.Sidecar // nil when it has none
	source string        // hash of all that the source says
	onto   *note.Note    // the note that it changes or is already, as it was when the plan was made
	path   string        // where that stands
	former []ingest.FormerVersion
	twin   note.ID // the note that says the same, because of which it does not come in
}

// sign gives d its hashes. import_hash is that of title and body, as a captured
// session has it: it tells later whether somebody edited the note.
func (d *draft) sign() {
	n := d.note
	n.ImportHash = ingest.SummaryHash(n.Title, n.Body)
	said := n.Clone()
	said.ID, said.MachineID, said.Project, said.CreatedAt, said.UpdatedAt = "", "", "", "", ""
	h := sha256.New()
	h.Write(said.Format())
	if d.side != nil {
		side := *d.side
		side.DocumentID = ""
		h.Write(note.FormatSidecar(&side))
	}
	d.source = hex.EncodeToString(h.Sum(nil)[:12])
}

// A snapshot is what the store held when a plan was made.
type snapshot struct {
	store  *store.Store
	ledger *ledger
	paths  map[note.ID]store.Ref                // by the names of the files
	said   map[[sha256.Size]byte][]saying       // by the texts of memory/, and of this plan (saying)
	stones map[note.Scope][]tombstone.Tombstone // that judge the notes of a scope
	taken  map[note.ID]string                   // ids of this plan, and their sources

	loaded   bool
	projects map[string]string // once loaded: keys of notes by their last part, in lower case; "" where two have it
}

// look takes a snapshot.
func (im *Importer) look(ctx context.Context) (*snapshot, error) {
	s := &snapshot{
		store: im.store, paths: make(map[note.ID]store.Ref), said: make(map[[sha256.Size]byte][]saying),
		taken: make(map[note.ID]string), stones: make(map[note.Scope][]tombstone.Tombstone), projects: make(map[string]string),
	}
	var err error
	if s.ledger, err = readLedger(im.store); err != nil {
		return nil, err
	}
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		if s.stones[scope], err = tombstone.Refusing(im.store, scope); err != nil {
			return nil, err
		}
	}
	for ref := range im.store.Walk() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id := note.ID(strings.TrimSuffix(path.Base(ref.Path), ".md"))
		if _, twice := s.paths[id]; !twice {
			s.paths[id] = ref
		}
	}
	return s, nil
}

// load reads every portable note, for the first that is new: an import that
// brings nothing, as most do that run beside a sync, need not.
func (s *snapshot) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	for ref := range s.store.Walk() {
		if ref.Scope != note.Portable {
			continue
		}
		n, _, _, err := s.store.Read(ref.Path)
		if err != nil {
			continue // status names it
		}
		s.project(n.Project)
		if _, known := s.says(n, n.Project); !known {
			s.heard(n)
		}
	}
}

// project notes a project key under its last part.
func (s *snapshot) project(key string) {
	last := strings.ToLower(path.Base(key))
	switch was, known := s.projects[last]; {
	case last == key:
	case !known:
		s.projects[last] = key
	case was != key:
		s.projects[last] = ""
	}
}

// read returns the note of an id, nil when it is not there or cannot be read.
func (s *snapshot) read(id note.ID) *note.Note {
	ref, ok := s.paths[id]
	if !ok {
		return nil
	}
	n, _, _, err := s.store.Read(ref.Path)
	if err != nil {
		return nil
	}
	return n
}

// forgotten reports whether a note of that id, or what n says, was forgotten.
func (s *snapshot) forgotten(id note.ID, n *note.Note) bool {
	scope := note.Portable
	if n != nil && n.Scope == note.Local {
		scope = n.Scope
	}
	if slices.ContainsFunc(s.stones[scope], func(t tombstone.Tombstone) bool { return t.ID == id }) {
		return true
	}
	if n == nil {
		return false
	}
	_, ok := tombstone.Match(s.stones[scope], n)
	return ok
}

// gone reports whether there was a note of that id which is no more: this
// machine imported it, or its history is still here.
func (s *snapshot) gone(id note.ID) bool {
	if _, ok := s.paths[id]; ok {
		return false
	}
	if e, ok := s.ledger.Entries[id]; ok && e.As == "" && e.State == "" {
		return true
	}
	revs, err := s.store.History(id)
	return err == nil && len(revs) > 0
}

// item decides what becomes of a draft whose note has its id.
func (s *snapshot) item(source string, d *draft) Item {
	n := d.note
	it := Item{Source: source, ID: n.ID, Type: n.Type, Title: n.Title, Project: n.Project, Bytes: int64(len(n.Body))}
	it.Action, it.Why = s.decide(d)
	if other, twice := s.taken[n.ID]; twice && it.acts() {
		it.Action, it.Why = Refused, "its id is that of "+other+"; rename one of them"
	}
	if it.Action == Unchanged && d.onto != nil || d.twin != "" {
		it.draft = d
	}
	if it.acts() {
		it.draft = d
		s.taken[n.ID] = source
		if n.Scope == note.Portable {
			s.heard(n)
		}
	}
	return it
}

func (s *snapshot) decide(d *draft) (Action, string) {
	n := d.note
	if len(n.Body) > note.MaxBody {
		return Refused, "its text is larger than 1 MiB; split the source"
	}
	if err := n.ValidateNew(); err != nil {
		return Refused, err.Error()
	}
	if _, ok := s.paths[n.ID]; ok {
		return s.revise(d)
	}
	if s.forgotten(n.ID, n) {
		return Skipped, "it was forgotten here"
	}
	if e, ok := s.ledger.Entries[n.ID]; ok {
		switch {
		case e.State == stateHeld:
			return Skipped, "it was held for its owner to decide when it came in before; see the held drafts"
		case e.As != "":
			if action, why := s.follows(e, d); action != Adds {
				return action, why
			}
		}
	}
	if s.gone(n.ID) {
		return Skipped, "it was deleted here"
	}
	s.load()
	if d.twin = s.twin(n); d.twin != "" {
		return Skipped, "note " + string(d.twin) + " has the same text"
	}
	return Adds, ""
}

// revise decides about a note that is here already.
func (s *snapshot) revise(d *draft) (Action, string) {
	n, was := d.note, s.read(d.note.ID)
	if was == nil {
		return Refused, "the note that it became cannot be read; see `anamnesis status`"
	}
	before := s.ledger.Entries[n.ID]
	same := was.Title == n.Title && strings.TrimSpace(was.Body) == strings.TrimSpace(n.Body)
	d.path = s.paths[n.ID].Path
	if same && d.side != nil && !s.hasSidecar(n.ID) && before.Wrote == "" {
		d.onto = was // the run that wrote the note was stopped before it wrote the entities
		return Updates, "its entities are missing"
	}
	if same && (before.Source == d.source || before.Source == "") {
		d.onto = was
		return Unchanged, ""
	}
	wrote := was.ImportHash
	if wrote == "" {
		wrote = before.Wrote
	}
	now := ingest.SummaryHash(n.Title, n.Body)
	switch {
	case was.IsArchived():
		return Skipped, "it was archived here"
	case wrote == "":
		return Refused, "it differs, and nothing tells which of the two was changed since an earlier program imported it; " +
			"make them say the same with `anamnesis edit " + string(n.ID) + "`, or forget the note"
	case ingest.SummaryHash(was.Title, was.Body) == wrote:
	case now == wrote:
		return Unchanged, "it was edited here, and its source is as it was"
	case same: // the edit took in by hand what the source says now
	default:
		return Refused, "it was edited here and its source changed too; take in what is new with `anamnesis edit " + string(n.ID) + "`, " +
			"or give it back a form that was imported, which `anamnesis log history " + string(n.ID) + "` names"
	}
	d.onto = was
	if note.Equal(was, follow(was, n)) && (d.side == nil || before.Source == d.source) {
		return Unchanged, ""
	}
	return Updates, ""
}

func (s *snapshot) hasSidecar(id note.ID) bool {
	side, _, err := s.store.ReadSidecar(s.paths[id].Path)
	return err != nil || side != nil
}

// follow returns was as it is when its source says n now. What was decided
// here stays: project, status, tags, what it supersedes.
func follow(was, n *note.Note) *note.Note {
	now := was.Clone()
	now.Title, now.Body, now.Type, now.ImportHash = n.Title, n.Body, n.Type, n.ImportHash
	for _, t := range n.Tags {
		if kind, _, ok := strings.Cut(t, ":"); ok && kind == "kind" && !was.HasTag(t) {
			now.Tags = slices.DeleteFunc(now.Tags, func(t string) bool { return strings.HasPrefix(t, "kind:") })
		}
	}
	now.AddTags(n.Tags...)
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&now.Category, n.Category},
		{&now.LearningType, n.LearningType},
		{&now.Problem, n.Problem},
		{&now.RootCause, n.RootCause},
		{&now.Fix, n.Fix},
		{&now.Rule, n.Rule},
		{&now.KeyInsight, n.KeyInsight},
		{&now.HowToApply, n.HowToApply},
		{(*string)(&now.ForgetAfter), string(n.ForgetAfter)},
	} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if len(n.Symptoms) > 0 {
		now.Symptoms = n.Symptoms
	}
	if !now.Decided() {
		now.Status, now.StatusReason = n.Status, n.StatusReason
	}
	for _, id := range n.Supersedes {
		if !slices.Contains(now.Supersedes, id) {
			now.Supersedes = append(now.Supersedes, id)
		}
	}
	for _, e := range n.Evidence {
		if !slices.Contains(now.Evidence, e) {
			now.Evidence = append(now.Evidence, e)
		}
	}
	if now.ProofCount = max(now.ProofCount, n.ProofCount); now.Sessions() > 0 {
		now.ProofCount = now.Sessions()
	}
	return now
}

// line cuts a text to one line of at most most characters.
func line(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}

func sortIDs(ids []note.ID) { slices.Sort(ids) }

// sortByLength puts the longest names first.
func sortByLength(names []string) {
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// knowing returns an Importer that also masks what any of the texts gives away: those
// of one note belong together.
func (im *Importer) knowing(texts ...string) *Importer {
	with := *im
	with.redactor = im.redactor.Knowing(texts...)
	return &with
}

// masked returns a text without its secrets.
func (im *Importer) masked(s string) string { return im.redactor.Redact(s).String() }
