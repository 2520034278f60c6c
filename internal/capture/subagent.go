package capture

import (
	"cmp"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
)

// maxSubagents is how many sub-agents of one session are kept: those that began last.
const maxSubagents = 64

// reports returns the exchanges of a session with those of its sub-agents: each behind the exchange during which it
// began. The session is read already, because a sub-agent may begin with copies of its turns.
func (r *Recorder) reports(q Request, s *agent.Session, f *facts) []session.Exchange {
	if q.Harness.Subagents == nil {
		return f.kept
	}
	var all []session.Exchange
	taken := make(map[int]bool)
	for _, sub := range r.subagentsOf(q, s, f) {
		with := r.knowing(sub.session)
		exchanges := session.Cut(sub.session, with.cleaner(sub.session.Dir, q.Dir))
		all = append(all, session.Reports(exchanges, sub.id, placeFor(sub.id, taken))...)
	}
	return session.Insert(f.kept, all)
}

// placeFor returns the number of a sub-agent in its session. Forgotten exchanges are known by their numbers, so it is
// made of the id of the sub-agent and not of how many there are.
func placeFor(id string, taken map[int]bool) int {
	n := int(crc32.ChecksumIEEE([]byte(id)) % session.Subagents)
	for taken[n] {
		n = (n + 1) % session.Subagents
	}
	taken[n] = true
	return n
}

// A subagent is what one sub-agent wrote.
type subagent struct {
	id      string
	session *agent.Session
}

// subagentsOf reads the sub-agents of a session, by id. What cannot be read is left out.
func (r *Recorder) subagentsOf(q Request, s *agent.Session, f *facts) (all []subagent) {
	own := s.Copies()
	seen := make(map[string]bool)
	for _, pattern := range q.Harness.Subagents.Files(q.Transcript, f.started, f.ended) {
		names, _ := os.ReadDir(filepath.Dir(pattern)) // most folders are not there
		for _, e := range names {
			name := filepath.Join(filepath.Dir(pattern), e.Name())
			ok, _ := filepath.Match(filepath.Base(pattern), e.Name())
			if !ok || name == q.Transcript {
				continue
			}
			id, parents := began.of(q.Harness, name)
			if id == "" || seen[id] || !slices.Contains(parents, cmp.Or(q.client, f.session(q))) {
				continue
			}
			sub, err := readSubagent(q.Harness, name)
			if err != nil {
				continue
			}
			if sub.Without(own); len(sub.Turns) == 0 {
				continue
			}
			if q.inPart != nil && !q.inPart(sub.Dir) {
				continue
			}
			seen[id] = true
			session.Own{Store: r.store.Root(), Home: r.store.Home()}.SetAside(sub)
			all = append(all, subagent{id, sub})
		}
	}
	slices.SortFunc(all, func(a, b subagent) int {
		return cmp.Or(a.session.Started.Compare(b.session.Started), cmp.Compare(a.id, b.id))
	})
	all = all[max(0, len(all)-maxSubagents):]
	slices.SortFunc(all, func(a, b subagent) int { return cmp.Compare(a.id, b.id) })
	return all
}

// ofSubagent reports whether a file is that of a sub-agent, which is no session.
func ofSubagent(q Request) bool {
	if q.Harness.Subagents == nil {
		return false
	}
	f, err := openRegular(stored(q))
	if err != nil {
		return false // whoever reads it says so
	}
	defer f.Close()
	ids, err := q.Harness.Sessions.SessionsIn(f.Name(), f)
	return err == nil && len(ids) == 0
}

func readSubagent(h *agent.Harness, name string) (s *agent.Session, err error) {
	err = withRecords(h, name, func(records *io.SectionReader) (err error) {
		s, err = h.ReadSubagent(records)
		return err
	})
	return s, err
}

// withRecords opens the records in a file.
func withRecords(h *agent.Harness, name string, use func(*io.SectionReader) error) error {
	f, err := openRegular(name)
	if err != nil {
		return err
	}
	defer f.Close()
	records, err := h.Sessions.Open(f, "")
	if err != nil {
		return err
	}
	return use(records)
}

// began remembers how files begin, so that a run over many sessions opens each file of a sub-agent once.
var began beginnings

// maxBegan bounds what is remembered. The first record of a file that is smaller than settledHead may be half written.
const (
	maxBegan    = 100_000
	settledHead = 1 << 20
)

type beginnings struct {
	mu    sync.Mutex
	files map[string]begins
}

// A begins is the first thing that a file says: which sub-agent wrote it, and for which sessions.
type begins struct {
	id      string
	parents []string
}

func (b *beginnings) of(h *agent.Harness, name string) (id string, parents []string) {
	b.mu.Lock()
	is, ok := b.files[name]
	b.mu.Unlock()
	if ok {
		return is.id, is.parents
	}
	err := withRecords(h, name, func(records *io.SectionReader) error {
		is.id, is.parents = h.SubagentOf(records)
		ok = is.id != "" || records.Size() > settledHead
		return nil
	})
	if err != nil || !ok {
		return "", nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files == nil || len(b.files) >= maxBegan {
		b.files = make(map[string]begins)
	}
	b.files[name] = is
	return is.id, is.parents
}
