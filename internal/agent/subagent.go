package agent

import (
	"bytes"
	"io"
	"path/filepath"
	"time"
)

// Subagents finds and reads what the sub-agents of a session wrote. Such a file is no session: its prompts are
// the agent's words, and its answers are what an agent found.
type Subagents struct {
	// Files returns folders, each with a pattern of package path/filepath for the names of the files in which
	// sub-agents of the session in a file may have written between two times.
	Files func(transcript string, from, to time.Time) []string

	// Of reads the first bytes of the records in a file: which sub-agent wrote them, and the sessions that it worked
	// for. The id is "" where no sub-agent did.
	Of func(head []byte) (id string, sessions []string)

	// Read is SessionSource.ReadSession for the records of a sub-agent.
	Read func(r io.Reader, limits Limits) (*Session, error)
}

// SubagentOf reads how the records in a file begin: a little, and more where that does not tell.
func (h *Harness) SubagentOf(records io.ReaderAt) (id string, sessions []string) {
	for _, size := range []int{beginningBytes, headBytes} {
		head := make([]byte, size)
		n, _ := records.ReadAt(head, 0)
		if id, sessions = h.Subagents.Of(head[:n]); ValidID(id) {
			return id, sessions
		}
		if n < size {
			break
		}
	}
	return "", nil
}

// ReadSubagent reads the records of a sub-agent. Whatever they say, no person asked.
func (h *Harness) ReadSubagent(records io.Reader) (*Session, error) {
	s, err := h.Subagents.Read(records, Limits{})
	for _, turns := range [][]Turn{s.Turns, s.all} {
		for i := range turns {
			turns[i].Asker, turns[i].Spans = Subagent, nil
		}
	}
	return s, err
}

// claudeSubagents are those of Claude Code: files in the folder of the session; of older versions among the
// sessions.
var claudeSubagents = &Subagents{
	Files: func(transcript string, _, _ time.Time) []string {
		dir := filepath.Dir(transcript)
		return []string{filepath.Join(dir, FileStem(transcript), "subagents", "agent-*.jsonl"), filepath.Join(dir, "agent-*.jsonl")}
	},
	Of: func(head []byte) (id string, sessions []string) {
		for len(head) > 0 {
			line, rest, _ := bytes.Cut(head, []byte("\n"))
			head = rest
			r, _, err := readMembers(trimLine(line))
			if id = r.str("agentId"); err == nil && id != "" && r.has("isSidechain") && truthy(r.get("isSidechain")) {
				return id, []string{r.str("sessionId")}
			}
		}
		return "", nil
	},
	Read: func(r io.Reader, limits Limits) (*Session, error) { return readClaude(r, limits, true) },
}

// codexSubagents are those of Codex: rollouts among the sessions, in the folders of the days on which the session
// went on.
var codexSubagents = &Subagents{
	Files: codexDays,
	Of: func(head []byte) (id string, sessions []string) {
		record, _, _ := readMembers(firstLine(head))
		payload := record.get("payload")
		if !codexSubagent(payload) {
			return "", nil
		}
		p, _, _ := readMembers(payload)
		return p.str("id"), []string{p.str("session_id"), p.str("parent_thread_id")}
	},
	Read: codexSessions.ReadSession,
}

// maxDays bounds the days of a session in whose folders its sub-agents are looked for: the last ones.
const maxDays = 62

// codexDays is Subagents.Files of Codex, which names folders and files after the day on this machine.
func codexDays(transcript string, from, to time.Time) (all []string) {
	root := filepath.Dir(filepath.Dir(transcript))
	if folder := filepath.Base(filepath.Dir(transcript)); folder != "archived_sessions" {
		root = filepath.Dir(filepath.Dir(filepath.Dir(root)))
	}
	if from.IsZero() || to.IsZero() {
		return nil
	}
	if first := to.AddDate(0, 0, -maxDays); from.Before(first) {
		from = first
	}
	for day := from.AddDate(0, 0, -1); !day.After(to.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		y, m, d := day.UTC().Date()
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		for _, ext := range []string{".jsonl", ".jsonl" + packedExt} {
			all = append(all, filepath.Join(root, "sessions", date.Format("2006/01/02"), "rollout-*"+ext),
				filepath.Join(root, "archived_sessions", "rollout-"+date.Format("2006-01-02")+"T*"+ext))
		}
	}
	return all
}
