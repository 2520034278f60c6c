package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"anamnesis/internal/llm/llmtest"

	"golang.org/x/sys/unix"
)

// inTerminal runs the client in a pseudo-terminal, as a person does: the prompt is its last
// argument. When the model has answered, the person leaves by /exit. It returns what the
// client wrote to the terminal.
func (m *machine) inTerminal(args ...string) string {
	m.t.Helper()
	pty, tty := m.openTerminal()
	defer pty.Close()
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := m.command(ctx, m.client, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	before := m.answers()
	err := cmd.Start()
	tty.Close()
	if err != nil {
		m.t.Fatal(err)
	}
	written, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		var all strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := pty.Read(buf)
			all.Write(buf[:n])
			if m.press != nil {
				_, _ = pty.WriteString(m.press(all.String()))
			}
			if err != nil {
				written <- all.String()
				return
			}
		}
	}()
	go func() { ended <- cmd.Wait() }()
	for leaving := false; ; {
		select {
		case <-ended:
			pty.Close()
			out := <-written
			if !leaving {
				m.t.Fatalf("the client ended before it answered:\n%.4000q", out)
			}
			return out
		case <-ctx.Done():
			m.t.Fatalf("the client does not end:\n%.4000q", <-written)
		case <-time.After(100 * time.Millisecond):
		}
		if !leaving && m.answers() == before && (m.refused == nil || !m.refused.Load()) {
			continue
		}
		if leaving { // the client may not have been ready for the line before
			time.Sleep(2 * time.Second)
		}
		leaving = true
		for _, keys := range []string{"\x15", "/exit", "\r"} {
			_, _ = pty.WriteString(keys)
			time.Sleep(300 * time.Millisecond) // keys that come at once are a paste
		}
	}
}

func (m *machine) openTerminal() (pty, tty *os.File) {
	m.t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return pty, tty
}

// attend gives a command a terminal as its input. The function closes it.
func (m *machine) attend(cmd *exec.Cmd) func() {
	m.t.Helper()
	pty, tty := m.openTerminal()
	cmd.Stdin = tty
	return func() { _, _ = tty.Close(), pty.Close() }
}

// person has a person run a session with an id, in a terminal, and waits until it was
// captured. It returns the record of the session.
func (m *machine) person(id, prompt string, args ...string) string {
	m.t.Helper()
	before := m.captured(id)
	which := "--session-id"
	if m.record(id) != "" {
		which = "--resume"
	}
	m.inTerminal(append([]string{which, id}, append(args, "--", prompt)...)...)
	m.eventually("session "+id+" to be captured", func() bool { return m.captured(id) > before })
	return m.record(id)
}

// answers counts the turns that the model has ended in the sessions of this home folder.
func (m *machine) answers() (n int) {
	files, _ := filepath.Glob(filepath.Join(m.home, ".claude", "projects", "*", "*.jsonl"))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		n += strings.Count(string(data), `"stop_reason":"end_turn"`)
	}
	return n
}

// TestClientDialog: the released Claude Code shows its user a dialog before memory_decide, whatever it was allowed, and what the
// user answers there is done. A run without a person is not shown the tool and decides nothing.
func TestClientDialog(t *testing.T) {
	client, program := theClient(t)
	model := llmtest.NewScripted(t)
	m := newMachine(t, model, client, program)
	m.has("init", m.ours("init", "--yes", "--machine-id", "testbox"), "mcp: registered")
	m.env = []string{"CLAUDECODE=1"}
	m.ours("add", "--title", "Push the release", "--body", "git push origin main --force")
	m.env = nil
	var waits struct {
		Notes []struct{ ID, Title string }
	}
	if err := json.Unmarshal([]byte(m.ours("review", "--json")), &waits); err != nil || len(waits.Notes) != 1 {
		t.Fatalf("what waits: %+v, %v", waits, err)
	}
	prompt := fmt.Sprintf(`Shall we keep the note about the release?
@tool mcp__anamnesis__memory_decide {"id":%q,"decision":"keep","title":"Push the release","text":"git push origin main --force | project: github.com/acme/storefront"}
@say That was the decision.`, waits.Notes[0].ID)
	const tools = "mcp__anamnesis__memory_decide"
	answer := func(key string) {
		shown := false
		m.refused = new(atomic.Bool)
		m.press = func(screen string) string {
			m.refused.Store(shown && strings.Contains(screen, "Interrupted")) // a refusal ends the turn without an answer
			if shown || !strings.Contains(screen, "Yes") {
				return ""
			}
			shown = true
			return key
		}
	}

	m.session("88888888-8888-4888-8888-888888888881", prompt, "--allowedTools", tools)
	m.lacks("the tools of a run without a person", model.Requests(), "\\n"+tools+"\\n")
	m.has("what waits after a run without a person", m.ours("review"), "Push the release")

	model.Forget()
	answer("2")
	screen := m.inTerminal("--session-id", "88888888-8888-4888-8888-888888888882", "--allowedTools", tools, "--permission-mode", "acceptEdits", "--", prompt)
	m.has("the screen of who says no", screen, "Yes", "Interrupted")
	m.has("what waits after No", m.ours("review"), "Push the release")

	answer("1")
	record := m.person("88888888-8888-4888-8888-888888888883", prompt, "--allowedTools", tools, "--permission-mode", "acceptEdits")
	m.has("the receipt", record, "decided by the user in the dialog")
	m.lacks("what waits after Yes", m.ours("review"), "Push the release")
	m.has("the page", m.ours("page"), "## From your user", "Push the release")
}
