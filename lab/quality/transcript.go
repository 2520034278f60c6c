package quality

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// RecordID is the id of the record of a step in the transcript of its session.
func RecordID(session string, line int) string { return fmt.Sprintf("%s-%d", session, line) }

// Transcript writes a session of a script as the agent of this program writes its
// sessions: one JSON record a line, in the order of time. dir is where it worked, and
// began when it did; each step takes ten seconds.
func (s *LessonSession) Transcript(session, dir string, began time.Time) []byte {
	t := transcript{session: session, dir: dir, now: began}
	t.write(map[string]any{"type": "mode", "mode": "normal", "sessionId": session})
	for i := range s.Steps {
		step := &s.Steps[i]
		t.now = t.now.Add(10 * time.Second)
		id := RecordID(session, step.Line)
		switch step.Does {
		case UserSays:
			t.record(id, "user", map[string]any{"role": "user", "content": step.Text},
				map[string]any{"origin": map[string]string{"kind": "human"}, "promptSource": "typed"})
		case AgentSays:
			t.answer(id, map[string]any{"type": "text", "text": step.Text}, "end_turn")
		case ToolRuns, FileEdited:
			t.tool(id, step)
		}
	}
	return t.out.Bytes()
}

type transcript struct {
	out     bytes.Buffer
	session string
	dir     string
	last    string
	now     time.Time
}

func (t *transcript) write(record map[string]any) {
	line, err := json.Marshal(record)
	if err != nil { // unreachable: texts, numbers and maps of them
		panic(err)
	}
	t.out.Write(append(line, '\n'))
}

func (t *transcript) record(id, kind string, message, more map[string]any) {
	r := map[string]any{
		"type": kind, "message": message, "uuid": id, "parentUuid": t.last, "isSidechain": false, "userType": "external",
		"entrypoint": "cli", "cwd": t.dir, "sessionId": t.session, "version": "2.1.197", "gitBranch": "main",
		"timestamp": t.now.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	for k, v := range more {
		r[k] = v
	}
	t.write(r)
	t.last = id
}

func (t *transcript) answer(id string, part map[string]any, stop string) {
	t.record(id, "assistant", map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{part}, "stop_reason": stop,
		"usage": map[string]int{"input_tokens": 2000, "output_tokens": 20},
	}, map[string]any{"requestId": "req_" + id})
}

// inputs are the names of the first input of tools.
var inputs = map[string]string{
	"Bash": "command", "Read": "file_path", "Grep": "pattern", "WebFetch": "url", "Write": "file_path", "Edit": "file_path",
}

func (t *transcript) tool(id string, s *Step) {
	input := map[string]any{inputs[s.Tool]: s.Text}
	result := any(map[string]any{"stdout": s.Result, "stderr": "", "interrupted": false, "isImage": false})
	text := s.Result
	switch {
	case s.Does == FileEdited:
		input["file_path"], input["old_string"], input["new_string"] = t.dir+"/"+s.Text, s.Old, s.Result
		result = map[string]any{"filePath": t.dir + "/" + s.Text, "oldString": s.Old, "newString": s.Result}
		text = "The file " + t.dir + "/" + s.Text + " has been updated."
	case s.Exit != 0:
		text = fmt.Sprintf("Exit code %d\n%s", s.Exit, s.Result)
		result = "Error: " + text
	}
	t.answer(id, map[string]any{"type": "tool_use", "id": "toolu_" + id, "name": s.Tool, "input": input}, "tool_use")
	t.now = t.now.Add(2 * time.Second)
	t.record(id+"-r", "user", map[string]any{"role": "user", "content": []any{map[string]any{
		"tool_use_id": "toolu_" + id, "type": "tool_result", "content": text, "is_error": s.Exit != 0,
	}}}, map[string]any{"toolUseResult": result, "sourceToolAssistantUUID": id})
}
