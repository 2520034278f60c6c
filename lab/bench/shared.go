package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/jackc/pgx/v5"
)

// shared prints what docs/postgres.md has: the index on a server of PostgreSQL, against
// that in a file, in turns. dsn is that of an owner of the database, which gets a
// workspace more for each size; member, when it is given, that of the login that writes
// and asks.
func (s *stage) shared(dsn, member string) error {
	fmt.Printf("| notes | what | SQLite | PostgreSQL | ratio |\n|---|---|---|---|---|\n")
	for _, size := range s.sizes {
		st, err := s.stand(size)
		if err != nil {
			return err
		}
		if err := errors.Join(s.sharedAt(st, dsn, member), st.close()); err != nil {
			return err
		}
	}
	return nil
}

// workspaceID makes the id of a new workspace.
func workspaceID() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	return fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
}

func (s *stage) sharedAt(st *stand, dsn, member string) error {
	team, owner := workspaceID(), dsn
	if _, err := schema.Migrate(s.ctx, dsn, schema.MigrateOptions{}); err != nil {
		return err
	}
	if err := schema.AddWorkspace(s.ctx, dsn, team, "bench"); err != nil {
		return err
	}
	if member != "" {
		login, err := pgx.ParseConfig(member)
		if err != nil {
			return schema.ErrDSN
		}
		if _, err := schema.AddMember(s.ctx, dsn, team, login.User, schema.Writer); err != nil {
			return err
		}
		dsn = member
	}
	open := func(origin string) (*postgres.DB, error) {
		return postgres.Open(s.ctx, postgres.Options{DSN: dsn, Workspace: team, Origin: origin})
	}
	ours, err := open("bench")
	if err != nil {
		return err
	}
	defer ours.Close()
	theirs, err := open("other")
	if err != nil {
		return err
	}
	defer theirs.Close()
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return err
	}
	server := index.New(ours, st.store, index.Embedding{Local: words})
	file, err := sqlite.Open(s.ctx, sqlite.Options{Path: st.root + "/shared.db", Origin: "bench"})
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(st.root + "/shared.db") }()
	local := index.New(file, st.store, index.Embedding{Local: words})
	fileRate, err := s.load(st, local)
	if err != nil {
		return err
	}
	serverRate, err := s.load(st, server)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | bulk load, notes/s | %.0f | %.0f | %.2f |\n", st.notes, fileRate, serverRate, fileRate/serverRate)
	engine := recall.New(server, st.store, st.cfg.Recall, recall.Models{Words: words})
	if err := s.sharedSearch(st, engine, server); err != nil {
		return err
	}
	if err := s.sharedWrite(st, file, ours, theirs); err != nil {
		return err
	}
	return s.sharedNear(st, owner, postgres.Options{DSN: dsn, Workspace: team, Origin: "bench"}, words)
}

// load reads all notes and puts them into an index, as a machine that begins to share
// does. It returns how many in a second.
func (s *stage) load(st *stand, ix *index.Index) (float64, error) {
	var paths []string
	for ref := range st.store.Walk() {
		paths = append(paths, ref.Path)
	}
	began := time.Now()
	for some := range slices.Chunk(paths, 1024) {
		entries, _ := ix.Entries(some)
		if err := ix.Apply(s.ctx, index.Batch{Put: entries}); err != nil {
			return 0, err
		}
	}
	return float64(len(paths)) / time.Since(began).Seconds(), nil
}

// sameHit compares two answers, whose scores fall with the age of a note from one moment
// to the next.
func sameHit(x, y *recall.Hit) bool {
	return x.Row.ID == y.Row.ID && math.Abs(x.Score()-y.Score()) < 1e-6
}

// sharedSearch measures questions in turns.
func (s *stage) sharedSearch(st *stand, engine *recall.Engine, server *index.Index) error {
	alike := 0
	for _, q := range st.questions {
		a, err := st.engine.Recall(s.ctx, recall.Query{Text: q, K: 8, NoCache: true})
		if err != nil {
			return err
		}
		b, err := engine.Recall(s.ctx, recall.Query{Text: q, K: 8, NoCache: true})
		if err != nil {
			return err
		}
		if slices.EqualFunc(a.Hits, b.Hits, sameHit) {
			alike++
		}
	}
	fmt.Printf("| %d | questions answered alike, of %d | | %d | |\n", st.notes, len(st.questions), alike)
	turns := [6]int{}
	text := func(i int) string {
		q := st.questions[turns[i]%len(st.questions)]
		turns[i]++
		return q
	}
	ask := func(i int, of *recall.Engine, q recall.Query) step {
		return func() (time.Duration, error) {
			q.Text, q.K, q.NoCache = text(i), 8, true
			began := time.Now()
			_, err := of.Recall(s.ctx, q)
			return time.Since(began), err
		}
	}
	words := func(i int, ix *index.Index) step {
		return func() (time.Duration, error) {
			q := text(i)
			began := time.Now()
			_, err := ix.Ask(s.ctx, q, index.Filter{Now: began}, 100)
			return time.Since(began), err
		}
	}
	one := recall.Query{Projects: []string{projectKey(3)}}
	got, err := rotate(s.rounds(3*len(st.questions)), ask(0, st.engine, recall.Query{}), ask(1, engine, recall.Query{}),
		ask(2, st.engine, one), ask(3, engine, one), words(4, st.index), words(5, server))
	if err != nil {
		return err
	}
	for i, what := range []string{"search", "search of one project", "words alone"} {
		a, b := got[2*i], got[2*i+1]
		fmt.Printf("| %d | %s, p50, ms | %.2f | %.2f | %.2f |\n", st.notes, what, a.median(), b.median(), b.median()/a.median())
		fmt.Printf("| %d | %s, p95, ms | %.2f | %.2f | %.2f |\n", st.notes, what, a.at(0.95), b.at(0.95), b.at(0.95)/a.at(0.95))
	}
	return nil
}

// sharedWrite measures one note that is written, until another machine finds it.
func (s *stage) sharedWrite(st *stand, file *sqlite.DB, ours, theirs *postgres.DB) error {
	write := func(to index.Backend, found func(context.Context, note.ID) (bool, error)) step {
		n := 0
		return func() (time.Duration, error) {
			n++
			e, err := st.oneMore(n)
			if err != nil {
				return 0, err
			}
			began := time.Now()
			if err := to.Apply(s.ctx, index.Batch{Put: []index.Entry{e}}); err != nil {
				return 0, err
			}
			ok, err := found(s.ctx, e.Note.ID)
			if err == nil && !ok {
				err = errors.New("the note is not there")
			}
			return time.Since(began), err
		}
	}
	here := func(in index.Backend) func(context.Context, note.ID) (bool, error) {
		return func(ctx context.Context, id note.ID) (bool, error) {
			_, ok, err := in.Lookup(ctx, id)
			return ok, err
		}
	}
	got, err := rotate(s.rounds(100), write(file, here(file)), write(ours, here(theirs)))
	if err != nil {
		return err
	}
	a, b := got[0], got[1]
	fmt.Printf("| %d | one write until it is found, p50, ms | %.2f | %.2f | %.2f |\n", st.notes, a.median(), b.median(), b.median()/a.median())
	fmt.Printf("| %d | one write until it is found, p95, ms | %.2f | %.2f | %.2f |\n", st.notes, a.at(0.95), b.at(0.95), b.at(0.95)/a.at(0.95))
	return nil
}

// oneMore makes the entry of a note that is none of the store's: one of its files under
// another id.
func (st *stand) oneMore(n int) (index.Entry, error) {
	for ref := range st.store.Walk() {
		m, data, now, err := st.store.Read(ref.Path)
		if err != nil {
			return index.Entry{}, err
		}
		m.ID = note.ID(fmt.Sprintf("one-more-%d", n))
		now.Path = fmt.Sprintf("memory/semantic/one-more-%d.md", n)
		return index.NewEntry(m, now, data, nil), nil
	}
	return index.Entry{}, errors.New("the store is empty")
}
