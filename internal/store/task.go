package store

import (
	"bytes"
	"encoding/json"

	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// A Task is what a session gave to a sub-agent that has not started yet: what memory has
// to say to it, and no word of it. Whoever starts is shown neither task nor call, so the
// two are brought together by what they share.
type Task struct {
	Turn  string    `json:"turn,omitempty"` // of the session, in which both happen
	Type  string    `json:"type,omitempty"` // of sub-agent; "" when the call did not say
	Notes []note.ID `json:"notes,omitempty"`
	Said  []string  `json:"said,omitempty"` // what the user laid down in the session that holds for it, redacted
}

// maxTaskNotes and maxTaskSaid keep a task below the size of a line that is written at once,
// and maxTasks is how many tasks one start may be about.
const (
	maxTaskNotes = 12
	maxTaskSaid  = 3
	maxSaidText  = 300 // characters
	maxTasks     = 8
)

// starts reports whether a sub-agent that starts may be about the task.
func (t *Task) starts(start *Task) bool {
	return t.Turn == start.Turn && (t.Type == "" || start.Type == "" || t.Type == start.Type)
}

// NoteTask keeps a task until a sub-agent starts.
func (t *ShownLog) NoteTask(task Task) error {
	task.Notes = task.Notes[:min(len(task.Notes), maxTaskNotes)]
	said := task.Said[:min(len(task.Said), maxTaskSaid)]
	task.Said = nil
	for _, s := range said {
		task.Said = append(task.Said, clip(s, maxSaidText))
	}
	return t.append(lineOf(shownLine{Task: &task}))
}

// TakeTasks returns the tasks that a sub-agent which starts may be about: one, unless
// several of its type were given at once. Then nobody can tell which of them it is, and
// each of the sub-agents gets all.
func (t *ShownLog) TakeTasks(start Task) ([]Task, error) {
	start.Notes, start.Said = nil, nil
	by := ulid.Make().String()
	if err := t.append(lineOf(shownLine{Agent: &start, By: by})); err != nil {
		return nil, err
	}
	data, err := t.read()
	if err != nil {
		return nil, err
	}
	var group []Task // given since the last time that none was waiting
	waiting := 0
	for line := range bytes.Lines(data) {
		var l shownLine
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		switch {
		case l.Task != nil && l.Task.starts(&start):
			if waiting == 0 {
				group = nil
			}
			group = append(group, *l.Task)
			waiting++
		case l.Agent != nil && l.By == by:
			return group[max(0, len(group)-maxTasks):], nil
		case l.Agent != nil && l.Agent.starts(&start) && waiting > 0:
			if waiting--; waiting == 0 {
				group = nil
			}
		}
	}
	return nil, nil // the file is longer than what is read of it
}
