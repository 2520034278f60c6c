package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

func TestOpenErrors(t *testing.T) {
	dsn := migrated(t)
	for _, c := range []struct {
		what string
		o    postgres.Options
		is   error
		says string
	}{
		{"a wrong password", postgres.Options{DSN: strings.Replace(dsn, postgrestest.Password, "s3cret", 1)}, nil, "password"},
		{"an unknown host", postgres.Options{DSN: "postgres://mallory:s3cret@db.invalid/x"}, schema.ErrUnreachable, "not known"},
		{"a closed port", postgres.Options{DSN: "postgres://mallory:s3cret@127.0.0.1:1/x"}, schema.ErrUnreachable, "cannot be reached"},
		{"no address", postgres.Options{DSN: "s3cret mallory"}, schema.ErrDSN, "DSN"},
		{"no workspace", postgres.Options{DSN: dsn, Workspace: "s3cret"}, nil, "no UUID"},
		{"another workspace", postgres.Options{DSN: dsn, Workspace: strings.Replace(team, "6", "7", 1)}, postgres.ErrNoWorkspace, "owner"},
		{"no schema", postgres.Options{DSN: postgrestest.DSN(t)}, schema.ErrOlder, "migrate"},
	} {
		if c.o.Workspace == "" {
			c.o.Workspace = team
		}
		db, err := postgres.Open(t.Context(), c.o)
		if err == nil {
			db.Close()
			t.Errorf("%s: no error", c.what)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.what, err)
		}
		keepsSecrets(t, c.what, err)
	}
}

func keepsSecrets(t *testing.T, what string, err error) {
	t.Helper()
	for _, secret := range []string{"s3cret", "mallory", "db.invalid", "127.0.0.1", postgrestest.Password} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows %q: %v", what, secret, err)
		}
	}
}

// A server behind a network that swallows everything from some moment on.
func TestHangingNetwork(t *testing.T) {
	dsn := migrated(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, u.Host)
	u.Host = p.Addr().String()
	db := open(t, postgres.Options{DSN: u.String(), Origin: "here", Busy: time.Minute, Connect: time.Minute}) // now all is well
	put(t, db, &note.Note{ID: "a", Title: "x"})
	p.swallow(true)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = db.Select(ctx, index.Filter{}, 0)
	if err == nil || time.Since(began) > time.Minute {
		t.Errorf("a question to a network that hangs: %v after %v", err, time.Since(began))
	} else {
		keepsSecrets(t, "hanging", err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that it took too long", err)
	}
	o := postgres.Options{DSN: u.String(), Workspace: team, Origin: "here", Connect: 200 * time.Millisecond}
	began = time.Now()
	if _, err := postgres.Open(t.Context(), o); err == nil || time.Since(began) > time.Minute {
		t.Errorf("Open: %v after %v", err, time.Since(began))
	} else {
		keepsSecrets(t, "hanging", err)
	}
	p.swallow(false)
	if rows, err := db.Select(t.Context(), index.Filter{}, 0); err != nil || len(rows) != 1 {
		t.Errorf("afterwards: %d rows, %v", len(rows), err)
	}
}

// A proxy forwards connections to a server, or swallows what is sent.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	mute  bool
	muted []net.Conn
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l}
	t.Cleanup(func() {
		l.Close()
		p.swallow(false)
	})
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				from.Close()
				continue
			}
			go p.copy(to, from)
			go p.copy(from, to)
		}
	}()
	return p
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		mute := p.mute
		if mute {
			p.muted = append(p.muted, from, to)
		}
		p.mu.Unlock()
		if mute {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// swallow begins to swallow, or ends it and the connections that were swallowed.
func (p *proxy) swallow(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
	if !mute {
		for _, c := range p.muted {
			c.Close()
		}
		p.muted = nil
	}
}

// A server that is killed and started again while questions are asked and notes written:
// errors while it is gone, then all is well, and what was acknowledged is there.
func TestServerRestarts(t *testing.T) {
	cluster := postgrestest.Own(t)
	dsn := cluster.Database(t)
	prepare(t, dsn)
	db := open(t, postgres.Options{DSN: dsn, Origin: "here", Busy: 10 * time.Second, Connect: 10 * time.Second})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := db.Select(t.Context(), index.Filter{}, 1); err != nil {
				keepsSecrets(t, "a question while the server is gone", err)
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
	written := make(chan []note.ID, 1)
	wg.Go(func() {
		var ids []note.ID
		for i := 0; ; i++ {
			select {
			case <-stop:
				written <- ids
				return
			default:
			}
			id := note.ID(fmt.Sprintf("n%04d", i))
			if err := db.Apply(t.Context(), index.Batch{Put: []index.Entry{entry(&note.Note{ID: id, Title: "x"}, nil)}}); err != nil {
				keepsSecrets(t, "a write while the server is gone", err)
				time.Sleep(5 * time.Millisecond)
				continue
			}
			ids = append(ids, id)
		}
	})
	for range 2 {
		time.Sleep(300 * time.Millisecond)
		cluster.Kill()
		time.Sleep(100 * time.Millisecond)
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	close(stop)
	ids := <-written
	wg.Wait()
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if _, ok, err := db.Lookup(t.Context(), id); !ok || err != nil {
			t.Fatalf("the note %s of %d that were acknowledged: %v, %v", id, len(ids), ok, err)
		}
	}
	if len(ids) < 3 {
		t.Errorf("only %d notes were written", len(ids))
	}
}

// Sixteen machines write at once; everything that was acknowledged is found by all, and
// whoever follows the changes misses none.
func TestManyWriters(t *testing.T) {
	dsn := migrated(t)
	const machines, rounds = 16, 6
	follower := open(t, postgres.Options{DSN: dsn, Origin: "follower"})
	stop := make(chan struct{})
	seen := make(map[string]bool)
	var following sync.WaitGroup
	following.Go(func() {
		for since, last := int64(0), false; ; {
			all, next, err := follower.Changes(t.Context(), since, 3)
			if err != nil {
				t.Error(err)
				return
			}
			for _, c := range all {
				seen[c.Path] = true
			}
			if last && len(all) == 0 {
				return
			}
			since = next
			select {
			case <-stop:
				last = true
			default:
			}
		}
	})
	var writing sync.WaitGroup
	for m := range machines {
		db := open(t, postgres.Options{DSN: dsn, Origin: fmt.Sprint("m", m), Busy: 30 * time.Second, MaxConns: 2})
		writing.Go(func() {
			for r := range rounds {
				n := &note.Note{ID: note.ID(fmt.Sprintf("n-%d-%d", m, r)), Title: "kumquat", Body: fmt.Sprintf("word%d of round%d", m, r)}
				if err := db.Apply(t.Context(), index.Batch{Put: []index.Entry{entry(n, nil)}}); err != nil {
					t.Error(err)
				}
				if _, err := db.Frequencies(t.Context(), []string{"kumquat"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	following.Wait()
	if len(seen) != machines*rounds {
		t.Errorf("the follower saw %d of %d changes", len(seen), machines*rounds)
	}
	terms, err := follower.Frequencies(t.Context(), index.Tokens("kumquat word3 round5"))
	if err != nil || terms[0].Frequency != machines*rounds || terms[1].Frequency != rounds || terms[2].Frequency != machines {
		t.Errorf("frequencies %+v, %v", terms, err)
	}
	got, err := follower.Match(t.Context(), []index.Term{{Token: "kumquat", Weight: 1}}, index.Filter{}, 1000)
	if err != nil || len(got) != machines*rounds {
		t.Errorf("%d passages of %d, %v", len(got), machines*rounds, err)
	}
	if err := follower.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if g, err := follower.Generation(t.Context()); g != machines*rounds || err != nil {
		t.Errorf("generation %d, %v", g, err)
	}
}

func TestReadOnly(t *testing.T) {
	dsn := migrated(t)
	writer := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	put(t, writer, &note.Note{ID: "a", Title: "x"})
	db := open(t, postgres.Options{DSN: dsn, Origin: "here", ReadOnly: true})
	if err := db.Apply(t.Context(), index.Batch{Drop: []string{path("a")}}); err == nil {
		t.Error("it wrote")
	}
	if rows, err := db.Select(t.Context(), index.Filter{}, 0); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// Names and titles can be anything; the server keeps them as they are.
func TestOddStrings(t *testing.T) {
	dsn := migrated(t)
	odd := "a\x00b\xff\xfe'\"\\ $1 \U0010FFFE ü\xed\xa0\x80"
	db, there := open(t, postgres.Options{DSN: dsn, Origin: "here"}), open(t, postgres.Options{DSN: dsn, Origin: odd})
	e := entry(&note.Note{ID: "a", Title: odd, Tags: []string{odd}, Branch: odd, Provenance: note.Provenance{Session: odd, Source: odd}}, nil)
	e.Ref.Path, e.Note.ID, e.Note.Project, e.Sidecar = odd, note.ID(odd), odd, odd
	apply(t, there, index.Batch{Put: []index.Entry{e}, Problems: map[string]index.FileState{odd + "2": {Problem: odd}}})
	rows, err := db.Select(t.Context(), index.Filter{Projects: []string{odd}, Tags: []string{odd}, Sources: []string{odd}, Branches: []string{odd}}, 0)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	r := rows[0]
	if r.ID != note.ID(odd) || r.Ref.Path != odd || r.Title != odd || r.Project != odd || r.Tags[0] != odd || r.Session != odd || r.Origin != odd {
		t.Errorf("the row is %+v", r)
	}
	files, err := there.Files(t.Context(), []string{odd, odd + "2"})
	if err != nil || len(files) != 2 || files[odd+"2"].Problem != odd {
		t.Errorf("Files = %v, %v", files, err)
	}
	problems, err := there.Problems(t.Context())
	if err != nil || len(problems) != 2 {
		t.Errorf("Problems = %v, %v", problems, err)
	}
	if got, _, err := db.Changes(t.Context(), 0, 10); err != nil || len(got) != 1 || got[0].Path != odd || got[0].Origin != odd {
		t.Errorf("Changes = %q, %v", changeLines(got), err)
	}
	if ids, err := db.Sharing(t.Context(), odd[:6]); err != nil || len(ids) != 1 {
		t.Errorf("Sharing = %v, %v", ids, err)
	}
	apply(t, there, index.Batch{Drop: []string{odd}})
	if got, _, err := db.Changes(t.Context(), 0, 10); err != nil || len(got) != 1 || !got[0].Dropped || got[0].Path != odd {
		t.Errorf("Changes = %q, %v", changeLines(got), err)
	}
}
