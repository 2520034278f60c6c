package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// start measures a process that does nothing, and what stands in its way.
func (s *stage) start(st *stand) error {
	version := s.command(st, "version")
	version.wants = "anamnesis"
	got, err := rotate(s.rounds(150), version.step(0), child{args: []string{s.hello}, wants: "hello"}.step(0))
	if err != nil {
		return err
	}
	s.table.put("start", 0, got[0].median(), got[1].median())
	version.env = append(version.env, "GODEBUG=inittrace=1")
	var inits series
	for range s.rounds(30) {
		out, _, err := version.run()
		if err != nil {
			return err
		}
		var total float64
		for _, m := range initLine.FindAllSubmatch(out, -1) {
			d, _ := strconv.ParseFloat(string(m[1]), 64)
			total += d
		}
		inits = append(inits, time.Duration(total*float64(time.Millisecond)))
	}
	s.table.put("init", 0, inits.median(), 0)
	for id, file := range map[string]string{"binary": s.program, "binary naive": s.rough} {
		fi, err := os.Stat(file)
		if err != nil {
			return err
		}
		s.table.put(id, 0, float64(fi.Size())/1e6, 0)
	}
	return nil
}

var initLine = regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock`)

// inject measures a session start, from the agent's side of the pipe.
func (s *stage) inject(st *stand) error {
	c := s.hook(st, event("SessionStart", "bench-inject", filepath.Join(st.home, "none.jsonl"), st.work), "inject")
	c.wants = "From your user"
	got, err := rotate(s.rounds(100), c.step(0), child{args: []string{s.hello}}.step(0))
	if err != nil {
		return err
	}
	s.table.put("inject p50", st.notes, got[0].median(), got[1].median())
	s.table.put("inject p95", st.notes, got[0].at(0.95), got[1].at(0.95))
	return nil
}

// coldSearch measures a search from the command line against the naive one.
// Both ask the same question in a turn, and the next one in the next.
func (s *stage) coldSearch(st *stand) error {
	turn := 0
	ask := func(args []string, c child) step {
		mine := 0
		return func() (time.Duration, error) {
			q := st.questions[mine%len(st.questions)]
			mine++
			turn = mine
			c := c
			c.args = append(append([]string{}, args...), q)
			_, took, err := c.run()
			time.Sleep(leave)
			return took, err
		}
	}
	ours := s.command(st, "search", "--") // a question may begin with a hyphen
	ours.ok = 3                           // nothing found
	got, err := rotate(s.rounds(80), ask(ours.args, ours), ask([]string{s.rough, "search", st.rough}, child{}))
	if err != nil {
		return fmt.Errorf("question %d: %w", turn, err)
	}
	s.table.put("cold p50", st.notes, got[0].median(), got[1].median())
	s.table.put("cold p95", st.notes, got[0].at(0.95), got[1].at(0.95))
	return nil
}

// memory asks the naive program to run things and tell their peak.
func (s *stage) memory(st *stand) error {
	peak := func(rounds int, args ...string) (float64, error) {
		c := s.command(st)
		c.args = append([]string{s.rough, "peak"}, args...)
		var all series
		for range rounds {
			out, _, err := c.run()
			if err != nil {
				return 0, err
			}
			first, _, _ := bytes.Cut(out, []byte("\n")) // what the program says on standard error comes after it
			n, err := strconv.ParseInt(string(first), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("peak of %v: %w", args, err)
			}
			all = append(all, time.Duration(n))
		}
		return all.median() * float64(time.Millisecond) / 1e6, nil
	}
	q := st.questions[len(st.questions)/2]
	// The first question to a new index works out from when on notes are relevant,
	// which a background run does otherwise: it is not what a search costs.
	if _, err := peak(1, s.program, "search", "--", q); err != nil {
		return err
	}
	reindexes := 3
	if st.notes > 50000 {
		reindexes = 1
	}
	for _, m := range []struct {
		id         string
		rounds     int
		ours, base []string
	}{
		{"memory search", 5, []string{s.program, "search", "--", q}, []string{s.rough, "search", st.rough, q}},
		{"memory reindex", reindexes, []string{s.program, "reindex"}, nil},
	} {
		ours, err := peak(m.rounds, m.ours...)
		if err != nil {
			return err
		}
		var base float64
		if m.base != nil {
			if base, err = peak(m.rounds, m.base...); err != nil {
				return err
			}
		}
		s.table.put(m.id, st.notes, ours, base)
	}
	return nil
}

// capture measures the end of a session.
func (s *stage) capture(st *stand) error {
	transcript := filepath.Join(st.home, "session.jsonl")
	if err := st.corpus.transcript(transcript, "bench-capture", st.work, 2<<20); err != nil {
		return err
	}
	hook := func(transcript string) step {
		return s.hook(st, event("SessionEnd", "bench-capture", transcript, st.work), "capture").step(leave)
	}
	steps := []step{hook(transcript), hook(filepath.Join(st.home, "absent.jsonl")), child{args: []string{s.hello}}.step(0)}
	pipe := filepath.Join(st.home, "pipe.jsonl") // whoever opens it hangs
	if exec.CommandContext(s.ctx, "mkfifo", pipe).Run() == nil {
		steps = append(steps, hook(pipe))
	}
	got, err := rotate(s.rounds(60), steps...)
	if err != nil {
		return err
	}
	for i, id := range []string{"capture", "capture absent", "", "capture hanging"} {
		if id != "" && i < len(got) {
			s.table.put(id, st.notes, got[i].at(0.95), got[2].at(0.95))
		}
	}
	return st.emptySpool()
}

// emptySpool removes the jobs that a measure left.
func (st *stand) emptySpool() error { return os.RemoveAll(st.store.Path("spool")) }

// drain measures the background run over spooled sessions: notes written, the
// index in step, the repository committed.
func (s *stage) drain(st *stand) error {
	serial := 0
	spooled := func(sessions int) step {
		return func() (time.Duration, error) {
			for range sessions {
				serial++
				id := fmt.Sprintf("bench-drain-%d", serial)
				name := filepath.Join(st.home, id+".jsonl")
				if err := st.corpus.transcript(name, id, st.work, 256<<10); err != nil {
					return 0, err
				}
				if _, _, err := s.hook(st, event("SessionEnd", id, name, st.work), "capture").run(); err != nil {
					return 0, err
				}
			}
			time.Sleep(5 * leave)
			st.release()
			c := s.command(st, "drain")
			c.wants = "drain: " + strconv.Itoa(sessions) + " session"
			_, took, err := c.run()
			return took, errors.Join(err, st.holdDrains())
		}
	}
	rounds := 3
	if s.short {
		rounds = 1
	}
	got, err := rotate(rounds, spooled(1), spooled(20))
	if err != nil {
		return err
	}
	s.table.put("drain 1", st.notes, got[0].median(), 0)
	s.table.put("drain 20", st.notes, got[1].median(), 0)
	return st.countDrained(serial)
}

// countDrained makes sure that each session became a note.
func (st *stand) countDrained(sessions int) error {
	found := 0
	entries, err := os.ReadDir(st.store.Path("memory/" + string(note.Episodic)))
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, _, _, err := st.store.Read("memory/" + string(note.Episodic) + "/" + e.Name())
		if err == nil && strings.HasPrefix(n.Provenance.Session, "bench-drain-") {
			found++
		}
	}
	if found != sessions {
		return fmt.Errorf("%d sessions were drained and %d notes are there", sessions, found)
	}
	return nil
}
