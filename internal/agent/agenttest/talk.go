package agenttest

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/agent"
)

// At is when the n-th turn of a session was.
func At(n int) time.Time { return time.Date(2026, 3, 1, 10, 0, n, 0, time.UTC) }

// Talk makes a session: lines that begin with > are of the user, with $ commands ("$ a =>
// b" passed and printed b, "$ a !> b" failed), with ~ files that were edited.
func Talk(lines ...string) *agent.Session {
	s := &agent.Session{ID: "s", Dir: "/src/app"}
	for i, line := range lines {
		t := agent.Turn{Role: agent.Assistant, At: At(i), UUID: fmt.Sprint("u", i)}
		rest := strings.TrimSpace(line[1:])
		switch line[0] {
		case '>':
			t.Role, t.Text = agent.User, rest
		case '$':
			command, out, failed := strings.Cut(rest, " !> ")
			if !failed {
				command, out, _ = strings.Cut(rest, " => ")
			}
			t.Tools = []agent.ToolUse{{
				ID: fmt.Sprint("t", i), Name: "Bash", Input: fmt.Appendf(nil, `{"command":%q}`, command), Result: out, Error: failed,
			}}
		case '~':
			t.Tools = []agent.ToolUse{{ID: fmt.Sprint("t", i), Name: "Edit", Path: "/src/app/" + rest, Input: []byte("{}"), Result: "ok"}}
		default:
			t.Text = line
		}
		s.Turns = append(s.Turns, t)
	}
	return s
}
