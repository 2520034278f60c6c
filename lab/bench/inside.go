package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A server is the naive program, answering questions with their time.
type server struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (s *stage) serve(st *stand) (*server, error) {
	cmd := exec.CommandContext(s.ctx, s.rough, "serve", st.rough)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &server{cmd, in, bufio.NewScanner(out)}, cmd.Start()
}

func (v *server) ask(question string) (time.Duration, error) {
	if _, err := fmt.Fprintln(v.in, question); err != nil {
		return 0, err
	}
	if !v.out.Scan() {
		return 0, errors.Join(errors.New("the naive program is gone"), v.out.Err())
	}
	n, err := strconv.ParseInt(v.out.Text(), 10, 64)
	return time.Duration(n), err
}

func (v *server) close() error { return errors.Join(v.in.Close(), v.cmd.Wait()) }

// search measures questions in one process, ours and the naive one in turns,
// of all projects and of one.
func (s *stage) search(st *stand) error {
	rough, err := s.serve(st)
	if err != nil {
		return err
	}
	turns := [5]int{}
	next := func(i int) string {
		q := st.questions[turns[i]%len(st.questions)]
		turns[i]++
		return q
	}
	ask := func(i int, q recall.Query) step {
		return func() (time.Duration, error) {
			q.Text, q.K = next(i), 8
			began := time.Now()
			_, err := st.engine.Recall(s.ctx, q)
			return time.Since(began), err
		}
	}
	got, err := rotate(s.rounds(3*len(st.questions)),
		ask(0, recall.Query{NoCache: true}),
		func() (time.Duration, error) { return rough.ask(next(1)) },
		ask(2, recall.Query{NoCache: true, Projects: []string{projectKey(3)}}),
		ask(3, recall.Query{NoCache: true, Arms: []string{"lexical"}}),
		ask(4, recall.Query{}))
	if err = errors.Join(err, rough.close()); err != nil {
		return err
	}
	s.table.put("search p50", st.notes, got[0].median(), got[1].median())
	s.table.put("search p99", st.notes, got[0].at(0.99), got[1].at(0.99))
	s.table.put("search p95", st.notes, got[0].at(0.95), got[1].at(0.95))
	s.table.put("lexical p50", st.notes, got[3].median(), got[1].median())
	s.table.put("lexical p99", st.notes, got[3].at(0.99), got[1].at(0.99))
	s.table.put("again p50", st.notes, got[4].median(), got[1].median())
	s.table.put("project p50", st.notes, got[2].median(), 0)
	s.table.put("project p99", st.notes, got[2].at(0.99), 0)
	return nil
}

// fromNothing measures the making of an index, and its size.
func (s *stage) fromNothing(st *stand) error {
	ours := func() (time.Duration, error) {
		if err := st.removeIndex(); err != nil {
			return 0, err
		}
		if err := st.open(s.ctx); err != nil {
			return 0, err
		}
		began := time.Now()
		rep, err := st.index.Sync(s.ctx, index.SyncOptions{})
		if err == nil && rep.Indexed != st.notes {
			err = fmt.Errorf("%d of %d notes indexed", rep.Indexed, st.notes)
		}
		return time.Since(began), err
	}
	naive := func() (time.Duration, error) {
		for _, ext := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(st.rough + ext)
		}
		out, _, err := child{args: []string{s.rough, "build", st.rough, st.root}}.run()
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		return time.Duration(n), err
	}
	rounds := 3
	if st.notes > 50000 { // once before, uncounted, is warm enough
		rounds = 1
	}
	got, err := rotate(rounds, ours, naive)
	if err != nil {
		return err
	}
	rate := func(s series) float64 { return float64(st.notes) / (s.median() / 1000) }
	s.table.put("index", st.notes, rate(got[0]), rate(got[1]))

	// Closing the last connection folds the log into the file.
	if err := st.index.Close(); err != nil {
		return err
	}
	size := func(name string) float64 {
		fi, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return float64(fi.Size()) / float64(st.notes)
	}
	s.table.put("bytes", st.notes, size(st.store.Path("index.db")), size(st.rough))
	copies, err := filepath.Glob(st.store.Path("*.bin"))
	if err != nil {
		return err
	}
	var whole float64
	for _, name := range copies {
		whole += size(name)
	}
	s.table.put("bytes copies", st.notes, whole, 0)
	if err := st.open(s.ctx); err != nil {
		return err
	}
	return st.calibrate(s.ctx)
}

// walk measures a look at all files when nothing has changed.
func (s *stage) walk(st *stand) error {
	ours := func() (time.Duration, error) {
		began := time.Now()
		rep, err := st.index.Sync(s.ctx, index.SyncOptions{})
		if err == nil && (rep.Indexed != 0 || rep.Files != st.notes) {
			err = fmt.Errorf("nothing has changed, and %d of %d files were read", rep.Indexed, rep.Files)
		}
		return time.Since(began), err
	}
	git := func() (time.Duration, error) {
		cmd := st.git(s.ctx, "status", "--porcelain")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err == nil && len(out) > 0 {
			err = fmt.Errorf("git status sees changes: %.200s", out)
		}
		return time.Since(began), err
	}
	got, err := rotate(s.rounds(25), ours, git)
	if err != nil {
		return err
	}
	s.table.put("walk", st.notes, got[0].median(), got[1].median())
	return nil
}

// write measures a note from the call until a search finds it, and beside it
// what nobody can go below: a file of its size and its folder, both on the disk.
func (s *stage) write(st *stand) error {
	serial := 0
	var size int
	add := func() (time.Duration, error) {
		serial++
		n := st.corpus.note(st.notes + serial)
		word := fmt.Sprintf("recallable%dnow", serial)
		n.Body += "\n" + word
		size = len(n.Format())
		began := time.Now()
		out, err := st.ingester.Admit(s.ctx, ingest.Draft{Note: n, By: ingest.Person})
		if err != nil {
			return 0, err
		}
		res, err := st.engine.Recall(s.ctx, recall.Query{Text: word, K: 8, NoCache: true})
		took := time.Since(began)
		if err == nil && (out.Result != ingest.Created || len(res.Hits) == 0 || res.Hits[0].Row.ID != n.ID) {
			err = fmt.Errorf("note %s is %v, a search finds %d", n.ID, out.Result, len(res.Hits))
		}
		return took, err
	}
	dir := st.store.Path("memory/" + string(note.Semantic))
	floor := func() (time.Duration, error) {
		began := time.Now()
		err := twoSyncs(dir, make([]byte, size))
		return time.Since(began), err
	}
	got, err := rotate(s.rounds(60), add, floor)
	if err != nil {
		return err
	}
	s.table.put("write", st.notes, got[0].median(), got[1].median())
	s.table.put("write p95", st.notes, got[0].at(0.95), got[1].at(0.95))
	s.table.put("write above", st.notes, got[0].median()-got[1].median(), 0)
	return nil
}

// twoSyncs puts a file on the disk, and its name.
func twoSyncs(dir string, data []byte) error {
	f, err := os.CreateTemp(dir, ".bench-*")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, ".bench")
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close(), os.Rename(f.Name(), name)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	return errors.Join(err, os.Remove(name))
}

// redact measures the redactor on text without and with secrets.
func (s *stage) redact(st *stand) error {
	const piece, pieces = 64 << 10, 32
	clean := make([]string, pieces)
	dirty := make([]string, pieces)
	for i := range pieces {
		clean[i], dirty[i] = st.corpus.text(piece), st.corpus.secrets(piece)
	}
	pass := func(texts []string, changed bool) step {
		return func() (time.Duration, error) {
			began := time.Now()
			for _, t := range texts {
				if got := st.redactor.Redact(t).String(); (got != t) != changed {
					return 0, fmt.Errorf("a text of %d bytes: changed is not %v", len(t), changed)
				}
			}
			return time.Since(began), nil
		}
	}
	got, err := rotate(s.rounds(25), pass(clean, false), pass(dirty, true))
	if err != nil {
		return err
	}
	rate := func(s series) float64 { return piece * pieces / 1e6 / (s.median() / 1000) }
	s.table.put("redact clean", 0, rate(got[0]), 0)
	s.table.put("redact secrets", 0, rate(got[1]), 0)
	return nil
}
