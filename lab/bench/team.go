package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/index/postgres/schema"
)

// slowServer is how long a slow server keeps each answer back.
const slowServer = 500 * time.Millisecond

// team prints what docs/postgres.md has of the whole program: a machine that shares a
// store of each size, one that mirrors it, and what a session start costs there while
// the server is up, slow and gone. dsn is that of an owner of the database, on this
// machine.
func (s *stage) team(dsn string) error {
	fmt.Printf("| notes | what | |\n|---|---|---|\n")
	for _, size := range s.sizes {
		st, err := s.stand(size)
		if err != nil {
			return err
		}
		if err := errors.Join(s.teamAt(st, dsn), st.close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) teamAt(st *stand, dsn string) error {
	id := workspaceID()
	if _, err := schema.Migrate(s.ctx, dsn, schema.MigrateOptions{}); err != nil {
		return err
	}
	look, err := schema.Inspect(s.ctx, dsn, "")
	if err != nil {
		return err
	}
	if _, err := schema.CreateWorkspace(s.ctx, dsn, id, "bench", look.Login); err != nil {
		return err
	}
	var projects []string
	for i := range 50 {
		projects = append(projects, projectKey(i))
	}
	// The drain lock of the store is held, so that share is what exchanges notes.
	sender := s.command(st, "share", "--again")
	sender.env = append(sender.env, "REFLECT_PG_DSN="+dsn, "REFLECT_WORKSPACE_ID="+id, "ANAMNESIS_TEAM_PROJECTS="+strings.Join(projects, ","))
	_, pushed, err := sender.run()
	if err != nil {
		return err
	}
	home := filepath.Join(st.home, "other")
	receiver := func(dsn string, args ...string) child {
		return child{args: append([]string{s.program}, args...), dir: st.work, env: []string{
			"HOME=" + home, "USERPROFILE=" + home, "ANAMNESIS_HOME=" + filepath.Join(home, ".anamnesis"), "REFLECT_WORKSPACE_ID=" + id,
			"REFLECT_PG_DSN=" + dsn, "ANAMNESIS_SYNC=off",
		}}
	}
	_, pulled, err := receiver(dsn, "drain").run()
	if err != nil {
		return err
	}
	fmt.Printf("| %d | share all, notes/s | %.0f |\n", st.notes, float64(st.notes)/pushed.Seconds())
	fmt.Printf("| %d | mirror all, notes/s | %.0f |\n", st.notes, float64(st.notes)/pulled.Seconds())
	search := receiver(dsn, "search", "--project", projectKey(3), "xylophone")
	search.ok = 3 // nothing found yet
	return errors.Join(s.teamStarts(st, dsn, receiver), s.teamLag(st, sender, receiver(dsn, "doctor", "drain", "--team"), search))
}

// teamLag measures how long it takes from the command that writes a note until a search
// on another machine finds it: the background run that the command starts sends it, and
// take takes it in.
func (s *stage) teamLag(st *stand, sender, take, search child) error {
	st.release()
	turn := 0
	got, err := rotate(s.rounds(20), func() (time.Duration, error) {
		turn++
		word := fmt.Sprintf("xylophone%d", turn)
		add := sender
		add.args = []string{s.program, "add", "--project", projectKey(3), "--title", "The " + word + " rule", "--body", "It is shown at once."}
		began := time.Now()
		if _, _, err := add.run(); err != nil {
			return 0, err
		}
		for search.args[len(search.args)-1] = "the " + word + " rule"; ; {
			if _, _, err := take.run(); err != nil {
				return 0, err
			}
			out, _, err := search.run()
			if err != nil || bytes.Contains(out, []byte("The "+word)) {
				return time.Since(began), err
			}
			if time.Since(began) > time.Minute {
				return 0, fmt.Errorf("%s did not arrive: %s", word, out)
			}
		}
	})
	if err == nil {
		fmt.Printf("| %d | from the command that writes a note until another machine has taken it in and found it, "+
			"p50, p95, ms | %.0f, %.0f |\n", st.notes, got[0].median(), got[0].at(0.95))
	}
	held := st.holdDrains()
	for until := time.Now().Add(time.Minute); held != nil && time.Now().Before(until); held = st.holdDrains() {
		time.Sleep(leave) // a background run is still at work
	}
	return errors.Join(err, held)
}

// teamStarts measures session starts beside each other.
func (s *stage) teamStarts(st *stand, dsn string, receiver func(string, ...string) child) error {
	slow, stop, err := delay(dsn)
	if err != nil {
		return err
	}
	defer stop()
	u, err := url.Parse(dsn)
	if err != nil {
		return err
	}
	u.Host = "127.0.0.1:1"
	start := func(dsn string) step {
		c := receiver(dsn, "inject", "--project", projectKey(3))
		c.wants = "shared by"
		return c.step(0)
	}
	none := receiver("", "inject", "--project", projectKey(3))
	got, err := rotate(s.rounds(60), none.step(0), start(dsn), start(slow), start(u.String()))
	if err != nil {
		return err
	}
	for i, what := range []string{"no team", "the server up", "slow (500 ms an answer)", "gone"} {
		fmt.Printf("| %d | session start, %s: p50, p95, ms | %.1f, %.1f |\n", st.notes, what, got[i].median(), got[i].at(0.95))
	}
	return nil
}

// delay stands before a server and keeps back what it says.
func delay(dsn string) (slow string, stop func(), err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := u.Host
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				up, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer up.Close()
				go func() { _, _ = io.Copy(up, c) }()
				buf := make([]byte, 64<<10)
				for {
					n, err := up.Read(buf)
					time.Sleep(slowServer)
					if _, werr := c.Write(buf[:n]); err != nil || werr != nil {
						return
					}
				}
			}()
		}
	})
	u.Host = l.Addr().String()
	return u.String(), func() { _ = l.Close(); wg.Wait() }, nil
}
