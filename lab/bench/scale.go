package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// scale prints how one large workspace behaves with many members. dsn is that of an
// administrator of the server, who makes a login for each and removes them again. The
// notes are made in memory: no machine of a team has all of them as files.
func (s *stage) scale(dsn string, members int) error {
	for _, size := range s.sizes {
		crowd := &crowd{stage: s, dsn: dsn, workspace: workspaceID(), corpus: newCorpus(s.seed)}
		err := crowd.prepare(members)
		if err == nil {
			err = crowd.measure(size)
		}
		crowd.leave()
		if err != nil {
			return err
		}
	}
	return nil
}

// A crowd is a workspace with its members.
type crowd struct {
	*stage
	dsn, workspace string
	corpus         *corpus
	generation     int64    // when all notes were there
	logins         []string // their addresses
	names          []string
	questions      []string
}

// password is that of all members. The server is one for measuring.
const password = "measured"

func (c *crowd) prepare(members int) error {
	if _, err := schema.Migrate(c.ctx, c.dsn, schema.MigrateOptions{}); err != nil {
		return err
	}
	if _, err := schema.UseVector(c.ctx, c.dsn, schema.VectorOptions{}); err != nil {
		return err
	}
	if err := schema.AddWorkspace(c.ctx, c.dsn, c.workspace, "scale"); err != nil {
		return err
	}
	address, err := url.Parse(c.dsn)
	if err != nil {
		return schema.ErrDSN
	}
	for i := range members {
		name := fmt.Sprintf("bench_%s_%d", c.workspace[:8], i)
		if err := c.administer("CREATE ROLE " + name + " LOGIN PASSWORD '" + password + "'"); err != nil {
			return err
		}
		c.names = append(c.names, name)
		if _, err := schema.AddMember(c.ctx, c.dsn, c.workspace, name, schema.Writer); err != nil {
			return err
		}
		address.User = url.UserPassword(name, password)
		c.logins = append(c.logins, address.String())
	}
	return nil
}

func (c *crowd) administer(statement string) error {
	conn, err := schema.Connect(c.ctx, c.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(c.ctx)) }()
	_, err = conn.Exec(c.ctx, statement)
	return err
}

func (c *crowd) leave() {
	for _, name := range c.names {
		if err := c.administer("DROP OWNED BY " + name + "; DROP ROLE " + name); err != nil {
			fmt.Println(err)
		}
	}
}

// open opens the workspace as a member.
func (c *crowd) open(i int) (*index.Index, *postgres.DB, error) {
	db, err := postgres.Open(c.ctx, postgres.Options{
		DSN: c.logins[i], Workspace: c.workspace, Origin: c.names[i], MaxConns: 1, Busy: time.Minute, Connect: time.Minute,
	})
	if err != nil {
		return nil, nil, err
	}
	words, err := embed.OpenStatic(index.Words)
	return index.New(db, nil, index.Embedding{Local: words}), db, err
}

func (c *crowd) measure(size int) error {
	began := time.Now()
	if err := c.load(size); err != nil {
		return err
	}
	fmt.Printf("\n%d notes of %d members: %.0f notes/s\n", size, len(c.logins), float64(size)/time.Since(began).Seconds())
	if err := c.administer("ANALYZE"); err != nil {
		return err
	}
	status, err := schema.Inspect(c.ctx, c.logins[0], c.workspace)
	if err != nil {
		return err
	}
	c.generation = status.Generation
	var bytes int64
	for _, t := range status.Tables {
		if bytes += t.Bytes; t.Bytes > 50<<20 {
			fmt.Printf("%s: %d rows, %d MB\n", t.Name, t.Rows, t.Bytes>>20)
		}
	}
	fmt.Printf("all tables: %d MB\n\n| members at once | what | per second | p50, ms | p95, ms |\n|---:|---|---:|---:|---:|\n", bytes>>20)
	for _, n := range []int{1, manyMembers, len(c.logins)} {
		if err := c.at(n); err != nil {
			return err
		}
	}
	return nil
}

// load makes the notes, and writes those of each member in turns.
func (c *crowd) load(size int) error {
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return err
	}
	ix := index.New(nil, nil, index.Embedding{Local: words})
	batches := make(chan index.Batch, 2)
	go func() {
		defer close(batches)
		var b index.Batch
		for i := range size {
			n := c.corpus.note(i)
			if i%max(1, size/200) == 0 {
				c.questions = append(c.questions, c.corpus.question(n))
			}
			data := n.Format()
			ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: epoch}
			b.Put = append(b.Put, ix.Foreign(n, ref, data, index.SidecarFacts{}))
			if len(b.Put) == 1024 || i == size-1 {
				batches <- b
				b = index.Batch{}
			}
		}
	}()
	n := 0
	for b := range batches {
		_, db, err := c.open(n % len(c.logins))
		if err != nil {
			return err
		}
		if err = db.Apply(c.ctx, b); err != nil {
			return err
		}
		_ = db.Close()
		n++
	}
	return nil
}

// at lets members ask and write at once: each asks for words, in all projects and in one,
// for what is near, and for what changed since the last time, and some write a note.
func (c *crowd) at(members int) error {
	const each = 20 * time.Second
	what := []string{"words", "words of one project", "the nearest vectors", "what changed", "write a note"}
	var mu sync.Mutex
	got := make([]series, len(what))
	var failed error
	var all sync.WaitGroup
	end := time.Now().Add(each)
	for m := range members {
		all.Go(func() {
			ix, db, err := c.open(m)
			if err == nil {
				err = c.ask(ix, db, m, end, members > manyMembers, func(kind int, took time.Duration) {
					mu.Lock()
					got[kind] = append(got[kind], took)
					mu.Unlock()
				})
				_ = db.Close()
			}
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for i, w := range what {
		if failed == nil && len(got[i]) > 0 {
			fmt.Printf("| %d | %s | %.0f | %.1f | %.1f |\n", members, w, float64(len(got[i]))/each.Seconds(), got[i].median(), got[i].at(0.95))
		}
	}
	return failed
}

// manyMembers is how many compare vectors on the server at most. Members ask their mirrors;
// when hundreds do not, the server has nothing else to do.
const manyMembers = 8

// ask does one thing after the other until the end.
func (c *crowd) ask(ix *index.Index, db *postgres.DB, member int, end time.Time, crowded bool,
	took func(kind int, d time.Duration),
) error {
	r, since := rand.New(rand.NewPCG(c.seed, uint64(member))), c.generation
	var err error
	for n := 0; err == nil && time.Now().Before(end); n++ {
		if n%5 == 2 && crowded {
			continue
		}
		q, f := c.questions[r.IntN(len(c.questions))], index.Filter{Now: time.Now()}
		kind := n % 5
		began := time.Now()
		switch kind {
		case 1:
			f.Projects = []string{projectKey(r.IntN(projects))}
			fallthrough
		case 0:
			_, err = ix.Ask(c.ctx, q, f, 100)
		case 2:
			var model string
			var unit []float32
			if model, unit, err = ix.Question(c.ctx, q); err == nil {
				_, err = db.Nearest(c.ctx, model, unit, f, 100, 0)
			}
		case 3:
			_, since, err = db.Changes(c.ctx, since, 100)
		case 4:
			m := &note.Note{
				ID: note.ID(fmt.Sprintf("more-%d-%d", member, n)), Type: note.Semantic, Scope: note.Portable, Project: projectKey(r.IntN(projects)),
				Title: q, Body: q, CreatedAt: note.At(began), UpdatedAt: note.At(began),
			}
			data := m.Format()
			ref := store.Ref{Path: store.NotePath(m.Scope, m.Type, m.ID), Scope: m.Scope, Size: int64(len(data)), ModTime: began}
			err = db.Apply(c.ctx, index.Batch{Put: []index.Entry{ix.Foreign(m, ref, data, index.SidecarFacts{})}})
		}
		took(kind, time.Since(began))
	}
	return err
}
