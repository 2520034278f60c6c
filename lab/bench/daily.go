package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"anamnesis/internal/recall"
)

// A talk is a server of ours over MCP, with a client on its pipes.
type talk struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// talk starts the server and says hello; it returns how long the answer to that
// took from the start of the process.
func (s *stage) talk(st *stand) (*talk, time.Duration, error) {
	c := s.command(st)
	cmd := exec.CommandContext(s.ctx, s.program, "serve")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.env...)
	cmd.Dir = c.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	t := &talk{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	_, err = t.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	took := time.Since(began)
	if err == nil {
		_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return t, took, err
}

// call sends a request and returns the answer to it.
func (t *talk) call(method string, params any) ([]byte, error) {
	t.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": t.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := t.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := t.out.ReadBytes('\n')
	if err == nil && !bytes.Contains(answer, []byte(`"result"`)) {
		err = fmt.Errorf("%s: %s", method, answer)
	}
	return answer, err
}

func (t *talk) close() error { return errors.Join(t.in.Close(), t.cmd.Wait()) }

// mcp measures a search over MCP against the same search in process, and the
// start of the server up to its first answer.
func (s *stage) mcp(st *stand) error {
	var starts series
	for range s.rounds(20) {
		t, took, err := s.talk(st)
		if err != nil {
			return err
		}
		starts = append(starts, took)
		if err := t.close(); err != nil {
			return err
		}
		time.Sleep(leave)
	}
	s.table.put("mcp start", st.notes, starts.median(), 0)
	t, _, err := s.talk(st)
	if err != nil {
		return err
	}
	turns := [2]int{}
	next := func(i int) string {
		q := st.questions[turns[i]%len(st.questions)]
		turns[i]++
		return q
	}
	got, err := rotate(s.rounds(len(st.questions)), func() (time.Duration, error) {
		began := time.Now()
		_, err := t.call("tools/call", map[string]any{"name": "memory_search", "arguments": map[string]any{"query": next(0), "project": "*"}})
		return time.Since(began), err
	}, func() (time.Duration, error) {
		began := time.Now()
		_, err := st.engine.Recall(s.ctx, recall.Query{Text: next(1), K: 8})
		return time.Since(began), err
	})
	if err = errors.Join(err, t.close()); err != nil {
		return err
	}
	s.table.put("mcp", st.notes, got[0].median(), got[1].median())
	return nil
}

// daily measures commands that one waits for.
func (s *stage) daily(st *stand) error {
	for _, m := range []struct {
		id   string
		args []string
		ok   int
	}{
		{"status line", []string{"status", "--line"}, 0},
		{"doctor", []string{"doctor", "--json"}, 5},
		{"reflect", []string{"reflect", "--json"}, 0},
	} {
		c := s.command(st, m.args...)
		c.ok = m.ok
		got, err := rotate(s.rounds(16), c.step(leave))
		if err != nil {
			return err
		}
		s.table.put(m.id, st.notes, got[0].median(), 0)
	}
	return nil
}

// transcripts measures the import of past sessions into an empty store.
func (s *stage) transcripts(st *stand) error {
	files, size := 40, 4<<20
	if s.short {
		files, size = 4, 1<<20
	}
	home := filepath.Join(s.dir, "past")
	dir := filepath.Join(home, ".claude", "projects", "-src-work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var total int64
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("past-%03d.jsonl", i))
		if err := st.corpus.transcript(name, fmt.Sprintf("past-%03d", i), st.work, size); err != nil {
			return err
		}
		fi, err := os.Stat(name)
		if err != nil {
			return err
		}
		total += fi.Size()
	}
	c := child{
		args: []string{s.program, "import", "transcripts", "--apply", "--no-sync"},
		env:  []string{"HOME=" + home, "ANAMNESIS_SYNC=off"}, wants: fmt.Sprintf("%d created", files),
	}
	_, took, err := c.run()
	if err != nil {
		return err
	}
	s.table.put("import", 0, float64(total)/1e6/took.Seconds(), 0)
	return os.RemoveAll(home)
}
